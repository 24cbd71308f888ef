/** Passed in, so that tests control time. */
export interface Clock {
  now(): number
  /** Cannot be cancelled. */
  sleep(ms: number): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
export const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
/** `Nov`, `Mon` */
const shortened = (name: string): string => name.slice(0, 'Nov'.length)
export const shortMonths = months.map(shortened)
export const shortWeekdays = weekdays.map(shortened)

export const toRfc3339 = (instant: number): string => new Date(instant).toISOString()

// Time zones use Intl, because Node 20 and 24 have no Temporal, and a polyfill would slow every cold start.

/** Months count from 1. */
export interface LocalDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

export interface LocalTime extends LocalDate {
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly ms: number
}

/** Accepts names of the IANA database only, not offsets such as +01:00. */
export function isZone(name: string): boolean {
  if (name === 'UTC') return true
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

/** Whether both are names of one time zone, such as Asia/Calcutta and Asia/Kolkata. */
export const isSameZone = (one: string, other: string): boolean =>
  isZone(one) && isZone(other) && canonicalZone(one) === canonicalZone(other)

const canonicalZone = (zone: string): string => formatterOf(zone).resolvedOptions().timeZone

/** @throws RangeError */
export function toLocal(instant: number, zone: string): LocalTime {
  const name = `${instant} ${zone}`
  const known = shownBefore.get(name)
  if (known) return known
  const local = formatted(instant, zone)
  if (shownBefore.size >= maxShown) shownBefore.clear()
  shownBefore.set(name, local)
  return local
}

/** Cached, because formatting is slow and every read needs the same windows. */
const two = (number: number) => String(number).padStart(2, '0')

/** `12 Dec 2026 00:00`, the one form of a time for people. */
export function onTheWall(instant: number, zone: string): string {
  const { year, month, day, hour, minute } = toLocal(instant, zone)
  return `${day} ${shortMonths[month - 1]} ${year} ${two(hour)}:${two(minute)}`
}

const shownBefore = new Map<string, LocalTime>()
const maxShown = 500

function formatted(instant: number, zone: string): LocalTime {
  if (zone === 'UTC') return inUtc(new Date(instant))
  const shown = formatterOf(zone).format(instant) // 11/20/2026, 23:30:15
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (shown.match(/\d+/g) ?? []).map(Number)
  return { year, month, day, hour, minute, second, ms: modulo(instant, 1000) }
}

/** Without Intl, whose first formatter would cost a cold start ten milliseconds. */
function inUtc(date: Date): LocalTime {
  if (Number.isNaN(date.getTime())) throw new RangeError('Invalid time value')
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    ms: date.getUTCMilliseconds(),
  }
}

/**
 * A skipped time moves forward by the gap. An ambiguous time is the earlier one (RFC 5545, section 3.3.5).
 * Values out of range carry over as in Date.UTC.
 * @throws RangeError
 */
export function toInstant(local: LocalDate & Partial<LocalTime>, zone: string): number {
  const asUtc = utcOf(local)
  // Between these two offsets is at most one change, because from 1970 to 2100 no zone changes twice in six days.
  const before = offsetAt(asUtc - dayMs, zone)
  const after = offsetAt(asUtc + dayMs, zone)
  if (before === after) return asUtc - before
  const isBeforeChange = offsetAt(asUtc - before, zone) === before
  const isAfterChange = offsetAt(asUtc - after, zone) === after
  // Both are true for an ambiguous time. Both are false for a skipped time, which the old offset moves past the gap.
  return isAfterChange && !isBeforeChange ? asUtc - after : asUtc - before
}

/** How far the zone's clocks are ahead of UTC, in ms. Until 1972, the offsets of some zones had odd seconds. */
export const offsetAt = (instant: number, zone: string): number => utcOf(toLocal(instant, zone)) - instant

const utcOf = ({ year, month, day, hour = 0, minute = 0, second = 0, ms = 0 }: LocalDate & Partial<LocalTime>) =>
  Date.UTC(year, month - 1, day, hour, minute, second, ms)

const modulo = (value: number, by: number): number => ((value % by) + by) % by

/** Cached, because making a formatter costs a hundred times as much as using it. */
const formatters = new Map<string, Intl.DateTimeFormat>()
const maxFormatters = 32

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const [oldest] = formatters.keys()
  if (formatters.size >= maxFormatters && oldest !== undefined) formatters.delete(oldest)
  formatters.set(zone, made)
  return made
}
