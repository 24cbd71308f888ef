import { describe, expect, test } from 'vitest'
import { maxSteps, type PlannedTimes, play } from '../../../shared/guard/plans/play.ts'
import type { KnownPrice } from '../../../shared/guard/plans/stored-price.ts'
import { type Plan, parsePlans } from '../../../shared/guard/plans-file.ts'
import { figuresOf } from '../../../shared/guard/sentences.ts'
import type { Budget, WindowKind } from '../../../shared/ledger/definitions/definitions.ts'
import { forecastOf } from '../../../shared/reports/plans/forecast.ts'
import { readingOf, u } from '../../support/records.ts'

const at = (text: string) => Date.parse(text)
const now = '2026-03-10T12:00Z'

const defaults = { name: 'a', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 5 * * ? *)' }

function planOf(plan: object = {}, more: Partial<PlannedTimes> = {}): PlannedTimes {
  const [parsed] = parsePlans(JSON.stringify([{ ...defaults, ...plan }]))
  return { plan: parsed as Plan, paused: false, last: null, first: [], ...more }
}

/** Of ranking updates, and of one update of keyword difficulty. */
const prices: Record<string, KnownPrice> = {
  'acme keyword-difficulty': { units: u(7), at: at('2026-03-08T05:00Z') },
  acme: { units: u(40), at: at('2026-03-09T05:00Z') },
  globex: { units: u(640), at: at('2026-03-02T05:00Z') },
  initech: { units: u(120), at: at('2026-03-10T05:00Z') },
}

const month = (units: number) => [{ window: 'month' as const, units: u(units) }]

interface Given {
  readonly budgets?: Record<string, Partial<Budget>>
  readonly plans?: readonly PlannedTimes[]
  readonly pace?: { readonly last7Days: number | null; readonly month: number | null }
  readonly spent?: number
  readonly steps?: number
}

/** The account is in Berlin, an hour before UTC until 29 March. */
function forecast(given: Given, budget = 'account', window: WindowKind = 'month') {
  const { budgets = {}, plans = [], pace, spent = 0, steps = maxSteps } = given
  const account = { limits: month(100_000), ...budgets.account }
  const view = readingOf({ now, budgets: { ...budgets, account }, spent: { month: { account: spent } } })
  const input = {
    view,
    seenOf: () => ({ update: null, works: [], records: new Map() }),
    waiting: [],
    nextStored: null,
    priceOf: (kind: string, project: string) => prices[kind === 'ranking' ? project : `${project} ${kind}`] ?? null,
    options: { serviceTimeoutMs: 1, serviceFlightMs: 1, cooldown: { ranking: 0, 'keyword-difficulty': 0 } },
  }
  const played = play(
    input,
    plans.filter(({ paused }) => !paused),
    steps,
  )
  const owner = view.definitions.budgets[budget]
  if (!owner) throw new Error(`there is no budget ${budget}`)
  const trend = { now: view.now, ...(pace && { pace }) }
  return forecastOf({ played, resumed: play(input, plans) }, figuresOf(view, owner, window), trend)
}

describe('a forecast', () => {
  test('adds the units that the played plans take before the window ends', () => {
    const plans = [
      planOf({ projects: ['acme', 'globex', 'initech'] }),
      planOf({ name: 'b', schedule: 'cron(0 20 * * ? *)' }),
    ]
    expect(forecast({ plans, spent: 1_000 })).toEqual({
      budget: 'account',
      window: 'month',
      available: 99_000,
      // 05:00 on the 11th to the 31st, 21 × 800; 20:00 on the 10th to the 31st, 22 × 40.
      committed: 17_680,
      wanted: 17_680,
      isWantedAtLeast: false,
      short: 0,
      projected: 18_680,
      exhaustedAt: null,
      exhaustedBy: null,
      pace: { last7Days: null, month: null },
      projectedAtPace: null,
      exhaustedAtPace: null,
      lastPrice: null,
      ifResumed: 0,
      unpriced: 0,
      pricedAt: at('2026-03-02T05:00Z'),
      sumsFrom: null,
    })
    expect(forecast({ plans }, 'account', 'day')).toMatchObject({ available: null, committed: 40, projected: 40 })
  })

  test('leaves out what a rule refuses, and says what a budget lacks', () => {
    const budgets = {
      acme: { projects: [{ name: 'acme' }], limits: month(100) },
      seo: { projects: [{ name: 'globex' }], frozen: { reason: 'audit', by: 'ada', at: 0 } },
    }
    const plans = [planOf({ projects: ['acme', 'globex', 'initech'] })]
    // 21 mornings: acme pays two of them, and needs 21 × 40.
    expect(forecast({ budgets, plans }, 'acme')).toMatchObject({
      committed: 80,
      wanted: 840,
      short: 740,
      projected: 80,
      exhaustedAt: at('2026-03-13T05:00Z'),
      exhaustedBy: 'a',
    })
    expect(forecast({ budgets, plans }, 'seo')).toMatchObject({ committed: 0, wanted: 0, exhaustedAt: null })
    expect(forecast({ budgets, plans })).toMatchObject({ committed: 80 + 21 * 120, wanted: 21 * 160, short: 0 })
    const granted = { ...budgets, acme: { ...budgets.acme, limits: month(840) } }
    expect(forecast({ budgets: granted, plans }, 'acme')).toMatchObject({ committed: 840, short: 0, exhaustedAt: null })
  })

  test('an observed limit refuses nothing, and its budget runs out with the first plan that exceeds it', () => {
    const budgets = { acme: { projects: [{ name: 'acme' }], limits: month(100), enforce: false as const } }
    const other = planOf({ name: 'b', schedule: 'cron(0 20 * * ? *)' })
    expect(forecast({ budgets, plans: [other, planOf()] }, 'acme')).toMatchObject({
      committed: 840 + 880,
      short: 840 + 780,
      exhaustedAt: at('2026-03-11T20:00Z'),
      exhaustedBy: 'b',
    })
    expect(forecast({ budgets, plans: [planOf()] }, 'acme')).toMatchObject({
      committed: 840,
      short: 740,
      exhaustedAt: at('2026-03-13T05:00Z'),
      exhaustedBy: 'a',
    })
  })

  test('two kinds of one project have two prices, and two projects two payers', () => {
    const budgets = {
      acme: { projects: [{ name: 'acme' }], limits: month(1_000) },
      seo: { parent: 'account', projects: [{ name: 'globex' }], limits: month(100_000) },
    }
    const plans = [planOf({ projects: ['acme', 'globex'] }), planOf({ name: 'b', kind: 'keyword-difficulty' })]
    expect(forecast({ budgets, plans }, 'acme')).toMatchObject({
      committed: 21 * (40 + 7),
      pricedAt: at('2026-03-08T05:00Z'),
    })
    expect(forecast({ budgets, plans }, 'seo')).toMatchObject({
      committed: 21 * 640,
      pricedAt: at('2026-03-02T05:00Z'),
    })
    expect(forecast({ budgets, plans })).toMatchObject({ committed: 21 * (40 + 7 + 640) })
  })

  test('a project without a price counts once for each plan that has it', () => {
    const projects = ['umbrella', 'hooli']
    const plans = [planOf({ projects }), planOf({ name: 'b', projects, schedule: 'cron(0 20 * * ? *)' })]
    expect(forecast({ plans })).toMatchObject({ committed: 0, isWantedAtLeast: true, unpriced: 4, pricedAt: null })
  })

  test('adds unplanned spending at its recent pace, and the time when nothing is left', () => {
    const pace = { last7Days: 48, month: 10 }
    const of = (units: number, plans: readonly PlannedTimes[] = []) =>
      forecast({ budgets: { account: { limits: month(units) } }, plans, pace })
    // Until 31 March, 22:00 UTC, 21 days and 10 hours at 2 units an hour.
    expect(of(100_000)).toMatchObject({ projected: 0, projectedAtPace: 1_027, exhaustedAtPace: null })
    // The ninth unit exceeds the budget.
    expect(of(8)).toMatchObject({ exhaustedAt: null, exhaustedAtPace: at('2026-03-10T16:30Z') })
    // The first morning takes 40; at 2 units an hour the rest is gone half an hour before the second morning.
    expect(of(120, [planOf()])).toMatchObject({
      exhaustedAt: at('2026-03-14T05:00Z'),
      exhaustedBy: 'a',
      exhaustedAtPace: at('2026-03-12T04:30Z'),
    })
    // The second morning takes more than the pace has left.
    expect(of(121, [planOf()])).toMatchObject({ exhaustedAtPace: at('2026-03-12T05:00Z') })
    expect(of(0)).toMatchObject({ exhaustedAtPace: at('2026-03-10T12:30Z') })
  })

  test('paused plans count only as resumed, and projects without a price are named', () => {
    const plans = [planOf({}, { paused: true }), planOf({ name: 'b', projects: ['acme', 'umbrella'] })]
    expect(forecast({ plans })).toMatchObject({ committed: 840, ifResumed: 840, unpriced: 1 })
    expect(forecast({ plans: [planOf({ enabled: false })] })).toMatchObject({ committed: 0, ifResumed: 0 })
  })

  test('after too many updates, prices are only summed', () => {
    const plans = [planOf({ projects: ['acme', 'initech'] })]
    const budgets = { account: { limits: month(1_000) } }
    // Four steps are two mornings. The sums refuse nothing.
    expect(forecast({ budgets, plans, steps: 4 })).toMatchObject({
      committed: 21 * 160,
      short: 21 * 160 - 1_000,
      sumsFrom: at('2026-03-13T05:00Z'),
      exhaustedAt: at('2026-03-17T05:00Z'),
      exhaustedBy: 'a',
    })
    expect(forecast({ budgets, plans, steps: 200 })).toMatchObject({ committed: 1_000, sumsFrom: null })
  })

  test('a rate counts from the last run of its plan', () => {
    const rate = { schedule: 'rate(10 days)' }
    const last = at('2026-03-09T00:00Z')
    expect(forecast({ plans: [planOf(rate, { last })] })).toMatchObject({ committed: 80 })
    expect(forecast({ plans: [planOf(rate, { last: at('2026-03-02T00:00Z') })] })).toMatchObject({ committed: 80 })
  })
})
