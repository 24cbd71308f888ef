/** Time as milliseconds since the epoch. Passed in everywhere, so that tests and the simulation own it. */
export interface Clock {
  now(): number
  /** Resolves after `ms`; cannot be cancelled. */
  sleep(ms: number): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** RFC 3339 in UTC, as every answer shows it. */
export const toRfc3339 = (instant: number): string => new Date(instant).toISOString()
