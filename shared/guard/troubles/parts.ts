import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Secret } from '../../platform/secrets.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import type { DeployedOptions } from '../deployed-options.ts'
import type { Plan } from '../plans-file.ts'
import type { MachineFacts } from './table.ts'

export type Machine = () => Promise<MachineFacts>

export interface TroublesParts {
  readonly ledger: Ledger
  readonly tracking: Tracking
  readonly clock: Clock
  readonly log: Log
  readonly plans: () => Promise<readonly Plan[]>
  readonly secrets: readonly Secret[]
  /** Absent on AWS. */
  readonly machine?: Machine | undefined
  /** Whether the plans start by their schedule. */
  readonly firesPlans: boolean
  /** Absent: this process does not know the last deployment. */
  readonly deployedOptions?: DeployedOptions | undefined
}
