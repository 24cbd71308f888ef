import type { View } from '../ledger/book/view.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { summaryDays } from '../ledger/updates/summary-days.ts'
import { type State, states } from '../ledger/updates/update.ts'
import { meets, type Span, type UpdateFilter } from '../ledger/views/lists.ts'
import { dayMs } from '../platform/clock.ts'
import { type FigureRow, figuresOf, recordsOf, summariesOf } from './figures.ts'

export interface UpdateCounts {
  readonly count: number
  /** `null`: the summaries do not show how many units belong to the filter's state. */
  readonly sum: number | null
  /** Ignores the filter's own state. */
  readonly states: Readonly<Record<State, number>>
}

const maxDays = 62
/** The most open updates, or updates that no summary counts yet. */
const maxRead = 500

export function createUpdateCounts({ ledger }: { ledger: Ledger }) {
  /** `null`: the filter is for deliveries, has parts of days or more than two months, or too many updates would have to be read. */
  async function countUpdates(
    { state, since, until, delivery, ...criteria }: UpdateFilter,
    given?: View,
  ): Promise<UpdateCounts | null> {
    // Summaries do not say whether data came.
    if (since === undefined || delivery !== undefined) return null
    const view = given ?? (await ledger.view())
    const span = wholeDays(view, { since, until: until ?? view.now })
    if (!span) return null
    const summaries = await summariesOf(ledger, view, span)
    if (summaries.flatMap(({ open }) => open).length > maxRead) return null
    const updates = await recordsOf(ledger, summaries, { until: view.now + dayMs, max: maxRead })
    if (updates.length >= maxRead) return null
    const rows = figuresOf(summaries, updates).filter((row) => meets(row, criteria, view.definitions))
    const counts = Object.fromEntries(
      states.map((each) => [each, rows.reduce((sum, row) => sum + countIn(row, each), 0)]),
    ) as Record<State, number>
    const count = state ? counts[state] : Object.values(counts).reduce((sum, each) => sum + each, 0)
    return { count, sum: chargedIn(rows, state), states: counts }
  }

  return { countUpdates }
}

function wholeDays({ definitions, now }: View, { since, until }: Span): Span | null {
  const span = { since: Math.max(since, definitions.createdAt - dayMs), until: Math.min(until, now) }
  if (span.since > span.until || span.until - span.since > maxDays * dayMs) return null
  const days = summaryDays(definitions.calendar, span)
  const isWhole =
    (span.since > since || days[0]?.start === span.since) && (until >= now || days.at(-1)?.end === span.until + 1)
  return isWhole ? span : null
}

function countIn(row: FigureRow, state: State): number {
  if (state === 'refused') return (row.refused ?? 0) + (row.upToDate ?? 0)
  return row.state === state ? 1 : ((row as Partial<Record<State, number>>)[state] ?? 0)
}

/** A released update that did run is charged, so the charge of a row with both states may belong to either. */
function chargedIn(rows: readonly FigureRow[], state: State | undefined): number | null {
  const charged = rows.filter((row) => (row.charged ?? 0) > 0 && (state === undefined || countIn(row, state) > 0))
  const isMixed = ({ settled = 0, released = 0 }: FigureRow) => settled > 0 && released > 0
  if (state !== undefined && charged.some(isMixed)) return null
  const isCharged = state === undefined || state === 'settled' || state === 'released'
  return isCharged ? charged.reduce((sum, row) => sum + (row.charged ?? 0), 0) : 0
}
