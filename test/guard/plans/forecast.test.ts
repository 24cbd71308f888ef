import { describe, expect, test } from 'vitest'
import {
  type ForecastCounter,
  type ForecastPlan,
  forecastCounters,
  type KnownPrice,
} from '../../../shared/guard/plans/forecast.ts'
import { type Plan, parsePlans } from '../../../shared/guard/plans/plans-file.ts'

const at = (text: string) => Date.parse(text)
const now = at('2026-03-10T12:00Z')

const month: ForecastCounter = {
  budget: 'account',
  window: 'month',
  available: 100_000,
  start: at('2026-03-01T00:00Z'),
  end: at('2026-04-01T00:00Z'),
  held: 0,
  inDoubt: 0,
  spent: 0,
  payable: 100_000,
}
const day: ForecastCounter = {
  ...month,
  window: 'day',
  start: at('2026-03-10T00:00Z'),
  end: at('2026-03-11T00:00Z'),
}

const defaults = { name: 'a', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 5 * * ? *)' }

function planOf(plan: object = {}, more: Partial<ForecastPlan> = {}): ForecastPlan {
  const [parsed] = parsePlans(JSON.stringify([{ ...defaults, ...plan }]))
  return { plan: parsed as Plan, paused: false, chainOf: () => ['account'], last: null, ...more }
}

const prices: Record<string, KnownPrice> = {
  acme: { units: 40, at: at('2026-03-09T05:00Z') },
  globex: { units: 640, at: at('2026-03-02T05:00Z') },
  initech: { units: 120, at: at('2026-03-10T05:00Z') },
  free: { units: 0, at: at('2026-03-01T05:00Z') },
}
const priceOf = (_kind: string, project: string) => prices[project] ?? null

const forecastOf = (counter: Partial<ForecastCounter>, ...plans: ForecastPlan[]) =>
  forecastCounters({ now, counters: [{ ...month, ...counter }], plans, priceOf })[0]

const noHistory = {
  ...{ exhaustedBy: null, pace: { last7Days: null, month: null }, projectedAtPace: null, exhaustedAtPace: null },
  ...{ lastPrice: null, updatesLeft: null, ifResumed: 0 },
}

describe('a forecast', () => {
  test('a forecast adds the units that plans will need before the window ends', () => {
    const plans = [planOf({ projects: ['acme', 'globex', 'initech'] }), planOf({ schedule: 'cron(0 20 * * ? *)' })]
    const counters = [{ ...month, spent: 1_000, held: 200, inDoubt: 30 }, day]
    expect(forecastCounters({ now, counters, plans, priceOf })).toEqual([
      {
        budget: 'account',
        window: 'month',
        available: 100_000,
        committed: 17_680, // 05:00 on the 11th to the 31st, 21 × 800; 20:00 on the 10th to the 31st, 22 × 40
        projected: 18_910,
        exhaustedAt: null,
        unpriced: 0,
        pricedAt: at('2026-03-02T05:00Z'),
        ...noHistory,
      },
      {
        budget: 'account',
        window: 'day',
        available: 100_000,
        committed: 40,
        projected: 40,
        exhaustedAt: null,
        unpriced: 0,
        pricedAt: at('2026-03-09T05:00Z'),
        ...noHistory,
      },
    ])
  })

  test('a forecast adds unplanned spending at its recent pace, and the time when nothing is left', () => {
    const paceOf = () => ({ last7Days: 48, month: 10 })
    const at48 = (counter: Partial<ForecastCounter>, ...plans: ForecastPlan[]) =>
      forecastCounters({ now, counters: [{ ...month, ...counter }], plans, priceOf, paceOf })[0]
    // 21.5 days at 48 units.
    expect(at48({ spent: 100 })).toMatchObject({ projected: 100, projectedAtPace: 1_131, exhaustedAtPace: null })
    // Two units an hour: the ninth unit exceeds the budget.
    expect(at48({ available: 8 })).toMatchObject({ exhaustedAt: null, exhaustedAtPace: at('2026-03-10T16:30Z') })
    // The first morning takes 40; at 2 units an hour the rest is gone half an hour before the second morning.
    expect(at48({ available: 120 }, planOf())).toMatchObject({
      ...{ exhaustedAt: at('2026-03-14T05:00Z'), exhaustedBy: 'a' },
      exhaustedAtPace: at('2026-03-12T04:30Z'),
    })
    expect(at48({ window: 'day', start: day.start, end: day.end })).toMatchObject({ projectedAtPace: 23 })
  })

  test('a forecast counts, at the last price, the updates that the chain can still pay for', () => {
    const leftAt = (payable: number | null, price: number | null) =>
      forecastCounters({ now, counters: [{ ...month, payable }], plans: [], priceOf, lastPriceOf: () => price })[0]
    expect(leftAt(119, 40)).toMatchObject({ lastPrice: 40, updatesLeft: 2 })
    expect([leftAt(-5, 40), leftAt(39, 40), leftAt(40, 40)].map((row) => row?.updatesLeft)).toEqual([0, 0, 1])
    expect([leftAt(null, 40), leftAt(40, null), leftAt(40, 0)].map((row) => row?.updatesLeft)).toEqual(
      Array(3).fill(null),
    )
  })

  test('a forecast shows paused plans apart, with the units that they would need', () => {
    expect(forecastOf({}, planOf({}, { paused: true }), planOf())).toMatchObject({ committed: 840, ifResumed: 840 })
  })

  test('a forecast without plans equals the present figures', () => {
    expect(forecastOf({ available: -5, spent: 10 })).toMatchObject({ committed: 0, projected: 10, exhaustedAt: null })
    expect(forecastCounters({ now, counters: [], plans: [planOf()], priceOf })).toEqual([])
  })

  test.each<[what: string, plan: ForecastPlan, committed: number]>([
    ['a plan that is not enabled', planOf({ enabled: false }), 0],
    ['a paused plan', planOf({}, { paused: true }), 0],
    ['a plan that charges another budget', planOf({}, { chainOf: () => ['seo'] }), 0],
    ['a plan that is due at this instant', planOf({ schedule: 'cron(0 12 10 3 ? *)' }), 0],
    ['a plan that is due a minute later', planOf({ schedule: 'cron(1 12 10 3 ? *)' }), 40],
    ['a plan that is due in the last minute', planOf({ schedule: 'cron(59 23 31 3 ? *)' }), 40],
    ['a plan that is due when the next window begins', planOf({ schedule: 'cron(0 0 1 * ? *)' }), 0],
    ['a plan that was due before', planOf({ schedule: 'cron(0 5 1-10 3 ? *)' }), 0],
    // The multiples of 10 days since the epoch are 7, 17 and 27 March 2026.
    ['a rate from the epoch', planOf({ schedule: 'rate(10 days)' }), 80],
    ['a rate from its last time', planOf({ schedule: 'rate(10 days)' }, { last: at('2026-03-01T13:00Z') }), 120],
    ['a cron has no last time', planOf({}, { last: at('2026-03-01T13:00Z') }), 840],
  ])('a forecast counts %s', (_what, plan, committed) => {
    expect(forecastOf({}, plan)).toMatchObject({ committed })
  })

  test('a forecast of a future window counts from the window’s beginning', () => {
    const april = { start: at('2026-04-01T00:00Z'), end: at('2026-05-01T00:00Z'), available: 1_200 }
    expect(forecastOf(april, planOf({ schedule: 'cron(0 0 * * ? *)' }))).toMatchObject({
      ...{ committed: 1_200, exhaustedAt: null },
    })
    const twice = planOf({ schedule: 'cron(0 0,12 * * ? *)' })
    expect(forecastOf({ ...april, available: 39 }, twice)).toMatchObject({ exhaustedAt: at('2026-04-01T00:00Z') })
    expect(forecastOf({ ...april, available: 40 }, twice)).toMatchObject({ exhaustedAt: at('2026-04-01T12:00Z') })
  })

  test('a forecast of an ended window is empty', () => {
    expect(forecastOf({ end: now }, planOf({ schedule: 'rate(1 minute)' }))).toMatchObject({ committed: 0 })
  })

  test('a forecast charges each project to its own chain', () => {
    const chains: Record<string, string[]> = { acme: ['seo', 'account'], globex: ['shop', 'seo', 'account'] }
    const plan = planOf({ projects: ['acme', 'globex', 'initech'] }, { chainOf: (name) => chains[name] ?? ['account'] })
    const counters = ['account', 'seo', 'shop', 'empty'].map((budget) => ({ ...month, budget }))
    expect(forecastCounters({ now, counters, plans: [plan], priceOf }).map(({ committed }) => committed)).toEqual([
      16_800, // 21 × 800
      14_280, // 21 × 680
      13_440, // 21 × 640
      0,
    ])
  })

  test('a forecast uses the price of the kind', () => {
    const plans = [planOf(), planOf({ kind: 'keyword-difficulty' })]
    const priceOf = (kind: string) => ({ units: kind === 'ranking' ? 1 : 100, at: now })
    expect(forecastCounters({ now, counters: [month], plans, priceOf })).toMatchObject([{ committed: 2_121 }])
  })
})

describe('the time when units run out', () => {
  // 800 every day at 05:00 from the 11th on.
  const daily = planOf({ projects: ['acme', 'globex', 'initech'] })
  test.each<[available: number | null, exhaustedAt: string | null]>([
    [null, null],
    [16_800, null],
    [16_799, '2026-03-31T05:00Z'],
    [2_500, '2026-03-14T05:00Z'],
    [2_400, '2026-03-14T05:00Z'],
    [2_399, '2026-03-13T05:00Z'],
    [799, '2026-03-11T05:00Z'],
    [0, '2026-03-11T05:00Z'],
    [-1, '2026-03-11T05:00Z'],
  ])('units run out for %s available at %s', (available, exhaustedAt) => {
    const expected = exhaustedAt === null ? null : at(exhaustedAt)
    expect(forecastOf({ available }, daily)).toMatchObject({ available, exhaustedAt: expected })
  })

  test('units run out when several plans have used them in the order of time', () => {
    const hourly = planOf({ schedule: 'cron(30 * * * ? *)' }) // 40 an hour: 17 times, 680, before 05:00 on the 11th
    const exhaustedAt = (available: number) => forecastOf({ available }, daily, hourly)?.exhaustedAt
    expect(exhaustedAt(679)).toBe(at('2026-03-11T04:30Z'))
    expect(exhaustedAt(680)).toBe(at('2026-03-11T05:00Z'))
    expect(exhaustedAt(1_479)).toBe(at('2026-03-11T05:00Z'))
    expect(exhaustedAt(1_480)).toBe(at('2026-03-11T05:30Z'))
  })

  test('units run out when several plans at one time need more together', () => {
    expect(forecastOf({ available: 839 }, daily, planOf())?.exhaustedAt).toBe(at('2026-03-11T05:00Z'))
    expect(forecastOf({ available: 840 }, daily, planOf())?.exhaustedAt).toBe(at('2026-03-12T05:00Z'))
  })

  test('units do not run out because of plans that cost nothing or have no known price', () => {
    const plan = planOf({ projects: ['free', 'unknown'] })
    expect(forecastOf({ available: -5 }, plan)).toMatchObject({ committed: 0, exhaustedAt: null, unpriced: 1 })
    expect(forecastOf({ available: 0 }, plan)).toMatchObject({ committed: 0, exhaustedAt: null, unpriced: 1 })
  })
})

describe('prices', () => {
  test('a forecast counts missing prices, and shows the time of the oldest known price', () => {
    const plans = [['acme', 'unknown'], ['initech', 'unknown', 'other'], ['unknown']]
    expect(forecastOf({}, ...plans.map((projects) => planOf({ projects })))).toMatchObject({
      committed: 3_360, // 21 × (40 + 120)
      unpriced: 4,
      pricedAt: at('2026-03-09T05:00Z'),
    })
  })

  test('a forecast ignores prices of plans that are no longer due in the window', () => {
    const past = planOf({ projects: ['globex', 'unknown'], schedule: 'cron(0 5 1 * ? *)' })
    const next = planOf({ projects: ['globex', 'unknown'], schedule: 'cron(0 0 1 * ? *)' })
    const off = planOf({ projects: ['globex', 'unknown'], enabled: false })
    expect(forecastOf({}, past, next, off, planOf({ projects: ['initech'] }))).toMatchObject({
      unpriced: 0,
      pricedAt: at('2026-03-10T05:00Z'),
    })
    expect(forecastOf({}, past, off)).toMatchObject({ committed: 0, unpriced: 0, pricedAt: null })
  })
})

test('fifty plans of five hundred projects every five minutes read each price once', () => {
  const projects = Array.from({ length: 500 }, (_, index) => `project-${index}`)
  const chain = ['account', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7']
  const plans = Array.from({ length: 50 }, () =>
    planOf({ projects, schedule: 'cron(0/5 * * * ? *)' }, { chainOf: () => chain }),
  )
  const counters = chain.map((budget) => ({ ...month, budget, available: 100_000_000 }))
  let asked = 0
  const priceOf = () => {
    asked++
    return { units: 2, at: now }
  }
  const rows = forecastCounters({ now, counters, plans, priceOf })
  expect(asked).toBe(25_000)
  // From 12:05 on the 10th to 23:55 on the 31st: 143 + 21 × 288 times, 50,000 units each.
  expect(rows.map(({ committed }) => committed)).toEqual(Array(8).fill(309_550_000))
  // 2,000 times need 100,000,000 units. The next time is 2,001 × 5 minutes (6 days 22 hours 45 minutes) after now.
  expect(rows.map(({ exhaustedAt }) => exhaustedAt)).toEqual(Array(8).fill(at('2026-03-17T10:45Z')))
})
