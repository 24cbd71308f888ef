import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bookAsOf } from '../../../shared/ledger/book/book.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { freshCounter } from '../../../shared/ledger/definitions/counters.ts'
import type { Budget, Definitions } from '../../../shared/ledger/definitions/definitions.ts'
import { dayAt, monthAt, newCalendar } from '../../../shared/ledger/definitions/windows.ts'
import { type SummaryDay, summaryDays } from '../../../shared/ledger/updates/summary-days.ts'
import {
  createPace,
  dayUses,
  type History,
  historyOf,
  savedIn,
  sumOfHistories,
} from '../../../shared/reports/history.ts'
import { emptySummary, type Summary } from '../../../shared/reports/stored-summary.ts'
import { days, minutes } from '../../support/clock.ts'
import { at, readingOf } from '../../support/records.ts'

// The course of a month from the nights that a sweep saw, compared with the use that made it.

const maxDays = 33

/** What happened on each day of a month, as far as it is over. */
const courses = fc.record({
  renewal: fc.record({
    day: fc.constantFrom(1, 2, 9, 14, 29, 30, 31),
    time: fc.constantFrom('00:00', '12:30'),
    zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati'),
  }),
  /** Never the first moment of a day. */
  now: fc
    .integer({ min: at('2027-02-20T00:00Z') / minutes(1), max: at('2028-02-20T00:00Z') / minutes(1) })
    .map((minute) => minutes(minute) + 17_000),
  /** Whether the view shows the month after its end. */
  isOver: fc.boolean(),
  /** Units of each day: of a plan, and of others. Corrections may give back more than was spent. */
  use: fc.array(fc.tuple(fc.nat(40), fc.integer({ min: -15, max: 60 })), { minLength: maxDays, maxLength: maxDays }),
  /** Whether a sweep saw the end of the day. */
  seen: fc.array(fc.boolean(), { minLength: maxDays, maxLength: maxDays }),
  /** Whether a sweep counted what plans charged on the day. */
  counted: fc.array(fc.constantFrom(true, true, true, false), { minLength: maxDays, maxLength: maxDays }),
  /** The number of the day on which the budget seo was made; `acme` is as old as the ledger. */
  seoSince: fc.nat(8),
  isFirstMonth: fc.boolean(),
  isPlanRunning: fc.boolean(),
})
type Course = typeof courses extends fc.Arbitrary<infer Of> ? Of : never

const budget = (name: string, parent: string | null): Budget => ({ name, parent, limits: [], projects: [] })
const budgets = { account: budget('account', null), acme: budget('acme', 'account'), seo: budget('seo', 'account') }

/** The view, the summaries of all days that are over or begun, and the true use. */
function monthOf(course: Course) {
  const { renewal, now, isOver, use, seoSince, isFirstMonth } = course
  const calendar = newCalendar(renewal)
  const month = monthAt(calendar, now)
  const createdAt = isFirstMonth ? month.start + Math.floor((now - month.start) / 5) : month.start - days(100)
  const definitions: Definitions = { revision: 1, createdAt, calendar, budgets }
  const [from, until] = [Math.max(createdAt, month.start), isOver ? month.end : now]
  const all = summaryDays(calendar, { since: from, until: until - 1 })
  const isSeen = (number: number) =>
    (all[number]?.end ?? until) < until + Number(isOver) && course.seen[number] === true
  const isCounted = (number: number) => course.counted[number] === true
  const plannedOn = (number: number) => use[number]?.[0] ?? 0
  /** The units that were used by the end of the day of this number. */
  const usedBy = (number: number) => use.slice(0, number + 1).reduce((sum, [ofPlan, other]) => sum + ofPlan + other, 0)
  const summaries = all.map((day, number): Summary => {
    const used = { used: usedBy(number) }
    return {
      ...emptySummary(day),
      mark: 'm',
      at: now,
      until: day.end - 1,
      used: isSeen(number) ? { account: used, acme: used, ...(number >= seoSince && { seo: used }) } : {},
      ...(isCounted(number) && { planned: { acme: plannedOn(number) } }),
    }
  })
  const day = dayAt(calendar, until)
  const fresh = bookAsOf(null, definitions, month.name, day.name)
  const spent = { ...freshCounter('unlimited'), spent: usedBy(all.length - 1) }
  const book = { ...fresh, counters: { ...fresh.counters, month: { account: spent, acme: spent, seo: spent } } }
  const view: View = { definitions, month, day, book, stored: null, results: [], now: until + (isOver ? days(3) : 0) }
  return { view, summaries, all, from, until, isSeen, isCounted, plannedOn, usedBy }
}

const property = (check: (course: Course) => void) => fc.assert(fc.property(courses, check), { numRuns: 100 })

/** The numbers of the days, such that `is`. */
const numbersOf = (all: readonly SummaryDay[], is: (number: number) => boolean) =>
  all.flatMap((_, number) => (is(number) ? [number] : []))

describe('the course of a month', () => {
  test('has the use of each night that a sweep saw, and ends now or with the month', () => {
    property((course) => {
      const { view, summaries, all, from, until, isSeen, usedBy } = monthOf(course)
      const nights = numbersOf(all, isSeen).map((number) => ({
        at: all[number]?.end,
        used: usedBy(number),
        limit: null,
      }))
      expect(historyOf(view, summaries, 'acme')).toEqual({
        start: { at: from, used: 0 },
        nights,
        now: { at: until, used: usedBy(all.length - 1), limit: null },
      })
    })
  })

  test('begins for a new budget at the last night that a sweep saw without it', () => {
    property((course) => {
      const { view, summaries, all, from, isSeen } = monthOf(course)
      const known = numbersOf(all, isSeen)
      const own = known.filter((number) => number >= course.seoSince)
      const before = known.filter((number) => number < course.seoSince).at(-1)
      const { start, nights } = historyOf(view, summaries, 'seo')
      expect([start.at, nights.length]).toEqual([before === undefined ? from : all[before]?.end, own.length])
    })
  })

  test('has the use of each day of which both ends are known', () => {
    property((course) => {
      const { view, summaries, all, isSeen, usedBy } = monthOf(course)
      const last = all.length - 1
      const known = numbersOf(
        all,
        (number) => (number === 0 || isSeen(number - 1)) && (number === last || isSeen(number)),
      )
      const found = dayUses(view, historyOf(view, summaries, 'acme'))
      expect(found.map(({ date, units }) => [`day:${date}`, units])).toEqual(
        known.map((number) => [all[number]?.name, usedBy(number) - (number === 0 ? 0 : usedBy(number - 1))]),
      )
    })
  })

  test('has a pace without the units of plans, over the days on which they were counted', () => {
    property((course) => {
      const { isPlanRunning } = course
      const { view, summaries, all, from, isSeen, isCounted, plannedOn, usedBy } = monthOf({ ...course, isOver: false })
      const today = all.length - 1
      // A day ends with the last one that is known, or today.
      const ends = [...numbersOf(all, isSeen), ...(isPlanRunning ? [] : [today])]
      const endOf = (number: number) => (number === today ? view.now : (all[number]?.end ?? 0))
      const spans = ends.flatMap((to, index) => {
        const before = ends[index - 1] ?? -1
        const begin = before < 0 ? from : endOf(before)
        const between = numbersOf(all, (number) => number > before && number <= to)
        const planned = between.reduce((sum, number) => sum + plannedOn(number), 0)
        const units = usedBy(to) - (before < 0 ? 0 : usedBy(before)) - planned
        return between.every(isCounted) ? [{ begin, ms: endOf(to) - begin, units }] : []
      })
      const paceOfSpans = (of: typeof spans) => {
        const length = of.reduce((sum, { ms }) => sum + ms, 0) / days(1)
        const units = of.reduce((sum, { units }) => sum + units, 0)
        return length < 3 ? null : Math.round(Math.max(0, units / length) * 10) / 10
      }
      const week = [from, ...ends.map(endOf)].filter((end) => end <= view.now - days(7)).at(-1) ?? 0
      expect(createPace(view, summaries, isPlanRunning)('acme')).toEqual({
        month: paceOfSpans(spans),
        last7Days: paceOfSpans(spans.filter(({ begin }) => begin >= week)),
      })
    })
  })
})

describe('the sum of two courses', () => {
  const point = (atTime: number, used: number, limit: number | null = 100) => ({ at: atTime, used, limit })
  const old: History = { start: { at: 0, used: 1 }, nights: [point(1, 2), point(2, 3), point(4, 5)], now: point(5, 6) }

  test('has each night that both know, and nothing before a new budget', () => {
    const young: History = { start: { at: 1, used: 0 }, nights: [point(2, 30), point(3, 40)], now: point(5, 60, 900) }
    expect(sumOfHistories([old, young])).toEqual({
      start: { at: 0, used: 1 },
      now: point(5, 66, 1_000),
      // At 1 the new budget begins with nothing; at 3 and 4 one of both is not known.
      nights: [point(1, 2), point(2, 33, 200)],
    })
  })

  test('has no limit as soon as one budget has none', () => {
    const unlimited: History = { start: { at: 0, used: 0 }, nights: [point(1, 2, null)], now: point(5, 7, null) }
    expect(sumOfHistories([old, unlimited])).toEqual({
      start: { at: 0, used: 1 },
      nights: [point(1, 4, null)],
      now: point(5, 13, null),
    })
  })
})

test('units that refused duplicates saved are those of the month, and unknown before a sweep counted any', () => {
  const { month, definitions } = readingOf()
  const [before, first, second] = summaryDays(definitions.calendar, {
    since: month.start - 1,
    until: month.start + days(1),
  })
  const summary = (day: SummaryDay | undefined, changes: Partial<Summary>): Summary[] =>
    day ? [{ ...emptySummary(day), mark: 'm', ...changes }] : []
  const all = [
    ...summary(before, { duplicates: 1, saved: 10 }),
    ...summary(first, { duplicates: 2, saved: 200 }),
    ...summary(second, { duplicates: 4, saved: 4_000 }),
  ]
  expect(savedIn({ month }, all)).toEqual({ updates: 6, units: 4_200 })
  expect(savedIn({ month }, [...all.slice(0, 1), ...summary(second, { mark: null, duplicates: 4 })])).toBeNull()
})
