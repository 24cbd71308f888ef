import type { EnterOutcome } from '../ledger/entering.ts'
import type { Problem } from '../ledger/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { noBudget } from './budgeting.ts'
import { problem } from './problems.ts'
import { count, units as inUnits } from './sentences.ts'

/** Why nothing was booked. */
export function notEntered(outcome: Exclude<EnterOutcome, { kind: 'entered' }>): Problem {
  switch (outcome.kind) {
    case 'unknown-budget':
      return noBudget(outcome.budget)
    case 'unknown-entry':
      return problem('not-found', 'There is no such entry.')
    case 'key-reused': {
      const detail = 'This idempotency key was used before, for another entry; use a new key for a new one.'
      return problem('key-reused', detail)
    }
    case 'short': {
      const { budget, window, available, needed, counters, ends, past } = outcome
      const open = window === 'day' ? 'today' : 'this month'
      const where = past ? `in ${past[window]}` : open
      const grant = `a grant of ${count(needed - available)} to ${budget} before (POST /budgets/${budget}/entries, scope admin)`
      const detail = `${budget} has ${inUnits(available)} left ${where}, so ${count(needed)} cannot be taken from it; what is held, in doubt or spent stays.`
      return problem('over-budget', detail, {
        units: needed,
        short: needed - available,
        budgets: counters.map(({ granted: _, needed: takes, ...counter }) => ({
          ...counter,
          short: takes - counter.available,
          resetsAt: toRfc3339(ends[counter.window]),
        })),
        wouldPass: [
          ...(available > 0 ? [`at most ${inUnits(available)}, now`] : []),
          // A month that is over takes none.
          ...(past ? [] : [grant]),
        ],
      })
    }
    case 'not-possible':
      return problem('wrong-state', outcome.why)
  }
}
