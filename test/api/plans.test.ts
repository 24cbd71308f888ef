import { describe, expect, test } from 'vitest'
import { createTestClock, days, hours, minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const due = '2026-11-20T10:00:00Z'
const night = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 5 * * ? *)' }
const weekly = {
  name: 'weekly',
  kind: 'keyword-difficulty',
  projects: ['7'],
  budget: 'seo',
  schedule: 'rate(7 days)',
  whenShort: 'ask',
  query: { device: 'mobile' },
  leave: { account: 2_000, seo: 100 },
}
const month = (units: number) => [{ window: 'month', units }]

type Options = NonNullable<Parameters<typeof startProduct>[0]>

async function withPlans(plans: readonly object[] = [night, weekly], options: Options = {}) {
  const product = await startProduct({ store: createMemoryStore(), plans, ...options })
  await product.call('PUT', '/budgets/seo', { body: { limits: month(5_000), projects: [{ name: 'b' }] } })
  const person = (scope: string, budgets?: '*' | string[]) =>
    product.signed({ sub: 'bob', scope, ...(budgets && { budgets }) })
  const run = (body: object, token?: Promise<string>, plan = 'night') =>
    product.call('POST', `/plans/${plan}/run`, { body, ...(token && { token }) })
  const plansNow = async () => (await product.call('GET', '/plans')).body.plans
  return { product, person, run, plansNow }
}

describe('GET /plans', () => {
  test('GET /plans shows the plans file and the next time in both zones', async () => {
    const { plansNow } = await withPlans(undefined, { env: { ACCOUNT_TIME_ZONE: 'Europe/Berlin' } })
    expect(await plansNow()).toEqual([
      {
        name: 'night',
        kind: 'ranking',
        projects: ['a', 'b'],
        budget: null,
        schedule: 'cron(0 5 * * ? *)',
        whenShort: 'fit',
        enabled: true,
        paused: false,
        next: '2026-11-21T05:00:00.000Z',
        nextLocal: '21 Nov 2026 06:00 Europe/Berlin',
        last: null,
      },
      {
        name: 'weekly',
        kind: 'keyword-difficulty',
        projects: ['7'],
        budget: 'seo',
        schedule: 'rate(7 days)',
        whenShort: 'ask',
        query: { device: 'mobile' },
        leave: { account: 2_000, seo: 100 },
        enabled: true,
        // A rate counts from the creation of its rule, which is unknown here before its first time.
        paused: false,
        next: null,
        nextLocal: null,
        last: null,
      },
    ])
  })

  test('GET /plans shows the occurrence with the latest time as last', async () => {
    const { product, plansNow } = await withPlans([night])
    for (const time of ['2026-11-20T10:00:00Z', '2026-11-18T10:00:00Z']) {
      await product.triggers.fire('night', Date.parse(time), product.endsAt())
    }
    expect((await plansNow())[0].last).toMatchObject({ time: '2026-11-20T10:00:00.000Z', state: 'done' })
  })

  test('a disabled plan has no next time', async () => {
    const { plansNow } = await withPlans([{ ...night, enabled: false }])
    expect(await plansNow()).toMatchObject([{ enabled: false, next: null, nextLocal: null }])
  })

  test('GET /plans is empty without plans', async () => {
    const { plansNow } = await withPlans([])
    expect(await plansNow()).toEqual([])
  })
})

describe('pause and resume', () => {
  test('a paused plan shows who paused it, when and why; the first pause stays until resume', async () => {
    const { product, plansNow } = await withPlans([night])
    const pause = (reason: string) => product.call('POST', '/plans/night/pause', { body: { reason } })
    const paused = await pause('the site moves')
    expect([paused.status, paused.body.name, paused.body.paused]).toEqual([
      200,
      'night',
      { reason: 'the site moves', by: 'ada', at: '2026-11-20T10:00:00.000Z' },
    ])
    product.clock.advance(minutes(1))
    expect((await pause('again')).body.paused.reason).toBe('the site moves')
    expect((await plansNow())[0].paused.reason).toBe('the site moves')
    const resumed = await product.call('POST', '/plans/night/resume', { body: { reason: 'it has moved' } })
    expect([resumed.status, resumed.body.paused]).toEqual([200, false])
    expect((await product.call('POST', '/plans/night/resume', { body: { reason: 'twice' } })).status).toBe(200)
    const { body } = await product.call('GET', '/budgets/account/entries')
    const entries = body.entries.filter(({ type }: { type: string }) => type !== 'budget-created')
    expect(entries.map(({ type, reason, by }: Record<string, string>) => [type, reason, by]).slice(0, 2)).toEqual([
      ['resume', 'it has moved', 'ada'],
      ['pause', 'the site moves', 'ada'],
    ])
  })

  test.each(['pause', 'resume'])('%s is 404 for an unknown plan and 415 without a body', async (action) => {
    const { product } = await withPlans([night])
    for (const name of ['day', 'NIGHT', '__proto__', '%2e%2e']) {
      const { status } = await product.call('POST', `/plans/${name}/${action}`, { body: { reason: 'x' } })
      expect([name, status]).toEqual([name, 404])
    }
    expect((await product.call('POST', `/plans/night/${action}`)).status).toBe(415)
  })
})

describe('POST /plans/{name}/run', () => {
  test("running a plan answers each project's outcome, and a repeat runs nothing", async () => {
    const { product, run } = await withPlans([night], { units: { a: 600 } })
    await product.call('PUT', '/budgets/account', { body: { limits: month(100) } })
    const first = await run({ time: due })
    expect(first.status).toBe(200)
    expect(first.body).toEqual({
      plan: 'night',
      time: '2026-11-20T10:00:00.000Z',
      state: 'done',
      finishedAt: '2026-11-20T10:00:00.000Z',
      counts: {
        settled: 1,
        upToDate: 0,
        refused: 1,
        noPrice: 0,
        released: 0,
        inDoubt: 0,
        awaitingApproval: 0,
        requested: 0,
        expired: 0,
        unsent: 0,
      },
      unitsCharged: 40,
      projects: [
        {
          project: 'a',
          update: expect.stringMatching(/^upd_/),
          state: 'refused',
          problem: expect.objectContaining({
            type: '/problems/over-budget',
            status: 402,
            units: 600,
            short: 500,
            detail:
              'account has 100 of 100 units left this month and this needs 600; resets 1 Dec 2026 00:00 UTC; ask for 500 more.',
          }),
        },
        { project: 'b', update: expect.stringMatching(/^upd_/), state: 'settled' },
      ],
    })
    const again = await run({ time: '2026-11-20T11:00:00+01:00' })
    expect([again.status, again.body]).toEqual([200, first.body])
    expect((await run({ time: due, only: 'unsent' })).body).toEqual(first.body)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test('running a plan with respond-async answers 202, and the sweep runs the plan', async () => {
    const { product, run, plansNow } = await withPlans([night])
    const headers = { prefer: 'respond-async' }
    const { status, body } = await product.call('POST', '/plans/night/run', { body: { time: due }, headers })
    expect(status).toBe(202)
    expect(body).toMatchObject({
      state: 'running',
      finishedAt: null,
      nextTryAt: '2026-11-20T10:00:00.000Z',
      counts: { unsent: 2, settled: 0 },
      unitsCharged: 0,
      projects: [
        { project: 'a', update: null, state: 'unsent' },
        { project: 'b', update: null, state: 'unsent' },
      ],
    })
    expect(product.service.requests).toEqual([])
    await product.triggers.sweep(product.endsAt())
    expect((await plansNow())[0].last).toMatchObject({ state: 'done' })
    expect((await run({ time: due })).body).toMatchObject({ counts: { settled: 2 }, unitsCharged: 80 })
  })

  test('running a plan answers 202 with the time of the next attempt if it must retry', async () => {
    const { run } = await withPlans([night], { service: () => ({ status: 503 }) })
    const { status, body } = await run({ time: due })
    expect(status).toBe(202)
    expect(body).toMatchObject({ state: 'running', nextTryAt: '2026-11-20T10:05:00.000Z', counts: { requested: 2 } })
  })

  test('a run over an hour late is recorded as missed, unless the caller runs only what was not sent', async () => {
    const { product, run } = await withPlans([night])
    const time = '2026-11-20T05:00:00Z'
    expect((await run({ time })).body).toMatchObject({ state: 'missed', counts: { unsent: 2 } })
    expect(product.service.requests).toEqual([])
    expect((await run({ time, only: 'unsent' })).body).toMatchObject({ state: 'done', counts: { settled: 2 } })
    // This also runs an occurrence that no process recorded.
    product.clock.advance(days(1))
    const other = await run({ time: '2026-11-19T05:00:00Z', only: 'unsent' })
    expect(other.body).toMatchObject({ state: 'done', counts: { settled: 2 } })
  })

  test('running a plan for an unscheduled time over an hour ago is 400, and records nothing', async () => {
    const { product, run, plansNow } = await withPlans()
    const time = '2026-11-20T08:59:59Z'
    const message = 'night is not scheduled at 20 Nov 2026 08:59 UTC; its last run was due at 20 Nov 2026 05:00 UTC.'
    expect(await run({ time })).toMatchObject({
      status: 400,
      body: { type: '/problems/invalid-request', detail: message, errors: [{ path: 'time', message }] },
    })
    expect((await plansNow()).map(({ last }: { last: object | null }) => last)).toEqual([null, null])
    // A run by hand within the last hour keeps its time, so a later repeat finds it.
    const byHand = await run({ time: '2026-11-20T09:00:00Z' })
    expect(byHand).toMatchObject({ status: 200, body: { state: 'done', counts: { settled: 2 } } })
    product.clock.advance(hours(1))
    expect((await run({ time: '2026-11-20T09:00:00Z' })).body).toEqual(byHand.body)
    // Only AWS knows the times of a rate.
    expect((await run({ time }, undefined, 'weekly')).body).toMatchObject({ state: 'missed' })
  })

  test('running a plan requires the scope run and every budget that it charges', async () => {
    const { product, person, run } = await withPlans([night])
    expect((await run({ time: due }, person('read propose approve write', '*'))).status).toBe(403)
    const barred = await run({ time: due }, person('run', ['seo']))
    expect([barred.status, barred.body.budget, barred.body.detail]).toEqual([
      403,
      'account',
      'bob may not charge the budget account, which the plan night charges.',
    ])
    expect((await run({ time: due }, person('run'))).status).toBe(403)
    expect(product.service.requests).toEqual([])
    expect((await run({ time: due }, person('run', ['account']))).status).toBe(200)
  })

  test("a caller with the plan's own budget may run it", async () => {
    const { product, person, run } = await withPlans()
    const { status, body } = await run({ time: due }, person('run', ['seo']), 'weekly')
    expect([status, body.projects]).toMatchObject([200, [{ project: '7', state: 'settled' }]])
    expect(product.seen('run').map(({ url }) => url)).toEqual(['/v3/keyword-difficulty/7/run?device=mobile'])
  })

  test('a plan of a deleted budget is refused, and forecast and digest still work', async () => {
    const { product, person, run } = await withPlans([{ ...night, budget: 'gone' }], { slack: true })
    const { status, body } = await run({ time: due }, person('run', ['seo']))
    expect([status, body.counts.refused]).toEqual([200, 2])
    expect(body.projects[0].problem.detail).toBe('The budget gone was deleted before the update could begin.')
    expect((await product.call('GET', '/forecast')).status).toBe(200)
    await product.triggers.digest(product.endsAt())
    await product.deliver()
    expect(product.slack.posted().at(-1)?.text).toMatch(/^2026-11-20: /)
    expect(product.seen('run')).toEqual([])
  })

  test('running an unknown plan is 404, a disabled one 409, a paused one 402', async () => {
    const { product, run } = await withPlans([night, { ...night, name: 'off', enabled: false }])
    expect((await run({ time: due }, undefined, 'day')).status).toBe(404)
    for (const only of [{}, { only: 'unsent' }]) {
      const off = await run({ time: due, ...only }, undefined, 'off')
      expect([off.status, off.body.type]).toEqual([409, '/problems/wrong-state'])
    }
    await product.call('POST', '/plans/night/pause', { body: { reason: 'audit' } })
    expect((await run({ time: due })).body).toMatchObject({ state: 'paused', reason: 'paused by ada: audit' })
    const unsent = await run({ time: due, only: 'unsent' })
    expect([unsent.status, unsent.body.plan]).toEqual([402, 'night'])
    expect(product.service.requests).toEqual([])
  })
})

describe('GET /forecast', () => {
  const rows = async (product: Awaited<ReturnType<typeof startProduct>>) =>
    (await product.call('GET', '/forecast')).body.budgets

  test('GET /forecast counts unpriced projects, and plays the plans until the reset', async () => {
    const { product } = await withPlans([night], { units: { a: 100, b: 50 } })
    const limits = [
      { window: 'month', units: 449 },
      { window: 'day', units: 200 },
    ]
    await product.call('PUT', '/budgets/seo', { body: { limits, projects: [{ name: 'b' }] } })
    const account = { budget: 'account', window: 'month', available: 50_000 }
    const seo = { budget: 'seo', window: 'month', available: 449 }
    const noHistory = {
      pace: { last7Days: null, month: null },
      projectedAtPace: null,
      lastPrice: null,
      short: 0,
      ifResumed: 0,
    }
    const before = { committed: 0, projected: 0, pricedAt: null, ...noHistory }
    // Today's 05:00 is over, so nothing is due today.
    const idle = { committed: 0, projected: 0, unpriced: 0, pricedAt: null, ...noHistory }
    const days = [
      { budget: 'account', window: 'day', available: null, ...idle },
      { budget: 'seo', window: 'day', available: 200, ...idle },
    ]
    expect(await rows(product)).toEqual([
      { ...account, ...before, unpriced: 2 },
      days[0],
      { ...seo, ...before, unpriced: 1 },
      days[1],
    ])

    await product.triggers.handle({ task: 'digest' }, product.endsAt())
    product.clock.advance(hours(1))
    // Ten mornings are left in November. The month of seo pays 50 units on eight of them.
    const pricedAt = '2026-11-20T10:00:00.000Z'
    expect(await rows(product)).toEqual([
      { ...account, ...noHistory, committed: 1_400, projected: 1_400, unpriced: 0, pricedAt },
      days[0],
      {
        ...seo,
        ...noHistory,
        committed: 400,
        projected: 400,
        short: 51,
        unpriced: 0,
        pricedAt,
        exhaustedAt: '2026-11-29T05:00:00.000Z',
        exhaustedBy: 'night',
      },
      days[1],
    ])

    await product.triggers.fire('night', Date.parse('2026-11-20T11:00:00Z'), product.endsAt())
    expect((await rows(product))[0]).toMatchObject({ available: 49_850, committed: 1_350, projected: 1_500 })
    expect((await rows(product))[2]).toMatchObject({ available: 399, exhaustedAt: '2026-11-28T05:00:00.000Z' })
    await product.call('POST', '/plans/night/pause', { body: { reason: 'audit' } })
    expect((await rows(product))[0]).toMatchObject({
      committed: 0,
      projected: 150,
      unpriced: 0,
      pricedAt: null,
      ifResumed: 1_350,
    })
  })

  test("GET /forecast resets on the account's own day and zone", async () => {
    const env = { ACCOUNT_RENEWAL_DAY: '12', ACCOUNT_TIME_ZONE: 'Europe/Berlin' }
    const { product } = await withPlans([night], { env, clock: createTestClock('2026-12-10T10:00:00Z') })
    await product.triggers.digest(product.endsAt())
    // The window ends on 12 December 00:00 in Berlin, which is 11 December 23:00 UTC: one morning of 2 × 40.
    expect((await rows(product))[0]).toMatchObject({ committed: 80 })
  })
})
