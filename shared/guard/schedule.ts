import { Cron } from 'croner'
import { dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import { parseCronFields } from './cron-fields.ts'

/** When a plan is due, parsed from EventBridge's own dialect. Always UTC. */
export type Schedule = {
  /** As it was written, and as the EventBridge rule takes it. */
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

/** The API's limit: https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html */
const longestSchedule = 256

/**
 * Parses `cron(…)` and `rate(…)` of EventBridge's rules. Where the schedule is wrong, `message` is one sentence without
 * its full stop that says what to write.
 *
 * A cron that no calendar ever meets is a fault too, whatever AWS says to it: a plan that is never due is a mistake.
 *
 * Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
 */
export function parseSchedule(text: string): ParsedSchedule {
  if (text.length > longestSchedule) return fault(`a schedule has at most ${longestSchedule} characters`)
  const [, form, inside = ''] = /^(cron|rate)\((.*)\)$/.exec(text) ?? []
  if (form === 'cron') return parseCron(text, inside)
  if (form === 'rate') return parseRate(text, inside)
  return fault(insteadOf(text))
}

function parseCron(text: string, inside: string): ParsedSchedule {
  const fields = parseCronFields(inside)
  if (fields.kind === 'fault') return fields
  const { hours, minutes, days } = fields
  if (firstDayAfter(calendarOf(days), -1) === null) return fault('there is no such day in 1970-2199, as with 30 FEB')
  return { kind: 'schedule', schedule: { kind: 'cron', text, hours, minutes, days } }
}

const unitMs: Readonly<Record<string, number>> = { minute: minuteMs, hour: hourMs, day: dayMs }

function parseRate(text: string, inside: string): ParsedSchedule {
  const [, number = '', unit = '', plural = ''] = /^(\d+) +(minute|hour|day)(s?)$/.exec(inside) ?? []
  const ms = unitMs[unit]
  if (ms === undefined) {
    return fault('rate takes a whole number and minute(s), hour(s) or day(s), as in rate(1 hour) and rate(5 minutes)')
  }
  if (!/^[1-9]\d{0,6}$/.test(number)) return fault('rate takes a whole number from 1 to 9999999')
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
  /** Both in ms since the epoch: the times are after `from`, and not after `until`. */
  readonly from: number
  readonly until: number
  readonly most: number
  /**
   * Of a rate: any of its times, such as the last. AWS counts from the moment that the rule was made, which is known
   * nowhere else; without an anchor the times are multiples since the epoch.
   */
  readonly anchor?: number
}

/** When it is due, ascending, in ms since the epoch; at most `most` of them. */
export function timesOf(schedule: Schedule, span: Span): readonly number[] {
  return schedule.kind === 'cron' ? cronTimes(schedule, span) : rateTimes(schedule.everyMs, span)
}

function rateTimes(everyMs: number, { from, until, most, anchor = 0 }: Span): number[] {
  const times: number[] = []
  const first = anchor + (Math.floor((from - anchor) / everyMs) + 1) * everyMs
  for (let time = first; time <= until && times.length < most; time += everyMs) times.push(time)
  return times
}

function cronTimes({ hours, minutes, days }: Schedule & { kind: 'cron' }, { from, until, most }: Span): number[] {
  const calendar = calendarOf(days)
  const times: number[] = []
  let day = firstDayAfter(calendar, Math.floor(from / dayMs) * dayMs - 1)
  while (day !== null && day <= until) {
    for (const hour of hours) {
      for (const minute of minutes) {
        const time = day + hour * hourMs + minute * minuteMs
        if (time <= from) continue
        if (time > until || times.length >= most) return times
        times.push(time)
      }
    }
    day = firstDayAfter(calendar, day)
  }
  return times
}

/** Only the days are croner's: it takes about 10 µs a step, and a month of every fifth minute has 8,928 times. */
const calendarOf = (days: string): Cron => new Cron(days, { paused: true, mode: '7-part', utcOffset: 0 })

/** Midnight, in UTC, of the first of its days that begins after `instant`; null after the last. */
const firstDayAfter = (calendar: Cron, instant: number): number | null =>
  calendar.nextRun(new Date(instant))?.getTime() ?? null

const fault = (message: string): ParsedSchedule => ({ kind: 'fault', message })
