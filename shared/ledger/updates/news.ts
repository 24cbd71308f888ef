/** Projects that left a budget and that no budget lists now. */
export interface Released {
  readonly kind: 'released'
  readonly budget: string
  readonly otherBudgets: number
  readonly projects: readonly string[]
  readonly more: number
  readonly by: string
  readonly reason: string
}

/** Without `plan` the recent pace runs it out. */
export interface WillRunOut {
  readonly kind: 'will-run-out'
  readonly budget: string
  readonly at: number
  readonly plan?: string
  readonly left: number
  readonly short: number
  readonly resetsAt: number
}

export interface Repeats {
  readonly kind: 'repeats'
  readonly caller: string
  /** Of the last repeat, as `project`. */
  readonly budget: string
  readonly project: string
  readonly count: number
  readonly since: number
}

/** An update that is held at far more than the one before cost. */
export interface PriceJumped {
  readonly kind: 'price-jumped'
  readonly update: string
  readonly budget: string
  readonly project: string
  readonly units: number
  readonly before: number
}
