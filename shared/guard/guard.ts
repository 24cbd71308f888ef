import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Tracking } from '../tracking/tracking.ts'
import { createApplying } from './applying.ts'
import { createAsking } from './asking.ts'
import { createBatch } from './batch.ts'
import { createBudgeting } from './budgeting.ts'
import { createCallers } from './callers.ts'
import { createClosing } from './closing.ts'
import { createDeciding } from './deciding.ts'
import { createEstimating } from './estimating.ts'
import type { Keeping } from './keeping.ts'
import { onDemand } from './on-demand.ts'
import type { GuardOptions } from './options.ts'
import { createPerforming } from './performing.ts'
import type { Plan } from './plan.ts'
import { createQuoting } from './quoting.ts'
import { createStarting } from './starting.ts'

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
  /** What schedules ask for, in order of priority; read when somebody asks for it. */
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
  const quoting = createQuoting(parts)
  const closing = createClosing(parts)
  const performing = createPerforming({ ...parts, closing })
  const batch = createBatch({ ...parts, performing, quoting })
  const { ask } = createAsking({ ...parts, performing, batch })
  const { estimate } = createEstimating({ ...parts, quoting })
  const starting = createStarting({ ...parts, performing, quoting })
  const deciding = createDeciding({ ...parts, closing })

  async function loadKeeping(): Promise<Keeping> {
    const [{ createKeeping }, plans] = await Promise.all([import('./keeping.ts'), parts.plans()])
    return createKeeping({ ...parts, plans, closing, deciding, starting })
  }

  return {
    ledger,
    ask,
    estimate,
    start: starting.start,
    ...deciding,
    ...createBudgeting(parts),
    ...createApplying(parts),
    ...createCallers(parts),
    ...onDemand(loadKeeping, {
      fire: true,
      runAgain: true,
      advance: true,
      report: true,
      planned: true,
      foresee: true,
      ahead: true,
      budgetsOf: true,
      readPrices: true,
      sweep: true,
      goOn: true,
      watchThresholds: true,
      lookForForeignData: true,
      watchToken: true,
      statement: true,
      digest: true,
      announceDigest: true,
      measure: true,
      audit: true,
      keepPicture: true,
      keepTallies: true,
    }),
  }
}
