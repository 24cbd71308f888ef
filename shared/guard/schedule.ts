import { Cron } from 'croner'
import { dayMs, hourMs, minuteMs, shortMonths, shortWeekdays } from '../platform/clock.ts'
import { shorten } from '../platform/faults.ts'

/** In EventBridge's own syntax, always UTC. */
export type Schedule = {
  readonly text: string
} & (
  | {
      readonly kind: 'cron'
      readonly hours: readonly number[]
      readonly minutes: readonly number[]
      readonly days: string
    }
  | { readonly kind: 'rate'; readonly everyMs: number }
)

export type ParsedSchedule =
  | { readonly kind: 'schedule'; readonly schedule: Schedule }
  | { readonly kind: 'fault'; readonly message: string }

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html */
const maxScheduleLength = 256

/**
 * A cron that is never due is a fault, even if AWS accepts it.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
 */
export function parseSchedule(text: string): ParsedSchedule {
  if (text.length > maxScheduleLength) return fault(`a schedule has at most ${maxScheduleLength} characters`)
  const [, form, inside = ''] = /^(cron|rate)\((.*)\)$/.exec(text) ?? []
  if (form === 'cron') return parseCron(text, inside)
  if (form === 'rate') return parseRate(text, inside)
  return fault(insteadOf(text))
}

/** Refuses what AWS does not document, because a forecast cannot rest on a guess. */
function parseCron(text: string, inside: string): ParsedSchedule {
  const fields = inside.split(/ +/)
  const [minute = '', hour = '', day = '', month = '', weekday = '', year = ''] = fields
  if (fields.length !== 6 || fields.includes('')) return fault(sixFields)
  if (day === '?' && weekday === '?') return fault('only one of day of month and day of week may be ?')
  if (day !== '?' && weekday !== '?') return fault(oneQuestionMark)
  const [minutes, hours] = [valuesOf(minuteField, minute), valuesOf(hourField, hour)]
  const dates = [
    day === '?' ? '*' : daysOfMonth(day),
    valuesOf(monthField, month),
    weekday === '?' ? '*' : daysOfWeek(weekday),
    year === '*' ? '1970-2199' : valuesOf(yearField, year),
  ]
  if (isFault(minutes)) return minutes
  if (isFault(hours)) return hours
  const wrongDate = dates.find(isFault)
  if (wrongDate) return wrongDate
  const days = `0 0 0 ${dates.join(' ')}`
  if (firstDayAfter(days, -1) === null) return fault('there is no such day in 1970-2199, as with 30 FEB')
  return { kind: 'schedule', schedule: { kind: 'cron', text, hours, minutes, days } }
}

const unitMs: Readonly<Record<string, number>> = { minute: minuteMs, hour: hourMs, day: dayMs }

function parseRate(text: string, inside: string): ParsedSchedule {
  const [, number = '', unit = '', plural = ''] = /^(\d+) +(minute|hour|day)(s?)$/.exec(inside) ?? []
  const ms = unitMs[unit]
  if (ms === undefined) {
    return fault('rate needs a whole number and minute(s), hour(s) or day(s), as in rate(1 hour) and rate(5 minutes)')
  }
  if (!/^[1-9]\d{0,6}$/.test(number)) return fault('rate needs a whole number from 1 to 9999999')
  const should = number === '1' ? unit : `${unit}s`
  if (`${unit}${plural}` !== should) return fault(`the unit goes with the number: write rate(${number} ${should})`)
  return { kind: 'schedule', schedule: { kind: 'rate', text, everyMs: Number(number) * ms } }
}

const nicknames: Readonly<Record<string, string>> = {
  '@hourly': 'cron(0 * * * ? *)',
  '@daily': 'cron(0 0 * * ? *)',
  '@midnight': 'cron(0 0 * * ? *)',
  '@weekly': 'cron(0 0 ? * SUN *)',
  '@monthly': 'cron(0 0 1 * ? *)',
  '@yearly': 'cron(0 0 1 1 ? *)',
  '@annually': 'cron(0 0 1 1 ? *)',
}

function insteadOf(text: string): string {
  const nickname = Object.hasOwn(nicknames, text) ? nicknames[text] : undefined
  if (nickname !== undefined) return `EventBridge has no ${text}: write ${nickname}`
  if (text.startsWith('at(')) return 'a rule of EventBridge has no at(…): write a cron with its year'
  return 'a schedule is cron(…) with six fields or rate(…), such as cron(0 5 * * ? *) and rate(12 hours)'
}

export type Span = {
  /** After `from`, up to `until`, in ms. */
  readonly from: number
  readonly until: number
  readonly max: number
  /** Absent: times count from the epoch, because only AWS knows the rule's start. */
  readonly anchor?: number
}

/** In ms, ascending. */
export function timesOf(schedule: Schedule, span: Span): readonly number[] {
  return schedule.kind === 'cron' ? cronTimes(schedule, span) : rateTimes(schedule.everyMs, span)
}

function rateTimes(everyMs: number, { from, until, max, anchor = 0 }: Span): number[] {
  const times: number[] = []
  const first = anchor + (Math.floor((from - anchor) / everyMs) + 1) * everyMs
  for (let time = first; time <= until && times.length < max; time += everyMs) times.push(time)
  return times
}

function cronTimes({ hours, minutes, days }: Schedule & { kind: 'cron' }, { from, until, max }: Span): number[] {
  const times: number[] = []
  let day = firstDayAfter(days, Math.floor(from / dayMs) * dayMs - 1)
  while (day !== null && day <= until) {
    for (const hour of hours) {
      for (const minute of minutes) {
        const time = day + hour * hourMs + minute * minuteMs
        if (time <= from) continue
        if (time > until || times.length >= max) return times
        times.push(time)
      }
    }
    day = firstDayAfter(days, day)
  }
  return times
}

/** The last time up to `until`. `null`: never yet. Times of a rate count from the epoch. */
export function lastTimeOf(schedule: Schedule, until: number): number | null {
  if (schedule.kind === 'rate') return Math.floor(until / schedule.everyMs) * schedule.everyMs
  // The times of the last day may all come after `until`.
  const day = calendarOf(schedule.days)
    .previousRuns(2, new Date(until + 1))
    .at(-1)
  if (!day) return null
  return cronTimes(schedule, { from: day.getTime() - 1, until, max: Number.POSITIVE_INFINITY }).at(-1) ?? null
}

/** croner finds only days here. Each step of croner takes 10 µs, which is too slow to find times. */
const calendarOf = (days: string): Cron => new Cron(days, { paused: true, mode: '7-part', utcOffset: 0 })

/** Cached, because each forecast looks for the same days, and they never change. */
const found = new Map<string, { readonly calendar: Cron; readonly after: Map<number, number | null> }>()
const maxSchedules = 100
const maxDays = 1_000

function firstDayAfter(days: string, instant: number): number | null {
  const { calendar, after } = found.get(days) ?? { calendar: calendarOf(days), after: new Map<number, number | null>() }
  const known = after.get(instant)
  if (known !== undefined) return known
  const day = calendar.nextRun(new Date(instant))?.getTime() ?? null
  if (after.size >= maxDays) after.clear()
  after.set(instant, day)
  if (found.size >= maxSchedules) found.clear()
  found.set(days, { calendar, after })
  return day
}

type CronFault = ParsedSchedule & { readonly kind: 'fault' }

const sixFields =
  'cron needs six fields with blanks between them and no seconds: minutes, hours, day of month, month, day of week, ' +
  'year, so that every day at 05:00 is cron(0 5 * * ? *)'
const oneQuestionMark =
  'one of day of month and day of week must be ?, so that 05:00 is cron(0 5 * * ? *) every day and ' +
  'cron(0 5 ? * MON *) every Monday'

type Field = {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly takes: string
  /** Words in capitals; the first word means the number `from`. */
  readonly words?: readonly string[]
  readonly takesNoSteps?: true
}

const inCapitals = (word: string): string => word.toUpperCase()
/** `plan-words.ts` reads these words too. */
export const monthWords = shortMonths.map(inCapitals)
export const weekdayWords = shortWeekdays.map(inCapitals)

const minuteField: Field = { name: 'minutes', from: 0, to: 59, takes: '0-59' }
const hourField: Field = { name: 'hours', from: 0, to: 23, takes: '0-23' }
const dayField: Field = { name: 'day of month', from: 1, to: 31, takes: '1-31' }
const monthField: Field = { name: 'month', from: 1, to: 12, takes: '1-12 or JAN-DEC', words: monthWords }
const weekdayField: Field = {
  name: 'day of week',
  from: 1,
  to: 7,
  takes: '1-7 or SUN-SAT (1 is SUN)',
  words: weekdayWords,
  takesNoSteps: true,
}
const yearField: Field = { name: 'year', from: 1970, to: 2199, takes: '1970-2199' }

/** W stays within its month, so 31W never falls in April. */
function daysOfMonth(text: string): string | CronFault {
  if (text === 'L') return 'L'
  const nearest = Number(/^(\d{1,2})W$/.exec(text)?.[1])
  if (nearest >= 1 && nearest <= 31) return `${nearest}W`
  if (/[LW]/.test(text)) return wrong(dayField, 'takes L and W alone, as L or as one day such as 15W', text)
  const days = valuesOf(dayField, text)
  return isFault(days) ? days : days.join(',')
}

/** croner counts weekdays from 0; L alone is the week's last day. */
function daysOfWeek(text: string): string | CronFault {
  if (text === 'L') return '6'
  const [, last] = /^([1-7])L$/.exec(text) ?? []
  if (last !== undefined) return `${Number(last) - 1}#L`
  const [, day = '', nth] = /^([1-7]|[A-Z]{3})#([1-5])$/.exec(text) ?? []
  const number = numberOf(weekdayField, day)
  if (number !== null) return `${number - 1}#${nth}`
  if (/[L#]/.test(text)) return wrong(weekdayField, 'takes L and # alone, as L, as 6L or as one of 3#1 to 3#5', text)
  const days = valuesOf(weekdayField, text)
  return isFault(days) ? days : days.map((day) => day - 1).join(',')
}

/** A value or range, each with an optional step: `a/s` runs from a to the end. */
const part = /^(\*|[A-Z]{3}|\d+)(?:-([A-Z]{3}|\d+))?(?:\/(\d{1,3}))?$/

function valuesOf(field: Field, text: string): readonly number[] | CronFault {
  const values = new Set<number>()
  for (const each of text.split(',')) {
    const [, first = '', last, step] = part.exec(each) ?? []
    if (first === '*' && last !== undefined) return wrongValue(field, text)
    const from = first === '*' ? field.from : numberOf(field, first)
    const end = first === '*' || step !== undefined ? field.to : from
    const to = last === undefined ? end : numberOf(field, last)
    if (from === null || to === null) return wrongValue(field, text)
    if (to < from) return wrong(field, 'cannot have a range that goes backwards; write a list', text)
    if (step !== undefined && field.takesNoSteps) return wrong(field, 'cannot have steps', text)
    const by = step === undefined ? 1 : Number(step)
    if (by < 1 || by > field.to) return wrong(field, `must have steps of 1 to ${field.to}`, text)
    for (let value = from; value <= to; value += by) values.add(value)
  }
  return [...values].sort((a, b) => a - b)
}

function numberOf({ from, to, words }: Field, text: string): number | null {
  const word = words?.indexOf(text) ?? -1
  if (word >= 0) return from + word
  const isNumber = /^\d+$/.test(text) && text.length <= String(to).length
  return isNumber && Number(text) >= from && Number(text) <= to ? Number(text) : null
}

const isFault = (read: string | readonly number[] | CronFault): read is CronFault =>
  typeof read === 'object' && 'kind' in read

const wrongValue = (field: Field, text: string): CronFault => wrong(field, `must be ${field.takes}`, text)

const wrong = ({ name }: Field, takes: string, text: string): CronFault =>
  fault(`the field ${name} has "${shorten(text)}", but it ${takes}`)

const fault = (message: string): CronFault => ({ kind: 'fault', message })
