import type { World } from './world.ts'

/** Something that a process waits for. It happens when its turn comes, in the world of that moment. */
export interface Step<T> {
  readonly what: string
  readonly faults: readonly string[]
  readonly reads: boolean
  /** Its outcome does not depend on when it is taken, and no other process can tell: one order is enough. */
  readonly isLocal?: boolean
  /** @param fault one of `faults`, except death: the process that takes the step dies of it. */
  take(world: World, fault: string | null): Promise<T>
}

export type Ask = <T>(step: Step<T>) => Promise<T>

/**
 * The process takes this step and no other. Only steps that change something have this fault: to die before a step is
 * to die after the one before it.
 */
export const death = 'dies after it'

export type Choose = (of: number) => number
