import { dayMs, isZone, type LocalDate, toInstant, toLocal } from '../../platform/clock.ts'

/**
 * When the month turns: on `day` (1–31), or on the last day of a month that is shorter, at `time` (`HH:MM`) on the wall
 * in `zone` (IANA). A time that the zone skips on that day moves forward by the length of the gap.
 */
export interface Renewal {
  readonly day: number
  readonly time: string
  readonly zone: string
}

/**
 * Every renewal there has been, as plain JSON: the first has ruled for ever, and each change says from when on it rules.
 * Months are kept, not instants: when a country changes its clocks, all bounds move and still fit each other.
 */
export interface Calendar {
  readonly first: Renewal
  readonly changes: readonly Change[]
}

/**
 * ```
 * before:   S ──────── E ────────      S: the old renewal in the month `lengthens`
 * after:    S ────────────── N ──      N: the new renewal in the month `from`, its first at or after E
 * ```
 */
interface Change {
  readonly renewal: Renewal
  /** `YYYY-MM` */
  readonly lengthens: string
  /** `YYYY-MM` */
  readonly from: string
}

/** The instants (ms since the epoch) from `start` up to `end`, which is outside. */
export interface Window {
  /** `month:` or `day:` and the local date of `start`. No two months of a calendar have the same name. */
  readonly name: string
  readonly start: number
  readonly end: number
}

/**
 * A calendar with one renewal, for all time.
 *
 * @throws RangeError when it is no renewal.
 */
export function newCalendar(renewal: Renewal): Calendar {
  return { first: toRenewal(renewal), changes: [] }
}

/** The renewal that was asked for last: it rules already, or will when the open month ends. */
export function latestRenewal(calendar: Calendar): Renewal {
  return calendar.changes.at(-1)?.renewal ?? calendar.first
}

/**
 * Lets another renewal rule after the month that is open at `now`; the same object comes back when it is the latest
 * already. The open month is lengthened to the first new renewal at or after its end: it keeps its start and its name,
 * so no budget gets two allowances, and earlier months stay as they were. A change that does not rule yet is replaced
 * as if it had never been, but for the time that has already passed: a mistake can be undone, and two deployments that
 * disagree for a minute do not lengthen the month in turns. So there is at most one change for each month.
 *
 * @throws RangeError when it is no renewal.
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

/** The month that `instant` is in. Months tile time: each instant is in exactly one. */
export function monthAt(calendar: Calendar, instant: number): Window {
  const { renewal, next } = ruleAt(calendar, instant)
  if (next) {
    const start = turn(renewal, toMonth(next.lengthens))
    if (instant >= start) return toWindow('month', renewal.zone, { start, end: firstTurn(next) })
  }
  return toWindow('month', renewal.zone, ownMonthAt(renewal, instant))
}

/** The month after this one, as the calendar has it now: a later change may lengthen `window`, and move the next. */
export const monthAfter = (calendar: Calendar, window: Window): Window => monthAt(calendar, window.end)

/** The month before this one. */
export const monthBefore = (calendar: Calendar, window: Window): Window => monthAt(calendar, window.start - 1)

/** The month that is called so, or null when no month of this calendar is. */
export function monthNamed(calendar: Calendar, name: string): Window | null {
  const date = dateIn('month', name)
  if (date === null) return null
  // Local dates are within a day of UTC's, and months are four weeks at least: if one starts on that date anywhere on
  // Earth, it is the one that is open two days after.
  const window = monthAt(calendar, date + 2 * dayMs)
  return window.name === name ? window : null
}

/**
 * The local day that `instant` is in, from midnight to midnight (the first instant of the date, where midnight is
 * skipped; a date that is skipped has no window), in the zone of the renewal that rules at `instant`.
 *
 * Days tile time as long as the zone stays. When it changes, which is only where a month turns, the last day of the old
 * zone and the first of the new one may overlap, carry the same name, or leave a name out. Nothing is counted twice or
 * lost: each book counts one month, so it has days of one zone only, and its day only moves forward.
 */
export const dayAt = (calendar: Calendar, instant: number): Window => dayIn(zoneAt(calendar, instant), instant)

/** The renewal that rules at `instant`, and the change that ends its rule. */
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

/** The month that `instant` would be in, had this renewal always ruled. Months are counted from January 1970. */
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

/** When a date begins in `zone`. Dates are counted from 1 January 1970. */
const midnight = (zone: string, index: number): number => toInstant({ year: 1970, month: 1, day: 1 + index }, zone)

/** The span between two neighbouring bounds that `instant` is in; `guess` is the index of a bound near it. */
function spanAt(instant: number, guess: number, bound: (index: number) => number): Span {
  let index = guess
  while (bound(index) > instant) index -= 1
  while (bound(index + 1) <= instant) index += 1
  return { index, start: bound(index), end: bound(index + 1) }
}

/** When this renewal turns the month. Only this date decides, never the month before: day 31 is 28 Feb, then 31 Mar. */
function turn({ day, time, zone }: Renewal, index: number): number {
  const lastDay = new Date(Date.UTC(1970, index + 1, 0)).getUTCDate()
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return toInstant({ year: 1970, month: 1 + index, day: Math.min(day, lastDay), hour, minute }, zone)
}

const firstTurn = (change: Change): number => turn(change.renewal, toMonth(change.from))

/**
 * No two months get the same name: none is ever shortened, so their starts are nearly four weeks apart or more, and the
 * same instant has dates in two zones that are a day or two apart at most.
 */
function toWindow(kind: 'month' | 'day', zone: string, { start, end }: Omit<Span, 'index'>): Window {
  const date = new Date(utcDate(toLocal(start, zone))).toISOString().slice(0, 'YYYY-MM-DD'.length)
  return { name: `${kind}:${date}`, start, end }
}

/** UTC's midnight of the date in the name, or null when this is no such name. */
function dateIn(kind: 'month' | 'day', name: string): number | null {
  const [, named, date] = /^(month|day):(\d{4}-\d{2}-\d{2})$/.exec(name) ?? []
  const midnightInUtc = named === kind ? Date.parse(`${date}T00:00Z`) : Number.NaN
  return Number.isNaN(midnightInUtc) ? null : midnightInUtc
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
