import { describe, expect, test } from 'vitest'
import { createTestClock, minutes } from '../../support/clock.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import { type Answer, gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const isRun = (url: string) => new URL(url, 'http://x').pathname.endsWith('/run')
const ask = { kind: 'ranking', project: 'acme.example' }
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const sweep = async (product: Product) => (await product.guard.jobs()).sweep(product.clock.now() + minutes(2))
const get = async (product: Product, id: string) => (await product.call('GET', `/updates/${id}`)).body

/** A product whose run hangs until the test answers, so that time can pass between the fence and the answer. */
async function slowRun(answer: Answer = json({ keyword_units: 40 })) {
  const { opened, open } = gate()
  const product = await startProduct({
    env: { SERVICE_TIMEOUT_MS: '20000' },
    service: ({ url }) => (isRun(url) && url.includes(ask.project) ? { ...answer, once: opened } : undefined),
  })
  const pending = product.update(ask, { headers: { 'idempotency-key': 'slow' } })
  while (product.seen('run').length === 0) await later(2)
  const [{ id }] = (await product.call('GET', '/updates?state=running')).body.updates
  /** Lets the service answer, and waits for the guard's answer. */
  const finish = () => {
    open()
    return pending
  }
  return { product, id, finish }
}

test('estimate: slow: the new month pays if the month turns during the estimate', async () => {
  const product: Product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    clock: createTestClock('2026-11-30T23:59:59Z'),
    service: ({ url }) => {
      if (url.endsWith('/estimate')) product.clock.advance(1000)
      return undefined
    },
  })
  expect((await product.update(ask)).body.updates).toMatchObject([{ state: 'settled', window: 'month:2026-12-01' }])
  expect(await product.figures()).toMatchObject({ available: 49960, spent: 40 })
  expect(await product.audit()).toBe(true)
})

describe('run: process dies', () => {
  test('a running update past its lease is in doubt, counts, and is not sent again', async () => {
    const { product, finish, id } = await slowRun()
    expect((await sweep(product)).doubted).toEqual([])
    product.clock.advance(32_000)
    expect((await sweep(product)).doubted).toEqual([id])
    expect(await get(product, id)).toMatchObject({ state: 'in-doubt', units: { held: 40, charged: null } })
    expect(await product.figures()).toMatchObject({ available: 49960, held: 0, inDoubt: 40 })
    expect((await sweep(product)).doubted).toEqual([])
    expect(product.seen('run')).toHaveLength(1)

    expect((await finish()).body.updates).toMatchObject([{ id, state: 'settled', units: { charged: 40 } }])
    expect(await product.figures()).toMatchObject({ inDoubt: 0, spent: 40 })
    expect(await product.audit()).toBe(true)
  })

  test('request: answer lost: the answer to a repeated key says that its first request runs, and later is the same', async () => {
    const { product, finish, id } = await slowRun()
    const key = { headers: { 'idempotency-key': 'slow' } }
    const during = await product.update(ask, key)
    expect(during.status).toBe(409)
    expect(during.body).toMatchObject({ type: '/problems/in-progress', update: id })
    const first = await finish()
    const after = await product.update(ask, key)
    expect(after.status).toBe(201)
    expect(after.body).toEqual(first.body)
    expect(after.headers.get('idempotency-replayed')).toBe('true')
    const other = await product.update({ ...ask, project: 'other' }, key)
    expect(other.status).toBe(422)
    expect(product.seen('run')).toHaveLength(1)
  })
})

describe('late settle: slow', () => {
  const release = async (product: Product, id: string) => {
    product.clock.advance(minutes(8))
    await sweep(product)
    const body = { outcome: 'did-not-run', reason: 'nothing on the screen' }
    return product.call('POST', `/updates/${id}/resolve`, { body })
  }

  test('late settle: slow: an answer above the hold that comes after a person released it is booked as an overrun and freezes the budget', async () => {
    const { product, finish, id } = await slowRun(json({ response_code: 0, data: { keyword_units: 55 } }))
    const limits = [{ window: 'month', units: 50_000 }]
    await product.call('PUT', '/budgets/account', { body: { limits, freezeOnOverrun: true } })
    await release(product, id)
    await finish()
    expect(await get(product, id)).toMatchObject({ state: 'released', units: { held: 40, charged: 55 }, overrun: 15 })
    expect(await product.figures()).toMatchObject({ available: 49945, spent: 55 })
    expect((await product.call('GET', '/budgets/account')).body.frozen).toMatchObject({ by: 'guard' })
    expect(await product.audit()).toBe(true)
  })

  test('late settle: slow: a person cannot say that it did not run while its sender may still live', async () => {
    const { product, id } = await slowRun()
    product.clock.advance(minutes(1))
    await sweep(product)
    const body = { outcome: 'did-not-run', reason: 'nothing on the screen' }
    const early = await product.call('POST', `/updates/${id}/resolve`, { body })
    expect(early.status).toBe(409)
    expect(early.body).toMatchObject({ retryAt: '2026-11-20T10:07:00.000Z' })
  })
})

describe('duplicate work', () => {
  test.each([
    ['seven days of the account by default', 'keyword-difficulty', {}, '2026-11-26T23:59:59Z', '2026-11-27T00:00:00Z'],
    ['as configured', 'ranking', { COOLDOWN_RANKING: '30m' }, '2026-11-20T10:29:59Z', '2026-11-20T10:30:00Z'],
    [
      'the day of the account’s zone',
      'ranking',
      { ACCOUNT_TIME_ZONE: 'America/New_York' },
      '2026-11-21T04:59:59Z',
      '2026-11-21T05:00:00Z',
    ],
  ])('the cool-down lasts: %s', async (_name, kind, env, last, free) => {
    const product = await startProduct({ store: createMemoryStore(), stream: false, env })
    const first = await product.update({ kind, project: 'acme.example' })
    product.clock.set(last)
    const within = await product.update({ kind, project: 'acme.example' }, { headers: { 'idempotency-key': 'cool' } })
    expect(within.status).toBe(200)
    expect(within.body.updates[0].id).toBe(first.body.updates[0].id)
    product.clock.set(free)
    expect((await product.update({ kind, project: 'acme.example' })).status).toBe(201)
    const replay = await product.update({ kind, project: 'acme.example' }, { headers: { 'idempotency-key': 'cool' } })
    expect(replay.status).toBe(200)
    expect(replay.body).toEqual(within.body)
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(product.seen('run')).toHaveLength(2)
  })
})

test('a refused update stays refused under its key; a new key is decided again', async () => {
  const product = await startProduct({ store: createMemoryStore(), stream: false, units: { globex: 640 } })
  await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 120 }] } })
  const globex = { kind: 'ranking', project: 'globex', budget: 'acme' }
  const first = await product.update(globex, { headers: { 'idempotency-key': 'once' } })
  expect(first.status).toBe(402)
  await product.call('POST', '/budgets/acme/entries', { body: { type: 'grant', units: 520, reason: 'client pays' } })
  const calls = product.service.requests.length
  const again = await product.update(globex, { headers: { 'idempotency-key': 'once' } })
  expect(again.status).toBe(402)
  expect({ ...again.body, requestId: '' }).toEqual({ ...first.body, requestId: '' })
  expect(product.service.requests).toHaveLength(calls)
  expect((await product.update(globex, { headers: { 'idempotency-key': 'twice' } })).status).toBe(201)
  expect(await product.figures('acme')).toMatchObject({ granted: 520, available: 0, spent: 640 })
  expect(await product.audit()).toBe(true)
})
