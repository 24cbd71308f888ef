import { expect, test } from 'vitest'
import packaged from '../../package.json' with { type: 'json' }
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const unknown = { version: packaged.version, troubles: [], sweptAt: null, backedUpAt: null, setAside: null }

test('GET /status counts waiting work, and has no times of a machine on AWS', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const status = async () => (await product.call('GET', '/status')).body
  expect(await status()).toEqual({ ...unknown, waiting: { requested: 0, awaitingApproval: 0, inDoubt: 0 } })
  await product.call('PUT', '/budgets/slow', {
    body: { limits: [{ window: 'month', units: 100 }], approvalAbove: 10, approvers: ['bob'] },
  })
  await product.update({ kind: 'ranking', project: 'a.example', budget: 'slow' })
  await product.call('POST', '/updates', {
    body: { kind: 'ranking', project: 'b.example' },
    headers: { prefer: 'respond-async' },
  })
  expect((await status()).waiting).toEqual({ requested: 1, awaitingApproval: 1, inDoubt: 0 })
})

test('GET /status requires the scope read and a caller who reads all budgets', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const exp = product.clock.now() / 1000 + 3_600
  const token = product.signed({ sub: 'eve', scope: 'run', budgets: '*', exp })
  expect((await product.call('GET', '/status', { token })).status).toBe(403)
  await product.call('PUT', '/callers/mia', { body: { readsBudgets: [] } })
  const narrowed = product.signed({ sub: 'mia', scope: 'read', exp })
  expect((await product.call('GET', '/status', { token: narrowed })).status).toBe(403)
})
