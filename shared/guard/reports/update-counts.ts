import type { Ledger } from '../../ledger/ledger.ts'
import { hasTags, isTerminal, type State, states, type Update } from '../../ledger/updates/update.ts'
import { isOf, matches, type UpdateFilter } from '../../ledger/views/lists.ts'
import { type Summary, type SummaryDay, type SummaryRow, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs } from '../../platform/clock.ts'
import { believed, gapsIn } from './summary.ts'

export interface UpdateCounts {
  readonly count: number
  /** `null`: the summaries do not tell the state's units apart. */
  readonly sum: number | null
  /** Without the filter's own state. */
  readonly states: Readonly<Record<State, number>>
}

const maxDays = 62
/** Open updates, and updates that no summary counts yet. */
const maxRead = 500

export function createUpdateCounts({ ledger }: { ledger: Ledger }) {
  /** `null`: the filter is not of at most two months of whole days, or too much would have to be read. */
  async function countUpdates({ state, ...filter }: UpdateFilter, given?: View): Promise<UpdateCounts | null> {
    if (filter.since === undefined) return null
    const view = given ?? (await ledger.view())
    const days = wholeDays(view, filter)
    if (!days) return null
    const summaries = (await ledger.summaries.read(days)).map((each) => believed(each, view.now))
    const others = await notSummed(summaries, view.now)
    if (!others) return null
    const rows = summaries.flatMap(({ rows }) => rows).filter((row) => rowMatches(row, filter))
    const updates = others.filter((update) => matches(update, filter))
    const counts = Object.fromEntries(
      states.map((each) => [each, sumOf(rows, (row) => countIn(row, each)) + countOf(updates, each)]),
    ) as Record<State, number>
    const count = state ? counts[state] : Object.values(counts).reduce((sum, each) => sum + each, 0)
    return { count, sum: chargedIn(rows, updates, state), states: counts }
  }

  /** `null`: too many. */
  async function notSummed(summaries: readonly Summary[], now: number): Promise<readonly Update[] | null> {
    const open = summaries.flatMap(({ open }) => open)
    const gaps = gapsIn(summaries)
    const [first, last] = [gaps[0], gaps.at(-1)]
    if (open.length > maxRead) return null
    const [named, latest] = await Promise.all([
      ledger.updatesNamed(open),
      first && last ? ledger.updates({ since: first.since, until: Math.min(last.until, now + dayMs) }, maxRead) : null,
    ])
    // What lies between the gaps is counted by its own summary.
    const missing = latest?.rows.filter(({ createdAt }) =>
      gaps.some(({ since, until }) => since <= createdAt && createdAt <= until),
    )
    return latest?.next === undefined ? [...named.filter((update) => update !== null), ...(missing ?? [])] : null
  }

  return { countUpdates }
}

function wholeDays({ definitions, now }: View, { since = 0, until = now }: UpdateFilter): readonly SummaryDay[] | null {
  const { calendar, createdAt } = definitions
  const [from, to] = [Math.max(since, createdAt - dayMs), Math.min(until, now)]
  if (from > to || to - from > maxDays * dayMs) return null
  const days = summaryDays(calendar, { since: from, until: to })
  const isWhole = (from > since || days[0]?.start === from) && (until >= now || days.at(-1)?.end === until + 1)
  return isWhole ? days : null
}

function rowMatches(row: SummaryRow, filter: Omit<UpdateFilter, 'state'>): boolean {
  const { since: _since, until: _until, search = '', tag = [], budget, ...same } = filter
  if (!isOf(row, budget)) return false
  if (!row.project.toLowerCase().includes(search.toLowerCase()) || !hasTags(row.tags, tag)) return false
  const names = Object.keys(same) as (keyof typeof same)[]
  return names.every((name) => same[name] === undefined || row[name] === same[name])
}

function countIn(row: SummaryRow, state: State): number {
  switch (state) {
    case 'refused':
      return (row.refused ?? 0) + (row.upToDate ?? 0)
    case 'settled':
    case 'released':
    case 'rejected':
    case 'cancelled':
    case 'expired':
      return row[state] ?? 0
    default:
      return 0
  }
}

const countOf = (updates: readonly Update[], state: State): number =>
  updates.filter((update) => update.state === state).length

const sumOf = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

/** A released update that turned out to have run is charged, so a row of both states is not told apart. */
function chargedIn(rows: readonly SummaryRow[], updates: readonly Update[], state: State | undefined): number | null {
  const own = updates.filter((update) => (state === undefined ? isTerminal(update.state) : update.state === state))
  const charged = rows.filter((row) => (row.charged ?? 0) > 0 && (state === undefined || countIn(row, state) > 0))
  const isMixed = ({ settled = 0, released = 0 }: SummaryRow) => settled > 0 && released > 0
  if (state !== undefined && charged.some(isMixed)) return null
  const ofRows = state === undefined || state === 'settled' || state === 'released' ? charged : []
  return sumOf(ofRows, ({ charged = 0 }) => charged) + sumOf(own, ({ charged = 0 }) => charged)
}
