import { dayMs, isZone, type LocalDate, toInstant, toLocal } from '../../platform/clock.ts'
import { list, type Of, record, text, whole } from '../store/stored.ts'

/**
 * A month begins on `day` (1–31, or the last day of a shorter month) at `time` (`HH:MM`) in `zone` (IANA). A time that
 * the zone skips moves forward by the gap.
 */
export const storedRenewal = record({ day: whole, time: text, zone: text })
export type Renewal = Of<typeof storedRenewal>

/**
 * ```
 * before:   S ──────── E ────────      S: the old renewal in the month `lengthens`
 * after:    S ────────────── N ──      N: the first new renewal at or after E, in the month `from`
 * ```
 * Both months are `YYYY-MM`.
 */
const storedChange = record({ renewal: storedRenewal, lengthens: text, from: text })
type Change = Of<typeof storedChange>

/** Stores months, because instants would be wrong after a country changes its clocks. */
export const storedCalendar = record({ first: storedRenewal, changes: list(storedChange) })
export type Calendar = Of<typeof storedCalendar>

/** `end` is exclusive. */
export interface Window {
  /** `month:` or `day:`, and the local date of `start`; unique. */
  readonly name: string
  readonly start: number
  readonly end: number
}

/** @throws RangeError */
export function newCalendar(renewal: Renewal): Calendar {
  return { first: toRenewal(renewal), changes: [] }
}

/** The newest renewal. It may apply only after the open month. */
export function latestRenewal(calendar: Calendar): Renewal {
  return calendar.changes.at(-1)?.renewal ?? calendar.first
}

/**
 * The month open at `now` is lengthened up to the first new renewal, and keeps its start and name, so no budget gets two
 * allowances. A change that does not apply yet is replaced, so two deployments that disagree do not lengthen the month
 * again and again.
 * @throws RangeError
 */
export function changeRenewal(calendar: Calendar, renewal: Renewal, now: number): Calendar {
  const latest = latestRenewal(calendar)
  if (isSame(renewal, latest)) return calendar
  const asked = toRenewal(renewal)
  const last = calendar.changes.at(-1)
  const pending = last && now < firstTurn(last) ? last : null
  const before = pending ? { ...calendar, changes: calendar.changes.slice(0, -1) } : calendar
  const ruling = latestRenewal(before)
  const opened = pending ? toMonth(pending.lengthens) : ownMonthAt(ruling, now).index
  const oldEnd = Math.max(turn(ruling, opened + 1), now + 1)
  const from = ownMonthAt(asked, oldEnd - 1).index + 1
  if (isSame(asked, ruling) && from === opened + 1) return before
  const change: Change = { renewal: asked, lengthens: toText(opened), from: toText(from) }
  return { ...before, changes: [...before.changes, change] }
}

/** Each instant is in exactly one month. */
export function monthAt(calendar: Calendar, instant: number): Window {
  const { renewal, next } = ruleAt(calendar, instant)
  if (next) {
    const start = turn(renewal, toMonth(next.lengthens))
    if (instant >= start) return toWindow('month', renewal.zone, { start, end: firstTurn(next) })
  }
  return toWindow('month', renewal.zone, ownMonthAt(renewal, instant))
}

export const monthAfter = (calendar: Calendar, window: Window): Window => monthAt(calendar, window.end)

export const monthBefore = (calendar: Calendar, window: Window): Window => monthAt(calendar, window.start - 1)

export function monthNamed(calendar: Calendar, name: string): Window | null {
  const date = Date.parse(`${name.slice('month:'.length)}T00:00Z`)
  if (Number.isNaN(date)) return null
  // Local dates are within a day of UTC's, so a month that starts on this date is open two days later.
  const window = monthAt(calendar, date + 2 * dayMs)
  return window.name === name ? window : null
}

/**
 * If a new month has another zone, two days may overlap or share a name. Nothing is counted twice, because each book
 * has days of one zone, and its day only moves forward.
 */
export const dayAt = (calendar: Calendar, instant: number): Window => dayIn(zoneAt(calendar, instant), instant)

function ruleAt(calendar: Calendar, instant: number): { renewal: Renewal; next: Change | null } {
  let next: Change | null = null
  for (const change of calendar.changes.toReversed()) {
    if (instant >= firstTurn(change)) return { renewal: change.renewal, next }
    next = change
  }
  return { renewal: calendar.first, next }
}

const zoneAt = (calendar: Calendar, instant: number): string => ruleAt(calendar, instant).renewal.zone

interface Span {
  readonly index: number
  readonly start: number
  readonly end: number
}

/** The month as if this renewal had always applied. Its index counts from January 1970. */
function ownMonthAt(renewal: Renewal, instant: number): Span {
  const { year, month } = toLocal(instant, renewal.zone)
  return spanAt(instant, (year - 1970) * 12 + month - 1, (index) => turn(renewal, index))
}

function dayIn(zone: string, instant: number): Window {
  const guess = utcDate(toLocal(instant, zone)) / dayMs
  return toWindow(
    'day',
    zone,
    spanAt(instant, guess, (index) => midnight(zone, index)),
  )
}

const midnight = (zone: string, index: number): number => toInstant({ year: 1970, month: 1, day: 1 + index }, zone)

function spanAt(instant: number, guess: number, bound: (index: number) => number): Span {
  let index = guess
  while (bound(index) > instant) index -= 1
  while (bound(index + 1) <= instant) index += 1
  return { index, start: bound(index), end: bound(index + 1) }
}

/** Day 31 is the last day of a shorter month: 28 Feb, then 31 Mar. */
function turn({ day, time, zone }: Renewal, index: number): number {
  const lastDay = new Date(Date.UTC(1970, index + 1, 0)).getUTCDate()
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return toInstant({ year: 1970, month: 1 + index, day: Math.min(day, lastDay), hour, minute }, zone)
}

const firstTurn = (change: Change): number => turn(change.renewal, toMonth(change.from))

/** The name is unique: months start nearly four weeks apart, and dates in two zones differ by two days at most. */
function toWindow(kind: 'month' | 'day', zone: string, { start, end }: Omit<Span, 'index'>): Window {
  const date = new Date(utcDate(toLocal(start, zone))).toISOString().slice(0, 'YYYY-MM-DD'.length)
  return { name: `${kind}:${date}`, start, end }
}

const utcDate = ({ year, month, day }: LocalDate): number => Date.UTC(year, month - 1, day)

const toText = (index: number): string => new Date(Date.UTC(1970, index)).toISOString().slice(0, 'YYYY-MM'.length)

function toMonth(text: string): number {
  const [year = Number.NaN, month = Number.NaN] = text.split('-').map(Number)
  return (year - 1970) * 12 + month - 1
}

function toRenewal({ day, time, zone }: Renewal): Renewal {
  const isDay = Number.isInteger(day) && day >= 1 && day <= 31
  const isTime = /^([01]\d|2[0-3]):[0-5]\d$/.test(time)
  if (isDay && isTime && isZone(zone)) return { day, time, zone }
  throw new RangeError(`no renewal: day ${day} at ${time} in ${zone}`)
}

const isSame = (a: Renewal, b: Renewal): boolean => a.day === b.day && a.time === b.time && a.zone === b.zone
