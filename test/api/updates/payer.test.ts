import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = [{ window: 'month', units: 1_000 }]

/** `acme` owns the project `shop`, and the parent of `acme` is `clients`. Bob may run and charge all budgets. */
async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const put = (name: string, body: object) =>
    product.call('PUT', `/budgets/${name}`, { body: { limits: month, ...body } })
  await put('clients', {})
  await put('acme', { parent: 'clients', projects: [{ name: 'shop' }] })
  const token = product.signed({ sub: 'bob', scope: 'read run', budgets: '*' })
  return { product, put, token }
}

type Started = Awaited<ReturnType<typeof start>>

/** Every way in which a caller names a budget for an update. */
const ways: [string, (started: Started, budget: string) => Promise<{ status: number; body: { detail?: string } }>][] = [
  [
    'POST /updates',
    ({ product, token }, budget) => product.update({ kind: 'ranking', project: 'shop', budget }, { token }),
  ],
  [
    'POST /updates with Prefer: respond-async',
    ({ product, token }, budget) =>
      product.update({ kind: 'ranking', project: 'shop', budget }, { token, headers: { prefer: 'respond-async' } }),
  ],
  [
    'the gateway’s Unit-Guard-Budget',
    ({ product, token }, budget) =>
      product.call('GET', '/v3/on-demand/shop/run', { token, headers: { 'unit-guard-budget': budget } }),
  ],
]
const detail =
  'bob may not charge clients for shop, which belongs to acme; that needs the scope admin or mayChargeAncestors. Without a budget, acme pays.'

describe.each(ways)('a request that names a parent of the owner, by %s', (_way, ask) => {
  test('charging a parent of the owner is refused with 403 without the right', async () => {
    const started = await start()
    const { status, body } = await ask(started, 'clients')
    expect([status, body.detail]).toEqual([403, detail])
    expect([started.product.seen('run'), started.product.seen('estimate')]).toEqual([[], []])
  })

  test('charging a parent is refused with 402 while the owner is frozen', async () => {
    const started = await start()
    const { product } = started
    await product.call('PUT', '/callers/bob', { body: { mayChargeAncestors: true } })
    await product.call('POST', '/budgets/acme/freeze', { body: { reason: 'unpaid' } })
    const { status, body } = await ask(started, 'clients')
    expect([status, body.detail]).toEqual([
      402,
      'acme was frozen by ada on 20 Nov 2026 10:00 UTC: unpaid. Ask an administrator to unfreeze it.',
    ])
    expect(product.seen('run')).toEqual([])
  })
})

describe('Unit-Guard-Budget', () => {
  test.each(['acme, clients', 'acme,acme', 'acme,', ''])(
    'Unit-Guard-Budget %j is answered with 400 without calling the service',
    async (budget) => {
      const { product, token } = await start()
      const headers = { 'unit-guard-budget': budget }
      const { status, body } = await product.call('GET', '/v3/on-demand/shop/run', { token, headers })
      expect([status, body.errors[0].path]).toEqual([400, 'Unit-Guard-Budget'])
      expect(product.service.requests).toEqual([])
    },
  )
})

describe('GET /estimates with a parent of the owner', () => {
  test.each([
    ['without the right', {}, false],
    ['with the right', { mayChargeAncestors: true }, true],
  ])('GET /estimates with a parent of the owner is answered %s', async (_title, listed, allowed) => {
    const { product, token } = await start()
    await product.call('PUT', '/callers/bob', { body: listed })
    const { status, body } = await product.call('GET', '/estimates?kind=ranking&project=shop&budget=clients', { token })
    expect([status, body.allowed, body.problem?.detail]).toEqual([200, allowed, allowed ? undefined : detail])
  })
})

describe('PUT /callers', () => {
  test('PUT /callers stores mayChargeAncestors and drops it if it is missing', async () => {
    const { product } = await start()
    const put = async (body: object) => (await product.call('PUT', '/callers/bob', { body })).body
    expect(await put({ mayChargeAncestors: true })).toEqual({ sub: 'bob', disabled: false, mayChargeAncestors: true })
    expect(await put({ mayChargeAncestors: false })).toEqual({ sub: 'bob', disabled: false })
  })
})

test('the Inbox names the owner if another budget pays', async () => {
  const { product, put } = await start()
  await put('acme', { parent: 'clients', projects: [{ name: 'shop' }], approvalAbove: 10 })
  await product.update({ kind: 'ranking', project: 'shop', budget: 'clients' })
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'eve', scope: 'read approve', budgets: '*' }))
  expect((await browser.get('/dashboard/inbox')).text).toContain('shop ranking on clients, for acme')
})

describe('GET /statements of the owner', () => {
  test('GET /statements of the owner shows the units that a parent paid, but adds them to no total', async () => {
    const { product } = await start()
    await product.update({ kind: 'ranking', project: 'shop', budget: 'clients' })
    const { body } = await product.call('GET', '/statements?price=0.5')
    expect(body.rows).toMatchObject([
      { budget: 'acme', charged: 0, paidElsewhere: 40, amount: 0 },
      { budget: 'clients', charged: 40, paidElsewhere: 0, amount: 20 },
    ])
    expect(body.total).toMatchObject({ charged: 40, amount: 20 })
    expect(body.total).not.toHaveProperty('paidElsewhere')
    const csv = await product.call('GET', '/statements?price=0.5', { headers: { accept: 'text/csv' } })
    expect(csv.text.split('\r\n').slice(0, 3)).toEqual([
      'window,status,budget,updates,charged,external,granted,held,inDoubt,refused,amount,paidElsewhere,wouldHaveRefused,wouldHaveRefusedUnits',
      'month:2026-11-01,open,acme,0,0,0,0,0,0,0,0,40,0,0',
      'month:2026-11-01,open,clients,1,40,0,0,0,0,0,20,0,0,0',
    ])
  })
})
