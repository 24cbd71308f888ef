import { describe, expect, test } from 'vitest'
import type { Store } from '../../shared/ledger/store/store.ts'
import { counts } from '../../shared/platform/metrics.ts'
import { linesOf } from '../support/log-lines.ts'
import { listenForAgents, revisions } from '../support/mcp.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const acme = { kind: 'ranking', project: 'acme' }

/** The figures of the last line. CloudWatch bills metrics, so a line of a request or job makes no metric. */
function countedIn(product: Product, event: 'request' | 'job') {
  const line = linesOf(product.logged, event).at(-1) ?? {}
  expect(line).not.toHaveProperty('_aws')
  const members = Object.keys(counts).filter((name) => name in line)
  return Object.fromEntries(members.map((name) => [name, line[name]]))
}

describe('the log line of a request', () => {
  test('a request counts a settled update, its units and the time of the service', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => {
        product.clock.advance(url.endsWith('/run') ? 900 : 0)
        return undefined
      },
    })
    await product.update(acme)
    expect(countedIn(product, 'request')).toEqual({ Settled: 1, UnitsCharged: 40, EstimateMs: [0], RunMs: [900] })
    await product.call('GET', '/budgets')
    expect(countedIn(product, 'request')).toEqual({})
  })

  test('a request counts each of its updates, also released and refused ones', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      units: { dear: 60_000 },
      service: ({ url }) => (url.includes('/broke/run') ? json({}, 402) : undefined),
    })
    await product.update({ kind: 'ranking', projects: ['acme', 'broke', 'dear'], whenShort: 'fit' })
    const { EstimateMs, RunMs, ...counted } = countedIn(product, 'request')
    expect([counted, EstimateMs.length, RunMs.length]).toEqual([
      { Settled: 1, Released: 1, Refused: 1, UnitsCharged: 40 },
      3,
      2,
    ])
    await product.update(acme)
    expect(countedIn(product, 'request')).toEqual({ Refused: 1 })
  })

  test('a request counts an update in doubt, and a later request counts its resolution', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (url.includes('/run') ? json({}, 500) : undefined),
    })
    const { body } = await product.update(acme)
    expect(countedIn(product, 'request')).toEqual({ InDoubt: 1, EstimateMs: [0], RunMs: [0] })
    const resolution = { outcome: 'ran', units: 38, reason: 'invoice' }
    await product.call('POST', `/updates/${body.updates[0].id}/resolve`, { body: resolution })
    expect(countedIn(product, 'request')).toEqual({ Settled: 1, UnitsCharged: 38 })
  })

  test('a request counts a hold that conflicted with another change', async () => {
    const inner = createMemoryStore()
    let isFirst = true
    const store: Store = {
      ...inner,
      transact: async (writes, ...how) => {
        const isHold = writes.some((write) => write.kind === 'put' && write.item.state === 'running')
        if (isHold && isFirst) {
          isFirst = false
          const how = { body: { limits: [{ window: 'month', units: 10 }] }, process: product.startProcess() }
          expect((await product.call('PUT', '/budgets/seo', how)).status).toBe(201)
        }
        return inner.transact(writes, ...how)
      },
    }
    const product = await startProduct({ store })
    await product.update(acme)
    expect(countedIn(product, 'request')).toMatchObject({ Settled: 1, Conflicts: 1 })
  })
})

test.each(revisions)('a call of an agent (%s) counts the updates of its tool and names them', async (revision) => {
  const product = await startProduct({ store: createMemoryStore() })
  const agent = await (await listenForAgents(product)).connect({ revision })
  const quote = await agent.quote('acme')
  const of = (tool: string) => linesOf(product.logged, 'request').filter(({ route }) => route === `mcp ${tool}`)
  await expect.poll(() => of('estimate_update')).toMatchObject([{ EstimateMs: [0] }])
  const { data } = await agent.request(quote)
  await expect.poll(() => of('request_update')).toMatchObject([{ Settled: 1, UnitsCharged: 40, updates: [data.id] }])
})

test('a job counts all of its updates', async () => {
  const plan = { name: 'morning', kind: 'ranking', projects: ['acme', 'shop'], schedule: 'cron(0 10 * * ? *)' }
  const product = await startProduct({ store: createMemoryStore(), plans: [plan] })
  await product.triggers.handle({ plan: 'morning', time: '2026-11-20T10:00:00Z' }, product.endsAt())
  expect(countedIn(product, 'job')).toEqual({ Settled: 2, UnitsCharged: 80, EstimateMs: [0, 0], RunMs: [0, 0] })
})

test('a guard with a prefix of its own has metrics of its own', async () => {
  const product = await startProduct({ store: createMemoryStore(), env: { METRIC_NAMESPACE: 'unit-guard-dev' } })
  await product.triggers.handle({ task: 'sweep' }, product.endsAt())
  const [line] = linesOf(product.logged, 'vitals')
  expect(line?._aws.CloudWatchMetrics).toMatchObject([{ Namespace: 'unit-guard-dev' }])
})
