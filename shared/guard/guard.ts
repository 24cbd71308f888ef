import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Tracking } from '../tracking/tracking.ts'
import { createAsking } from './asking.ts'
import { createBatch } from './batch.ts'
import { createBudgeting } from './budgeting.ts'
import { createClosing } from './closing.ts'
import { createDeciding } from './deciding.ts'
import { createEstimating } from './estimating.ts'
import type { GuardOptions } from './options.ts'
import { createPerforming } from './performing.ts'
import { createQuoting } from './quoting.ts'
import { createStarting } from './starting.ts'
import { createSweeping } from './sweeping.ts'

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
  /** Has a `requested` update begun, some time. Whatever it forgets, the sweep begins. */
  begin?: (id: string) => void
}) {
  const { ledger, begin = () => {} } = parts
  const quoting = createQuoting(parts)
  const closing = createClosing(parts)
  const performing = createPerforming({ ...parts, closing })
  const batch = createBatch({ ...parts, performing, quoting, begin })
  const { ask } = createAsking({ ...parts, performing, batch, begin })
  const { estimate } = createEstimating({ ...parts, quoting })
  const { start } = createStarting({ ...parts, performing, quoting })
  const deciding = createDeciding({ ...parts, closing })
  const { sweep } = createSweeping({ ...parts, closing, deciding, start })
  return { ledger, ask, estimate, start, ...deciding, sweep, ...createBudgeting(parts) }
}
