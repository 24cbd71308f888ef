import { dayMs, minuteMs } from '../../platform/clock.ts'

/** Rules for what is told although no limit refuses it: docs/correctness.md has their rate of false alarms. */

/** A caller that repeats itself: replays of a key, and duplicates that are refused. */
export const repeatsToTell = 50
export const repeatsWithinMs = 10 * minuteMs

/** A price far above the one before. */
const priceGrowsTo = 3
const priceGrowsBy = 150

/** A day far above the same weekday of the weeks before. */
const weeks = 8
const minWeeks = 4
const deviations = 6
const dayGrowsTo = 2
const dayGrowsBy = 300
const aboveLargest = 1.5
/** Makes the median of deviations comparable with a standard deviation. */
const ofNormal = 1.4826

/** Days that cost less are never looked up. */
export const minUnusual = dayGrowsBy

/** The largest price of known runs, if this one is far above it. */
export function priceBeforeJump(units: number, runs: readonly { readonly units: number }[]): number | null {
  const [before] = runs.map((run) => run.units).toSorted((a, b) => b - a)
  if (before === undefined || units < before * priceGrowsTo || units < before + priceGrowsBy) return null
  return before
}

/** Instants of the same weekday in the weeks before. */
export const weekdaysBefore = (at: number): readonly number[] =>
  Array.from({ length: weeks }, (_, week) => at - (week + 1) * 7 * dayMs)

/** @returns what such a day usually costs, if `units` is far above it. */
export function usualIfExceeded(units: number, before: readonly number[]): number | null {
  if (before.length < minWeeks) return null
  const usual = median(before)
  const deviation = ofNormal * median(before.map((each) => Math.abs(each - usual)))
  const most = Math.max(
    ...[usual + deviations * deviation, usual * dayGrowsTo, usual + dayGrowsBy],
    Math.max(...before) * aboveLargest,
  )
  return units > most ? Math.round(usual) : null
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return ((sorted[middle] ?? 0) + (sorted[(sorted.length - 1) >> 1] ?? 0)) / 2
}
