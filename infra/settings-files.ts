import { readTrustedIssuers } from '../shared/auth/issuers-file.ts'
import { readTargets } from '../shared/events/targets-file.ts'
import { readPlans } from '../shared/guard/plans-file.ts'

export type { Issuer } from '../shared/auth/issuers-file.ts'
export type { Target } from '../shared/events/targets-file.ts'

/** Readers of the files that settings name. Each throws `WrongFile` with all faults of its file. */
export const settingsFiles = { plans: readPlans, issuers: readTrustedIssuers, targets: readTargets }
