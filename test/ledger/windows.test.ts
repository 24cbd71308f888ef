import * as fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it, test } from 'vitest'
import {
  type Calendar,
  changeRenewal,
  dayAt,
  latestRenewal,
  monthAfter,
  monthAt,
  monthBefore,
  monthNamed,
  newCalendar,
  type Renewal,
  type Window,
} from '../../shared/ledger/definitions/windows.ts'

const dayMs = 86_400_000
const on = (day: number, time = '00:00', zone = 'UTC'): Renewal => ({ day, time, zone })
const at = (instant: string): number => Date.parse(instant)
const show = ({ name, start, end }: Window): string => `${name} ${iso(start)} ${iso(end)}`
const iso = (instant: number): string => new Date(instant).toISOString().replace(':00.000', '')
const starts = (calendar: Calendar, from: string, months: number): string[] =>
  walk(calendar, at(from), months).map((window) => iso(window.start))

function walk(calendar: Calendar, from: number, months: number): Window[] {
  const windows = [monthAt(calendar, from)]
  for (let last = windows[0]; last && windows.length < months; windows.push(last)) last = monthAfter(calendar, last)
  return windows
}

describe('a month', () => {
  test.each([
    ['2026-11-12T00:00Z', 'month:2026-11-12 2026-11-12T00:00Z 2026-12-12T00:00Z'],
    ['2026-11-11T23:59:59.999Z', 'month:2026-10-12 2026-10-12T00:00Z 2026-11-12T00:00Z'],
    ['2026-12-31T12:00Z', 'month:2026-12-12 2026-12-12T00:00Z 2027-01-12T00:00Z'],
    ['2027-01-01T12:00Z', 'month:2026-12-12 2026-12-12T00:00Z 2027-01-12T00:00Z'],
  ])('a month from day 12 in UTC is found at %s', (instant, window) => {
    expect(show(monthAt(newCalendar(on(12)), at(instant)))).toBe(window)
  })

  test.each([
    [31, '2026-01-31', ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']],
    [31, '2028-01-31', ['2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30', '2028-05-31']],
    [30, '2026-01-30', ['2026-01-30', '2026-02-28', '2026-03-30', '2026-04-30', '2026-05-30']],
    [30, '2028-01-30', ['2028-01-30', '2028-02-29', '2028-03-30', '2028-04-30', '2028-05-30']],
    [29, '2026-01-29', ['2026-01-29', '2026-02-28', '2026-03-29', '2026-04-29', '2026-05-29']],
    [29, '2028-01-29', ['2028-01-29', '2028-02-29', '2028-03-29', '2028-04-29', '2028-05-29']],
    [31, '2100-01-31', ['2100-01-31', '2100-02-28', '2100-03-31', '2100-04-30', '2100-05-31']],
  ])('months from day %i, from %s, are clamped to shorter months', (day, from, dates) => {
    const windows = walk(newCalendar(on(day)), at(from), 5)
    expect(windows.map(({ name }) => name)).toEqual(dates.map((date) => `month:${date}`))
  })

  test.each([
    // Summer time begins on 29 March 2026 and ends on 25 October.
    [on(29, '02:00', 'Europe/Berlin'), ['2026-02-28T01:00Z', '2026-03-29T01:00Z', '2026-04-29T00:00Z']],
    [on(29, '02:30', 'Europe/Berlin'), ['2026-02-28T01:30Z', '2026-03-29T01:30Z', '2026-04-29T00:30Z']],
    [on(1, '00:00', 'Europe/Berlin'), ['2026-02-28T23:00Z', '2026-03-31T22:00Z', '2026-04-30T22:00Z']],
    [on(25, '02:30', 'Europe/Berlin'), ['2026-09-25T00:30Z', '2026-10-25T00:30Z', '2026-11-25T01:30Z']],
    // In New York summer time begins on 8 March and ends on 1 November.
    [on(8, '02:15', 'America/New_York'), ['2026-02-08T07:15Z', '2026-03-08T07:15Z', '2026-04-08T06:15Z']],
    [on(1, '01:30', 'America/New_York'), ['2026-10-01T05:30Z', '2026-11-01T05:30Z', '2026-12-01T06:30Z']],
    [on(15, '00:00', 'Asia/Kathmandu'), ['2026-01-14T18:15Z', '2026-02-14T18:15Z', '2026-03-14T18:15Z']],
    // 30 December 2011 did not happen in Samoa: the renewal moves to the same time of the 31st.
    [on(30, '08:00', 'Pacific/Apia'), ['2011-11-30T18:00Z', '2011-12-30T18:00Z', '2012-01-29T18:00Z']],
  ])('a month with the renewal %o begins at that time', (renewal, expected) => {
    expect(starts(newCalendar(renewal), expected[0] ?? '', 3)).toEqual(expected)
  })

  it('a month is named after the local date of its start', () => {
    const name = (renewal: Renewal, instant: string) => monthAt(newCalendar(renewal), at(instant)).name
    expect(name(on(1, '00:00', 'Asia/Kathmandu'), '2026-11-20T00:00Z')).toBe('month:2026-11-01')
    expect(name(on(1, '00:00', 'America/New_York'), '2026-11-20T00:00Z')).toBe('month:2026-11-01')
    expect(name(on(30, '08:00', 'Pacific/Apia'), '2012-01-10T00:00Z')).toBe('month:2011-12-31')
  })

  it('a month is found by its name only', () => {
    const calendar = newCalendar(on(12, '00:00', 'Pacific/Kiritimati'))
    const window = monthAt(calendar, at('2026-11-20T00:00Z'))
    expect(monthNamed(calendar, 'month:2026-11-12')).toEqual(window)
    const strangers = [
      'month:2026-11-11',
      'month:2026-11-13',
      'month:2026-02-31',
      'month:2026-13-12',
      'month:0012-01-12',
    ]
    for (const name of [...strangers, 'day:2026-11-12', 'month:2026-11-12 ', 'month:', '']) {
      expect(monthNamed(calendar, name), name).toBeNull()
    }
  })

  test.each([
    on(0),
    on(32),
    on(1.5),
    on(1, '24:00'),
    on(1, '8:00'),
    on(1, '012:00'),
    on(1, '12:000'),
    on(1, '00:60'),
    on(1, '00:00', 'Mars/Olympus'),
  ])('a renewal like %o is refused', (renewal) => {
    expect(() => newCalendar(renewal)).toThrow(RangeError)
    expect(() => newCalendar(renewal)).toThrow(`no renewal: day ${renewal.day} at ${renewal.time} in ${renewal.zone}`)
    expect(() => changeRenewal(newCalendar(on(1)), renewal, 0)).toThrow(RangeError)
  })
})

describe('a changed renewal', () => {
  const now = at('2026-11-20T10:00Z')

  test.each([
    [on(1), on(12), ['2026-11-01T00:00Z', '2026-12-12T00:00Z', '2027-01-12T00:00Z']],
    [on(12), on(1), ['2026-11-12T00:00Z', '2027-01-01T00:00Z', '2027-02-01T00:00Z']],
    [on(31), on(30), ['2026-10-31T00:00Z', '2026-11-30T00:00Z', '2026-12-30T00:00Z']],
    [on(30), on(31), ['2026-10-30T00:00Z', '2026-11-30T00:00Z', '2026-12-31T00:00Z']],
    [on(12), on(11), ['2026-11-12T00:00Z', '2027-01-11T00:00Z', '2027-02-11T00:00Z']],
    [on(12), on(12, '08:30'), ['2026-11-12T00:00Z', '2026-12-12T08:30Z', '2027-01-12T08:30Z']],
    [on(12, '08:30'), on(12), ['2026-11-12T08:30Z', '2027-01-12T00:00Z', '2027-02-12T00:00Z']],
    // New York's midnight comes after UTC's. Kathmandu's midnight came before UTC's, so its next midnight counts.
    [on(12), on(12, '00:00', 'America/New_York'), ['2026-11-12T00:00Z', '2026-12-12T05:00Z', '2027-01-12T05:00Z']],
    [on(12), on(12, '00:00', 'Asia/Kathmandu'), ['2026-11-12T00:00Z', '2027-01-11T18:15Z', '2027-02-11T18:15Z']],
  ])('a renewal changed from %o to %o lengthens the open month', (before, after, expected) => {
    const calendar = changeRenewal(newCalendar(before), after, now)
    expect(starts(calendar, '2026-11-20T10:00Z', 3)).toEqual(expected)
    expect(latestRenewal(calendar)).toEqual(after)
    const open = monthAt(newCalendar(before), now)
    expect(monthAt(calendar, now)).toEqual({ ...open, end: at(expected[1] ?? '') })
    expect(monthBefore(calendar, open)).toEqual(monthBefore(newCalendar(before), open))
  })

  it('a changed calendar is plain JSON with its changes', () => {
    const calendar = changeRenewal(newCalendar(on(1)), on(12), now)
    const change = { renewal: on(12), lengthens: '2026-11', from: '2026-12' }
    expect(JSON.parse(JSON.stringify(calendar))).toEqual({ first: on(1), changes: [change] })
  })

  it('setting the same renewal changes nothing', () => {
    const calendar = newCalendar(on(1))
    expect(changeRenewal(calendar, on(1), now)).toBe(calendar)
    const changed = changeRenewal(calendar, on(12), now)
    expect(changeRenewal(changed, on(12), now + dayMs)).toBe(changed)
  })

  it('a renewal changed at the start of a month lengthens that month', () => {
    const calendar = changeRenewal(newCalendar(on(1)), on(12), at('2026-12-01T00:00Z'))
    expect(starts(calendar, '2026-11-01T00:00Z', 3)).toEqual([
      '2026-11-01T00:00Z',
      '2026-12-01T00:00Z',
      '2027-01-12T00:00Z',
    ])
  })

  it('a renewal changed at the last instant of a month lengthens that month', () => {
    const calendar = changeRenewal(newCalendar(on(1)), on(12), at('2026-11-30T23:59:59.999Z'))
    expect(starts(calendar, '2026-11-01T00:00Z', 2)).toEqual(['2026-11-01T00:00Z', '2026-12-12T00:00Z'])
  })

  it('a change of renewal that is not in effect yet is replaced', () => {
    const once = changeRenewal(newCalendar(on(1)), on(12), now)
    const twice = changeRenewal(once, on(20), at('2026-12-05T00:00Z')) // after the first end, before the second
    expect(starts(twice, '2026-11-20T10:00Z', 3)).toEqual([
      '2026-11-01T00:00Z',
      '2026-12-20T00:00Z',
      '2027-01-20T00:00Z',
    ])
    expect(twice.changes).toHaveLength(1)
    expect(changeRenewal(changeRenewal(newCalendar(on(1)), on(28), now), on(12), now)).toEqual(once)
  })

  it('a renewal that turns at the moment of its change turns a month later', () => {
    const pending = changeRenewal(newCalendar(on(1)), on(25), at('2026-11-20T00:00Z'))
    const calendar = changeRenewal(pending, on(10), at('2026-12-10T00:00Z'))
    expect(show(monthAt(calendar, at('2026-12-10T00:00Z')))).toBe(
      'month:2026-11-01 2026-11-01T00:00Z 2027-01-10T00:00Z',
    )
  })

  it('a change of renewal can be undone until the old end; later it loses at most the begun month', () => {
    const calendar = newCalendar(on(1))
    const once = changeRenewal(calendar, on(12), now)
    expect(changeRenewal(once, on(1), at('2026-11-30T23:59:59.999Z'))).toEqual(calendar)
    const late = changeRenewal(once, on(1), at('2026-12-05T00:00Z'))
    expect(starts(late, '2026-11-20T10:00Z', 3)).toEqual([
      '2026-11-01T00:00Z',
      '2027-01-01T00:00Z',
      '2027-02-01T00:00Z',
    ])
  })

  it('a process with a slow clock replaces a change of renewal, too', () => {
    const once = changeRenewal(newCalendar(on(1)), on(12), now)
    expect(changeRenewal(once, on(20), at('2026-10-31T00:00Z'))).toEqual(changeRenewal(once, on(20), now))
  })

  it('a renewal that was in effect still counts for the past after another change', () => {
    const once = changeRenewal(newCalendar(on(1)), on(12), now)
    const twice = changeRenewal(once, on(1), at('2026-12-12T00:00Z'))
    const expected = ['2026-10-01', '2026-11-01', '2026-12-12', '2027-02-01', '2027-03-01']
    expect(starts(twice, '2026-10-10T00:00Z', 5)).toEqual(expected.map((date) => `${date}T00:00Z`))
    expect(twice.changes).toHaveLength(2)
  })

  it('a renewal that turned in the month it lengthened is not undone by the next change', () => {
    const evening = on(28, '19:00', 'America/New_York') // 1 March in UTC, when day 1 would have turned
    const once = changeRenewal(newCalendar(on(1)), evening, at('1971-02-05T00:00Z'))
    expect(once.changes).toEqual([{ renewal: evening, lengthens: '1971-02', from: '1971-02' }])
    const twice = changeRenewal(once, on(29), at('1971-03-01T00:00Z'))
    const expected = ['1971-02-01', '1971-03-01', '1971-03-29', '1971-04-29']
    expect(starts(twice, '1971-02-10T00:00Z', 4)).toEqual(expected.map((date) => `${date}T00:00Z`))
    expect(monthAt(twice, at('1971-03-10T00:00Z')).name).toBe('month:1971-02-28')
  })
})

describe('a day', () => {
  test.each([
    ['UTC', '2026-11-20T23:59:59.999Z', 'day:2026-11-20 2026-11-20T00:00Z 2026-11-21T00:00Z'],
    ['UTC', '2026-11-21T00:00Z', 'day:2026-11-21 2026-11-21T00:00Z 2026-11-22T00:00Z'],
    ['Europe/Berlin', '2026-03-29T12:00Z', 'day:2026-03-29 2026-03-28T23:00Z 2026-03-29T22:00Z'],
    ['Europe/Berlin', '2026-10-25T12:00Z', 'day:2026-10-25 2026-10-24T22:00Z 2026-10-25T23:00Z'],
    ['Asia/Kathmandu', '2026-11-20T18:15Z', 'day:2026-11-21 2026-11-20T18:15Z 2026-11-21T18:15Z'],
    // Midnight was skipped, so the day began at 01:00.
    ['America/Sao_Paulo', '2018-11-04T12:00Z', 'day:2018-11-04 2018-11-04T03:00Z 2018-11-05T02:00Z'],
    // The clock went back from 00:01 to 23:01 of the day before. The new day had begun and continues.
    ['America/St_Johns', '2010-11-07T03:00Z', 'day:2010-11-07 2010-11-07T02:30Z 2010-11-08T03:30Z'],
    // 30 December 2011 did not happen.
    ['Pacific/Apia', '2011-12-30T09:59Z', 'day:2011-12-29 2011-12-29T10:00Z 2011-12-30T10:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00Z', 'day:2011-12-31 2011-12-30T10:00Z 2011-12-31T10:00Z'],
  ])('a day in %s is found at %s', (zone, instant, window) => {
    expect(show(dayAt(newCalendar(on(12, '08:30', zone)), at(instant)))).toBe(window)
  })

  it('days change their zone where the month turns', () => {
    const moved = changeRenewal(newCalendar(on(1)), on(1, '00:00', 'America/New_York'), at('2026-11-20T00:00Z'))
    const turn = monthAt(moved, at('2026-11-20T00:00Z')).end
    expect(show(dayAt(moved, turn - 1))).toBe('day:2026-12-01 2026-12-01T00:00Z 2026-12-02T00:00Z')
    expect(show(dayAt(moved, turn))).toBe('day:2026-12-01 2026-12-01T05:00Z 2026-12-02T05:00Z')
  })
})

const zones = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'Pacific/Kiritimati',
  'America/St_Johns',
  'Asia/Gaza',
)
const times = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
const renewals = fc.record({
  day: fc.integer({ min: 1, max: 31 }),
  time: fc.oneof(times, fc.constant('00:00')),
  zone: zones,
})
const instants = fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2099, 0) })

/** Random changes in the order of time, none to several a month, with the calendar after each. */
const histories = fc
  .tuple(renewals, instants, fc.array(fc.tuple(renewals, fc.integer({ min: 0, max: 70 * dayMs })), { maxLength: 5 }))
  .map(([first, from, changes]) => {
    let now = from
    let calendar = newCalendar(first)
    const steps = changes.map(([renewal, later]) => {
      now += later
      const before = calendar
      calendar = changeRenewal(before, renewal, now)
      return { before, calendar, renewal, now }
    })
    return { calendar, from: from - 60 * dayMs, to: now + 120 * dayMs, steps }
  })

const windowsBetween = (calendar: Calendar, from: number, to: number): Window[] => {
  const windows = [monthAt(calendar, from)]
  for (let last = windows[0]; last && last.end <= to; windows.push(last)) last = monthAfter(calendar, last)
  return windows
}

/** When the last change takes effect: the turn of that month by the new renewal. */
function lastTurn({ changes }: Calendar): number {
  const last = changes.at(-1)
  if (!last) return Number.NEGATIVE_INFINITY
  const turned = walk(newCalendar(last.renewal), at(`${last.from}-01`), 3)
  return turned.find(({ name }) => name.startsWith(`month:${last.from}`))?.start ?? Number.NaN
}

describe('properties of every calendar', () => {
  const holds = <Given extends [unknown, ...unknown[]]>(property: fc.IPropertyWithHooks<Given>, numRuns = 150): void =>
    fc.assert(property, { numRuns })

  it('an unchanged calendar turns where Temporal says, after 27.9 to 31.1 days', () => {
    const property = fc.property(renewals, instants, (renewal, instant) => {
      const window = monthAt(newCalendar(renewal), instant)
      const { year, month } = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(renewal.zone)
      const turns = [-2, -1, 0, 1, 2].map((by) => {
        const { year: y, month: m } = Temporal.PlainYearMonth.from({ year, month }).add({ months: by })
        const [hour, minute] = renewal.time.split(':').map(Number)
        return Temporal.ZonedDateTime.from({
          year: y,
          month: m,
          day: renewal.day,
          hour,
          minute,
          timeZone: renewal.zone,
        })
      })
      const start = turns.findLast((turn) => turn.epochMilliseconds <= instant)
      const end = turns.find((turn) => turn.epochMilliseconds > instant)
      expect(window).toEqual({
        name: `month:${start?.toPlainDate()}`,
        start: start?.epochMilliseconds,
        end: end?.epochMilliseconds,
      })
      expect(window.end - window.start).toBeGreaterThan(27.9 * dayMs)
      expect(window.end - window.start).toBeLessThan(31.1 * dayMs)
    })
    holds(property, 300)
  })

  it('months are contiguous after any changes, and have unique names', () => {
    const property = fc.property(histories, ({ calendar, from, to }) => {
      const windows = windowsBetween(calendar, from, to)
      for (const window of windows) {
        expect(window.end - window.start).toBeGreaterThan(27.9 * dayMs)
        for (const instant of [window.start, (window.start + window.end) / 2, window.end - 1]) {
          expect(monthAt(calendar, Math.floor(instant))).toEqual(window)
        }
        expect(monthAfter(calendar, window).start).toBe(window.end)
        expect(monthBefore(calendar, window).end).toBe(window.start)
        expect(monthBefore(calendar, monthAfter(calendar, window))).toEqual(window)
        expect(monthNamed(calendar, window.name)).toEqual(window)
      }
      expect(new Set(windows.map(({ name }) => name)).size).toBe(windows.length)
    })
    holds(property)
  })

  it('a change keeps the past and the name and start of the open month, and never shortens it', () => {
    const property = fc.property(histories, ({ from, steps }) => {
      for (const { before, calendar, renewal, now } of steps) {
        const [was, is] = [monthAt(before, now), monthAt(calendar, now)]
        expect({ ...is, end: was.end }).toEqual(was)
        if (calendar === before) continue
        const unchanged = now < lastTurn(before) ? { ...before, changes: before.changes.slice(0, -1) } : before
        const earliest = Math.max(monthAt(unchanged, was.start).end, now + 1)
        expect(is.end).toBeGreaterThanOrEqual(earliest)
        expect(windowsBetween(calendar, from, was.start - 1)).toEqual(windowsBetween(before, from, was.start - 1))
        // After that month only the new renewal counts, and none of its turns was skipped.
        const alone = newCalendar(renewal)
        expect(monthAfter(calendar, is)).toEqual(monthAt(alone, is.end))
        expect(monthAt(alone, is.end - 1).start).toBeLessThan(earliest)
      }
    })
    holds(property)
  })

  it('any number of changes opens no more months than fit into a span of time', () => {
    const property = fc.property(histories, ({ calendar, from, to }) => {
      const opened = windowsBetween(calendar, from, to).length - 1
      expect(opened).toBeLessThanOrEqual(Math.floor((to - from) / (27.9 * dayMs)) + 1)
    })
    holds(property)
  })

  it('one change opens at most one additional month in any later span of time', () => {
    const property = fc.property(renewals, renewals, instants, fc.integer({ min: 1, max: 800 }), (a, b, now, days) => {
      const opened = (calendar: Calendar) => windowsBetween(calendar, now, now + days * dayMs).length - 1
      expect(opened(changeRenewal(newCalendar(a), b, now))).toBeLessThanOrEqual(opened(newCalendar(a)) + 1)
    })
    holds(property, 100)
  })

  it('days start where Temporal says and are contiguous, in every zone and around every change of the clocks', () => {
    const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
    const apart = fc.integer({ min: -2 * dayMs, max: 2 * dayMs })
    const property = fc.property(renewals, anyZone, instants, apart, (renewal, zone, near, by) => {
      const calendar = newCalendar({ ...renewal, zone })
      const zoned = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
      const change = zoned(near).getTimeZoneTransition('next')?.epochMilliseconds ?? near
      for (const instant of [change - 1, change, change + by]) {
        const day = dayAt(calendar, instant)
        expect(day.start <= instant && instant < day.end).toBe(true)
        expect(day.start).toBe(zoned(day.start).startOfDay().epochMilliseconds)
        expect(day.name).toBe(`day:${zoned(day.start).toPlainDate()}`)
        expect(dayAt(calendar, day.end).start).toBe(day.end)
        expect(dayAt(calendar, day.end - 1)).toEqual(day)
        expect(dayAt(calendar, day.start)).toEqual(day)
      }
    })
    holds(property, 100)
  })
})
