import { describe, expect, test } from 'vitest'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { metricFields } from '../../../shared/platform/metrics.ts'
import { hours, minutes } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Product = Awaited<ReturnType<typeof startProduct>>

const lines = ({ logged }: Product, event: string) =>
  logged.map((line) => JSON.parse(line)).filter((line) => line.event === event)

test('a measurement is one log line from which CloudWatch reads metrics', () => {
  expect(metricFields({ BookBytes: 812, AuditNotOk: 0 }, 1795168800000, 'UnitGuard')).toEqual({
    BookBytes: 812,
    AuditNotOk: 0,
    _aws: {
      Timestamp: 1795168800000,
      CloudWatchMetrics: [
        {
          Namespace: 'UnitGuard',
          Dimensions: [[]],
          Metrics: [
            { Name: 'BookBytes', Unit: 'Bytes' },
            { Name: 'AuditNotOk', Unit: 'Count' },
          ],
        },
      ],
    },
  })
})

describe('measurements', () => {
  test('the sweep measures the age of the oldest doubt, also over more than one page', async () => {
    let lost = true
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (lost && url.endsWith('/run') ? { status: 500 } : undefined),
    })
    await product.update({ kind: 'ranking', project: 'first' })
    product.clock.advance(hours(1))
    for (let number = 0; number < 51; number++) await product.update({ kind: 'ranking', project: `p${number}` })
    lost = false
    product.clock.advance(minutes(1))
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    expect(lines(product, 'vitals')).toMatchObject([{ level: 'info', OldestDoubtMinutes: 61, AccountUsedPercent: 4.2 }])
  })

  test('the sweep measures the waiting time of the oldest queued or approved update', async () => {
    let isDown = true
    const product = await startProduct({
      store: createMemoryStore(),
      service: () => (isDown ? { status: 503 } : undefined),
    })
    const sweep = () => product.triggers.handle({ task: 'sweep' }, product.endsAt())
    const queue = (project: string) =>
      product.update({ kind: 'ranking', project }, { headers: { prefer: 'respond-async' } })
    await queue('first')
    product.clock.advance(minutes(7))
    await queue('second')
    product.clock.advance(minutes(5))
    await sweep()
    isDown = false
    await sweep()
    expect(lines(product, 'vitals').map(({ OldestQueuedMinutes }) => OldestQueuedMinutes)).toEqual([12, 0])
  })

  test('the sweep measures the account’s use in percent of its limit with grants', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (url.includes('/lost/run') ? { status: 500 } : undefined),
    })
    const used = async () => (await (await product.guard.jobs()).measure()).AccountUsedPercent
    const limit = (units: number | 'unlimited') =>
      product.call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units }] } })
    await limit(0)
    expect(await used()).toBe(0)
    await limit(110)
    await product.call('POST', '/budgets/account/entries', { body: { type: 'grant', units: 10, reason: 'r' } })
    await product.update({ kind: 'ranking', project: 'one' })
    expect(await used()).toBe(33.3)
    await product.update({ kind: 'ranking', project: 'lost' })
    expect(await used()).toBe(66.7)
    await limit('unlimited')
    expect(await used()).toBeUndefined()
  })

  test('an account with a limit of 0 that spends is measured as fully used', async () => {
    const product = await startProduct({ store: createMemoryStore() })
    await product.call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units: 0 }] } })
    const body = { type: 'external-spend', units: 5, reason: 'elsewhere' }
    expect((await product.call('POST', '/budgets/account/entries', { body })).status).toBe(201)
    expect((await (await product.guard.jobs()).measure()).AccountUsedPercent).toBe(100)
  })

  test('the sweep measures even if another part of it has failed', async () => {
    const inner = createMemoryStore()
    const store: Store = {
      ...inner,
      list: (query) => (query.partition === 'running' ? Promise.reject(new Error('broken')) : inner.list(query)),
    }
    const product = await startProduct({ store })
    await expect(product.triggers.handle({ task: 'sweep' }, product.endsAt())).rejects.toThrow('broken')
    expect(lines(product, 'vitals')).toMatchObject([{ OldestDoubtMinutes: 0, AccountUsedPercent: 0 }])
  })
})

describe('the audit of the digest', () => {
  test('the digest audits the counters, and names each that changed without an entry', async () => {
    const store = createMemoryStore()
    const product = await startProduct({ store })
    await product.update({ kind: 'ranking', project: 'acme' })
    const audit = () => product.triggers.handle({ task: 'digest' }, product.endsAt())
    await audit()
    const [book] = await store.get([{ pk: 'book', sk: 'month:2026-11-01' }])
    const counters = JSON.parse(JSON.stringify(book))
    counters.month.account.s += 7
    await store.transact([{ kind: 'put', item: counters, when: [] }], 'tampered')
    await audit()
    expect(lines(product, 'vitals').map(({ AuditNotOk }) => AuditNotOk)).toEqual([0, 1])
    expect(lines(product, 'audit-not-ok')).toMatchObject([
      { level: 'error', window: 'month:2026-11-01', budget: 'account' },
    ])
    expect(await product.guard.ledger.lastAudit()).toMatchObject({
      at: product.clock.now(),
      by: 'digest',
      wrong: 1,
    })
  })
})

describe('a service that refuses our token', () => {
  test('a refused token is logged if it is still the current token; a rotated token costs no update', async () => {
    let valid = 'another'
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ headers }) => (headers.authorization === `Bearer ${valid}` ? undefined : { status: 401 }),
    })
    expect((await product.update({ kind: 'ranking', project: 'acme' })).status).toBe(502)
    expect(lines(product, 'token-refused').length).toBeGreaterThan(0)
    const told = lines(product, 'token-refused').length
    // After a rotation, the old token is refused one more time, and then the new token is read.
    valid = 'canary-rotated-token-0123456789'
    product.secrets.values['unit-guard/service-token'] = valid
    product.clock.advance(minutes(1))
    expect((await product.update({ kind: 'ranking', project: 'acme' })).status).toBe(201)
    expect(lines(product, 'token-refused')).toHaveLength(told)
  })
})

test('the end of an occurrence logs the refused and the unsent projects', async () => {
  const product = await startProduct({
    store: createMemoryStore(),
    plans: [{ name: 'night', kind: 'ranking', projects: ['a', 'dear'], schedule: 'cron(0 10 * * ? *)' }],
    units: { dear: 60_000 },
  })
  const fire = () => product.triggers.handle({ plan: 'night', time: '2026-11-20T10:00:00Z' }, product.endsAt())
  await fire()
  product.clock.advance(1)
  await fire()
  const night = { plan: 'night', time: Date.parse('2026-11-20T10:00:00Z') }
  expect(lines(product, 'occurrence')).toMatchObject([
    { ...night, state: 'running' },
    { ...night, state: 'done', refused: 1, unsent: 0 },
  ])
})
