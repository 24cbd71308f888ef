import * as z from 'zod/mini'
import type { Slug } from '../../guard/problems.ts'
import { windowKinds } from '../../ledger/book/definitions.ts'
import { states } from '../../ledger/updates/update.ts'

/** Members of each problem type besides `type`, `title`, `status` and `detail`. */

const text = z.string()
const time = z.iso.datetime()
const whole = z.int()
const status = z.nullable(whole)

const refusingCounter = z.strictObject({
  budget: text,
  window: z.enum(windowKinds),
  limit: whole,
  held: whole,
  inDoubt: whole,
  spent: whole,
  available: whole,
  short: z.nullable(whole),
  resetsAt: time,
})
/** The counter from which a transfer or a correction takes units. */
const givingCounter = z.strictObject({ budget: text, window: z.enum(windowKinds), available: whole })

export const problemMembers = {
  'invalid-request': { errors: z.array(z.strictObject({ path: text, message: text })) },
  unauthorized: {},
  forbidden: { budget: z.exactOptional(text), update: z.exactOptional(text) },
  'over-budget': {
    units: z.nullable(whole),
    short: z.nullable(whole),
    budgets: z.array(z.union([refusingCounter, givingCounter])),
    wouldPass: z.exactOptional(z.array(text)),
  },
  'over-update-limit': { units: whole, budget: z.exactOptional(text), perUpdate: z.exactOptional(whole) },
  'kind-not-allowed': { budget: text },
  'over-max-units': { units: whole, maxUnits: whole },
  'already-fresh': { units: whole, date: text },
  'budget-frozen': { budget: text },
  'plan-paused': { plan: z.nullable(text) },
  rejected: {},
  cancelled: {},
  expired: {},
  'already-updated': { update: text },
  'not-found': {},
  'method-not-allowed': {},
  'in-progress': { update: text },
  'duplicate-work': { update: text },
  'ledger-restored': { until: time },
  'wrong-state': {
    update: z.exactOptional(text),
    state: z.exactOptional(z.enum(states)),
    retryAt: z.exactOptional(time),
    units: z.exactOptional(whole),
    plan: z.exactOptional(text),
    budget: z.exactOptional(text),
  },
  'precondition-failed': { revision: whole },
  'too-large': {},
  'unsupported-media-type': {},
  'key-reused': {},
  'too-many-requests': { ratePerMinute: whole },
  'estimate-unreadable': { shape: text },
  'service-refused': { serviceStatus: status },
  'service-unreachable': { serviceStatus: z.exactOptional(status) },
  'ledger-unavailable': {},
  undecided: {},
  'secret-unavailable': {},
  internal: {},
} as const satisfies Record<Slug, Readonly<Record<string, z.ZodMiniType>>>
