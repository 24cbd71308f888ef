/** What the API shows, as its OpenAPI document says it; a test compares the two. Units are whole numbers. */

import type { Problem } from './problem.ts'

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
  /** `null`: not known, or not yet. */
  units: { estimated: number | null; held: number; charged: number | null }
  overrun?: number
  createdAt: string
  finishedAt?: string
  approvedBy?: string
  /** Why it was refused, or did not run. */
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
  /** `null`: unlimited. */
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
  windows: (Figures & { childrenLimit?: Limit })[]
}

export interface Estimate {
  kind: Kind
  units: number
  /** `units` is `null` where the service gave no estimate; `problem` says why this one would not pass. */
  projects: { project: string; units: number | null; problem?: Problem }[]
  /** Whether all would pass, if they were asked for now; `problem` says why not. */
  allowed: boolean
  problem?: Problem
  budgets: (Figures & { budget: string })[]
}
