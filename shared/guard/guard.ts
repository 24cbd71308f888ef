import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Kinds } from '../tracking/kinds.ts'
import type { Tracking } from '../tracking/tracking.ts'
import type { Keeping } from './background.ts'
import { onDemand } from './lazy.ts'
import type { GuardOptions } from './options.ts'
import { createBudgetsFile } from './people/apply-budgets.ts'
import { createApprovals } from './people/approvals.ts'
import { createBudgets } from './people/budgets.ts'
import { createCallers } from './people/callers.ts'
import type { Plan } from './plans/plans-file.ts'
import { createBatch } from './update/batch.ts'
import { createEstimates } from './update/estimate.ts'
import { createExecution } from './update/execute.ts'
import { createQuotes } from './update/quote.ts'
import { createResume } from './update/resume.ts'
import { createSubmit } from './update/submit.ts'

export type Guard = ReturnType<typeof createGuard>

export interface GuardParts {
  ledger: Ledger
  tracking: Tracking
  /** The service's token as it is now. */
  serviceToken: () => Promise<string>
  clock: Clock
  ids: Ids
  log: Log
  options: GuardOptions
  kinds?: Kinds
  /** What schedules ask for, in order of priority; read on request. */
  plans: () => Promise<readonly Plan[]>
}

/**
 * The guard: everything that may be asked of the service goes through here, and so does everything that people decide
 * about it. Refusals come back by value.
 *
 * @throws LedgerUnavailable, SecretUnavailable: nothing was sent, or the ledger knows about it.
 */
export function createGuard(parts: GuardParts) {
  const { ledger } = parts
  const quotes = createQuotes(parts)
  const execution = createExecution(parts)
  const batch = createBatch({ ...parts, execution, quotes })
  const { submit } = createSubmit({ ...parts, execution, batch })
  const { estimate } = createEstimates({ ...parts, quotes })
  const resume = createResume({ ...parts, execution, quotes })
  const approvals = createApprovals(parts)

  async function loadKeeping(): Promise<Keeping> {
    const [{ createKeeping }, plans] = await Promise.all([import('./background.ts'), parts.plans()])
    return createKeeping({ ...parts, plans, approvals, resume })
  }

  return {
    ledger,
    submit,
    estimate,
    start: resume.start,
    ...approvals,
    ...createBudgets(parts),
    ...createBudgetsFile(parts),
    ...createCallers(parts),
    ...onDemand(loadKeeping, {
      fire: true,
      runAgain: true,
      advance: true,
      report: true,
      planStatuses: true,
      forecast: true,
      upcoming: true,
      budgetsOf: true,
      readPrices: true,
      sweep: true,
      advanceOccurrences: true,
      checkThresholds: true,
      findRunsOutside: true,
      checkTokenExpiry: true,
      statement: true,
      digest: true,
      announceDigest: true,
      measure: true,
      audit: true,
      keepSummaries: true,
      course: true,
    }),
  }
}
