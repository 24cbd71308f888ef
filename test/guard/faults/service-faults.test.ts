import { describe, expect, test } from 'vitest'
import { minutes } from '../../support/clock.ts'
import { isSlow, pastDeadline } from '../../support/patience.ts'
import { json, type Product, serviceTimeoutMs, serviceToken, startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const isRun = (url: string) => new URL(url, 'http://x').pathname.endsWith('/run')

/** The service is real here. The ledger is the model in memory, which one contract suite tests for every store. */
/** The deadline of a service that hangs passes as soon as the service has the request. */
const updateOf = (product: Product, operation: 'estimate' | 'dates' | 'run', answer: Answer, how = {}) => {
  const act = () => product.update(ask, how)
  const isThere = () => product.seen(operation).length > 0
  return isSlow(answer) ? pastDeadline(act, { deadlineMs: serviceTimeoutMs, isThere }) : act()
}

const withRun = (answer: Answer, env: Record<string, string> = {}) =>
  startProduct({ env, store: createMemoryStore(), service: ({ url }) => (isRun(url) ? answer : undefined) })

const ask = { kind: 'ranking', project: 'acme.example' }

describe('run: answer lost: what may have run is in doubt, stays counted, and is never sent again', () => {
  test.each<[string, Answer, number | null]>([
    ['run: slow: the service hangs', { kind: 'hang' }, null],
    ['it resets in the middle of its answer', { kind: 'reset-in-body' }, null],
    ['302 to elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 302],
    ['409', { status: 409 }, 409],
    ['500', { status: 500, body: 'boom' }, 500],
    ['run: malformed: HTML on 200', { headers: { 'content-type': 'text/html' }, body: '<h1>Maintenance</h1>' }, 200],
  ])('an update that may have run is in doubt: %s', async (_name, answer, serviceStatus) => {
    const product = await withRun(answer, { SERVICE_FLIGHT_MS: '60000' })
    const { status, body } = await updateOf(product, 'run', answer)
    expect(status).toBe(202)
    const [update] = body.updates
    expect(update).toMatchObject({ state: 'in-doubt', units: { estimated: 40, held: 40, charged: null } })
    expect(update.service?.status ?? null).toBe(serviceStatus)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject({ available: 49960, held: 0, inDoubt: 40, spent: 0 })

    const again = await product.update(ask)
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({ type: '/problems/duplicate-work', update: update.id })
    expect(product.seen('run')).toHaveLength(1)

    const early = await product.call('POST', `/updates/${update.id}/resolve`, {
      body: { outcome: 'did-not-run', reason: 'support says so' },
    })
    expect(early.status).toBe(409)
    expect(early.body).toMatchObject({ type: '/problems/wrong-state', retryAt: '2026-11-20T10:01:00.000Z' })
    product.clock.advance(minutes(1))
    const resolved = await product.call('POST', `/updates/${update.id}/resolve`, {
      body: { outcome: 'did-not-run', reason: 'support says so' },
    })
    expect(resolved.body).toMatchObject({ state: 'released', units: { held: 40, charged: 0 } })
    expect(resolved.body.history.at(-1)).toMatchObject({ state: 'released', by: 'ada', note: 'support says so' })
    expect(await product.figures()).toMatchObject({ available: 50000, inDoubt: 0, spent: 0 })
    expect(await product.audit()).toBe(true)
  })
})

describe('run: what provably did not run is released', () => {
  test.each<[string, Answer, number]>([
    ['404', { status: 404 }, 404],
    ['422', json({ message: 'no' }, 422), 422],
    ['429 with an absurd Retry-After', { status: 429, headers: { 'retry-after': '1000000000' } }, 429],
  ])('an answer of %s proves that nothing ran, and the hold is released', async (_name, answer, serviceStatus) => {
    const product = await withRun(answer)
    const { status, body } = await product.update(ask, { headers: { 'idempotency-key': 'k' } })
    expect(status).toBe(502)
    expect(body).toMatchObject({
      type: '/problems/service-refused',
      serviceStatus,
      updates: [{ state: 'released', units: { estimated: 40, held: 40, charged: 0 } }],
    })
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject({ available: 50000, held: 0, inDoubt: 0, spent: 0 })

    const replay = await product.update(ask, { headers: { 'idempotency-key': 'k' } })
    expect(replay.status).toBe(502)
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test('run: fails before any effect: a refused connection', async () => {
    const product = await startProduct({
      service: ({ url }) => {
        if (url.includes('/estimate')) setImmediate(() => void product.service.close())
        return undefined
      },
    })
    const { status, body } = await product.update({ kind: 'keyword-difficulty', project: '7' })
    expect(status).toBe(502)
    expect(body).toMatchObject({
      type: '/problems/service-unreachable',
      serviceStatus: null,
      updates: [{ state: 'released', units: { held: 40, charged: 0 } }],
    })
    expect(await product.figures()).toMatchObject({ available: 50000, held: 0 })
    expect(await product.audit()).toBe(true)
  })
})

describe('run: what is charged', () => {
  test.each<[string, Answer, Record<string, string>, number]>([
    ['the hold, when the answer is empty', { status: 204 }, {}, 40],
    ['less, when a configured pointer says so', json({ cost: { real: 3 } }), { RUN_POINTER_RANKING: '/cost/real' }, 3],
    ['more, as text', json({ response_code: 0, data: { keyword_units: '55' } }), {}, 55],
  ])('a run is charged %s', async (_name, answer, env, charged) => {
    const product = await withRun(answer, env)
    const { status, body } = await product.update(ask)
    expect(status).toBe(201)
    expect(body.updates).toMatchObject([{ state: 'settled', units: { held: 40, charged } }])
    expect(await product.figures()).toMatchObject({ available: 50000 - charged, held: 0, spent: charged })
    expect(await product.audit()).toBe(true)
  })
})

describe('estimate: fails before any effect: without one there is no run, and nothing is recorded', () => {
  test.each<[string, Answer, string, object]>([
    ['estimate: malformed: HTML', { body: '<html>' }, 'estimate-unreadable', {}],
    [
      'an ambiguous body',
      json({ units: 5, cost: 7 }),
      'estimate-unreadable',
      { shape: '{"units": number, "cost": number}' },
    ],
    ['an error envelope', json({ response_code: 9, units: 4 }), 'estimate-unreadable', {}],
    ['404', { status: 404 }, 'service-refused', { serviceStatus: 404 }],
    ['500', { status: 500 }, 'service-unreachable', { serviceStatus: 500 }],
    ['estimate: slow: a hang', { kind: 'hang' }, 'service-unreachable', { serviceStatus: null }],
  ])('an estimate of %s means no run, and nothing is recorded', async (_name, answer, slug, members) => {
    let isDown = true
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (isDown && url.includes('/estimate') ? answer : undefined),
    })
    const key = { headers: { 'idempotency-key': 'same' } }
    const { status, body } = await updateOf(product, 'estimate', answer, key)
    expect(status).toBe(502)
    expect(body).toMatchObject({ type: `/problems/${slug}`, ...members })
    expect(body.updates).toBeUndefined()
    expect((await product.call('GET', '/updates')).body.updates).toEqual([])
    expect(product.seen('run')).toEqual([])

    isDown = false
    const later = await product.update(ask, key)
    expect(later.status).toBe(201)
    expect(later.headers.get('idempotency-replayed')).toBeNull()
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })
})

describe('dates only add information', () => {
  test.each<[string, Answer]>([
    ['dates: malformed', { body: '<html>' }],
    ['dates: fails before any effect', { status: 500 }],
    ['dates: slow', { kind: 'hang' }],
    ['dates: delivered twice', json({ dates: ['2026-11-13', '2026-11-13', '2026-10-16'] })],
  ])('%s: the update runs nevertheless', async (_name, answer) => {
    const product = await startProduct({
      store: createMemoryStore(),
      service: ({ url }) => (url.endsWith('/dates') ? answer : undefined),
    })
    expect((await updateOf(product, 'dates', answer)).status).toBe(201)
  })
})

test('a service answer that repeats our token is stored and shown without the token', async () => {
  const product = await withRun(json({ echo: `Bearer ${serviceToken}` }))
  const { text, body } = await product.update(ask)
  expect(body.updates[0].service.body).toBe('{"echo":"Bearer [redacted]"}')
  expect(text + product.logged.join()).not.toContain(serviceToken)
})
