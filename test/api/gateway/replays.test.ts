import { expect, test } from 'vitest'
import { type Called, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const charged = ({ headers }: Called) => [
  headers.get('unit-guard-units-charged'),
  headers.get('unit-guard-units-charged-now'),
]

test('a gateway run reports the units charged, and its replay reports 0 charged now', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const run = (key: string) => product.call('GET', '/v3/on-demand/acme/run', { headers: { 'idempotency-key': key } })
  expect(charged(await run('first'))).toEqual(['40', '40'])
  const byKey = await run('first')
  expect([byKey.headers.get('idempotency-replayed'), charged(byKey)]).toEqual(['true', ['40', '0']])
  const byWork = await run('second')
  expect([byWork.headers.has('unit-guard-replayed'), charged(byWork)]).toEqual([true, ['40', '0']])
  expect(product.seen('run')).toHaveLength(1)
})

test('a key counts for one caller and one route: the gateway and POST /updates do not share it', async () => {
  const product = await startProduct({ store: createMemoryStore() })
  const headers = { 'idempotency-key': 'k' }
  const body = { kind: 'ranking', project: 'acme' }
  expect((await product.call('POST', '/updates', { body, headers })).status).toBe(201)
  const run = (project: string, token?: Promise<string>) =>
    product.call('GET', `/v3/on-demand/${project}/run`, { headers, ...(token !== undefined && { token }) })
  const byGateway = await run('shop')
  expect([byGateway.status, byGateway.headers.has('idempotency-replayed')]).toEqual([200, false])
  expect((await run('initech')).body.type).toBe('/problems/key-reused')
  const ofKind = await product.call('GET', '/v3/keyword-difficulty/1003/run', { headers })
  expect(ofKind.body.type).toBe('/problems/key-reused')
  const theirs = await run('initech', product.signed({ sub: 'zoe', scope: 'run', budgets: '*' }))
  expect([theirs.status, product.seen('run').length]).toEqual([200, 3])
  const { parameters } = (await product.call('GET', '/openapi.json')).body.paths['/updates'].post
  expect(JSON.stringify(parameters)).toContain('A key counts for one caller and one route')
})
