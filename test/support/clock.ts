import type { Clock } from '../../shared/platform/clock.ts'

/** A clock that stands still until a test moves it. Sleeping moves it without waiting. */
export interface TestClock extends Clock {
  set(rfc3339: string): void
  advance(ms: number): void
}

export function createTestClock(start = '2026-11-20T10:00:00Z'): TestClock {
  let now = Date.parse(start)
  return {
    now: () => now,
    sleep: async () => {
      await new Promise(setImmediate)
    },
    set: (rfc3339) => {
      now = Date.parse(rfc3339)
    },
    advance: (ms) => {
      now += ms
    },
  }
}

/** A clock that moves only while a test sleeps, and then at once. */
export function createPassingClock(): TestClock {
  const clock = createTestClock()
  return { ...clock, sleep: async (ms) => clock.advance(ms) }
}

export const minutes = (count: number): number => count * 60_000
export const hours = (count: number): number => count * 3600_000
export const days = (count: number): number => count * 24 * 3600_000
