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
