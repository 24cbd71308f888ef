import { shownCaller } from '../guard/sentences.ts'
import { counterOf, spentOnTops } from '../ledger/book/book.ts'
import { movedOnTops } from '../ledger/book/entry.ts'
import type { View } from '../ledger/book/view.ts'
import {
  type Definitions,
  isWithin,
  personOf,
  projectName,
  topsOf,
  unseenBudget,
} from '../ledger/definitions/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Update } from '../ledger/updates/update.ts'
import { figuresOf, maxUncounted, type Recent, summariesOf, uncounted } from './figures.ts'
import type { SummaryRow } from './stored-summary.ts'

interface Spent {
  /** `person`: several callers are one person. `outside`: without an update. `others`: too small or too many to name. */
  readonly kind: 'plan' | 'person' | 'caller' | 'project' | 'budget' | 'outside' | 'others'
  readonly name: string | null
  readonly units: number
}

export interface Spender extends Spent {
  /** The units of all spenders together. */
  readonly of: number
}

/** The spending of a budget and of the budgets below it. */
export interface SpentOn {
  readonly projects: readonly Spender[]
  readonly callers: readonly Spender[]
  /** Ended updates of the month that the budget's limits would have refused, if they were enforced. */
  readonly wouldHaveRefused: { readonly updates: number; readonly units: number }
}

type Charged = Pick<SummaryRow, 'caller' | 'person' | 'plan' | 'charged'>

const maxEntries = 200

/** The number of requests is bounded. Units that these requests do not find count as `others`. */
export function createSpenders({ ledger, recent }: { ledger: Ledger; recent: Recent }) {
  async function whoSpent(given?: View | Promise<View>): Promise<readonly Spender[]> {
    const view = await (given ?? ledger.view())
    const tops = topsOf(view.definitions)
    const [rows, outside] = await Promise.all([chargedIn(view), spentOutside(view, tops)])
    return greatest(spentOnTops(view.book, tops), [...spentBy(view.definitions, rows), outside])
  }

  /** @param budget absent: all entries. */
  async function spentOutside({ month }: View, tops: readonly string[], budget?: string): Promise<Spent> {
    const filter = { month: month.name, ...(budget !== undefined && { budget }) }
    const { rows } = await ledger.entries(filter, maxEntries)
    const units = rows.reduce((sum, entry) => sum + movedOnTops(tops, entry, 'spent'), 0)
    return { kind: 'outside', name: null, units }
  }

  async function spentOn(view: View, budget: string): Promise<SpentOn> {
    const { definitions, month, now } = view
    const summaries = await summariesOf(ledger, view, { since: month.start, until: now })
    const later = await uncounted(ledger, summaries, { until: now, max: maxUncounted })
    const rows = figuresOf(summaries, later).filter(
      (row) => row.month === month.name && isWithin(definitions, row.budget, budget),
    )
    const all = counterOf(view.book, 'month', budget)?.spent ?? 0
    const isByUpdates = rows.reduce((sum, { charged = 0 }) => sum + charged, 0) === all
    const outside = isByUpdates ? [] : [await spentOutside(view, [budget], budget)]
    const over = rows.filter(({ wouldHaveRefused }) => wouldHaveRefused?.includes(budget))
    return {
      projects: greatest(all, [...spentOnProjects(definitions, rows), ...outside]),
      callers: greatest(all, [...spentBy(definitions, rows), ...outside]),
      wouldHaveRefused: {
        updates: over.reduce((sum, { settled = 0, released = 0 }) => sum + settled + released, 0),
        units: over.reduce((sum, { charged = 0 }) => sum + charged, 0),
      },
    }
  }

  /** The units of each person's own updates, without plans. @param latest updates that the caller reads anyway. */
  async function spentByPerson(view: View, latest: Promise<readonly Update[]>): Promise<ReadonlyMap<string, number>> {
    const units = new Map<string, number>()
    for (const { kind, name, units: more } of spentBy(view.definitions, await chargedIn(view, await latest)))
      if (kind !== 'plan' && name !== null && more > 0) units.set(name, (units.get(name) ?? 0) + more)
    return units
  }

  async function chargedIn(view: View, latest?: readonly Update[]): Promise<readonly Charged[]> {
    const { month, now } = view
    const isOver = now >= month.end
    const span = { since: month.start, until: Math.min(now, month.end - 1) }
    const all = isOver ? await summariesOf(ledger, view, span, { withRows: false }) : await recent.summaries(view)
    const summaries = all.filter(({ day }) => day.month === month.name)
    const later =
      isOver || latest
        ? await uncounted(ledger, summaries, { until: span.until, max: maxUncounted, latest })
        : await recent.updates(view)
    return [
      ...summaries.flatMap(({ spenders = [] }) => spenders.map(({ units, ...who }) => ({ ...who, charged: units }))),
      ...figuresOf([], later).filter((row) => row.month === month.name && row.budget !== unseenBudget),
    ]
  }

  return { whoSpent, spentOn, spentByPerson }
}

export const spentOnProjects = (definitions: Definitions, rows: readonly SummaryRow[]): readonly Spent[] =>
  rows.map((row) => ({ kind: 'project', name: projectName(definitions, row), units: row.charged ?? 0 }))

/** A name is a person's if the list of callers or a token gives it to a caller of another name. */
export function spentBy(definitions: Definitions, rows: readonly Charged[]): readonly Spent[] {
  const persons = new Set<string>()
  const personFor = (caller: string, person: string) => {
    if (person !== caller) persons.add(person)
    return person
  }
  for (const name of Object.keys(definitions.callers ?? {})) personFor(name, personOf(definitions, name))
  const spent = rows.flatMap(({ caller, person, plan, charged = 0 }) => {
    if (charged === 0) return []
    const name = plan ?? personFor(caller, shownCaller(definitions, caller, person))
    return { name, isPlan: plan !== undefined, units: charged }
  })
  return spent.map(({ name, isPlan, units }) => {
    const kind = isPlan ? 'plan' : persons.has(name) ? 'person' : 'caller'
    return { kind, name, units }
  })
}

/** Each name appears once. The greatest spender comes first. */
export function greatest(all: number, spent: readonly Spent[]): readonly Spender[] {
  const sums = new Map<string, Spent>()
  for (const { kind, name, units } of spent) {
    const key = `${kind} ${name}`
    sums.set(key, { kind, name, units: (sums.get(key)?.units ?? 0) + units })
  }
  const others = Math.max(0, all - [...sums.values()].reduce((sum, { units }) => sum + units, 0))
  return [...sums.values(), { kind: 'others', name: null, units: others } as const]
    .filter(({ units }) => units !== 0)
    .map((each) => ({ ...each, of: all }))
    .toSorted((a, b) => b.units - a.units || ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
}
