import { describe, expect, test } from 'vitest'
import { createTestClock, days, hours, minutes } from '../../support/clock.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import { type Answer, gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const isRun = (url: string) => new URL(url, 'http://x').pathname.endsWith('/run')
const isDates = (url: string) => url.endsWith('/dates')
const ask = { kind: 'ranking', project: 'acme.example' }
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const sweep = async (product: Product) => product.guard.sweep(product.clock.now() + minutes(2))
const get = async (product: Product, id: string) => (await product.call('GET', `/updates/${id}`)).body

/** A product whose run hangs until it is let go, so that time can pass between the fence and the answer. */
async function slowRun(answer: Answer = json({ keyword_units: 40 }), dates: string[] = ['2026-11-13'], env = {}) {
  let known = dates
  const { opened, open } = gate()
  const product = await startProduct({
    env: { SERVICE_TIMEOUT_MS: '20000', ...env },
    service: ({ url }) => {
      if (isDates(url)) return json({ dates: known })
      return isRun(url) && url.includes(ask.project) ? { ...answer, once: opened } : undefined
    },
  })
  const pending = product.update(ask, { headers: { 'idempotency-key': 'slow' } })
  while (product.seen('run').length === 0) await later(2)
  const [{ id }] = (await product.call('GET', '/updates?state=running')).body.updates
  return {
    product,
    id,
    /** Lets the service answer, and waits for ours. */
    finish: () => {
      open()
      return pending
    },
    setDates: (now: string[]) => {
      known = now
    },
  }
}

describe('between hold and settle', () => {
  test('a month boundary: the units are charged to the month they were held in', async () => {
    const { product, finish, id } = await slowRun()
    expect(await product.figures()).toMatchObject({ available: 49960, held: 40, spent: 0 })
    product.clock.set('2026-12-01T00:00:01Z')
    expect((await finish()).status).toBe(201)
    expect(await get(product, id)).toMatchObject({ window: 'month:2026-11-01', units: { charged: 40 } })
    expect(await product.figures()).toEqual({
      limit: 50000,
      granted: 0,
      available: 50000,
      held: 0,
      inDoubt: 0,
      spent: 0,
    })
    const { body } = await product.call('GET', '/audit')
    const november = body.books.find((book: { window: string }) => book.window === 'month:2026-11-01')
    expect(november.recorded).toEqual({ limit: 50000, granted: 0, available: 49960, held: 0, inDoubt: 0, spent: 40 })
    expect(body.ok).toBe(true)
  })

  test('a day boundary: the new day does not pay for the old one', async () => {
    const { product, finish } = await slowRun()
    const limits = [
      { window: 'month', units: 50_000 },
      { window: 'day', units: 100 },
    ]
    await product.call('PUT', '/budgets/account', { body: { limits } })
    expect(await product.figures('account', 'day')).toMatchObject({ available: 60, held: 40 })
    product.clock.set('2026-11-21T00:00:01Z')
    await product.update({ kind: 'keyword-difficulty', project: '7' })
    expect((await finish()).status).toBe(201)
    expect(await product.figures('account', 'day')).toEqual({
      limit: 100,
      granted: 0,
      available: 60,
      held: 0,
      inDoubt: 0,
      spent: 40,
    })
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0 })
    expect(await product.audit()).toBe(true)
  })
})

describe('estimate: slow', () => {
  const during = async (pass: (product: Product) => void, start?: string) => {
    const product: Product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      clock: createTestClock(start),
      env: { SERVICE_TIMEOUT_MS: '5000' },
      service: ({ url }) => {
        if (url.endsWith('/estimate')) pass(product)
        return undefined
      },
    })
    return { product, answer: await product.update(ask) }
  }

  test('a slow estimate leaves run its whole deadline, which counts from the hold', async () => {
    const { product, answer } = await during(({ clock }) => clock.advance(60_000))
    expect(answer.status).toBe(201)
    expect(answer.body.updates[0].history[0]).toMatchObject({ state: 'running', at: '2026-11-20T10:01:00.000Z' })
    expect(product.seen('run')).toHaveLength(1)
  })

  test('a month that turns during a slow estimate is the one that pays', async () => {
    const { product, answer } = await during(({ clock }) => clock.advance(1000), '2026-11-30T23:59:59Z')
    expect(answer.body.updates).toMatchObject([{ state: 'settled', window: 'month:2026-12-01' }])
    expect(await product.figures()).toMatchObject({ available: 49960, spent: 40 })
    expect(await product.audit()).toBe(true)
  })
})

describe('run: process dies', () => {
  test('a running update past its lease is in doubt, counted, and not sent again', async () => {
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

  test('request: answer lost: a key asked again while its first request runs is answered so, and then gets the same answer', async () => {
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

  test('a late answer after a person’s release is booked once, as the difference; the state stays', async () => {
    const { product, finish, id } = await slowRun()
    expect((await release(product, id)).body).toMatchObject({ state: 'released', units: { charged: 0 } })
    expect(await product.figures()).toMatchObject({ available: 50000, spent: 0 })
    await finish()
    const update = await get(product, id)
    expect(update).toMatchObject({ state: 'released', units: { held: 40, charged: 40 } })
    expect(update.history.map(({ state, by }: { state: string; by: string }) => `${state} ${by}`)).toEqual([
      'running guard',
      'in-doubt sweep',
      'released ada',
      'released service',
    ])
    expect(await product.figures()).toEqual({
      limit: 50000,
      granted: 0,
      available: 49960,
      held: 0,
      inDoubt: 0,
      spent: 40,
    })
    expect((await sweep(product)).proven).toEqual([])
    expect(await product.audit()).toBe(true)
  })

  test('late settle: slow: an answer above the hold, after a person released it, is booked whole as an overrun and freezes the budget', async () => {
    const { product, finish, id } = await slowRun(json({ keyword_units: 55 }))
    const limits = [{ window: 'month', units: 50_000 }]
    await product.call('PUT', '/budgets/account', { body: { limits, freezeOnOverrun: true } })
    await release(product, id)
    await finish()
    expect(await get(product, id)).toMatchObject({ state: 'released', units: { held: 40, charged: 55 }, overrun: 15 })
    expect(await product.figures()).toMatchObject({ available: 49945, spent: 55 })
    expect((await product.call('GET', '/budgets/account')).body.frozen).toMatchObject({ by: 'guard' })
    expect(await product.audit()).toBe(true)
  })

  test('late settle: slow: a person cannot yet say that it did not run while the sender’s process may still live', async () => {
    const { product, id } = await slowRun()
    product.clock.advance(minutes(1))
    await sweep(product)
    const body = { outcome: 'did-not-run', reason: 'nothing on the screen' }
    const early = await product.call('POST', `/updates/${id}/resolve`, { body })
    expect(early.status).toBe(409)
    expect(early.body).toMatchObject({ retryAt: '2026-11-20T10:07:00.000Z' })
  })

  test('evidence against a person books the units back', async () => {
    const { product, finish, id, setDates } = await slowRun({ status: 500 }, ['2026-11-13'])
    await finish()
    product.clock.advance(minutes(6))
    const body = { outcome: 'did-not-run', reason: 'nothing on the screen' }
    await product.call('POST', `/updates/${id}/resolve`, { body })
    expect((await sweep(product)).proven).toEqual([])
    setDates(['2026-11-13', '2026-11-20'])
    expect((await sweep(product)).proven).toEqual([id])
    expect(await get(product, id)).toMatchObject({ state: 'released', units: { held: 40, charged: 40 } })
    expect(await product.figures()).toMatchObject({ available: 49960, spent: 40 })
    expect((await sweep(product)).proven).toEqual([])
    expect(await product.audit()).toBe(true)
  })
})

describe('sweep: evidence', () => {
  const inDoubt = async (dates = ['2026-11-13']) => {
    const { product, finish, id, setDates } = await slowRun({ status: 500 }, dates)
    await finish()
    return { product, id, setDates }
  }

  test('a new date settles at the hold, but not before the request must have landed', async () => {
    const { product, id, setDates } = await inDoubt()
    setDates(['2026-11-13', '2026-11-20'])
    expect((await sweep(product)).proven).toEqual([])
    product.clock.advance(minutes(5))
    expect((await sweep(product)).proven).toEqual([id])
    const update = await get(product, id)
    expect(update).toMatchObject({ state: 'settled', units: { held: 40, charged: 40 } })
    expect(update.history.at(-1)).toMatchObject({
      by: 'sweep',
      note: 'the service has data of 2026-11-20 that it did not have before',
    })
    expect(await product.audit()).toBe(true)
  })

  test.each([
    ['a date that was there before', ['2026-11-13', '2026-11-20'], ['2026-11-13', '2026-11-20']],
    ['a date too late', ['2026-11-13'], ['2026-11-13', '2026-11-22']],
    ['a date too early', ['2026-11-13'], ['2026-11-13', '2026-11-18']],
  ])('sweep: malformed: no evidence, %s', async (_name, before, after) => {
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      service: ({ url }) => (isRun(url) ? { status: 500 } : isDates(url) ? json({ dates }) : undefined),
    })
    let dates = before
    const [{ id }] = (await product.update({ ...ask, force: true, reason: 'test' })).body.updates
    dates = after
    product.clock.advance(hours(60))
    expect((await sweep(product)).proven).toEqual([])
    expect(await get(product, id)).toMatchObject({ state: 'in-doubt' })
  })

  test('no evidence: a date that another update of the same work can have made', async () => {
    let dates = ['2026-11-13']
    let runs = 0
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      service: ({ url }) => {
        if (isDates(url)) return json({ dates })
        if (!isRun(url)) return undefined
        runs += 1
        return runs === 1 ? { status: 500 } : json({})
      },
    })
    const [doubted] = (await product.update(ask)).body.updates
    product.clock.set('2026-11-21T09:00:00Z')
    expect((await product.update(ask)).status).toBe(201)
    dates = ['2026-11-13', '2026-11-21']
    expect((await sweep(product)).proven).toEqual([])
    dates = ['2026-11-13', '2026-11-19', '2026-11-21']
    expect((await sweep(product)).proven).toEqual([doubted.id])
    expect(await product.audit()).toBe(true)
  })

  test('no date within seven days settles a doubt at the hold, and never gives it back', async () => {
    const { product, id } = await inDoubt()
    product.clock.advance(days(7) - 1000)
    expect((await sweep(product)).settledByTime).toEqual([])
    product.clock.advance(1000)
    expect((await sweep(product)).settledByTime).toEqual([id])
    expect(await get(product, id)).toMatchObject({ state: 'settled', units: { held: 40, charged: 40 } })
    expect(await product.figures()).toMatchObject({ inDoubt: 0, spent: 40 })
    expect(await product.audit()).toBe(true)
  })
})

describe('duplicate work', () => {
  test('work in doubt blocks until the account’s day ends; then the project may be updated again', async () => {
    let status = 500
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      service: ({ url }) => (isRun(url) ? { status } : undefined),
    })
    await product.update(ask)
    const blocked = await product.update({ ...ask, force: true, reason: 'really' })
    expect(blocked.body.detail).toMatch(/in doubt as upd_\w+: it may have run\. .* from 21 Nov 2026 00:00 UTC\.$/)
    status = 204
    product.clock.set('2026-11-20T23:59:59Z')
    expect((await product.update(ask)).status).toBe(409)
    product.clock.set('2026-11-21T00:00:00Z')
    expect((await product.update(ask)).status).toBe(201)
    expect(await product.figures()).toMatchObject({ inDoubt: 40, spent: 40, available: 49920 })
    expect(await product.audit()).toBe(true)
  })

  test('work in doubt shortly before midnight blocks for an hour', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      service: ({ url }) => (isRun(url) ? { status: 500 } : undefined),
    })
    product.clock.set('2026-11-20T23:50:00Z')
    await product.update(ask)
    product.clock.set('2026-11-21T00:49:59Z')
    expect((await product.update(ask)).status).toBe(409)
    product.clock.set('2026-11-21T00:50:00Z')
    expect((await product.update(ask)).status).toBe(202)
  })

  test('work in doubt blocks for as long as the request may still take effect', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      env: { SERVICE_FLIGHT_MS: String(hours(6)) },
      service: ({ url }) => (isRun(url) ? { status: 500 } : undefined),
    })
    product.clock.set('2026-11-20T23:50:00Z')
    await product.update(ask)
    product.clock.set('2026-11-21T05:49:59Z')
    expect((await product.update(ask)).status).toBe(409)
    product.clock.set('2026-11-21T05:50:00Z')
    expect((await product.update(ask)).status).toBe(202)
  })

  test.each([
    ['ranking, until the day ends', 'ranking', {}, '2026-11-20T23:59:59Z', '2026-11-21T00:00:00Z'],
    ['keyword-difficulty, for seven days', 'keyword-difficulty', {}, '2026-11-27T09:59:59Z', '2026-11-27T10:00:00Z'],
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

  test('a released update does not hide the one that ran before it', async () => {
    let status = 204
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      service: ({ url }) => (isRun(url) ? { status } : undefined),
    })
    const [ran] = (await product.update(ask)).body.updates
    status = 404
    expect((await product.update({ ...ask, force: true, reason: 'again' })).status).toBe(502)
    const third = await product.update(ask)
    expect(third.status).toBe(200)
    expect(third.body.updates[0].id).toBe(ran.id)
  })

  test('kinds and spellings: another kind is other work, the same decoded segment is the same', async () => {
    const product = await startProduct({ store: createMemoryStore(), stream: false })
    await product.update({ kind: 'ranking', project: 'café & co/paris' })
    expect((await product.update({ kind: 'keyword-difficulty', project: 'café & co/paris' })).status).toBe(201)
    expect((await product.update({ kind: 'ranking', project: 'café & co/paris' })).status).toBe(200)
    expect(product.seen('run').map(({ url }) => url)).toEqual([
      '/v3/on-demand/caf%C3%A9%20%26%20co%2Fparis/run',
      '/v3/keyword-difficulty/caf%C3%A9%20%26%20co%2Fparis/run',
    ])
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
  expect(await product.figures('acme')).toEqual({
    limit: 120,
    granted: 520,
    available: 0,
    held: 0,
    inDoubt: 0,
    spent: 640,
  })
  expect(await product.audit()).toBe(true)
})

test('an empty budget is refused without asking the service', async () => {
  const product = await startProduct({ store: createMemoryStore(), stream: false })
  await product.call('PUT', '/budgets/none', {
    body: {
      limits: [
        { window: 'month', units: 0 },
        { window: 'day', units: 0 },
      ],
    },
  })
  const { status, body } = await product.update({ ...ask, budget: 'none' })
  expect(status).toBe(402)
  expect(body).toMatchObject({
    type: '/problems/over-budget',
    units: null,
    short: null,
    detail:
      'none has 0 of 0 units left this month; resets 1 Dec 2026 00:00 UTC; ask for more before trying again. Also short: none has 0 of 0 units left today (resets 21 Nov 2026 00:00 UTC).',
  })
  expect(product.service.requests).toEqual([])
})
