import type { WindowKind } from '../ledger/definitions/definitions.ts'
import { earlyRuleNames } from './rules/early.ts'

// What reports add to a shown budget or caller.

export const outlookStatuses = ['on-track', 'at-risk', 'exhausted', 'frozen'] as const

export const stopKinds = [...earlyRuleNames, 'per-update', 'limit', 'disabled', 'scopes', 'budgets', 'nothing'] as const

/** The first rule or limit by which `decide` will refuse an update. */
export interface NextStop {
  readonly kind: (typeof stopKinds)[number]
  /** A budget, or the counter of a caller. */
  readonly budget: string | null
  readonly window: WindowKind | null
  /** The units until the stop. For `per-update`: the most that one update may need. `null`: nothing stops it. */
  readonly units: number | null
  /** How many more updates pass, if all runs of 30 days had one price. 0: none. `null`: unknown, or any number. */
  readonly updates: number | null
  readonly sentence: string
  /** The cost of the last update. */
  readonly price: number | null
  readonly lastRefused: { readonly at: number; readonly project: string } | null
}

/** Whether a budget will last, and the next stop of its updates. */
export interface BudgetExtra {
  readonly budget: string
  readonly status: (typeof outlookStatuses)[number]
  readonly sentence: string | null
  /** `null`: the figures sum up several budgets. */
  readonly next: NextStop | null
}
