import * as fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it, test } from 'vitest'
import { isSameZone, isZone, type LocalTime, toInstant, toLocal } from '../../shared/platform/clock.ts'

const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC']
const instants = fc.integer({ min: 0, max: Date.UTC(2100, 0) })

describe('isZone', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia', 'Etc/GMT+5', 'US/Pacific'])(
    'accepts the time zone %s',
    (name) => {
      expect(isZone(name)).toBe(true)
    },
  )
  test.each(['', 'Mars/Olympus', 'Europe/Berlin ', '+01:00', '-0100', 'GMT+1', 'local'])(
    'refuses "%s" as a time zone',
    (name) => {
      expect(isZone(name)).toBe(false)
    },
  )
})

test.each([
  ['Asia/Calcutta', 'Asia/Kolkata', true],
  ['Europe/Berlin', 'Europe/Paris', false],
  ['UTC', 'UTC', true],
  ['nowhere', 'nowhere', false],
])('%s and %s are one time zone: %s', (one, other, isSame) => {
  expect(isSameZone(one, other)).toBe(isSame)
})

describe('toLocal', () => {
  test.each([
    ['2026-11-20T23:30:15.007Z', 'UTC', '2026-11-20 23:30:15.007'],
    ['2026-03-29T00:59:59.999Z', 'Europe/Berlin', '2026-03-29 01:59:59.999'],
    ['2026-03-29T01:00:00.000Z', 'Europe/Berlin', '2026-03-29 03:00:00.000'],
    ['2026-12-31T18:15:00.000Z', 'Asia/Kathmandu', '2027-01-01 00:00:00.000'],
    ['2026-01-01T00:00:00.000Z', 'Australia/Lord_Howe', '2026-01-01 11:00:00.000'],
    ['2026-07-01T00:00:00.000Z', 'Australia/Lord_Howe', '2026-07-01 10:30:00.000'],
    ['2011-12-30T09:59:59.999Z', 'Pacific/Apia', '2011-12-29 23:59:59.999'],
    ['2011-12-30T10:00:00.000Z', 'Pacific/Apia', '2011-12-31 00:00:00.000'],
    ['1971-06-01T00:00:00.000Z', 'Africa/Monrovia', '1971-05-31 23:15:30.000'],
    ['1969-12-31T23:59:59.999Z', 'UTC', '1969-12-31 23:59:59.999'],
  ])('toLocal: %s in %s is %s', (instant, zone, wall) => {
    expect(toLocal(Date.parse(instant), zone)).toEqual(parse(wall))
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('toLocal refuses the instant %s', (instant) => {
    for (const zone of ['UTC', 'Europe/Berlin']) expect(() => toLocal(instant, zone)).toThrow(RangeError)
  })
  it('toLocal refuses an unknown zone', () => expect(() => toLocal(0, 'Mars/Olympus')).toThrow(RangeError))
})

describe('toInstant', () => {
  test.each([
    ['2026-11-20 23:30:15.007', 'UTC', '2026-11-20T23:30:15.007Z'],
    ['2028-02-29 12:00:00.000', 'America/New_York', '2028-02-29T17:00:00.000Z'],
    ['2026-03-29 02:30:00.000', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'], // skipped: 03:30
    ['2026-10-25 02:30:00.000', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'], // twice: the earlier
    ['2026-10-25 03:00:00.000', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
    ['2026-10-04 02:10:00.000', 'Australia/Lord_Howe', '2026-10-03T15:40:00.000Z'], // skipped: 02:40
    ['2026-04-05 01:45:00.000', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z'], // twice
    ['2018-11-04 00:00:00.000', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'], // midnight skipped: 01:00
    ['2018-02-17 23:30:00.000', 'America/Sao_Paulo', '2018-02-18T01:30:00.000Z'], // twice
    ['2011-12-30 12:00:00.000', 'Pacific/Apia', '2011-12-30T22:00:00.000Z'], // the day is skipped: 31 Dec, 12:00
    ['1993-08-21 12:00:00.000', 'Pacific/Kwajalein', '1993-08-22T00:00:00.000Z'], // the same: 22 Aug, 12:00
    ['2024-04-14 02:30:00.000', 'Africa/Casablanca', '2024-04-14T02:30:00.000Z'], // skipped: 03:30
  ])('toInstant: %s in %s is %s', (wall, zone, instant) => {
    expect(new Date(toInstant(parse(wall), zone)).toISOString()).toBe(instant)
  })

  it('toInstant reads missing parts as 0, and carries values out of range over', () => {
    const firstOfMarch = Date.UTC(2026, 2, 1)
    expect(toInstant({ year: 2026, month: 3, day: 1 }, 'UTC')).toBe(firstOfMarch)
    expect(toInstant({ year: 2026, month: 2, day: 29 }, 'UTC')).toBe(firstOfMarch)
    expect(toInstant({ year: 2025, month: 15, day: 1 }, 'UTC')).toBe(firstOfMarch)
  })
  it('toInstant refuses an unknown zone', () => {
    expect(() => toInstant({ year: 2026, month: 1, day: 1 }, 'Mars/Olympus')).toThrow(RangeError)
  })
  it('toInstant refuses an invalid time', () => {
    expect(() => toInstant({ year: 2026, month: Number.NaN, day: 1 }, 'UTC')).toThrow(RangeError)
  })
})

describe('comparison with Temporal', () => {
  it('local times agree with Temporal in every zone', () => {
    for (const zone of zones) expect(isZone(zone), zone).toBe(true)
    const property = fc.property(fc.constantFrom(...zones), fc.array(instants, { minLength: 1 }), (zone, at) => {
      for (const instant of at) agreesAt(instant, zone)
    })
    fc.assert(property, { numRuns: 350 })
  })

  it('local times agree with Temporal around every kind of change of the clocks', () => {
    const seconds = fc.oneof(fc.integer({ min: -4_000, max: 4_000 }), fc.integer({ min: -90_000, max: 90_000 }))
    const property = fc.property(fc.constantFrom(...zones), instants, fc.array(seconds), (zone, instant, apart) => {
      const change = zoned(instant, zone).getTimeZoneTransition('next')?.epochMilliseconds ?? instant
      for (const by of [-0.001, 0, ...apart]) agreesAt(change + by * 1000, zone)
    })
    fc.assert(property, { numRuns: 350 })
  })
})

function agreesAt(instant: number, zone: string): void {
  const expected = zoned(instant, zone)
  expect(toLocal(instant, zone)).toEqual(fields(expected))
  // The clock as it is, and with the offset of a day before and after. Near a change of the clocks, these local times are unique, ambiguous
  // or skipped.
  for (const days of [-1, 0, 1]) {
    const wall = expected
      .add({ hours: 24 * days })
      .toPlainDateTime()
      .subtract({ days })
    expect(toInstant(fields(wall), zone)).toBe(wall.toZonedDateTime(zone).epochMilliseconds)
  }
}

const zoned = (instant: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)

const fields = (time: Temporal.ZonedDateTime | Temporal.PlainDateTime): LocalTime => {
  const { year, month, day, hour, minute, second, millisecond: ms } = time
  return { year, month, day, hour, minute, second, ms }
}

const parse = (wall: string): LocalTime => fields(Temporal.PlainDateTime.from(wall))
