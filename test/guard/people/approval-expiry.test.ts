import { expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => ({ limits: [{ window: 'month', units }] })

async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const put = (name: string, body: object) =>
    product.call('PUT', `/budgets/${name}?release=true`, { body: { ...month(1_000), ...body } })
  await put('agency', { approvalAbove: 10, approvalExpiresAfter: '4h' })
  await put('client', { parent: 'agency', projects: [{ name: 'acme' }] })
  const ask = async (body: object) =>
    (
      await product.update(
        { kind: 'ranking', ...body },
        { token: product.signed({ sub: 'bob', scope: 'run', budgets: '*' }) },
      )
    ).body.updates[0]
  const stateAfter = async (id: string, ms: number) => {
    product.clock.advance(ms)
    await (await product.guard.jobs()).sweep(product.endsAt())
    return (await product.call('GET', `/updates/${id}`)).body.state
  }
  return { ...product, put, ask, stateAfter }
}
const minute = 60_000
const hour = 60 * minute

test('an approval expires after the time that the nearest budget of the chain sets', async () => {
  const { ask, stateAfter } = await start()
  const { id, state } = await ask({ project: 'acme' })
  expect(state).toBe('awaiting-approval')
  expect(await stateAfter(id, 4 * hour - 1)).toBe('awaiting-approval')
  expect(await stateAfter(id, 1)).toBe('expired')
})

test('a budget’s own expiry comes before its parent’s, and the default is a day', async () => {
  const { ask, put, stateAfter } = await start()
  await put('client', { parent: 'agency', projects: [{ name: 'acme' }], approvalExpiresAfter: '15m' })
  const { id } = await ask({ project: 'acme' })
  expect(await stateAfter(id, 15 * minute)).toBe('expired')
  await put('other', { approvalAbove: 10, projects: [{ name: 'shop' }] })
  const usual = await ask({ project: 'shop' })
  expect(await stateAfter(usual.id, 24 * hour - 1)).toBe('awaiting-approval')
  expect(await stateAfter(usual.id, 1)).toBe('expired')
})

test('the expiry of the owner applies if an ancestor pays', async () => {
  const { call, ask, put, stateAfter } = await start()
  await put('client', { parent: 'agency', projects: [{ name: 'acme' }], approvalExpiresAfter: '1h' })
  await call('PUT', '/callers/bob', { body: { mayChargeAncestors: true, scopes: ['run'], budgets: '*' } })
  const { id, budget } = await ask({ project: 'acme', budget: 'agency' })
  expect(budget).toBe('agency')
  expect(await stateAfter(id, hour)).toBe('expired')
})

test('an update with an approval of seven days is held in the next month, and the books add up', async () => {
  const { ask, put, call, clock, audit } = await start()
  await put('client', { parent: 'agency', projects: [{ name: 'acme' }], approvalExpiresAfter: '7d' })
  clock.set('2026-11-30T12:00:00Z')
  const { id } = await ask({ project: 'acme' })
  clock.advance(7 * 24 * hour - minute)
  const { body } = await call('POST', `/updates/${id}/approve`)
  expect([body.state, body.window]).toEqual(['settled', 'month:2026-12-01'])
  expect(await audit()).toBe(true)
  expect((await call('GET', '/statements')).body).toMatchObject({ total: { charged: 40 }, book: { addsUp: true } })
})
