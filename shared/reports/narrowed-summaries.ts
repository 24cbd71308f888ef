import { seesUpdate } from '../guard/people/sees.ts'
import type { NarrowedKind } from '../guard/reads/narrowed-kind.ts'
import { paidAndTagged } from '../guard/reads/records.ts'
import { pruned, type Sight } from '../guard/reads/sight.ts'
import { believed } from './figures.ts'
import { daySummaries, isComplete, type Summaries, type Summary, type SummaryRow } from './stored-summary.ts'
import { brought, spendersOf } from './summary.ts'

export const narrowedSummaries: NarrowedKind<Summaries> = {
  kind: daySummaries,
  narrow: (summaries, { ledger, log, sight }) => ({
    spoil: async () => undefined,
    /** The stored rows of seen budgets, and the later records of these budgets. */
    read: async (days) => {
      const [stored, view] = [await summaries.read(days), await ledger.view()]
      const own = await sight()
      const round = { ledger, log, view, pageSize: 100, left: Number.POSITIVE_INFINITY }
      const summed = stored.map(async (summary) => {
        const each = seenSummary(own, believed(summary, view.now))
        if (isComplete(each) && each.open.length === 0) return each
        const { news: _news, ...next } = await brought(round, each)
        return next
      })
      return Promise.all(summed)
    },
  }),
}

/** Applies the rules of `seenUpdate` to a row that sums up updates. */
function seenRow(sight: Sight, { above = [], person: _person, ...row }: SummaryRow): SummaryRow | null {
  const charged = { ...row, hold: { budgets: above } }
  return seesUpdate(sight.whole, sight, charged) ? { ...pruned(sight, row), ...paidAndTagged(sight, charged) } : null
}

function seenSummary(sight: Sight, summary: Summary): Summary {
  const rows = summary.rows.flatMap((row) => seenRow(sight, row) ?? [])
  const seen = pruned(sight, summary)
  const sum = (of: 'duplicates' | 'saved') => rows.reduce((total, row) => total + (row[of] ?? 0), 0)
  return {
    ...seen,
    mark: 'narrowed',
    rows,
    // As in `seenProblem`, leaves out a budget that refused and that the reader does not see.
    lastRefused: Object.fromEntries(Object.entries(seen.lastRefused).map(([of, each]) => [of, pruned(sight, each)])),
    spenders: spendersOf(rows, summary.day),
    unlisted: [],
    duplicates: sum('duplicates'),
    saved: sum('saved'),
  }
}
