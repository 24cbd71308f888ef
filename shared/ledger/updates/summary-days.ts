import { type Calendar, dayAt, monthAt } from '../definitions/windows.ts'
import { type ItemKeys, itemWrite } from '../store/item-kind.ts'
import type { Condition, Write } from '../store/store.ts'
import type { Update } from './update.ts'

/** A day on which a billing month ends is split into two summary days. */
export interface SummaryDay {
  /** `month:2026-11-12` */
  readonly month: string
  /** `day:2026-11-20` */
  readonly name: string
  readonly start: number
  readonly end: number
}

export function summaryDayAt(calendar: Calendar, at: number): SummaryDay {
  const { name: month, ...span } = monthAt(calendar, at)
  const { name, start, end } = dayAt(calendar, at)
  return { month, name, start: Math.max(span.start, start), end: Math.min(span.end, end) }
}

export function summaryDays(calendar: Calendar, { since, until }: { since: number; until: number }): SummaryDay[] {
  const days: SummaryDay[] = []
  for (let at = since; at <= until; at = days.at(-1)?.end ?? until + 1) days.push(summaryDayAt(calendar, at))
  return days
}

/** The first item of a day has no shard. Further items have more rows. */
export type SummaryId = Pick<SummaryDay, 'month' | 'name'> & { readonly shard?: number }

export const summaryKeys = {
  name: 'summary',
  restOf: ({ month }) => month,
  sortOf: ({ name, shard }) => (shard === undefined ? name : `${name}#${shard}`),
} as const satisfies ItemKeys<SummaryId>

/** The place of a day in the list of days that must be counted again. */
export const unfinishedSince = ({ start, name }: SummaryDay) => ({ at: start, id: name })

/**
 * For the transaction that corrects an update of an earlier day. Has no condition, so it cannot block the correction.
 */
export const spoilSummary = (calendar: Calendar, { id, version, createdAt }: Update): Write =>
  itemWrite(summaryKeys, spoilt(summaryDayAt(calendar, createdAt), `${id}#${version}`, []))

/** Clears the day's counts, and keeps `used`. */
export function spoilt(day: SummaryDay, mark: string, when: readonly Condition[]) {
  const set = {
    mark,
    start: day.start,
    until: day.start - 1,
    rows: [],
    open: [],
    shards: 0,
    lastRuns: {},
    lastRefused: {},
    spenders: [],
    unlisted: [],
  }
  return { id: day, set, when, openSince: unfinishedSince(day), keptFrom: day.start }
}
