import { counterOf } from '../../ledger/book/book.ts'
import { type Definitions, personOf, rootBudget } from '../../ledger/book/definitions.ts'
import { type Entry, movedOnRoot } from '../../ledger/book/entry.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { isTerminal } from '../../ledger/updates/update.ts'
import { type Spender as Spent, type Summary, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { believed, gapsIn } from './summary.ts'

export interface Spender {
  /** `person`: several callers are one person. `outside`: not by an update. `others`: too small or too many to name. */
  readonly kind: 'plan' | 'person' | 'caller' | 'outside' | 'others'
  readonly name: string | null
  readonly units: number
  /** 0 to 1, of all that was spent. */
  readonly share: number
}

/** The latest updates and entries that a reader adds up itself. */
const mostRead = 200

export function createSpenders({ ledger }: { ledger: Ledger }) {
  /**
   * Who spent the units of the view's month, the greatest first. The number of requests is bounded: what is not
   * found within it is counted as `others`.
   */
  async function whoSpent(given?: View | Promise<View>): Promise<readonly Spender[]> {
    const view = await (given ?? ledger.view())
    const { definitions, month, now } = view
    const until = Math.min(now, month.end - 1)
    const days = summaryDays(definitions.calendar, { since: month.start, until })
    const summaries = (await ledger.summaries.read(days, { withRows: false })).map((each) => believed(each, now))
    const since = gapsIn(summaries)[0]?.since ?? until + 1
    const [latest, entries] = await Promise.all([
      since > until ? [] : ledger.updates({ since, until }, mostRead).then(({ rows }) => rows),
      ledger.entries({ month: month.name }, mostRead),
    ])
    const counted = summaries.filter(({ day }) => day.start < since).flatMap(ofDay)
    const recent = latest
      .filter((update) => update.month === month.name && isTerminal(update.state))
      .map(({ caller, plan, charged = 0 }) => ({ caller, units: charged, ...(plan !== undefined && { plan }) }))
    return spendersOf(view, [...counted, ...recent], entries.rows)
  }

  return { whoSpent }
}

/** An older summary has its rows alone. */
const ofDay = ({ spenders, rows, day }: Summary): readonly Spent[] =>
  spenders ??
  rows.flatMap(({ caller, plan, charged = 0, month = day.month }) =>
    month === day.month && charged > 0 ? [{ caller, units: charged, ...(plan !== undefined && { plan }) }] : [],
  )

function spendersOf(view: View, spent: readonly Spent[], entries: readonly Entry[]): readonly Spender[] {
  const all = counterOf(view.book, 'month', rootBudget)?.spent ?? 0
  const units = new Map<string, Omit<Spender, 'share'>>()
  const add = (kind: Spender['kind'], name: string | null, more: number) => {
    const key = `${kind} ${name}`
    units.set(key, { kind, name, units: (units.get(key)?.units ?? 0) + more })
  }
  for (const { caller, plan, units } of spent) {
    const person = personOf(view.definitions, caller)
    if (plan !== undefined) add('plan', plan, units)
    else add(person !== caller || isShared(view.definitions, person) ? 'person' : 'caller', person, units)
  }
  add(
    'outside',
    null,
    entries.reduce((sum, entry) => sum + movedOnRoot(entry, 'spent'), 0),
  )
  add('others', null, Math.max(0, all - [...units.values()].reduce((sum, each) => sum + each.units, 0)))
  return [...units.values()]
    .filter((each) => each.units !== 0)
    .map((each) => ({ ...each, share: all > 0 ? each.units / all : 0 }))
    .toSorted((a, b) => b.units - a.units || ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
}

/** Another caller is this person too. */
const isShared = (definitions: Definitions, person: string): boolean =>
  Object.keys(definitions.callers ?? {}).some((each) => each !== person && personOf(definitions, each) === person)
