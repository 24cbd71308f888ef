import { describe, expect, test } from 'vitest'
import { allOperations } from '../../../infra/openapi/document.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { hours } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { startClients } from './clients.ts'

const gets = allOperations
  .filter(
    ({ method, path, scopes }) => method === 'GET' && scopes !== null && !path.includes('{') && path !== '/estimates',
  )
  .map(({ path }) => path)

/** Reports that pages and Slack read besides the API. */
async function readingsOf(
  { guard: whole }: Pick<Awaited<ReturnType<typeof startClients>>, 'guard'>,
  budgets: string[],
) {
  const token = { scopes: new Set(['read' as const]), budgets: '*', readsBudgets: budgets } as const
  const { guard } = await whole.permissions({ caller: 'eve', token }, { atOnce: true })
  const [view, reports] = [await guard.ledger.view(), await reportsOf(guard)]
  return JSON.stringify([
    await guard.inbox(),
    await reports.outlook(),
    await reports.upcoming(2),
    await reports.whoSpent(),
    await reports.usedLastMonth(view),
    await reports.pastMonth(view, view.month),
    ...(await Promise.all(Object.keys(view.definitions.budgets).map((name) => reports.spentOn(view, name)))),
    ...(await Promise.all(Object.keys(view.definitions.budgets).map((name) => reports.lastMonths(view, name, 2)))),
  ])
}

describe('a caller whose readable budgets have no common top', () => {
  test.each([
    ['no budget', []],
    ['a deleted budget', ['gone']],
    ['two budgets of different parents', ['acme-eu', 'zenith']],
    ['a budget and its child', ['acme', 'acme-eu']],
  ])('a caller without a common top gets an answer to every list and report: %s', async (_name, readsBudgets) => {
    const clients = await startClients()
    const token = clients.signed({ sub: 'ada', scope: 'read admin', budgets: '*', exp: clients.inDays(1) })
    await clients.call('PUT', '/budgets/gone', { token, body: { limits: [{ window: 'month', units: 1 }] } })
    expect((await clients.call('PUT', '/callers/mia', { token, body: { readsBudgets } })).status).toBe(200)
    expect((await clients.call('DELETE', '/budgets/gone', { token })).status).toBe(204)
    const statuses = await Promise.all(gets.map(async (path) => [path, (await clients.as('GET', path)).status]))
    expect(statuses.filter(([, status]) => status !== 200)).toEqual(
      ['/audit', '/changes', '/callers', '/status', '/v3/projects', '/v3/marketshare/projects'].map((path) => [
        path,
        403,
      ]),
    )
    const reports = await readingsOf(clients, readsBudgets)
    expect(reports).not.toContain('overco')
    if (!readsBudgets.includes('zenith')) expect(reports).not.toMatch(/zenith|zed-|zeta/)
  })

  test('a caller who reads account reads everything', async () => {
    const { guard } = await startClients()
    const token = { scopes: new Set(['admin' as const]), budgets: '*', readsBudgets: ['account'] } as const
    const permissions = await guard.permissions({ caller: 'eve', token }, { atOnce: true })
    expect(permissions.guard).toBe(guard)
    expect(permissions.scopes.has('admin')).toBe(true)
  })
})

test('a reader of the parent still sees the updates of a deleted budget', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const { call, clock } = product
  const limits = [{ window: 'month', units: 1_000 }]
  for (const [name, parent] of [
    ['acme', 'account'],
    ['old', 'acme'],
    ['zenith', 'account'],
    ['past', 'zenith'],
  ] as const)
    await call('PUT', `/budgets/${name}`, { body: { parent, limits, projects: [{ name: `shop-${name}` }] } })
  for (const name of ['acme', 'old', 'past']) await product.update({ kind: 'ranking', project: `shop-${name}` })
  for (const name of ['old', 'past']) expect((await call('DELETE', `/budgets/${name}?release=true`)).status).toBe(204)
  await call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
  const mia = product.signed({ sub: 'mia', scope: 'read', exp: product.inDays(30) })
  const seen = async () => {
    const [{ body: list }, { body: statement }] = [
      await call('GET', '/updates', { token: mia }),
      await call('GET', '/statements?by=budget', { token: mia }),
    ]
    return [
      list.updates.map(({ budget }: { budget: string }) => budget).toSorted(),
      statement.total.charged,
      statement.book,
    ]
  }
  expect(await seen()).toEqual([['acme', 'old'], 80, { spent: 80, addsUp: true }])
  for (const wait of [hours(15), hours(1)]) {
    clock.advance(wait)
    await product.triggers.sweep(product.endsAt())
  }
  expect(await seen()).toEqual([['acme', 'old'], 80, { spent: 80, addsUp: true }])
})

test.each(['project', 'budget'])(
  'a statement by %s does not show that a budget above is over its observed limit',
  async (by) => {
    const product = await startProduct({ store: createMemoryStore(), units: { shop: 40 } })
    const { call } = product
    const limits = (units: number) => ({ limits: [{ window: 'month', units }] })
    await call('PUT', '/budgets/overco', { body: { ...limits(10), enforce: false } })
    await call('PUT', '/budgets/acme', { body: { parent: 'overco', ...limits(1_000), projects: [{ name: 'shop' }] } })
    await call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
    const ran = await product.update({ kind: 'ranking', project: 'shop' })
    expect(ran.body.updates[0].wouldHaveRefused).toMatchObject([{ budget: 'overco' }])
    const token = product.signed({ sub: 'mia', scope: 'read', exp: product.inDays(30) })
    const totals = async () => (await call('GET', `/statements?by=${by}`, { token })).body.total
    expect(await totals()).toMatchObject({ charged: 40, wouldHaveRefused: 0, wouldHaveRefusedUnits: 0 })
    for (const wait of [hours(15), hours(1)]) {
      product.clock.advance(wait)
      await product.triggers.sweep(product.endsAt())
    }
    expect(await totals()).toMatchObject({ charged: 40, wouldHaveRefused: 0, wouldHaveRefusedUnits: 0 })
  },
)
