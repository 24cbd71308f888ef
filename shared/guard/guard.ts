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
import { createDigesting } from './digest.ts'
import { createEstimating } from './estimating.ts'
import { createForeignData } from './foreign-data.ts'
import { createMeasuring } from './measuring.ts'
import { createOccurrences } from './occurrences.ts'
import type { GuardOptions } from './options.ts'
import { createPerforming } from './performing.ts'
import { createPicturing } from './picturing.ts'
import type { Plan } from './plan.ts'
import { createPlanning } from './planning.ts'
import { createPricing } from './pricing.ts'
import { createQuoting } from './quoting.ts'
import { createStarting } from './starting.ts'
import { createStatements } from './statements.ts'
import { createSweeping } from './sweeping.ts'
import { createTokenExpiry } from './token-expiry.ts'
import { createWatching } from './watching.ts'

export type Guard = ReturnType<typeof createGuard>

/**
 * The guard: everything that may be asked of the service goes through here, and so does everything that people decide
 * about it. Refusals come back by value.
 *
 * @throws LedgerUnavailable, SecretUnavailable: nothing was sent, or the ledger knows about it.
 */
export function createGuard(parts: {
  ledger: Ledger
  tracking: Tracking
  /** The service's token as it is now. */
  serviceToken: () => Promise<string>
  clock: Clock
  ids: Ids
  log: Log
  options: GuardOptions
  /** What schedules ask for, in order of priority. */
  plans: readonly Plan[]
}) {
  const { ledger } = parts
  const quoting = createQuoting(parts)
  const closing = createClosing(parts)
  const performing = createPerforming({ ...parts, closing })
  const batch = createBatch({ ...parts, performing, quoting })
  const { ask } = createAsking({ ...parts, performing, batch })
  const { estimate } = createEstimating({ ...parts, quoting })
  const { start, begin } = createStarting({ ...parts, performing, quoting })
  const deciding = createDeciding({ ...parts, closing })
  const occurrences = createOccurrences({ ...parts, begin })
  const watching = createWatching(parts)
  const { sweep, goOn } = createSweeping({ ...parts, closing, deciding, start, watching, advance: occurrences.advance })
  const { prices, readPrices } = createPricing(parts)
  const planning = createPlanning({ ...parts, prices })
  const digesting = createDigesting({ ledger, prices, foresee: planning.foresee })
  return {
    ledger,
    ask,
    estimate,
    start,
    ...deciding,
    sweep,
    goOn,
    ...createBudgeting(parts),
    ...createApplying(parts),
    ...createStatements(parts),
    ...createForeignData(parts),
    ...createTokenExpiry(parts),
    ...createCallers(parts),
    ...occurrences,
    ...planning,
    readPrices,
    ...digesting,
    watchThresholds: watching.watchThresholds,
    ...createMeasuring(parts),
    ...createPicturing(parts),
  }
}
