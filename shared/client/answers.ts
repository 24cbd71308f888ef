/** Types of the API's answers, which a test compares with the OpenAPI document. Units are whole numbers. */

export type Kind = 'ranking' | 'keyword-difficulty'

export type State =
  | 'awaiting-approval'
  | 'requested'
  | 'running'
  | 'in-doubt'
  | 'settled'
  | 'released'
  | 'refused'
  | 'rejected'
  | 'cancelled'
  | 'expired'

export interface Update {
  id: string
  kind: Kind
  project: string
  /** Who pays; all its ancestors are charged too. */
  budget: string
  caller: string
  via: 'http' | 'gateway' | 'schedule' | 'slack'
  plan?: string
  reason?: string
  force?: true
  maxUnits?: number
  query?: Record<string, string>
  state: State
  /** The billing month that it counts in, such as `month:2026-11-12`. */
  window: string
  /** A figure is `null` while it is unknown. */
  units: { estimated: number | null; held: number; charged: number | null }
  overrun?: number
  createdAt: string
  finishedAt?: string
  approvedBy?: string
  /** The update never holds more units than the approver agreed to. */
  approvedUpTo?: number
  /** Why it was refused or did not run. */
  problem?: Problem
  service?: { status: number; body: string; truncated?: true }
  history: { state: State; at: string; by: string; note?: string }[]
}

export type Limit = number | 'unlimited'

/** `available` + `held` + `inDoubt` + `spent` = `limit` + `granted`. */
export interface Figures {
  window: 'month' | 'day'
  start: string
  end: string
  resetsAt: string
  limit: Limit
  granted: number
  /** `null` if unlimited. */
  available: number | null
  held: number
  inDoubt: number
  spent: number
}

export interface Budget {
  name: string
  parent: string | null
  limits: { window: 'month' | 'day'; units: Limit }[]
  projects: { name: string; id?: string }[]
  perUpdate?: number
  approvalAbove?: number
  approvalIfGrown?: number
  approvalExpiresAfter?: string
  kinds: Kind[]
  frozen: { reason: string; by: string; at: string } | false
  approvers: string[]
  thresholds?: number[]
  freezeOnOverrun?: true
  slackChannel?: string
  /** Whether it will last until the reset, and why not. Read in the open month. */
  status?: 'on-track' | 'at-risk' | 'exhausted' | 'frozen'
  reason?: string
  windows: (Figures & { childrenLimit?: Limit })[]
}

export interface Estimate {
  kind: Kind
  units: number
  /** `units` is `null` where the service gave no estimate; `problem` says why this one would not pass. */
  projects: { project: string; units: number | null; problem?: Problem }[]
  /** Whether all would pass now; `problem` says why not. */
  allowed: boolean
  problem?: Problem
  budgets: (Figures & { budget: string })[]
}

/** A counter that has too little. */
export interface ShortCounter {
  budget: string
  window: 'month' | 'day'
  limit: number
  held: number
  inDoubt: number
  spent: number
  available: number
  /** `null` if nothing was left, so that no price was read. */
  short: number | null
  resetsAt: string
}

export interface ProblemMembers {
  'invalid-request': { errors: { path: string; message: string }[] }
  unauthorized: object
  forbidden: { budget?: string; update?: string }
  'over-budget': {
    units: number | null
    short: number | null
    /** Every counter that refused. */
    budgets: (ShortCounter | { budget: string; window: 'month' | 'day'; available: number })[]
    wouldPass?: string[]
  }
  'over-update-limit': { units: number; budget?: string; perUpdate?: number }
  'kind-not-allowed': { budget: string }
  'over-max-units': { units: number; maxUnits: number }
  'already-fresh': { units: number; date: string }
  'budget-frozen': { budget: string }
  'plan-paused': { plan: string | null }
  rejected: object
  cancelled: object
  expired: object
  'already-updated': { update: string }
  'not-found': object
  'method-not-allowed': object
  'in-progress': { update: string }
  'duplicate-work': { update: string }
  'ledger-restored': { until: string }
  'wrong-state': { update?: string; state?: State; retryAt?: string; units?: number; plan?: string; budget?: string }
  'precondition-failed': { revision: number }
  'too-large': object
  'unsupported-media-type': object
  'key-reused': object
  'too-many-requests': { ratePerMinute: number }
  'estimate-unreadable': { shape: string }
  'service-refused': { serviceStatus: number | null }
  'service-unreachable': { serviceStatus?: number | null }
  'ledger-unavailable': object
  undecided: object
  'secret-unavailable': object
  internal: object
}

/** RFC 9457. `type` narrows the members: `if (problem.type === '/problems/over-budget') problem.budgets …` */
export type Problem = {
  [Slug in keyof ProblemMembers]: ProblemMembers[Slug] & {
    type: `/problems/${Slug}`
    title: string
    status: number
    /** One sentence with the numbers. */
    detail: string
    requestId?: string
  }
}[keyof ProblemMembers]

/** `list` throws this error if a page is refused. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}
