import { spentOnTops } from '../../ledger/book/book.ts'
import { type Definitions, personOf, topsOf, unseenBudget } from '../../ledger/book/definitions.ts'
import { type Entry, movedOnTops } from '../../ledger/book/entry.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { isTerminal, type Update } from '../../ledger/updates/update.ts'
import { type Spender as Spent, type Summary, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { shownCaller } from '../sentences.ts'
import { believed, gapsIn, type Recent } from './summary.ts'

export interface Spender {
  /** `person`: several callers are one person. `outside`: not by an update. `others`: too small or too many to name. */
  readonly kind: 'plan' | 'person' | 'caller' | 'outside' | 'others'
  readonly name: string | null
  readonly units: number
  /** From 0 to 1. */
  readonly share: number
}

/** The latest entries, or updates of an ended month, that a reader adds up itself. */
const maxRead = 200

export function createSpenders({ ledger, recent }: { ledger: Ledger; recent: Recent }) {
  /** The greatest first. The number of requests is bounded: what is not found within it counts as `others`. */
  async function whoSpent(given?: View | Promise<View>): Promise<readonly Spender[]> {
    const view = await (given ?? ledger.view())
    const [spent, entries] = await Promise.all([
      chargedIn(view),
      ledger.entries({ month: view.month.name }, maxRead).then(({ rows }) => rows),
    ])
    return spendersOf(view, spent, entries)
  }

  /** What each person's own updates were charged, without plans. @param latest updates that the caller reads anyway. */
  async function spentByPerson(view: View, latest: Promise<readonly Update[]>): Promise<ReadonlyMap<string, number>> {
    const units = new Map<string, number>()
    for (const { caller, person: claimed, plan, units: more } of await chargedIn(view, latest)) {
      const person = shownCaller(view.definitions, caller, claimed)
      if (plan === undefined) units.set(person, (units.get(person) ?? 0) + more)
    }
    return units
  }

  async function chargedIn(view: View, shared?: Promise<readonly Update[]>): Promise<readonly Spent[]> {
    const { month, now } = view
    const isOpen = now < month.end
    const until = Math.min(now, month.end - 1)
    const summaries = (await (isOpen ? recent.summaries(view) : daysOf(view))).filter(
      ({ day }) => day.month === month.name,
    )
    const since = gapsIn(summaries)[0]?.since ?? until + 1
    const given = since > until ? [] : await shared
    const isCovered = given !== undefined && (since > until || (given.at(-1)?.createdAt ?? 0) < since)
    const latest = isCovered
      ? given
      : await (isOpen ? recent.updates(view) : ledger.updates({ since, until }, maxRead).then(({ rows }) => rows))
    const charged = latest
      .filter(({ createdAt }) => createdAt >= since && createdAt <= until)
      .filter(({ month: in_, budget, state }) => in_ === month.name && budget !== unseenBudget && isTerminal(state))
      .map(({ charged = 0, ...update }) => ({
        ...spenderOf({ ...update, person: update.token?.person }),
        units: charged,
      }))
    return [...summaries.filter(({ day }) => day.start < since).flatMap(ofDay), ...charged]
  }

  async function daysOf({ definitions, month, now }: View): Promise<readonly Summary[]> {
    const days = summaryDays(definitions.calendar, { since: month.start, until: month.end - 1 })
    return (await ledger.summaries.read(days, { withRows: false })).map((each) => believed(each, now))
  }

  return { whoSpent, spentByPerson }
}

const ofDay = ({ spenders = [] }: Summary): readonly Spent[] => spenders

interface Asker {
  readonly caller: string
  readonly person?: string | undefined
  readonly plan?: string
}

const spenderOf = ({ caller, person, plan }: Asker): Omit<Spent, 'units'> => ({
  caller,
  ...(person !== undefined && { person }),
  ...(plan !== undefined && { plan }),
})

function spendersOf(view: View, spent: readonly Spent[], entries: readonly Entry[]): readonly Spender[] {
  const tops = topsOf(view.definitions)
  const all = spentOnTops(view.book, tops)
  const units = new Map<string, Omit<Spender, 'share'>>()
  const add = (kind: Spender['kind'], name: string | null, more: number) => {
    const key = `${kind} ${name}`
    units.set(key, { kind, name, units: (units.get(key)?.units ?? 0) + more })
  }
  for (const { caller, person: claimed, plan, units } of spent) {
    const person = shownCaller(view.definitions, caller, claimed)
    if (plan !== undefined) add('plan', plan, units)
    else add(person !== caller || isShared(view.definitions, person) ? 'person' : 'caller', person, units)
  }
  add(
    'outside',
    null,
    entries.reduce((sum, entry) => sum + movedOnTops(tops, entry, 'spent'), 0),
  )
  add('others', null, Math.max(0, all - [...units.values()].reduce((sum, each) => sum + each.units, 0)))
  return [...units.values()]
    .filter((each) => each.units !== 0)
    .map((each) => ({ ...each, share: all > 0 ? each.units / all : 0 }))
    .toSorted((a, b) => b.units - a.units || ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
}

const isShared = (definitions: Definitions, person: string): boolean =>
  Object.keys(definitions.callers ?? {}).some((each) => each !== person && personOf(definitions, each) === person)
