import { describe, expect, test } from 'vitest'
import { priceBeforeJump } from '../../../shared/guard/update/records.ts'
import { createTestClock, days } from '../../support/clock.ts'
import { makes, ran, startGuard } from '../../support/guard.ts'
import { serviceToken, startProduct } from '../../support/product.ts'
import { u } from '../../support/records.ts'
import { serveSandbox } from '../../support/sandbox.ts'
import { listPeople } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]
const keywords = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `shoes ${index}` }))

/** The whole product with a sandbox in which the project `shop` has 4 keywords, so its update costs 4 units. */
async function withShop(how: { slack?: true; plans?: readonly object[] } = {}) {
  const clock = createTestClock()
  const baseUrl = await serveSandbox({ clock, token: serviceToken })
  const product = await startProduct({
    store: createMemoryStore(),
    stream: true,
    clock,
    env: { TRACKING_BASE_URL: baseUrl },
    ...how,
  })
  const shop = { keywords: keywords(4), searchengines: [{ name: 'example search' }], websites: [] }
  await product.call('POST', '/v3/projects/shop/create?frequency=ondemand', { body: shop })
  const carl = product.signed({ sub: 'carl', scope: 'read run', budgets: '*', exp: product.inDays(3) })
  return {
    product,
    budget: (rules: object) =>
      product.call('PUT', '/budgets/acme', { body: { limits: month(1_000), projects: [{ name: 'shop' }], ...rules } }),
    ask: (more: object = {}, headers: Record<string, string> = {}) =>
      product.update({ kind: 'ranking', project: 'shop', ...more }, { token: carl, headers }),
    price: async () => (await product.call('GET', '/estimates?kind=ranking&project=shop')).body.units,
    /** The project grows to 400 keywords, and five seconds pass. */
    grow: async () => {
      await product.call('POST', '/v3/projects/shop/update', { body: { keywords: keywords(400) } })
      clock.advance(5_000)
    },
  }
}

describe('a project that grows between its estimate and its update', () => {
  test.each<[rule: string, budget: object, request: object, status: number, says: string]>([
    ['maxUnits of the request', {}, { maxUnits: 10 }, 402, 'the request allows at most 10 for each update (maxUnits)'],
    ['the limit', { limits: month(10) }, {}, 402, 'acme has 6 of 10 units left this month and this needs 400'],
    ['perUpdate', { perUpdate: 10 }, {}, 402, 'acme allows at most 10 for one update'],
    ['approvalAbove', { approvalAbove: 10 }, {}, 202, 'it needs 400 units, and acme wants approval above 10'],
    [
      'approvalIfGrown',
      { approvalIfGrown: 50 },
      {},
      202,
      'it needs 400 units, the last run cost 4, and acme wants approval if the price grew by more than 50 %',
    ],
  ])('the new price of a grown project decides: %s', async (_rule, rules, request, status, says) => {
    const { product, budget, ask, price, grow } = await withShop()
    await budget({})
    expect((await ask()).body.updates[0].units.charged).toBe(4)
    product.clock.advance(days(1))
    await budget(rules)
    expect(await price()).toBe(4)
    await grow()
    const answer = await ask(request)
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(says)
    expect(await product.figures('acme')).toMatchObject({ held: 0, spent: 4 })
  })

  test('the new price of a grown project decides when Confirm is pressed in Slack', async () => {
    const { product, budget, grow } = await withShop({ slack: true })
    await budget({ limits: month(10) })
    await listPeople(product, { U1ADA: { scopes: ['read', 'run'], budgets: '*' } })
    await product.slack.command('run ranking shop')
    await product.deliver()
    expect(product.slack.news().at(-1)?.text).toContain('4 units')
    await grow()
    const [confirm] = product.slack.buttons()
    await product.slack.press('confirm', confirm?.value ?? '', { block: product.slack.block() })
    await product.deliver()
    expect(product.slack.news().at(-1)?.text).toContain('400')
    expect(await product.figures('acme')).toMatchObject({ available: 10, held: 0, spent: 0 })
  })

  test('the new price of a grown project decides when a plan starts the update', async () => {
    const { product, budget, price, grow } = await withShop({
      plans: [{ name: 'nightly', kind: 'ranking', projects: ['shop'], schedule: 'cron(0 5 * * ? *)' }],
    })
    await budget({ limits: month(10) })
    expect(await price()).toBe(4)
    await grow()
    const time = new Date(product.clock.now()).toISOString()
    await product.triggers.handle({ plan: 'nightly', time }, product.endsAt())
    expect((await product.call('GET', '/updates')).body.updates).toMatchObject([
      { plan: 'nightly', state: 'refused', units: { estimated: 400, charged: 0 } },
    ])
  })

  test('the new price of a grown project decides when an approved update starts', async () => {
    const { product, budget, ask, price, grow } = await withShop()
    await budget({ approvalAbove: 3 })
    const { body } = await ask()
    expect(body.updates[0]).toMatchObject({ state: 'awaiting-approval', units: { estimated: 4 } })
    expect(await price()).toBe(4)
    await grow()
    const approved = await product.call('POST', `/updates/${body.updates[0].id}/approve`, { body: {} })
    expect(approved.body.history.at(-1)).toMatchObject({
      state: 'awaiting-approval',
      note: 'approved up to 4, it now needs 400',
    })
  })

  test('the new price of a grown project decides when a queued update starts', async () => {
    const { product, budget, ask, price, grow } = await withShop()
    await budget({ limits: month(10) })
    const { body } = await ask({}, { prefer: 'respond-async' })
    expect(body.updates[0].state).toBe('requested')
    expect(await price()).toBe(4)
    await grow()
    await product.deliver()
    const { body: begun } = await product.call('GET', `/updates/${body.updates[0].id}`)
    expect(begun).toMatchObject({ state: 'refused', units: { estimated: 400, charged: 0 } })
  })
})

describe('an estimate that is older than 30 seconds before its hold', () => {
  /** Each run takes 31 seconds, so the later estimates grow old. Projects cost the units in `prices`. */
  async function withSlowRuns(prices: Record<string, number>) {
    const setup = await startGuard({ units: 100 })
    const estimated: string[] = []
    setup.service.estimate = async ({ segment }) => {
      estimated.push(segment)
      return { kind: 'units', units: u(prices[segment] ?? 0), source: 'units' }
    }
    const onRun: (() => void)[] = []
    setup.service.run = async () => {
      setup.clock.advance(31_000)
      onRun.shift()?.()
      return ran
    }
    const ask = async (projects: string[], whenShort: 'fit' | 'refuse', more: object = {}) => {
      const how = { endsAt: setup.clock.now() + 900_000 }
      const { updates, problem } = await setup.ask({ projects, whenShort, ...more }, {}, how)
      return { states: updates.map(({ project, state, estimated: units }) => [project, state, units]), problem }
    }
    return { ...setup, ask, estimated, onRun, prices }
  }

  test('an old estimate is read again, and the new price decides', async () => {
    const { ask, estimated, onRun, prices, counts } = await withSlowRuns({ a: 30, b: 30 })
    onRun.push(() => {
      prices.b = 60
    })
    const { states } = await ask(['a', 'b'], 'fit', { maxUnits: 50 })
    expect(states).toEqual([
      ['a', 'settled', 30],
      ['b', 'refused', 60],
    ])
    expect(estimated).toEqual(['a', 'b', 'b'])
    expect(await counts()).toEqual({ available: 70, held: 0, inDoubt: 0, spent: 30 })
  })

  test('a request with refuse sums all remaining updates again after an old estimate', async () => {
    const { ask, estimated, onRun, prices, counts } = await withSlowRuns({ a: 30, b: 30, c: 30 })
    onRun.push(() => {
      prices.c = 60
    })
    const { states, problem } = await ask(['a', 'b', 'c'], 'refuse')
    expect(states).toEqual([
      ['a', 'settled', 30],
      ['b', 'refused', 30],
      ['c', 'refused', 60],
    ])
    expect(problem).toBeNull()
    expect(estimated).toEqual(['a', 'b', 'c', 'b', 'c'])
    expect(await counts()).toEqual({ available: 70, held: 0, inDoubt: 0, spent: 30 })
  })

  test('a request with refuse has only one refused update if the budget of that update was deleted meanwhile', async () => {
    const { ask, onRun, budget, deleteBudget, other } = await withSlowRuns({ a: 30, b: 30, c: 30 })
    await budget('gone', { projects: [{ name: 'c' }] })
    let deleted: Promise<unknown> = Promise.resolve()
    onRun.push(() => {
      deleted = deleteBudget('gone')
    })
    const { states, problem } = await ask(['a', 'b', 'c'], 'refuse')
    await deleted
    expect(Object.keys((await other.view()).definitions.budgets)).toEqual(['account'])
    expect(problem).toBeNull()
    expect(states).toEqual([
      ['a', 'settled', 30],
      ['b', 'settled', 30],
      ['c', 'refused', 30],
    ])
  })

  test('a request with refuse records no remaining update if an update no longer has an estimate', async () => {
    const { ask, onRun, service, items } = await withSlowRuns({ a: 30, b: 30, c: 30 })
    const priced = service.estimate
    onRun.push(() => {
      service.estimate = async (target) =>
        target.segment === 'c' ? { kind: 'unreachable', reason: 'connection refused', status: null } : priced(target)
    })
    const { states } = await ask(['a', 'b', 'c'], 'refuse')
    expect(states).toEqual([['a', 'settled', 30]])
    expect([...items.values()].filter(({ sk }) => sk === 'update')).toHaveLength(1)
  })

  test('an estimate is read again if the hold waited for its turn', async () => {
    const { ask, estimated, before, clock, counts } = await withSlowRuns({ a: 30, b: 30 })
    before.push(async (writes) => {
      if (!makes('running')(writes)) return false
      clock.advance(31_000)
      return true
    })
    const [first, second] = await Promise.all([ask(['a'], 'fit'), ask(['b'], 'fit')])
    expect(estimated.toSorted()).toEqual(['a', 'b', 'b'])
    // The hold of `a` needed all the time of its run.
    expect([...first.states, ...second.states]).toEqual([
      ['a', 'released', 30],
      ['b', 'settled', 30],
    ])
    expect(await counts()).toEqual({ available: 70, held: 0, inDoubt: 0, spent: 30 })
  })

  test('an estimate of exactly 30 seconds is used', async () => {
    const { ask, estimated, service, clock } = await withSlowRuns({ a: 30, b: 30 })
    service.run = async () => {
      clock.advance(30_000)
      return ran
    }
    await ask(['a', 'b'], 'fit')
    expect(estimated).toEqual(['a', 'b'])
  })

  test('an estimate ages from its own answer, not from that of the dates', async () => {
    const { ask, estimated, service, clock } = await withSlowRuns({ a: 30 })
    let isFirst = true
    service.dates = async () => {
      // The estimate is answered within the microtasks of this turn.
      await new Promise(setImmediate)
      if (isFirst) clock.advance(31_000)
      isFirst = false
      return { kind: 'dates', dates: [] }
    }
    await ask(['a'], 'fit')
    expect(estimated).toEqual(['a', 'a'])
  })
})

test.each([
  [999, [], null],
  [300, [100], 100],
  [299, [100], null],
  [250, [100], null],
  [600, [200], 200],
  [599, [200], null],
  [300, [150, 20], null],
  [450, [20, 150, 30], 150],
  [170, [20], 20],
  [169, [20], null],
])('a price of %i after %j is far higher: %j', (price, earlier, before) => {
  expect(
    priceBeforeJump(
      price,
      earlier.map((each) => ({ units: each })),
    ),
  ).toBe(before)
})
