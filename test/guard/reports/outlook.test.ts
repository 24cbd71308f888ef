import { describe, expect, test } from 'vitest'
import { all } from '../../../shared/ledger/store/pages.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createTestClock, minutes } from '../../support/clock.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { reconcile } from '../../support/store/reconcile.ts'

// The outlook of each budget with its reason. The test computes the figures from the records.

const dayMs = 24 * 3600_000
const night = { name: 'night', kind: 'ranking', projects: ['n1', 'n2'], schedule: 'cron(0 5 * * ? *)' }
const month = (units: number | 'unlimited') => [{ window: 'month', units }]

const sweep = (product: Product) => product.triggers.handle({ task: 'sweep' }, product.endsAt())
const ask = (product: Product, project: string, budget: string) =>
  product.update({ kind: 'ranking', project, budget, force: true, reason: 'test' })

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const clock = createTestClock('2026-11-01T10:00:00Z')
  const product = await startProduct({ store: createMemoryStore(), stream: false, clock, plans: [night], ...options })
  await product.guard.ledger.view()
  return product
}

/** Runs the plan each morning, the sweeps, and `each` at noon; ends on the sixth at 13:00. */
async function sixDays(product: Product, each: (day: number) => Promise<unknown>, last = 6) {
  for (let day = 2; day <= last; day++) {
    const date = `2026-11-${String(day).padStart(2, '0')}`
    product.clock.set(`${date}T00:01:00Z`)
    await sweep(product)
    product.clock.set(`${date}T05:00:00Z`)
    await product.triggers.handle({ plan: 'night', time: `${date}T05:00:00Z` }, product.endsAt())
    product.clock.advance(minutes(5))
    await sweep(product)
    product.clock.set(`${date}T12:00:00Z`)
    await each(day)
    product.clock.set(`${date}T13:00:00Z`)
    await sweep(product)
  }
}

const monthOf = async (product: Product, budget: string) => {
  const { budgets } = await (await reportsOf(product.guard)).outlook()
  const found = budgets.find((each) => each.budget === budget)
  if (!found) throw new Error(`there is no budget ${budget}`)
  return found
}

/** The daily units from the records that no plan charged a budget since `from`. */
async function paceFromRecords({ guard, clock }: Product, budget: string, from: number): Promise<number> {
  const updates = await all<Update>((cursor) => guard.ledger.updates({}, 100, cursor))
  const entries = await all((cursor) => guard.ledger.entries({ month: 'month:2026-11-01' }, 100, cursor))
  const charged = updates
    .filter(({ plan, hold }) => plan === undefined && hold?.budgets.includes(budget) && hold.at >= from)
    .reduce((sum, { charged = 0 }) => sum + charged, 0)
  const outside = entries
    .filter(({ at }) => at >= from)
    .flatMap(({ moves }) => moves.filter((move) => move.budget === budget && move.window === 'month'))
    .reduce((sum, { move }) => sum + (move.spent ?? 0), 0)
  return Math.round(((charged + outside) / ((clock.now() - from) / dayMs)) * 10) / 10
}

describe('the pace of unplanned spending', () => {
  test('the pace agrees with the records, for a budget and all above it, including today', async () => {
    const product = await start({ units: { n1: 100, n2: 50 } })
    await product.call('PUT', '/budgets/clients', { body: { limits: month(20_000) } })
    const seo = { parent: 'clients', limits: month(5_000), projects: [{ name: 'n1' }] }
    await product.call('PUT', '/budgets/seo', { body: seo })
    await sixDays(
      product,
      async (day) => {
        for (let number = 0; number < day % 3; number++) await ask(product, `p${day}-${number}`, 'seo')
        if (day === 4) {
          const body = { type: 'external-spend', units: 300, reason: 'elsewhere' }
          await product.call('POST', '/budgets/clients/entries', { body })
        }
      },
      10,
    )
    const week = Date.parse('2026-11-03T00:00:00Z')
    const began = Date.parse('2026-11-01T10:00:00Z')
    for (const budget of ['seo', 'clients', 'account']) {
      const { last7Days, month } = (await monthOf(product, budget)).month.pace
      expect([budget, last7Days]).toEqual([budget, await paceFromRecords(product, budget, week)])
      expect([budget, month]).toEqual([budget, await paceFromRecords(product, budget, began)])
    }
    const { history, month: forecast } = await monthOf(product, 'seo')
    expect(history.start).toEqual({ at: began, used: 0 })
    expect(history.nights.map(({ at, limit }) => [at, limit]).at(-1)).toEqual([Date.parse('2026-11-10'), 5_000])
    expect(history.now).toMatchObject({ used: 9 * 100 + 9 * 40, limit: 5_000 })
    expect(forecast).toMatchObject({ lastPrice: 40, available: 5_000 - 1_260 })
    // Units that a budget below charges count on this budget, too.
    const { month: parent } = await monthOf(product, 'clients')
    expect(parent).toMatchObject({ lastPrice: 40, available: 20_000 - 300 - 1_260 })
  })

  test('the pace is 0 while only a plan spends, and unknown for two days', async () => {
    const product = await start({ env: { ACCOUNT_UNITS_USED_AT_START: '9000' } })
    await sixDays(product, async (day) => {
      const { pace, projectedAtPace } = (await monthOf(product, 'account')).month
      expect([day, pace.month]).toEqual([day, day < 4 ? null : 0])
      if (day < 4) expect(projectedAtPace).toBeNull()
    })
    product.clock.set('2026-11-07T05:00:00Z')
    await product.triggers.handle({ plan: 'night', time: '2026-11-07T05:00:00Z' }, product.endsAt())
    expect((await monthOf(product, 'account')).month.pace).toEqual({ last7Days: 0, month: 0 })
    product.clock.advance(minutes(5))
    await sweep(product)
    product.clock.advance(minutes(2))
    expect((await monthOf(product, 'account')).month.pace).toEqual({ last7Days: 0, month: 0 })
  })
})

describe('the outlook of a budget', () => {
  test('the outlook gives the kind of reason why a budget is not on track, and a remedy', async () => {
    const budgets: Record<string, { limit: number; parent?: string }> = {
      calm: { limit: 9_000 },
      short: { limit: 700 },
      fast: { limit: 1_500 },
      empty: { limit: 200 },
      poor: { limit: 240 },
      waits: { limit: 9_000 },
      cold: { limit: 9_000 },
      colder: { limit: 9_000, parent: 'cold' },
      tight: { limit: 500 },
      bound: { limit: 9_000, parent: 'tight' },
    }
    const projects = ['calm', 'short', 'empty', 'colder', 'bound']
    const product = await start({
      plans: [
        { ...night, projects },
        { ...night, name: 'rare', projects: ['waits'] },
      ],
    })
    for (const [name, { limit, parent = 'account' }] of Object.entries(budgets)) {
      await product.call('PUT', `/budgets/${name}`, { body: { parent, limits: month(limit), projects: [{ name }] } })
    }
    await product.call('POST', '/plans/rare/pause', { body: { reason: 'a test' } })
    await sixDays(product, async (day) => {
      await ask(product, 'fast', 'fast')
      await ask(product, 'fast', 'fast')
      product.clock.advance(minutes(1))
      if (day < 5 || day === 6) await ask(product, 'poor', 'poor')
      if (day < 4) await ask(product, 'poor', 'poor')
    })
    await ask(product, 'poor', 'poor')
    await (await product.guard.jobs()).readPrices(product.endsAt())
    await product.call('POST', '/budgets/cold/freeze', { body: { reason: 'a test' } })
    await product.call('POST', '/budgets/poor/entries', { body: { type: 'grant', units: 30, reason: 'a test' } })
    await sweep(product)

    const { budgets: rows } = await (await reportsOf(product.guard)).outlook()
    const shown = Object.fromEntries(rows.map((row) => [row.budget, row]))
    // Twenty-four mornings of 40 units are to come, and five are over.
    expect(shown).toMatchObject({
      calm: { status: 'on-track', reasons: [], sentence: null, remedy: null },
      short: {
        status: 'at-risk',
        remedy: { kind: 'grant', budget: 'short', window: 'month', units: 460 },
        reasons: [{ kind: 'plans-run-out', plan: 'night', needed: 960, left: 500, short: 460 }],
        sentence:
          'Runs out with the plan night: plans need 960 units until the reset, 500 are left, so 460 are short from 19 Nov 2026 05:00 UTC.',
      },
      fast: { status: 'at-risk', reasons: [{ kind: 'pace-runs-out' }], remedy: { kind: 'grant', budget: 'fast' } },
      empty: { status: 'exhausted', sentence: 'Nothing of 200 units is left this month.', remedy: null },
      poor: {
        status: 'at-risk',
        remedy: { kind: 'grant', budget: 'poor', window: 'month', units: 10 },
        reasons: [
          { kind: 'cannot-pay', budget: 'poor', price: 40, left: 30, refusedAt: expect.any(Number) },
          { kind: 'pace-runs-out' },
          { kind: 'threshold', used: 240, of: 270 },
        ],
      },
      waits: {
        status: 'at-risk',
        reasons: [{ kind: 'plan-paused', plan: 'rare' }],
        remedy: { kind: 'resume', plan: 'rare' },
        month: { committed: 0, ifResumed: 960 },
      },
      cold: { status: 'frozen', remedy: { kind: 'unfreeze', budget: 'cold' } },
      colder: {
        status: 'frozen',
        reasons: [{ kind: 'frozen', budget: 'cold' }],
        remedy: { kind: 'unfreeze', budget: 'cold' },
      },
      bound: {
        status: 'at-risk',
        remedy: { kind: 'grant', budget: 'tight', units: 660 },
        reasons: [{ kind: 'ancestor-binds', budget: 'tight', left: 300, needed: 960 }],
      },
    })
    const toldOf = async (name: string) =>
      (await product.guard.ledger.announcements.get(`will-run-out#${name}#month:2026-11-01`))?.about
    const told = await Promise.all(rows.map(async ({ budget }) => ((await toldOf(budget)) ? [budget] : [])))
    // The first night's price announces the empty budget before it is empty.
    expect(told.flat()).toEqual(['empty', 'poor', 'tight', 'short', 'fast'])
    expect(await toldOf('short')).toMatchObject({
      plan: 'night',
      left: 660,
      short: 460,
      at: Date.parse('2026-11-19T05:00:00Z'),
    })
    const { body } = await product.call('GET', '/budgets?sort=risk')
    expect(
      body.budgets.map(({ name, status, reason = null }: Record<string, string | null>) => [name, status, reason]),
    ).toEqual(rows.map(({ budget, status, sentence }) => [budget, status, sentence]))
    expect(rows.map(({ budget }) => budget)).toEqual([
      'empty',
      'poor',
      'tight',
      'short',
      'fast',
      'bound',
      'cold',
      'colder',
      'waits',
      'account',
      'calm',
    ])
  })

  test('a grant of the proposed units pays the next update of a budget that is over its limit', async () => {
    const product = await start({ plans: [{ ...night, projects: ['c34'] }], units: { c34: 50 } })
    const limits = [{ window: 'month', units: 60 }]
    await product.call('PUT', '/budgets/c34', { body: { limits, projects: [{ name: 'c34' }] } })
    await product.call('PUT', '/budgets/below', { body: { parent: 'c34', limits: month(9_000) } })
    await ask(product, 'c34', 'c34')
    await product.call('PUT', '/budgets/c34', { body: { limits: month(40), projects: [{ name: 'c34' }] } })
    await sweep(product)
    await (await product.guard.jobs()).readPrices(product.endsAt())

    const { reasons, status } = await monthOf(product, 'c34')
    const grant = { kind: 'grant', budget: 'c34', window: 'month' }
    expect(status).toBe('exhausted')
    expect(reasons.slice(1)).toMatchObject([
      {
        kind: 'cannot-pay',
        remedy: { ...grant, units: 60 },
        sentence: 'Cannot pay its next update: c34 is over by 10 units, and the last one cost 50.',
      },
      {
        kind: 'plans-run-out',
        remedy: { ...grant, units: 29 * 50 + 10 },
        sentence:
          'Used up already: plans need 1,450 units until the reset, and it is over by 10, so 1,460 are short from 2 Nov 2026 05:00 UTC.',
      },
      { kind: 'threshold' },
    ])
    await product.call('POST', '/budgets/c34/entries', { body: { type: 'grant', units: 60, reason: 'as proposed' } })
    expect((await ask(product, 'c34', 'c34')).body.updates).toMatchObject([{ state: 'settled' }])
  })

  test('a grant to a budget above that is over its limit covers what it is over by', async () => {
    const product = await start({ plans: [{ ...night, projects: ['one'] }], units: { one: 50, other: 50 } })
    await product.call('PUT', '/budgets/top', { body: { limits: month(60), projects: [{ name: 'other' }] } })
    const body = { parent: 'top', limits: month(9_000), projects: [{ name: 'one' }] }
    await product.call('PUT', '/budgets/below', { body })
    await ask(product, 'other', 'top')
    await product.call('PUT', '/budgets/top', { body: { limits: month(40), projects: [{ name: 'other' }] } })
    await (await product.guard.jobs()).readPrices(product.endsAt())
    expect((await monthOf(product, 'below')).reasons).toMatchObject([
      {
        kind: 'ancestor-binds',
        remedy: { kind: 'grant', budget: 'top', units: 29 * 50 + 10 },
        sentence: 'Its plans need 1,450 units until the reset, and top is over by 10 units.',
      },
    ])
  })

  test('a budget that cannot pay its next update today is at risk, and says until when', async () => {
    const product = await start({ plans: [], units: { c16: 5, c17: 2, c18: 1 } })
    const ofDay = (units: number) => [{ window: 'day', units }]
    const budgets = {
      c16: { limits: ofDay(8), projects: [{ name: 'c16' }] },
      c17: { parent: 'c16', projects: [{ name: 'c17' }], limits: month(100) },
      c18: { parent: 'c16', projects: [{ name: 'c18' }], limits: ofDay(1) },
      calm: { limits: ofDay(8), projects: [{ name: 'calm' }] },
    }
    for (const [name, body] of Object.entries(budgets)) await product.call('PUT', `/budgets/${name}`, { body })
    await ask(product, 'c16', 'c16')
    const today = { window: 'day', budget: 'c16' }
    expect(await monthOf(product, 'c16')).toMatchObject({
      status: 'at-risk',
      reasons: [{ kind: 'cannot-pay-today', price: 5, left: 3 }],
      remedy: { kind: 'grant', ...today, units: 2 },
      sentence:
        'Cannot pay its next update today: c16 has 3 units left, and the last one cost 5; resets 2 Nov 2026 00:00 UTC.',
      next: { ...today, sentence: expect.stringMatching(/^Stopped at the last price of 5: c16 has 3 of 8 units/) },
    })
    for (const name of ['c17', 'calm']) expect(await monthOf(product, name)).toMatchObject({ status: 'on-track' })
    const { body } = await product.call('GET', '/budgets/c16')
    expect(body).toMatchObject({ status: 'at-risk', reason: expect.stringContaining('today') })

    await ask(product, 'c17', 'c17')
    await ask(product, 'c18', 'c18')
    expect(await monthOf(product, 'c17')).toMatchObject({
      status: 'at-risk',
      remedy: { ...today, units: 2 },
      reasons: [{ kind: 'cannot-pay-today' }],
    })
    expect(await monthOf(product, 'c18')).toMatchObject({
      status: 'exhausted',
      reasons: [{ kind: 'exhausted', window: 'day' }],
    })
    product.clock.set('2026-11-02T00:00:00Z')
    for (const name of ['c16', 'c17', 'c18'])
      expect(await monthOf(product, name)).toMatchObject({ status: 'on-track', reasons: [] })
  })

  test('a budget without a price is at risk if a budget above has nothing left', async () => {
    const product = await start({ plans: [], units: { top: 5 } })
    await product.call('PUT', '/budgets/top', { body: { limits: month(5), projects: [{ name: 'top' }] } })
    await product.call('PUT', '/budgets/below', { body: { parent: 'top', limits: month(9) } })
    await ask(product, 'top', 'top')
    expect(await monthOf(product, 'below')).toMatchObject({
      status: 'at-risk',
      remedy: null,
      sentence: 'Cannot pay its next update: top has 0 units left.',
    })
  })

  test('sums that leave out updates without a known price say at least and at the latest', async () => {
    const product = await start({
      plans: [{ ...night, projects: ['known', 'gone'] }],
      units: { known: 50 },
      service: ({ url }) => (/gone/.test(url) ? { status: 404 } : undefined),
    })
    const projects = [{ name: 'known' }, { name: 'gone' }]
    await product.call('PUT', '/budgets/top', { body: { limits: month(150) } })
    await product.call('PUT', '/budgets/seo', { body: { parent: 'top', limits: month(500), projects } })
    await ask(product, 'known', 'seo')
    await (await product.guard.jobs()).readPrices(product.endsAt())
    expect(await monthOf(product, 'top')).toMatchObject({
      month: { isWantedAtLeast: true, unpriced: 1 },
      sentence:
        'Runs out with the plan night: plans need at least 1,450 units until the reset, 100 are left, so at least 1,350 are short from 4 Nov 2026 05:00 UTC at the latest.',
    })
    const { reasons } = await monthOf(product, 'seo')
    expect(reasons.map(({ sentence }) => sentence)).toContain(
      'Its plans need at least 1,450 units until the reset, and top has 100 units left.',
    )
    const { budgets } = await (await reportsOf(product.guard)).digest(product.clock.now())
    expect(budgets).toMatchObject(budgets.map(() => ({ isProjectedAtLeast: true })))
    await (await reportsOf(product.guard)).checkOutlook()
    const told = await product.guard.ledger.announcements.get('will-run-out#top#month:2026-11-01')
    expect(told?.about).toMatchObject({ left: 100, short: 1_350, isAtLeast: true })
  })

  test('a budget runs out at the pace of the last seven days, and not of the month', async () => {
    const product = await start({ plans: [] })
    await product.call('PUT', '/budgets/fast', { body: { limits: month(700) } })
    await sixDays(product, (day) => (day > 9 ? ask(product, 'fast', 'fast') : Promise.resolve()), 16)
    const { reasons, month: forecast } = await monthOf(product, 'fast')
    const [reason] = reasons.filter(({ kind }) => kind === 'pace-runs-out')
    const { last7Days, month: ofMonth } = forecast.pace
    expect(last7Days).toBeGreaterThan(ofMonth ?? 0)
    expect(reason).toMatchObject({ perDay: last7Days })
  })

  test('a reconciliation before a hundred other entries counts', async () => {
    const product = await start()
    product.clock.set('2026-11-05T10:00:00Z')
    await reconcile(product, { unitsLeft: 50_000, reason: 'the screen' })
    for (let entry = 0; entry <= 100; entry++) {
      product.clock.advance(1)
      await product.call('POST', '/budgets/account/entries', { body: { type: 'grant', units: 1, reason: `${entry}` } })
    }
    product.clock.set('2026-11-16T10:00:00Z')
    expect(await monthOf(product, 'account')).toMatchObject({ status: 'on-track', reasons: [] })
  })

  test('the outlook of account says that it was not reconciled for two weeks', async () => {
    const product = await start()
    product.clock.set('2026-11-16T10:00:00Z')
    expect(await monthOf(product, 'account')).toMatchObject({
      status: 'at-risk',
      remedy: { kind: 'reconcile' },
      sentence: "Not reconciled with the vendor's figure for 14 days or more.",
    })
    await reconcile(product, { unitsLeft: 50_000, reason: 'the screen' })
    expect(await monthOf(product, 'account')).toMatchObject({ status: 'on-track' })
  })

  test('an earlier month has no outlook', async () => {
    const product = await start()
    await ask(product, 'one', 'account')
    product.clock.set('2026-12-01T10:00:00Z')
    const { body } = await product.call('GET', '/budgets?window=month:2026-11-01')
    expect(body.budgets[0].status).toBeUndefined()
    expect((await product.call('GET', '/budgets?window=month:2026-11-01&sort=risk')).status).toBe(400)
  })
})

describe('spenders', () => {
  test('spenders are plans, persons with all their callers and outside spending, and add up to the book', async () => {
    const product = await start()
    await product.call('PUT', '/callers/dora-laptop', { body: { person: 'dora', reason: 'one person' } })
    await sixDays(
      product,
      async (day) => {
        const dora = product.signed({ sub: 'dora-laptop', scope: 'run', budgets: '*', exp: product.inDays(1) })
        await product.update({ kind: 'ranking', project: `d${day}`, budget: 'account' }, { token: dora })
        await ask(product, `o${day}`, 'account')
      },
      3,
    )
    const body = { type: 'external-spend', units: 60, reason: 'elsewhere' }
    await product.call('POST', '/budgets/account/entries', { body })
    const spenders = await (await reportsOf(product.guard)).whoSpent()
    expect(spenders.map(({ kind, name, units }) => [kind, name, units])).toEqual([
      ['plan', 'night', 160],
      ['caller', 'ada', 80],
      ['person', 'dora', 80],
      ['outside', null, 60],
    ])
    expect(new Set(spenders.map(({ of }) => of))).toEqual(new Set([380]))
  })
})
