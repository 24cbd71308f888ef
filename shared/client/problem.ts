import type { State } from './resources.ts'

/** A counter that has too little. */
export interface ShortCounter {
  budget: string
  window: 'month' | 'day'
  limit: number
  held: number
  inDoubt: number
  spent: number
  available: number
  /** `null`: nothing is left, and what it needs was not even asked. */
  short: number | null
  resetsAt: string
}

/** What a problem of each type says beside `type`, `title`, `status` and `detail`. */
export interface ProblemMembers {
  'invalid-request': { errors: { path: string; message: string }[] }
  unauthorized: object
  forbidden: { budget?: string }
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
  'wrong-state': { update?: string; state?: State; retryAt?: string; plan?: string; budget?: string }
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

/** RFC 9457. `type` says which members there are: `if (problem.type === '/problems/over-budget') problem.budgets …` */
export type Problem = {
  [Slug in keyof ProblemMembers]: ProblemMembers[Slug] & {
    type: `/problems/${Slug}`
    title: string
    status: number
    /** One sentence with the numbers, to be forwarded as it is. */
    detail: string
    requestId?: string
  }
}[keyof ProblemMembers]

/** A list ended early: an iterator has no other way to say so. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}
