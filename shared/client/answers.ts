/** A test compares these with the OpenAPI document. Units are whole numbers. */

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
  /** A later version has a higher number. */
  version: number
  kind: Kind
  project: string
  /** Who pays; all its ancestors are charged too. `null`: a budget that the caller may not read. */
  budget: string | null
  caller: string
  via: 'http' | 'gateway' | 'schedule' | 'slack' | 'mcp'
  plan?: string
  reason?: string
  force?: true
  maxUnits?: number
  query?: Record<string, string>
  tags?: Record<string, string>
  state: State
  /** The billing month that it counts in, such as `month:2026-11-12`. */
  window: string
  /** `null` while it is unknown. */
  units: { estimated: number | null; held: number; charged: number | null }
  overrun?: number
  /** Limits of observed budgets that would have refused it, and the units that they lacked. */
  wouldHaveRefused?: { budget: string; window: 'month' | 'day'; short: number }[]
  createdAt: string
  finishedAt?: string
  approvedBy?: string
  /** The update never holds more. */
  approvedUpTo?: number
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
  /** Its limits are only observed. */
  enforce?: false
  slackChannel?: string
  /** Of `account` alone. */
  unowned?: 'pay' | 'approve' | 'refuse'
  /** Only in the open month. */
  status?: 'on-track' | 'at-risk' | 'exhausted' | 'frozen'
  reason?: string
  windows: (Figures & { childrenLimit?: Limit })[]
}

/** One change of a budget's counters, or of what is allowed. */
export interface Entry {
  id: string
  type:
    | 'opening'
    | 'grant'
    | 'external-spend'
    | 'transfer'
    | 'correction'
    | 'reconcile'
    | 'limit'
    | 'renewal'
    | 'adopt'
    | 'restore'
    | 'budget-created'
    | 'budget-deleted'
    | 'freeze'
    | 'unfreeze'
    | 'caller'
    | 'pause'
    | 'resume'
  budget: string | null
  units: number
  to?: string
  corrects?: string
  /** Of a reconciliation: when the vendor showed the figure. */
  asOf?: string
  /** Of a reconciliation with `dry-run=true`: nothing was booked. */
  preview?: {
    asOf: string | null
    unitsLeft: number
    available: number
    since: number
    held: number
    inDoubt: number
    difference: number
    after: number
    sentence: string
    open: string[]
  }
  window: string
  /** All that had a counter moved. */
  budgets: string[]
  reason: string
  by: string
  at: string
  binds?: { budget: string; window: 'month' | 'day'; available: number }
  /** `null` in `from` and `to`: not set. Without members if there are too many. */
  changed?: {
    kind: 'budget' | 'caller' | 'plan'
    name: string
    how: 'made' | 'changed' | 'removed'
    members: { member: string; from: unknown; to: unknown }[]
  }[]
}

export interface Plan {
  name: string
  kind: Kind
  projects: string[]
  /** `null`: each project's owner pays. */
  budget: string | null
  schedule: string
  whenShort: 'refuse' | 'fit' | 'ask'
  query?: Record<string, string>
  tags?: Record<string, string>
  mayChargeAncestors?: true
  leave?: number | Record<string, number>
  enabled: boolean
  paused: { reason: string; by: string; at: string } | false
  next: string | null
  /** In the account's time zone. */
  nextLocal: string | null
  last: {
    time: string
    state: 'running' | 'done' | 'stopped' | 'missed' | 'paused'
    reason?: string
    finishedAt: string | null
    /** How many projects were `settled`, `refused` and so on; zeros are left out. */
    counts?: Record<string, number>
  } | null
}

type AuditedCounter = Pick<Figures, 'limit' | 'granted' | 'available' | 'held' | 'inDoubt' | 'spent'>

export interface Audit {
  /** `null`: a book moved while it was read. */
  ok: boolean | null
  books: { window: string; budget: string; recorded: AuditedCounter; recomputed: AuditedCounter }[]
  /** When the table was last accepted after a restore, and the time that it was restored to. */
  restored?: { at: string; to?: string }
}

export interface Status {
  /** `null`: never, or the guard is on AWS. */
  sweptAt: string | null
  backedUpAt: string | null
  /** How many updates wait; 1000 may be more. */
  waiting: { requested: number; awaitingApproval: number; inDoubt: number }
  /** How many changes could not be passed on; `null` on AWS. */
  setAside: number | null
}

export interface Estimate {
  kind: Kind
  units: number
  /** `null` without an estimate; `problem` says why this one would not pass. */
  projects: { project: string; units: number | null; problem?: Problem }[]
  /** Whether all would pass now; `problem` says why not. */
  allowed: boolean
  problem?: Problem
  /** Why a person would have to approve it. */
  approval?: string
  /** Limits of observed budgets that would refuse it if they were enforced. Absent where it would be refused anyway. */
  wouldHaveRefused?: { budget: string; window: 'month' | 'day'; short: number }[]
  budgets: (Figures & { budget: string })[]
}

export interface ShortCounter {
  budget: string
  window: 'month' | 'day'
  limit: number
  held: number
  inDoubt: number
  spent: number
  available: number
  /** `null`: no price was read. */
  short: number | null
  resetsAt: string
}

/** A budget is `null`, and an update left out, if the caller may not read it. */
export interface ProblemMembers {
  'invalid-request': { errors: { path: string; message: string }[] }
  unauthorized: object
  forbidden: { budget?: string | null; update?: string }
  'wrong-address': object
  'over-budget': {
    units: number | null
    short: number | null
    budgets: (
      | ShortCounter
      | { budget: string; window: 'month' | 'day'; available: number }
      | { budget: null; short: number | null }
    )[]
    wouldPass?: string[]
  }
  'over-update-limit': { units: number; budget?: string | null; perUpdate?: number }
  'project-unowned': { project?: string }
  'kind-not-allowed': { budget: string | null }
  'over-max-units': { units: number; maxUnits: number }
  'already-fresh': { units: number; date: string }
  'budget-frozen': { budget: string | null }
  'plan-paused': { plan?: string | null }
  rejected: object
  cancelled: object
  expired: object
  'already-updated': { update?: string }
  'not-found': object
  'method-not-allowed': object
  'in-progress': { update?: string }
  'duplicate-work': { update?: string }
  'ledger-restored': { until: string }
  'wrong-state': {
    update?: string
    state?: State
    retryAt?: string
    units?: number
    plan?: string
    budget?: string | null
    projects?: string[]
  }
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
  'identity-unavailable': object
  'wrong-clock': { here: string; atService: string }
  'secret-unavailable': object
  internal: object
}

/** RFC 9457. `type` narrows the members: `if (problem.type === '/problems/over-budget') problem.budgets …` */
export type Problem = {
  [Slug in keyof ProblemMembers]: ProblemMembers[Slug] & {
    type: `/problems/${Slug}`
    title: string
    status: number
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
