import type { World } from './world.ts'

/**
 * Something that a process waits for: it is asked for, and happens when its turn comes, in the world as it is by then,
 * with or without a fault.
 */
export interface Step<T> {
  readonly what: string
  /** What can go wrong with it, besides that it comes late. */
  readonly faults: readonly string[]
  /** It changes nothing, so the world need not be copied for it. */
  readonly reads: boolean
  /** Its outcome is the same whenever it is taken, and nobody else can tell: one order is enough. */
  readonly isLocal?: boolean
  /** @param fault one of `faults`, but for a death, which is the business of whoever takes the step. */
  take(world: World, fault: string | null): Promise<T>
}

export type Ask = <T>(step: Step<T>) => Promise<T>

/**
 * The process takes this step and no other. To die before it is to die after the one before; and where that changed
 * nothing, to have died earlier still: so only what changes something has this fault.
 */
export const death = 'dies after it'

/** Chooses one of `of` possibilities. */
export type Choose = (of: number) => number
