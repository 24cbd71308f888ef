import type { World } from './world.ts'

/** An event that a process waits for. It happens at its turn, in the world of that moment. */
export interface Step<T> {
  readonly what: string
  readonly faults: readonly string[]
  readonly reads: boolean
  /** Its outcome does not depend on its time, and no other process notices it, so one order is enough. */
  readonly isLocal?: boolean
  /** @param fault one of `faults`, except death: the process that takes the step dies of it. */
  take(world: World, fault: string | null): Promise<T>
}

export type Ask = <T>(step: Step<T>) => Promise<T>

/**
 * The process dies after this step. Only steps that change something have this fault, because a death before a step equals a death after
 * the step before.
 */
export const death = 'dies after it'

export type Choose = (of: number) => number
