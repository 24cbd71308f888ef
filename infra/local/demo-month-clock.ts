import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../shared/platform/clock.ts'

/** Time as a story has it: it stands still until the next scene begins, and nobody waits. */
export interface StoryClock extends Clock {
  /** Never back. */
  moveTo(instant: number): void
}

export function createStoryClock(start: number): StoryClock {
  let now = start
  return {
    now: () => now,
    moveTo: (instant) => {
      now = Math.max(now, instant)
    },
    sleep: async (ms) => {
      now += ms
      await setImmediate()
    },
  }
}
