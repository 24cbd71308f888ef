import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Time } from '../../../functions/dashboard/kit/parts.tsx'
import { occurrenceInWords, scheduleInWords } from '../../../shared/guard/plans/plan-words.ts'
import { parseSchedule } from '../../../shared/guard/schedule.ts'
import { dayAt, newCalendar } from '../../../shared/ledger/definitions/windows.ts'
import { onTheWall } from '../../../shared/platform/clock.ts'
import { date } from '../../../shared/slack/text.ts'

const now = Date.parse('2026-11-24T14:00:00Z')

test.each([
  ['cron(0 5 * * ? *)', 'UTC', 'every day at 05:00, UTC'],
  ['cron(0 5 * * ? *)', 'Europe/Berlin', 'every day at 06:00, Europe/Berlin'],
  ['cron(30 23 * * ? *)', 'Europe/Berlin', 'every day at 00:30, Europe/Berlin'],
  ['cron(30 23 ? * MON *)', 'Europe/Berlin', 'every Monday at 23:30, UTC'],
  ['cron(0 5,17 ? * MON-FRI *)', 'UTC', 'Monday to Friday at 05:00 and 17:00, UTC'],
  ['cron(0/15 8 ? * 2,4,6 *)', 'UTC', 'every Monday, Wednesday and Friday 4 times, from 08:00, UTC'],
  ['cron(0 5 1,15 * ? *)', 'UTC', 'on days 1 and 15 of the month at 05:00, UTC'],
  ['cron(0 5 L JAN,7 ? 2027)', 'UTC', 'on the last day of the month in January and July in 2027 at 05:00, UTC'],
  ['cron(0 5 15W * ? *)', 'UTC', 'on the weekday nearest to day 15 of the month at 05:00, UTC'],
  ['cron(0 5 ? * 3#2 *)', 'UTC', 'on the second Tuesday of the month at 05:00, UTC'],
  ['cron(0 5 ? * 6L *)', 'UTC', 'on the last Friday of the month at 05:00, UTC'],
  ['cron(0 5 1/3 * ? *)', 'UTC', 'cron(0 5 1/3 * ? *), UTC'],
  ['rate(1 hour)', 'UTC', 'every hour'],
  ['rate(2 days)', 'UTC', 'every 2 days'],
])('the schedule %s in %s is shown as a sentence', (text, zone, words) => {
  const parsed = parseSchedule(text)
  expect(parsed.kind === 'schedule' && scheduleInWords(parsed.schedule, zone, now)).toBe(words)
})

const zones = Intl.supportedValuesOf('timeZone')
const instants = fc.integer({ min: Date.parse('2020-01-01T00:00:00Z'), max: Date.parse('2030-01-01T00:00:00Z') })

test('the time at which a plan runs is shown as local time, in any zone at any instant', () => {
  const property = fc.property(fc.constantFrom(...zones), instants, (zone, instant) => {
    const [, hour, minute] = /T(\d\d):(\d\d)/.exec(new Date(instant).toISOString()) ?? []
    const parsed = parseSchedule(`cron(${Number(minute)} ${Number(hour)} * * ? *)`)
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' })
    const words = `every day at ${clock.format(instant)}, ${zone}`
    expect(parsed.kind === 'schedule' && scheduleInWords(parsed.schedule, zone, instant)).toBe(words)
  })
  fc.assert(property, { numRuns: 2_000 })
})

test('the calendar, pages and Slack show the local day and time, in any zone at any instant', () => {
  const property = fc.property(fc.constantFrom(...zones), instants, (zone, instant) => {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      weekday: 'short',
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]))
    const clock = `${parts.hour}:${parts.minute}`
    const [day, days] = [`${parts.day} ${parts.month}`, dayAt(newCalendar({ day: 1, time: '00:00', zone }), instant)]
    expect(onTheWall(days.start, zone)).toMatch(new RegExp(`^${day} ${parts.year} `))
    expect(onTheWall(instant, zone)).toBe(`${day} ${parts.year} ${clock}`)
    expect(String(Time({ at: instant, zone, isOfDay: true }))).toContain(`>${clock}</time>`)
    const inSlack = `<!date^${Math.floor(instant / 1000)}^{date_short_pretty} {time}|${day} ${parts.year} ${clock} ${zone}>`
    expect(date(instant, zone)).toBe(inSlack)
  })
  fc.assert(property, { numRuns: 2_000 })
})

test.each([
  [{ state: 'done', counts: { refused: 3 } }, '3 refused'],
  [{ state: 'done', counts: { settled: 1_200, upToDate: 1, inDoubt: 2 } }, '1,200 settled, 1 up to date, 2 in doubt'],
  [{ state: 'done' }, 'ended'],
  [{ state: 'running' }, 'running'],
  [{ state: 'missed', reason: 'it came more than an hour late' }, 'missed: it came more than an hour late'],
  [{ state: 'paused', reason: 'paused by ada: holidays' }, 'paused by ada: holidays'],
] as const)('puts the outcome of a run in words: %o', (occurrence, words) => {
  expect(occurrenceInWords(occurrence)).toBe(words)
})
