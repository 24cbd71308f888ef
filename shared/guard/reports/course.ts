import type { Ledger } from '../../ledger/ledger.ts'
import { type Summary, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'

/** How the open month has gone, as far as the sweep has seen it: for drawings. */
export interface Course {
  /** The days that have ended: when, and what each budget had used by then. */
  readonly nights: readonly { readonly at: number; readonly used: Summary['used'] }[]
  /** Refused duplicates, and the units that the same work had cost; `null`: nothing was counted yet. */
  readonly saved: { readonly updates: number; readonly units: number } | null
}

export function createCourse({ ledger }: { ledger: Ledger }) {
  /** @param given a reading that its caller makes too. */
  async function course(given?: View | Promise<View>): Promise<Course> {
    const { definitions, month, now } = await (given ?? ledger.view())
    const days = summaryDays(definitions.calendar, { since: month.start, until: now })
    const summaries = await ledger.summaries.read(days, { withRows: false })
    const nights = summaries.flatMap(({ day, used }) => (Object.keys(used).length > 0 ? [{ at: day.end, used }] : []))
    const isCounted = summaries.some(({ mark }) => mark !== null)
    const sum = (of: (summary: Summary) => number) => summaries.reduce((total, summary) => total + of(summary), 0)
    return {
      nights,
      saved: isCounted ? { updates: sum(({ duplicates }) => duplicates), units: sum(({ saved }) => saved) } : null,
    }
  }

  return { course }
}
