import { expect, test } from 'vitest'
import { lastPrices } from '../../../shared/guard/plans/stored-price.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { hours } from '../../support/clock.ts'
import { startGuard } from '../../support/guard.ts'

// The costs of plans and the next run of any, from prices of two kinds that were read at two times.

const plans = parsePlans(
  JSON.stringify([
    { name: 'late', kind: 'ranking', projects: ['one', 'two', 'none'], schedule: 'cron(0 23 * * ? *)' },
    { name: 'early', kind: 'keyword-difficulty', projects: ['one', 'none'], schedule: 'cron(0 12 * * ? *)' },
  ]),
)

async function start() {
  const product = await startGuard({ parts: { plans: async () => plans } })
  const { clock, guard } = product
  const now = clock.now()
  const prices = guard.ledger.item(lastPrices)
  await prices.write({ kind: 'ranking', project: 'one', units: toUnits(40), at: now - hours(2) })
  await prices.write({ kind: 'ranking', project: 'two', units: toUnits(5), at: now - hours(3) })
  await prices.write({ kind: 'keyword-difficulty', project: 'one', units: toUnits(7), at: now - hours(1) })
  return { ...product, now }
}

test('the cost of a plan adds the prices of its kind, and says when the oldest of them was read', async () => {
  const { guard, now } = await start()
  const { costs } = await (await reportsOf(guard)).upcoming(1)
  expect([...costs]).toEqual([
    ['late', { units: 45, unpriced: 1, pricedAt: now - hours(3) }],
    ['early', { units: 7, unpriced: 1, pricedAt: now - hours(1) }],
  ])
})

test('the next run is the earliest of all plans, wherever it is in the file', async () => {
  const { guard, clock } = await start()
  const next = async () => (await (await reportsOf(guard)).outlook()).next
  expect(await next()).toEqual({ plan: 'early', at: Date.parse('2026-11-20T12:00Z'), units: 7, unpriced: 1 })
  clock.set('2026-11-20T12:00:01Z')
  expect(await next()).toEqual({ plan: 'late', at: Date.parse('2026-11-20T23:00Z'), units: 45, unpriced: 1 })
})

test('the days ahead name each budget on the day of the month on which it runs out, also in the next month', async () => {
  const { guard, budget } = await start()
  const limits = [{ window: 'month' as const, units: toUnits(130) }]
  await budget('seo', { limits, projects: [{ name: 'one' }] })
  await budget('ads', { limits: [{ window: 'month', units: toUnits(20) }], projects: [{ name: 'two' }] })
  const { days } = await (await reportsOf(guard)).upcoming(5)
  const found = days.flatMap(({ day, runsOut }) => runsOut.map(({ budget }) => `${day.name} ${budget}`))
  // Keyword difficulty of one project runs again after seven days: on 20 November and on 4 December.
  expect(found).toEqual(['day:2026-11-23 seo', 'day:2026-11-24 ads', 'day:2026-12-04 seo', 'day:2026-12-05 ads'])
})
