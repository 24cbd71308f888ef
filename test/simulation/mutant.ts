import type { RaceName } from './races/races.ts'

/** A bug that a programmer could make by changing one line. It must break a promise that the simulation checks. */
export interface Mutant {
  readonly bug: string
  readonly file: string
  readonly find: string
  readonly replace: string
  /** The workload that found the bug last, which is tried first. */
  readonly seed?: number
  /** The race that must find it with this many faults, by a promise with these words. Nothing else is tried. */
  readonly race?: readonly [name: RaceName, maxFaults: number, promise: string]
}
