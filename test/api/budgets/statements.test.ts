import { describe, expect, test } from 'vitest'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createTestClock, hours, minutes } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { reconcile } from '../../support/store/reconcile.ts'
import { summaryOf } from '../../support/summary.ts'

const month = (units: number) => [{ window: 'month', units }]
const none = {
  updates: 0,
  charged: 0,
  external: 0,
  granted: 0,
  held: 0,
  inDoubt: 0,
  refused: 0,
  wouldHaveRefused: 0,
  wouldHaveRefusedUnits: 0,
}

interface November {
  readonly isCounted?: boolean
  readonly repeats?: number
  readonly env?: Record<string, string>
  readonly plans?: readonly { readonly name: string }[]
}

/**
 * Two clients and four people in November: updates, refusals, doubts, grants and outside spending.
 * @param options.isCounted whether the sweep has already counted the updates.
 * @param options.repeats how often bob asks again for what was done.
 */
async function november({ isCounted = false, repeats = 0, env = {}, plans = [] }: November = {}) {
  const product = await startProduct({
    env,
    plans,
    store: createMemoryStore(),
    units: { site: 40, '77': 25, big: 500, other: 10, broken: 15 },
    service: ({ url }) => (url.includes('/broken/run') ? { status: 503 } : undefined),
  })
  const put = (name: string, body: object) => product.call('PUT', `/budgets/${name}`, { body })
  await put('acme', { limits: month(300), projects: [{ name: 'site', id: '77' }] })
  await put('globex', { limits: month(100) })
  const as = (sub: string) => ({ token: product.signed({ sub, scope: 'run', budgets: '*' }) })
  const ask = (sub: string, body: object) => product.update({ kind: 'ranking', ...body }, as(sub))
  await ask('bob', { project: 'site' })
  await ask('eve', { project: '77', kind: 'keyword-difficulty' })
  await ask('bob', { project: 'big', budget: 'globex' })
  await ask('eve', { project: 'other', budget: 'globex' })
  await ask('eve', { project: 'broken' })
  for (let again = 0; again < repeats; again++) await ask('bob', { project: 'site' })
  for (const { name } of plans)
    await product.triggers.handle({ plan: name, time: '2026-11-20T10:00:00Z' }, product.endsAt())
  const enter = async (budget: string, body: object) =>
    (await product.call('POST', `/budgets/${budget}/entries`, { body: { reason: 'r', ...body } })).body
  await enter('acme', { type: 'grant', units: 50, wholeChain: true })
  await enter('acme', { type: 'transfer', units: 20, to: 'globex' })
  const spent = await enter('acme', { type: 'external-spend', units: 30 })
  // The request goes to the root, but the correction is booked on the client.
  await enter('account', { type: 'correction', units: 12, corrects: spent.id })
  product.clock.advance(minutes(5))
  await reconcile(product, { unitsLeft: 49_955, reason: 'r' })
  if (isCounted) {
    const at = product.clock.now()
    product.clock.advance(hours(24))
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await summaryOf(product.guard.ledger, at)).rows).not.toEqual([])
  }
  const statement = (query = '', headers = {}) => product.call('GET', `/statements${query}`, { headers })
  return { product, statement, enter }
}

// The vendor's screen shows 95 of 50,050 spent: 75 by updates, 12 by hand and 8 unknown.
const total = { ...none, updates: 3, charged: 75, external: 20, granted: 50, held: 0, inDoubt: 15, refused: 1 }

describe.each([
  ['each update read', false],
  ['counted by the sweep', true],
])('GET /statements, %s', (_how, isCounted) => {
  test('a statement by budget adds up to the book, with grants and transfers', async () => {
    const { product, statement } = await november({ isCounted })
    const { status, body } = await statement()
    expect(status).toBe(200)
    expect(body).toEqual({
      window: 'month:2026-11-01',
      start: '2026-11-01T00:00:00.000Z',
      end: '2026-12-01T00:00:00.000Z',
      status: 'open',
      notFinal: [{ update: expect.stringMatching(/^upd_/), project: 'broken', state: 'in-doubt', units: 15 }],
      by: 'budget',
      tagKeys: [],
      rows: [
        { budget: 'account', ...none, external: 8, granted: 50, inDoubt: 15, paidElsewhere: 0 },
        { budget: 'acme', ...none, updates: 2, charged: 65, external: 12, granted: 30, paidElsewhere: 0 },
        { budget: 'globex', ...none, updates: 1, charged: 10, granted: 20, refused: 1, paidElsewhere: 0 },
      ],
      total,
      book: { spent: 95, addsUp: true },
      previous: 'month:2026-10-01',
      next: null,
    })
    expect(await product.figures()).toMatchObject({ spent: 95, inDoubt: 15 })
    expect(await product.audit()).toBe(true)
  })

  test('a statement by project joins name and id, and gives outside spending to no project', async () => {
    const { statement } = await november({ isCounted })
    const { body } = await statement('?by=project')
    expect(body.rows).toEqual([
      { project: 'big', ...none, refused: 1 },
      { project: 'broken', ...none, inDoubt: 15 },
      { project: 'other', ...none, updates: 1, charged: 10 },
      { project: 'site', ...none, updates: 2, charged: 65 },
      { project: null, ...none, external: 20 },
    ])
    expect([body.total, body.book]).toEqual([total, { spent: 95, addsUp: true }])
  })

  test('a statement by caller has a row for each caller', async () => {
    const { statement } = await november({ isCounted })
    const { body } = await statement('?by=caller')
    expect(body.rows).toEqual([
      { caller: 'bob', ...none, updates: 1, charged: 40, refused: 1 },
      { caller: 'eve', ...none, updates: 2, charged: 35, inDoubt: 15 },
      { caller: null, ...none, external: 20 },
    ])
    expect([body.total, body.book.addsUp]).toEqual([total, true])
  })

  test('a statement with a price rounds each amount from units, not from rounded rows', async () => {
    const { statement } = await november({ isCounted })
    const { body } = await statement('?price=0.0125')
    expect(body.price).toBe(0.0125)
    expect(body.rows.map(({ budget, amount }: Record<string, unknown>) => [budget, amount])).toEqual([
      ['account', 0.1],
      ['acme', 0.96],
      ['globex', 0.13],
    ])
    expect(body.total.amount).toBe(1.19)
    // 95 × 0.015 is 1.425, which binary fractions would make 1.42.
    expect((await statement('?price=0.015')).body.total.amount).toBe(1.43)
  })

  test('a statement is exported as CSV', async () => {
    const { statement } = await november({ isCounted })
    const csv = await statement('?by=budget&price=0.01', { accept: 'text/csv' })
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="statement-month-2026-11-01.csv"')
    expect(csv.text).toBe(
      [
        'window,status,budget,updates,charged,external,granted,held,inDoubt,refused,amount,paidElsewhere,wouldHaveRefused,wouldHaveRefusedUnits',
        'month:2026-11-01,open,account,0,0,8,50,0,15,0,0.08,0,0,0',
        'month:2026-11-01,open,acme,2,65,12,30,0,0,0,0.77,0,0,0',
        'month:2026-11-01,open,globex,1,10,0,20,0,0,1,0.1,0,0,0',
        '',
      ].join('\r\n'),
    )
    const plain = await statement('?by=caller', { accept: 'text/csv' })
    expect(plain.text.split('\r\n')[0]).toBe(
      'window,status,caller,updates,charged,external,granted,held,inDoubt,refused,wouldHaveRefused,wouldHaveRefusedUnits',
    )
    expect(plain.text.split('\r\n')[3]).toBe('month:2026-11-01,open,,0,0,20,0,0,0,0,0,0')
  })

  test('a statement counts the refusals of a loop, but not a plan’s projects that were up to date', async () => {
    const plan = { name: 'night', kind: 'ranking', projects: ['site'], schedule: 'cron(0 10 * * ? *)' }
    const { product, statement } = await november({ isCounted, plans: [plan], repeats: 60 })
    const { body } = await statement('?by=caller')
    expect((await product.call('GET', '/updates?plan=night')).body.updates).toMatchObject([
      { state: 'refused', problem: { type: expect.stringContaining('already-updated') } },
    ])
    const refused = body.rows.map((row: Record<string, unknown>) => [row.caller, row.refused])
    expect(Object.fromEntries(refused)).toMatchObject({ bob: 61, eve: 0, 'schedule:night': 0 })
    expect(body.total.refused).toBe(61)
  })

  test('a statement shows the cost at the set price beside the amount at the reader’s own price', async () => {
    const { statement } = await november({ isCounted, env: { PRICE_PER_UNIT: '0,0125', CURRENCY: 'EUR' } })
    const { body } = await statement('?price=1')
    expect([body.prices, body.currency, body.price]).toEqual([[{ perUnit: 0.0125, units: 95 }], 'EUR', 1])
    expect(body.rows.map(({ cost, amount }: Record<string, unknown>) => [cost, amount])).toEqual([
      [0.1, 8],
      [0.96, 77],
      [0.13, 10],
    ])
    expect([body.total.cost, body.total.amount]).toEqual([1.19, 95])
    const csv = await statement('?by=project', { accept: 'text/csv' })
    expect(csv.text.split('\r\n').slice(0, 2)).toEqual([
      'window,status,project,updates,charged,external,granted,held,inDoubt,refused,cost,currency,prices,wouldHaveRefused,wouldHaveRefusedUnits',
      'month:2026-11-01,open,big,0,0,0,0,0,0,1,0,EUR,,0,0',
    ])
  })

  test('negative figures of a statement stay numbers in CSV', async () => {
    const { statement, enter } = await november({ isCounted })
    await enter('globex', { type: 'transfer', units: 60, to: 'acme' })
    const { text } = await statement('', { accept: 'text/csv' })
    expect(text.split('\r\n')[3]).toBe('month:2026-11-01,open,globex,1,10,0,-40,0,0,1,0,0,0')
  })
})

describe('GET /statements', () => {
  test('a statement counts the opening position, and has no rows for an earlier window', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      env: { ACCOUNT_UNITS_USED_AT_START: '12800', ACCOUNT_RENEWAL_DAY: '12', ACCOUNT_TIME_ZONE: 'Europe/Berlin' },
      clock: createTestClock('2026-11-20T10:00:00Z'),
    })
    const { body } = await product.call('GET', '/statements')
    expect(body).toMatchObject({
      window: 'month:2026-11-12',
      start: '2026-11-11T23:00:00.000Z',
      rows: [{ budget: 'account', external: 12_800 }],
      book: { spent: 12_800, addsUp: true },
    })
    const { body: before } = await product.call('GET', '/statements?window=month:2026-10-12')
    expect(before).toMatchObject({ status: 'final', rows: [], total: none, book: { spent: 0, addsUp: true } })
  })
})

describe('GET /budgets?window=', () => {
  test("GET /budgets?window= shows an ended month and the children's limit", async () => {
    const { product } = await november()
    product.clock.set('2026-12-03T09:00:00Z')
    await product.call('PUT', '/budgets/acme?release=true', {
      body: { limits: [...month(900), { window: 'day', units: 5 }] },
    })
    const past = await product.call('GET', '/budgets?window=month:2026-11-01')
    expect(past.body.budgets.map(({ name, windows }: { name: string; windows: object[] }) => [name, windows])).toEqual([
      [
        'account',
        [
          expect.objectContaining({
            window: 'month',
            end: '2026-12-01T00:00:00.000Z',
            limit: 50_000,
            granted: 50,
            available: 49_940,
            inDoubt: 15,
            spent: 95,
            childrenLimit: 1_000,
          }),
        ],
      ],
      ['acme', [expect.objectContaining({ limit: 300, granted: 30, spent: 77, available: 253 })]],
      ['globex', [expect.objectContaining({ limit: 100, granted: 20, spent: 10, available: 110 })]],
    ])
    const one = await product.call('GET', '/budgets/acme?window=month:2026-11-01')
    expect(one.body).toEqual(past.body.budgets[1])
    expect((await product.call('GET', '/budgets/acme')).body.windows).toMatchObject([
      { window: 'month', limit: 900, spent: 0 },
      { window: 'day', limit: 5 },
    ])
  })

  test('GET /budgets?window= of the next month shows its grants and no day window', async () => {
    const { product, enter } = await november()
    await product.call('PUT', '/budgets/acme?release=true', {
      body: { limits: [...month(300), { window: 'day', units: 5 }] },
    })
    await enter('acme', { type: 'grant', units: 9, window: 'next-month' })
    const { body } = await product.call('GET', '/budgets/acme?window=month:2026-12-01')
    expect(body.windows).toMatchObject([{ window: 'month', start: '2026-12-01T00:00:00.000Z', available: 309 }])
    expect(body.windows).toHaveLength(1)
  })

  test('unlimited children make childrenLimit unlimited', async () => {
    const { product } = await november()
    await product.call('PUT', '/budgets/free', { body: { limits: [{ window: 'month', units: 'unlimited' }] } })
    expect((await product.call('GET', '/budgets/account')).body.windows[0].childrenLimit).toBe('unlimited')
    expect((await product.call('GET', '/budgets/acme')).body.windows[0]).not.toHaveProperty('childrenLimit')
  })
})
