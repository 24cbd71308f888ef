import { minuteMs, months, offsetAt, weekdays } from '../../platform/clock.ts'
import { monthWords, type Schedule, weekdayWords } from '../schedule.ts'
import { count, list, units } from '../sentences.ts'
import { resultKinds } from './attempts.ts'
import type { Occurrence } from './stored-occurrence.ts'

const ordinals = ['', 'first', 'second', 'third', 'fourth', 'fifth']
const maxTimes = 3
const minutesPerDay = 24 * 60

/**
 * `every day at 05:00, Europe/Berlin`. Schedules are in UTC. Times are shown in the account's zone, at its present
 * offset, unless that would change the day of the week or month.
 */
export function scheduleInWords(schedule: Schedule, zone: string, now: number): string {
  if (schedule.kind === 'rate') return rateInWords(schedule.text)
  const [, , day = '*', month = '*', weekday = '*', year = '*'] = /\((.*)\)/.exec(schedule.text)?.[1]?.split(/ +/) ?? []
  const days = daysInWords(day, weekday)
  const rest = [inMonths(month), year === '*' ? '' : ` in ${year}`]
  if (days === null || rest.includes(null)) return `${schedule.text}, UTC`
  const utc = schedule.hours.flatMap((hour) => schedule.minutes.map((minute) => hour * 60 + minute))
  const offset = Math.round(offsetAt(now, zone) / minuteMs)
  const local = utc.map((minute) => minute + offset)
  const isSameDay = local.every((minute) => minute >= 0 && minute < minutesPerDay)
  const isLocal = isSameDay || (days === 'every day' && month === '*' && year === '*')
  const times = isLocal ? local.map((minute) => (minute + minutesPerDay) % minutesPerDay) : utc
  return `${days}${rest.join('')} ${timesInWords(times.toSorted((a, b) => a - b))}, ${isLocal ? zone : 'UTC'}`
}

function rateInWords(text: string): string {
  const [, number = '', unit = ''] = /^rate\((\d+) +(\w+?)s?\)$/.exec(text) ?? []
  return number === '1' ? `every ${unit}` : `every ${number} ${unit}s`
}

function timesInWords(times: readonly number[]): string {
  const [first = 0] = times
  if (times.length > maxTimes) return `${count(times.length)} times, from ${clock(first)}`
  return `at ${list(times.map(clock))}`
}

const clock = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':')

/** `null`: no words for it. */
function daysInWords(day: string, weekday: string): string | null {
  if (isAny(day) && isAny(weekday)) return 'every day'
  if (isAny(weekday)) return daysOfMonth(day)
  return isAny(day) ? daysOfWeek(weekday) : null
}

const isAny = (field: string): boolean => field === '*' || field === '?'

function daysOfMonth(text: string): string | null {
  if (text === 'L') return 'on the last day of the month'
  if (/^\d+W$/.test(text)) return `on the weekday nearest to day ${Number.parseInt(text, 10)} of the month`
  if (!/^\d+(,\d+)*$/.test(text)) return null
  const days = text.split(',')
  return `on ${days.length === 1 ? 'day' : 'days'} ${list(days)} of the month`
}

function daysOfWeek(text: string): string | null {
  const [, last] = /^(\d)L$/.exec(text) ?? []
  if (last !== undefined) return `on the last ${weekdays[Number(last) - 1]} of the month`
  const [, day = '', nth] = /^(\w+)#(\d)$/.exec(text) ?? []
  if (nth !== undefined) return `on the ${ordinals[Number(nth)]} ${dayNamed(day)} of the month`
  const [, from = '', to] = /^(\w+)-(\w+)$/.exec(text) ?? []
  if (to !== undefined) return inWords([from, to], (days) => `${days[0]} to ${days[1]}`)
  return inWords(text.split(','), (days) => `every ${list(days)}`)
}

function inWords(days: readonly string[], sentence: (names: readonly string[]) => string): string | null {
  const names = days.map(dayNamed)
  return names.every((name) => name !== undefined) ? sentence(names) : null
}

const dayNamed = (text: string): string | undefined =>
  weekdays[weekdayWords.indexOf(text)] ?? (/^[1-7]$/.test(text) ? weekdays[Number(text) - 1] : undefined)

/** `null`: no words for it. */
function inMonths(text: string): string | null {
  if (text === '*') return ''
  const names = text.split(',').map((each) => months[monthWords.indexOf(each)] ?? months[Number(each) - 1])
  return names.every((name) => name !== undefined) ? ` in ${list(names)}` : null
}

type Outcome = Pick<Occurrence, 'state' | 'reason' | 'counts' | 'charged'>

export const countsInWords = (counts: Outcome['counts'] = {}): string[] =>
  Object.entries(resultKinds).flatMap(([name, words]) => (counts[name] ? [`${count(counts[name])} ${words}`] : []))

/** `3 refused`, because “done” says nothing about the projects. */
export function occurrenceInWords({ state, reason, counts, charged = 0 }: Outcome): string {
  if (state !== 'done')
    return reason === undefined || reason.startsWith(state) ? (reason ?? state) : `${state}: ${reason}`
  const parts = countsInWords(counts)
  if (charged > 0) parts.push(units(charged))
  return parts.length === 0 ? 'ended' : parts.join(', ')
}
