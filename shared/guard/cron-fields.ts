import { shorten } from './faults.ts'

/** What EventBridge's cron says. The days are apart from the times of day: only they need a calendar. */
export type CronFields = {
  readonly kind: 'fields'
  /** Ascending, each once: it is time at any of these minutes of any of these hours. */
  readonly hours: readonly number[]
  readonly minutes: readonly number[]
  /** A pattern of croner with seven fields, from seconds to years: the days, at midnight. */
  readonly days: string
}
export type CronFault = { readonly kind: 'fault'; readonly message: string }

/**
 * Parses what stands between `cron(` and `)`, as far as AWS documents it; what it does not is refused even where AWS
 * might take it, for a forecast cannot rest on a guess. The message of a fault is one sentence without its full stop.
 *
 * Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html, "Cron expressions".
 */
export function parseCronFields(text: string): CronFields | CronFault {
  const fields = text.split(/ +/)
  const [minutesText = '', hoursText = '', dayText = '', monthText = '', weekdayText = '', yearText = ''] = fields
  if (fields.length !== 6 || fields.includes('')) return fault(sixFields)
  if (dayText === '?' && weekdayText === '?') return fault('of day of month and day of week only one may be ?')
  if (dayText !== '?' && weekdayText !== '?') return fault(oneQuestionMark)

  const minutes = valuesOf(minuteField, minutesText)
  if (isFault(minutes)) return minutes
  const hours = valuesOf(hourField, hoursText)
  if (isFault(hours)) return hours
  const day = dayText === '?' ? '*' : daysOfMonth(dayText)
  if (isFault(day)) return day
  const month = valuesOf(monthField, monthText)
  if (isFault(month)) return month
  const weekday = weekdayText === '?' ? '*' : daysOfWeek(weekdayText)
  if (isFault(weekday)) return weekday
  const year = yearText === '*' ? '1970-2199' : valuesOf(yearField, yearText)
  if (isFault(year)) return year
  return { kind: 'fields', minutes, hours, days: `0 0 0 ${day} ${month} ${weekday} ${year}` }
}

const sixFields =
  'cron takes six fields with blanks between them and no seconds: minutes, hours, day of month, month, day of week, ' +
  'year, so that every day at 05:00 is cron(0 5 * * ? *)'
const oneQuestionMark =
  'one of day of month and day of week must be ?, so that 05:00 is cron(0 5 * * ? *) every day and ' +
  'cron(0 5 ? * MON *) every Monday'

type Field = {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly takes: string
  /** In capitals; the first stands for `from`. */
  readonly words?: readonly string[]
  readonly takesNoSteps?: true
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const minuteField: Field = { name: 'minutes', from: 0, to: 59, takes: '0-59' }
const hourField: Field = { name: 'hours', from: 0, to: 23, takes: '0-23' }
const dayField: Field = { name: 'day of month', from: 1, to: 31, takes: '1-31' }
const monthField: Field = { name: 'month', from: 1, to: 12, takes: '1-12 or JAN-DEC', words: months }
const weekdayField: Field = {
  name: 'day of week',
  from: 1,
  to: 7,
  takes: '1-7 or SUN-SAT (1 is SUN)',
  words: weekdays,
  takesNoSteps: true,
}
const yearField: Field = { name: 'year', from: 1970, to: 2199, takes: '1970-2199' }

/** W stays within its month; a month without such a day has none: 31W is never in April. */
function daysOfMonth(text: string): string | CronFault {
  if (text === 'L') return 'L'
  const nearest = Number(/^(\d{1,2})W$/.exec(text)?.[1])
  if (nearest >= 1 && nearest <= 31) return `${nearest}W`
  if (/[LW]/.test(text)) return wrong(dayField, 'takes L and W alone, as L or as one day such as 15W', text)
  const days = valuesOf(dayField, text)
  return isFault(days) ? days : days.join(',')
}

/** croner counts the days of the week from 0; L alone is the last day of the week. */
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

/** `*`, a value, a range `a-b`, and any of them with a step: `a/s` is from a to the end. Lists of these have commas. */
const part = /^(\*|[A-Z]{3}|\d+)(?:-([A-Z]{3}|\d+))?(?:\/(\d{1,3}))?$/

/** Ascending, each once. */
function valuesOf(field: Field, text: string): readonly number[] | CronFault {
  const values = new Set<number>()
  for (const each of text.split(',')) {
    const [, first = '', last, step] = part.exec(each) ?? []
    if (first === '*' && last !== undefined) return wrongValue(field, text)
    const from = first === '*' ? field.from : numberOf(field, first)
    const end = first === '*' || step !== undefined ? field.to : from
    const to = last === undefined ? end : numberOf(field, last)
    if (from === null || to === null) return wrongValue(field, text)
    if (to < from) return wrong(field, 'takes no range that goes backwards, so write a list', text)
    if (step !== undefined && field.takesNoSteps) return wrong(field, 'takes no steps', text)
    const by = step === undefined ? 1 : Number(step)
    if (by < 1 || by > field.to) return wrong(field, `takes steps of 1 to ${field.to}`, text)
    for (let value = from; value <= to; value += by) values.add(value)
  }
  return [...values].sort((a, b) => a - b)
}

/** Null when it is none of the field's values. */
function numberOf({ from, to, words }: Field, text: string): number | null {
  const word = words?.indexOf(text) ?? -1
  if (word >= 0) return from + word
  const isNumber = /^\d+$/.test(text) && text.length <= String(to).length
  return isNumber && Number(text) >= from && Number(text) <= to ? Number(text) : null
}

const isFault = (read: string | readonly number[] | CronFault): read is CronFault =>
  typeof read === 'object' && 'kind' in read

const wrongValue = (field: Field, text: string): CronFault => wrong(field, `takes ${field.takes}`, text)

const wrong = ({ name }: Field, takes: string, text: string): CronFault =>
  fault(`the field ${name} has "${shorten(text)}", but it ${takes}`)

const fault = (message: string): CronFault => ({ kind: 'fault', message })
