import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { monthBefore } from '../../../shared/ledger/definitions/windows.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { summaryDays } from '../../../shared/ledger/updates/summary-days.ts'
import { createMonths } from '../../../shared/reports/history.ts'
import { daySummaries, emptySummary } from '../../../shared/reports/stored-summary.ts'
import { createTestClock } from '../../support/clock.ts'
import { u } from '../../support/records.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// The use of the same day of last month, beside the use of now.

const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati', 'Australia/Lord_Howe']
const renewals = fc.record({
  day: fc.constantFrom(1, 2, 9, 14, 28, 29, 30, 31),
  time: fc.constantFrom('00:00', '12:30', '23:45'),
  zone: fc.constantFrom(...zones),
})
/** The clocks change in some of these months. */
const instants = fc.integer({ min: Date.parse('2027-02-20T00:00Z'), max: Date.parse('2028-06-10T00:00Z') })

/** Last month with a summary of each day, which says that as many units are used as days are over. */
async function start(now: number, renewal: { day: number; time: string; zone: string }) {
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const account = { unitsPerMonth: u(1_000), usedAtStart: u(0), renewal }
  const ledger = createLedger({ store: createMemoryStore(), clock, account })
  await ledger.view()
  clock.set(new Date(now).toISOString())
  const view = await ledger.view()
  const { calendar } = view.definitions
  const before = monthBefore(calendar, view.month)
  const days = summaryDays(calendar, { since: before.start, until: before.end - 1 })
  for (const [number, day] of days.entries())
    await ledger.item(daySummaries).write({ ...emptySummary(day), at: now, used: { account: { used: number + 1 } } })
  const today = summaryDays(calendar, { since: view.month.start, until: now }).length
  return { expected: Math.min(today, days.length), used: () => createMonths({ ledger }).usedLastMonth(view) }
}

test('the use of last month is that of the same day, or of its last day in a longer month', async () => {
  await fc.assert(
    fc.asyncProperty(renewals, instants, async (renewal, now) => {
      const { expected, used } = await start(now, renewal)
      expect(await used()).toBe(expected)
    }),
    { numRuns: 30 },
  )
})

test.each([
  ['on the last day of a longer month', '2027-03-31T10:00:00Z', 28],
  ['on the day whose number the last month lacks', '2027-03-29T10:00:00Z', 28],
  ['at the first moment of a day', '2027-04-20T00:00:00+02:00', 20],
  [
    'in the first hour of the day, if the clocks went back on the day before a month ago',
    '2028-11-30T00:30:00+01:00',
    30,
  ],
  ['in the last hour of the day, if the clocks went forward on that day a month ago', '2027-04-28T23:30:00+02:00', 28],
])('the use of last month is known %s', async (_when, now, expected) => {
  const { used } = await start(Date.parse(now), { day: 1, time: '00:00', zone: 'Europe/Berlin' })
  expect(await used()).toBe(expected)
})

test('the use of last month is unknown in the first month, and for a day without a summary', async () => {
  const renewal = { day: 1, time: '00:00', zone: 'UTC' }
  const { used } = await start(Date.parse('2026-11-25T10:00:00Z'), renewal)
  expect(await used()).toBeNull()
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const account = { unitsPerMonth: u(1_000), usedAtStart: u(0), renewal }
  const ledger = createLedger({ store: createMemoryStore(), clock, account })
  await ledger.view()
  clock.set('2026-12-21T10:00:00Z')
  expect(await createMonths({ ledger }).usedLastMonth(await ledger.view())).toBeNull()
})

test('the last months are those since the ledger began, with the limits that held at their ends', async () => {
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const renewal = { day: 1, time: '00:00', zone: 'UTC' }
  const account = { unitsPerMonth: u(1_000), usedAtStart: u(0), renewal }
  const ledger = createLedger({ store: createMemoryStore(), clock, account })
  await ledger.view()
  clock.set('2027-02-15T10:00:00Z')
  const view = await ledger.view()
  const on = (day: string) => Date.parse(`${day}T12:00Z`)
  const limits = { '2026-12-05': 300, '2026-12-20': 400, '2026-12-21': null, '2027-01-09': 500 }
  for (const [day, limit] of Object.entries(limits)) {
    const [found] = summaryDays(view.definitions.calendar, { since: on(day), until: on(day) })
    if (!found) throw new Error('there is no day')
    const used: Record<string, { used: number; limit: number }> = limit === null ? {} : { account: { used: 0, limit } }
    await ledger.item(daySummaries).write({ ...emptySummary(found), at: view.now, used })
  }
  const months = await createMonths({ ledger }).lastMonths(view, 'account', 12)
  expect(months.map(({ month, limit }) => [month.name, limit])).toEqual([
    ['month:2027-02-01', 1_000],
    ['month:2027-01-01', 500],
    ['month:2026-12-01', 400],
    ['month:2026-11-01', 1_000],
  ])
  expect(await createMonths({ ledger }).lastMonths(view, 'account', 2)).toHaveLength(2)
})
