import * as z from 'zod/mini'
import type { Slug } from '../../guard/problem-types.ts'
import { windowKinds } from '../../ledger/definitions/definitions.ts'
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

/** An ancestor that the caller may not read. */
const unseenCounter = z.strictObject({ budget: z.null(), short: z.nullable(whole) })
/** `null`: a budget that the caller may not read. */
const budget = z.nullable(text)
/** Absent if the caller may not read that update. */
const update = z.exactOptional(text)

const errors = z.array(z.strictObject({ path: text, message: text }))

export const problemMembers = {
  'invalid-request': { errors },
  unauthorized: {},
  forbidden: { budget: z.exactOptional(budget), update },
  'wrong-address': {},
  'over-budget': {
    units: z.nullable(whole),
    short: z.nullable(whole),
    budgets: z.array(z.union([refusingCounter, givingCounter, unseenCounter])),
    wouldPass: z.exactOptional(z.array(text)),
  },
  'over-update-limit': { units: whole, budget: z.exactOptional(budget), perUpdate: z.exactOptional(whole) },
  'kind-not-allowed': { budget },
  'no-price': { units: whole },
  'project-unowned': { project: z.exactOptional(text) },
  'over-max-units': { units: whole, maxUnits: whole },
  'already-fresh': { units: whole, date: text },
  'budget-frozen': { budget },
  'plan-paused': { plan: z.exactOptional(z.nullable(text)) },
  rejected: {},
  cancelled: {},
  expired: {},
  'already-updated': { update },
  'not-found': {},
  'method-not-allowed': {},
  'in-progress': { update },
  'duplicate-work': { update, until: z.exactOptional(time) },
  'ledger-restored': { until: time },
  'wrong-state': {
    update,
    state: z.exactOptional(z.enum(states)),
    retryAt: z.exactOptional(time),
    units: z.exactOptional(whole),
    plan: z.exactOptional(text),
    budget: z.exactOptional(budget),
    projects: z.exactOptional(z.array(text)),
  },
  contradicted: { errors, asWritten: z.boolean() },
  'doubts-open': { doubts: z.array(z.strictObject({ update: text, project: text, units: whole })) },
  'precondition-failed': { revision: whole },
  'too-large': {},
  'unsupported-media-type': {},
  'key-reused': {},
  'too-many-requests': { ratePerMinute: whole },
  'estimate-unreadable': { shape: text },
  'service-refused': { serviceStatus: status, retryAfter: z.exactOptional(whole) },
  'service-unreachable': { serviceStatus: z.exactOptional(status) },
  'ledger-unavailable': {},
  undecided: {},
  'identity-unavailable': {},
  'wrong-clock': { here: time, atService: time },
  'secret-unavailable': {},
  internal: {},
} as const satisfies Record<Slug, Readonly<Record<string, z.ZodMiniType>>>

export const problemTexts: Readonly<Record<string, string>> = {
  errors: 'Each fault: the path of the member, and what is wrong.',
  doubts: 'The updates in doubt that the figure has if they ran, with their held units.',
  asWritten: 'Whether the same request passes with `asWritten=true`.',
  update: 'The update that blocks the request.',
  units: 'How many units the update needs.',
  short: 'How many units are missing; `null` without an estimate.',
  budgets: 'The counters that have too little.',
  wouldPass: 'Requests that would pass instead, in sentences.',
  perUpdate: 'The most units that one update may cost.',
  maxUnits: 'The most units that the request allows for each update.',
  date: 'The day of the data, in the account’s time zone.',
  plan: 'The plan that is paused, or is already in the requested state.',
  until: 'Before this time the work is refused without `force`.',
  state: 'The state of the update.',
  retryAt: 'The same request may pass from this time on.',
  project: 'The project that no budget lists.',
  projects: 'The projects that no budget would list.',
  revision: 'The revision of the definitions now.',
  ratePerMinute: 'How many requests a minute the caller may make.',
  shape: 'The structure of the service’s answer, without values.',
  here: 'The time of the guard’s clock.',
  atService: 'The time of the service’s clock, from the `Date` of its answer.',
  retryAfter: 'How many seconds the service asks to wait, at most an hour.',
  serviceStatus: 'The status of the service’s answer; `null` without an answer.',
}
