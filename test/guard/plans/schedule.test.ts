import { afterEach, describe, expect, test, vi } from 'vitest'
import { lastTimeOf, parseSchedule, type Schedule, timesOf } from '../../../shared/guard/schedule.ts'

const at = (text: string) => Date.parse(text)

function parsed(text: string): Schedule {
  const read = parseSchedule(text)
  if (read.kind === 'fault') throw new Error(`${text}: ${read.message}`)
  return read.schedule
}

/** The times of the schedule after `from`, as `2026-01-31T05:00`. */
function times(text: string, { from = '2026-01-01T00:00Z', until = '2199-12-31T23:59Z', max = 4, anchor = '' } = {}) {
  const span = { from: at(from), until: at(until), max, ...(anchor !== '' && { anchor: at(anchor) }) }
  return timesOf(parsed(text), span).map((time) => new Date(time).toISOString().replace(/:00\.000Z$/, ''))
}

/** A schedule at midnight, so that only the days differ. */
const days = (fields: string, from = '2025-12-31T23:59Z', max = 4) =>
  times(`cron(0 0 ${fields})`, { from, max }).map((time) => time.replace('T00:00', ''))

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('a cron', () => {
  // 2026 began on a Thursday. Its months begin on Thu Sun Sun Wed Fri Mon, Wed Sat Tue Thu Sun Tue.
  test.each<[fields: string, days: readonly string[]]>([
    ['* * ? *', ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04']],
    ['? * * *', ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04']],
    ['1,15 * ? *', ['2026-01-01', '2026-01-15', '2026-02-01', '2026-02-15']],
    ['10-12 * ? *', ['2026-01-10', '2026-01-11', '2026-01-12', '2026-02-10']],
    ['1/10 * ? *', ['2026-01-01', '2026-01-11', '2026-01-21', '2026-01-31']],
    ['*/10 * ? *', ['2026-01-01', '2026-01-11', '2026-01-21', '2026-01-31']],
    ['5-20/7 * ? *', ['2026-01-05', '2026-01-12', '2026-01-19', '2026-02-05']],
    ['01 * ? *', ['2026-01-01', '2026-02-01', '2026-03-01', '2026-04-01']],
    ['31 * ? *', ['2026-01-31', '2026-03-31', '2026-05-31', '2026-07-31']],
    ['L * ? *', ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
    ['L FEB ? *', ['2026-02-28', '2027-02-28', '2028-02-29', '2029-02-28']],
    ['29 2 ? *', ['2028-02-29', '2032-02-29', '2036-02-29', '2040-02-29']],
    ['15W * ? *', ['2026-01-15', '2026-02-16', '2026-03-16', '2026-04-15']],
    ['15W AUG ? *', ['2026-08-14', '2027-08-16', '2028-08-15', '2029-08-15']],
    ['1W 8 ? *', ['2026-08-03', '2027-08-02', '2028-08-01', '2029-08-01']],
    ['31W 1-7 ? *', ['2026-01-30', '2026-03-31', '2026-05-29', '2026-07-31']],
    ['? * MON-FRI *', ['2026-01-01', '2026-01-02', '2026-01-05', '2026-01-06']],
    ['? * 2-6 *', ['2026-01-01', '2026-01-02', '2026-01-05', '2026-01-06']],
    ['? * SUN,SAT *', ['2026-01-03', '2026-01-04', '2026-01-10', '2026-01-11']],
    ['? * 1,7 *', ['2026-01-03', '2026-01-04', '2026-01-10', '2026-01-11']],
    ['? * SUN-SAT *', ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04']],
    ['? * L *', ['2026-01-03', '2026-01-10', '2026-01-17', '2026-01-24']],
    ['? * 6L *', ['2026-01-30', '2026-02-27', '2026-03-27', '2026-04-24']],
    ['? * 1L *', ['2026-01-25', '2026-02-22', '2026-03-29', '2026-04-26']],
    ['? * 3#2 *', ['2026-01-13', '2026-02-10', '2026-03-10', '2026-04-14']],
    ['? * FRI#2 *', ['2026-01-09', '2026-02-13', '2026-03-13', '2026-04-10']],
    ['? * SUN#5 *', ['2026-03-29', '2026-05-31', '2026-08-30', '2026-11-29']],
    ['1 JAN,JUL ? *', ['2026-01-01', '2026-07-01', '2027-01-01', '2027-07-01']],
    ['1 MAR-MAY ? *', ['2026-03-01', '2026-04-01', '2026-05-01', '2027-03-01']],
    ['1 FEB/5 ? *', ['2026-02-01', '2026-07-01', '2026-12-01', '2027-02-01']],
    ['24 12 ? 2027', ['2027-12-24']],
    ['24 12 ? 2027,2030', ['2027-12-24', '2030-12-24']],
    ['24 12 ? 2027-2031/2', ['2027-12-24', '2029-12-24', '2031-12-24']],
    ['31 12 ? 2198-2199', ['2198-12-31', '2199-12-31']],
    ['1 1 ? 1970-2025', []],
    ['1 1 ? 1970', []],
  ])('the cron %s runs on these days', (fields, expected) => {
    expect(days(fields)).toEqual(expected)
  })

  test.each<[text: string, times: readonly string[]]>([
    ['cron(0 5 * * ? *)', ['2026-01-01T05:00', '2026-01-02T05:00', '2026-01-03T05:00', '2026-01-04T05:00']],
    ['cron(0/15 * * * ? *)', ['2026-01-01T00:15', '2026-01-01T00:30', '2026-01-01T00:45', '2026-01-01T01:00']],
    ['cron(0/59 * * * ? *)', ['2026-01-01T00:59', '2026-01-01T01:00', '2026-01-01T01:59', '2026-01-01T02:00']],
    ['cron(*/25 * * * ? *)', ['2026-01-01T00:25', '2026-01-01T00:50', '2026-01-01T01:00', '2026-01-01T01:25']],
    ['cron(5/30 8-9 * * ? *)', ['2026-01-01T08:05', '2026-01-01T08:35', '2026-01-01T09:05', '2026-01-01T09:35']],
    ['cron(30,0 17,9 * * ? *)', ['2026-01-01T09:00', '2026-01-01T09:30', '2026-01-01T17:00', '2026-01-01T17:30']],
    ['cron(59 23 L * ? *)', ['2026-01-31T23:59', '2026-02-28T23:59', '2026-03-31T23:59', '2026-04-30T23:59']],
    ['cron(0 12  ?  * WED 2026)', ['2026-01-07T12:00', '2026-01-14T12:00', '2026-01-21T12:00', '2026-01-28T12:00']],
    ['cron(00 07/12 * * ? *)', ['2026-01-01T07:00', '2026-01-01T19:00', '2026-01-02T07:00', '2026-01-02T19:00']],
  ])('the schedule %s runs at these times', (text, expected) => {
    expect(times(text)).toEqual(expected)
    expect(parsed(text).text).toBe(text)
  })

  const sixFields =
    'cron needs six fields with blanks between them and no seconds: minutes, hours, day of month, month, day of week, year, so that every day at 05:00 is cron(0 5 * * ? *)'
  const oneQuestionMark =
    'one of day of month and day of week must be ?, so that 05:00 is cron(0 5 * * ? *) every day and cron(0 5 ? * MON *) every Monday'
  const field = (name: string, text: string, takes: string) => `the field ${name} has "${text}", but it ${takes}`
  const lw = 'takes L and W alone, as L or as one day such as 15W'
  const nth = 'takes L and # alone, as L, as 6L or as one of 3#1 to 3#5'
  const weekday = 'must be 1-7 or SUN-SAT (1 is SUN)'
  const backwards = 'cannot have a range that goes backwards; write a list'

  test.each<[text: string, message: string]>([
    ['cron()', sixFields],
    ['cron(0 5 * * *)', sixFields],
    ['cron(0 0 5 * * ? *)', sixFields],
    ['cron( 0 5 * * ? *)', sixFields],
    ['cron( 5 * * ? *)', sixFields],
    ['cron(0 5 * * ? * )', sixFields],
    ['cron(0 5 * * * *)', oneQuestionMark],
    ['cron(0 5 1 * MON *)', oneQuestionMark],
    ['cron(0 5 * * MON *)', oneQuestionMark],
    ['cron(0 5 ? * ? *)', 'only one of day of month and day of week may be ?'],
    ['cron(60 5 * * ? *)', field('minutes', '60', 'must be 0-59')],
    ['cron(-1 5 * * ? *)', field('minutes', '-1', 'must be 0-59')],
    ['cron(1.5 5 * * ? *)', field('minutes', '1.5', 'must be 0-59')],
    ['cron(? 5 * * ? *)', field('minutes', '?', 'must be 0-59')],
    ['cron(005 5 * * ? *)', field('minutes', '005', 'must be 0-59')],
    ['cron(0, 5 * * ? *)', field('minutes', '0,', 'must be 0-59')],
    ['cron(0\t 5 * * ? *)', field('minutes', '0\u{fffd}', 'must be 0-59')],
    ['cron(*-5 5 * * ? *)', field('minutes', '*-5', 'must be 0-59')],
    ['cron(/5 5 * * ? *)', field('minutes', '/5', 'must be 0-59')],
    ['cron(5/ 5 * * ? *)', field('minutes', '5/', 'must be 0-59')],
    ['cron(60/5 5 * * ? *)', field('minutes', '60/5', 'must be 0-59')],
    ['cron(50-60 5 * * ? *)', field('minutes', '50-60', 'must be 0-59')],
    ['cron(0/0 5 * * ? *)', field('minutes', '0/0', 'must have steps of 1 to 59')],
    ['cron(*/60 5 * * ? *)', field('minutes', '*/60', 'must have steps of 1 to 59')],
    ['cron(0 24 * * ? *)', field('hours', '24', 'must be 0-23')],
    ['cron(0 22-2 * * ? *)', field('hours', '22-2', backwards)],
    ['cron(0 5 0 * ? *)', field('day of month', '0', 'must be 1-31')],
    ['cron(0 5 32 * ? *)', field('day of month', '32', 'must be 1-31')],
    ['cron(0 5 LW * ? *)', field('day of month', 'LW', lw)],
    ['cron(0 5 L-3 * ? *)', field('day of month', 'L-3', lw)],
    ['cron(0 5 1,L * ? *)', field('day of month', '1,L', lw)],
    ['cron(0 5 15W,16W * ? *)', field('day of month', '15W,16W', lw)],
    ['cron(0 5 0W * ? *)', field('day of month', '0W', lw)],
    ['cron(0 5 32W * ? *)', field('day of month', '32W', lw)],
    ['cron(0 5 1 13 ? *)', field('month', '13', 'must be 1-12 or JAN-DEC')],
    ['cron(0 5 1 jan ? *)', field('month', 'jan', 'must be 1-12 or JAN-DEC')],
    ['cron(0 5 1 JANUARY ? *)', field('month', 'JANUARY', 'must be 1-12 or JAN-DEC')],
    ['cron(0 5 1 NOV-FEB ? *)', field('month', 'NOV-FEB', backwards)],
    ['cron(0 5 ? * 0 *)', field('day of week', '0', weekday)],
    ['cron(0 5 ? * 8 *)', field('day of week', '8', weekday)],
    ['cron(0 5 ? * Mon *)', field('day of week', 'Mon', weekday)],
    ['cron(0 5 ? * SAT-SUN *)', field('day of week', 'SAT-SUN', backwards)],
    ['cron(0 5 ? * 2/2 *)', field('day of week', '2/2', 'cannot have steps')],
    ['cron(0 5 ? * 3#6 *)', field('day of week', '3#6', nth)],
    ['cron(0 5 ? * 3#0 *)', field('day of week', '3#0', nth)],
    ['cron(0 5 ? * FRY#2 *)', field('day of week', 'FRY#2', nth)],
    ['cron(0 5 ? * 3#1,6#3 *)', field('day of week', '3#1,6#3', nth)],
    ['cron(0 5 ? * 16L *)', field('day of week', '16L', nth)],
    ['cron(0 5 ? * 6LW *)', field('day of week', '6LW', nth)],
    ['cron(0 5 ? * FRIL *)', field('day of week', 'FRIL', nth)],
    ['cron(0 5 ? * L-2 *)', field('day of week', 'L-2', nth)],
    ['cron(0 5 * * ? 1969)', field('year', '1969', 'must be 1970-2199')],
    ['cron(0 5 * * ? 2200)', field('year', '2200', 'must be 1970-2199')],
    ['cron(0 5 * * ? 27)', field('year', '27', 'must be 1970-2199')],
    ['cron(0 5 30 FEB ? *)', 'there is no such day in 1970-2199, as with 30 FEB'],
    ['cron(0 5 29 2 ? 2027)', 'there is no such day in 1970-2199, as with 30 FEB'],
    [`cron(0 5 ${'7,'.repeat(80)}99 * ? *)`, field('day of month', `${'7,'.repeat(30)}…`, 'must be 1-31')],
  ])('the cron %s is refused', (text, message) => {
    expect(parseSchedule(text)).toEqual({ kind: 'fault', message })
  })
})

describe('a rate', () => {
  test.each<[text: string, times: readonly string[]]>([
    ['rate(1 minute)', ['2026-01-01T00:01', '2026-01-01T00:02', '2026-01-01T00:03', '2026-01-01T00:04']],
    ['rate(5 minutes)', ['2026-01-01T00:05', '2026-01-01T00:10', '2026-01-01T00:15', '2026-01-01T00:20']],
    ['rate(20  minutes)', ['2026-01-01T00:20', '2026-01-01T00:40', '2026-01-01T01:00', '2026-01-01T01:20']],
    ['rate(1 hour)', ['2026-01-01T01:00', '2026-01-01T02:00', '2026-01-01T03:00', '2026-01-01T04:00']],
    ['rate(12 hours)', ['2026-01-01T12:00', '2026-01-02T00:00', '2026-01-02T12:00', '2026-01-03T00:00']],
    ['rate(1 day)', ['2026-01-02T00:00', '2026-01-03T00:00', '2026-01-04T00:00', '2026-01-05T00:00']],
    // 1 January 2026 is day 20,454 since the epoch, and 20,454 is 7 × 2,922.
    ['rate(7 days)', ['2026-01-08T00:00', '2026-01-15T00:00', '2026-01-22T00:00', '2026-01-29T00:00']],
  ])('the rate %s is counted from the epoch', (text, expected) => {
    expect(times(text)).toEqual(expected)
  })

  test.each<[anchor: string, times: readonly string[]]>([
    ['2025-12-28T09:30Z', ['2026-01-01T09:30', '2026-01-03T09:30']],
    ['2026-01-01T00:00Z', ['2026-01-03T00:00', '2026-01-05T00:00']],
    ['2026-01-10T09:30Z', ['2026-01-02T09:30', '2026-01-04T09:30']],
  ])('a rate is counted from its anchor %s, forward and back', (anchor, expected) => {
    expect(times('rate(2 days)', { anchor, max: 2 })).toEqual(expected)
  })

  const form = 'rate needs a whole number and minute(s), hour(s) or day(s), as in rate(1 hour) and rate(5 minutes)'
  const number = 'rate needs a whole number from 1 to 9999999'
  test.each<[text: string, message: string]>([
    ['rate(1 minutes)', 'the unit goes with the number: write rate(1 minute)'],
    ['rate(5 minute)', 'the unit goes with the number: write rate(5 minutes)'],
    ['rate(1 hours)', 'the unit goes with the number: write rate(1 hour)'],
    ['rate(2 day)', 'the unit goes with the number: write rate(2 days)'],
    ['rate(0 minutes)', number],
    ['rate(05 minutes)', number],
    ['rate(10000000 days)', number],
    ['rate(-5 minutes)', form],
    ['rate(1.5 hours)', form],
    ['rate(30 seconds)', form],
    ['rate(2 weeks)', form],
    ['rate(5)', form],
    ['rate(minutes)', form],
    ['rate(5 Minutes)', form],
    ['rate(1 constructor)', form],
    ['rate( 5 minutes)', form],
    ['rate(5 minutes )', form],
    ['rate()', form],
  ])('the rate %s is refused', (text, message) => {
    expect(parseSchedule(text)).toEqual({ kind: 'fault', message })
  })
})

describe('other texts than a cron or a rate', () => {
  const form = 'a schedule is cron(…) with six fields or rate(…), such as cron(0 5 * * ? *) and rate(12 hours)'
  test.each<[text: string, message: string]>([
    ['@daily', 'EventBridge has no @daily: write cron(0 0 * * ? *)'],
    ['@hourly', 'EventBridge has no @hourly: write cron(0 * * * ? *)'],
    ['@weekly', 'EventBridge has no @weekly: write cron(0 0 ? * SUN *)'],
    ['@reboot', form],
    ['0 5 * * *', form],
    ['0 5 * * ? *', form],
    ['cron 0 5 * * ? *', form],
    ['CRON(0 5 * * ? *)', form],
    [' cron(0 5 * * ? *)', form],
    ['cron(0 5 * * ? *) ', form],
    ['toString', form],
    ['', form],
    ['at(2026-11-20T13:00:00)', 'a rule of EventBridge has no at(…): write a cron with its year'],
    [`cron(0 5 * * ? *${' '.repeat(250)})`, 'a schedule has at most 256 characters'],
  ])('%s is refused, and the message says what to write', (text, message) => {
    expect(parseSchedule(text)).toEqual({ kind: 'fault', message })
  })
})

test('a schedule has at most 256 characters', () => {
  const text = `cron(0 5 * * ?${' '.repeat(240)}*)`
  expect(text).toHaveLength(256)
  expect(times(text, { max: 1 })).toEqual(['2026-01-01T05:00'])
})

describe('times', () => {
  test.each(['cron(0 * * * ? *)', 'rate(1 hour)'])('times of %s are after `from` and not after `until`', (text) => {
    const hours = (from: string, until: string) => times(text, { from, until, max: 9 })
    expect(hours('2026-03-01T10:00Z', '2026-03-01T12:00Z')).toEqual(['2026-03-01T11:00', '2026-03-01T12:00'])
    expect(hours('2026-03-01T09:59:59.999Z', '2026-03-01T10:00Z')).toEqual(['2026-03-01T10:00'])
    expect(hours('2026-03-01T10:00:00.001Z', '2026-03-01T11:59:59.999Z')).toEqual(['2026-03-01T11:00'])
    expect(hours('2026-03-01T23:30Z', '2026-03-02T00:30Z')).toEqual(['2026-03-02T00:00'])
    expect(hours('2026-03-01T10:00Z', '2026-03-01T10:00Z')).toEqual([])
    expect(hours('2026-03-01T12:00Z', '2026-03-01T10:00Z')).toEqual([])
  })

  test('the list of times has the given maximum', () => {
    expect(times('cron(* * * * ? *)', { max: 1 })).toEqual(['2026-01-01T00:01'])
    expect(times('rate(1 minute)', { max: 1 })).toEqual(['2026-01-01T00:01'])
    expect(times('cron(* * * * ? *)', { max: 0 })).toEqual([])
    expect(times('rate(1 minute)', { max: 0 })).toEqual([])
  })

  test.each<[fields: string, last: string]>([
    ['30 7,9 * * ? *', '2026-03-01T09:30'],
    ['0 5 * * ? *', '2026-03-01T05:00'],
    ['0 10,23 * * ? *', '2026-03-01T10:00'],
    ['1 10 * * ? *', '2026-02-28T10:01'],
    ['1 10 L * ? *', '2026-02-28T10:01'],
    ['0 5 15W * ? *', '2026-02-16T05:00'],
    ['0 5 ? * 6L *', '2026-02-27T05:00'],
    ['0 5 ? * 2#2 *', '2026-02-09T05:00'],
    ['59 23 29 2 ? *', '2024-02-29T23:59'],
    ['0 11 1 3 ? 2026', 'null'],
  ])('the last time of cron(%s) is %s', (fields, last) => {
    const schedule = parsed(`cron(${fields})`)
    if (schedule.kind !== 'cron') throw new Error(schedule.text)
    const found = lastTimeOf(schedule, at('2026-03-01T10:00Z'))
    expect(found && new Date(found).toISOString()).toBe(last === 'null' ? null : `${last}:00.000Z`)
  })

  test('a schedule of every minute yields all minutes of a month', () => {
    const april = { from: at('2026-03-31T23:59Z'), until: at('2026-04-30T23:59Z'), max: 100_000 }
    expect(timesOf(parsed('cron(* * * * ? *)'), april)).toHaveLength(30 * 24 * 60)
    expect(timesOf(parsed('rate(1 minute)'), april)).toHaveLength(30 * 24 * 60)
    expect(timesOf(parsed('cron(0/5 * * * ? *)'), april)).toHaveLength(30 * 24 * 12)
  })

  test('the times of a schedule are in UTC in any zone of the process', () => {
    vi.stubEnv('TZ', 'America/New_York')
    expect(new Date(0).getTimezoneOffset()).toBe(300)
    // The clocks of New York skip 02:00-03:00 on 8 March 2026.
    expect(times('cron(30 2,23 * * ? *)', { from: '2026-03-07T20:00Z' })).toEqual([
      '2026-03-07T23:30',
      '2026-03-08T02:30',
      '2026-03-08T23:30',
      '2026-03-09T02:30',
    ])
  })
})
