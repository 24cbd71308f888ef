import { once } from 'node:events'
import type http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { json, type Product, serviceToken, startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const path = '/v3/on-demand/acme/run'

const start = (answer: Answer, env: Record<string, string> = {}) =>
  startProduct({
    store: createMemoryStore(),
    env,
    service: ({ url }) => (new URL(url, 'http://x').pathname.endsWith('/run') ? answer : undefined),
  })

interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const seenOf = async (answer: Response): Promise<Seen> => ({
  status: answer.status,
  headers: answer.headers,
  text: await answer.text(),
})

const bearerOf = async ({ signed }: Product) => ({
  authorization: `Bearer ${await signed({ sub: 'tool', scope: 'read run', budgets: '*' })}`,
})

/** The two ways to send an answer: as a `Response`, as on AWS, and directly to a socket. */
const platforms: readonly [name: string, ask: (product: Product) => Promise<Seen>][] = [
  ['as on AWS', async (product) => seenOf(await product.api.request(path, { headers: await bearerOf(product) }))],
  [
    'as on one machine',
    async (product) => {
      const server = createAdaptorServer({ fetch: product.api.fetch }) as http.Server
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      return seenOf(await fetch(`http://127.0.0.1:${port}${path}`, { headers: await bearerOf(product) }))
    },
  ],
]

const html = { 'content-type': 'text/html' }

/** Answers that prove neither that the update ran nor that it did not. */
const doubts: readonly [what: string, answer: Answer, status: number, type: string | null, text: string][] = [
  ['500 in JSON', json({ error: 'oops' }, 500), 500, 'application/json', '{"error":"oops"}'],
  ['502 of a proxy', { status: 502, headers: html, body: '<h1>Bad</h1>' }, 502, 'text/html', '<h1>Bad</h1>'],
  ['503 without a body', { status: 503, headers: { 'retry-after': '9' } }, 503, 'application/json', ''],
  ['409', { status: 409, body: '{"why":"busy"}' }, 409, 'application/json', '{"why":"busy"}'],
  ['408', { status: 408, headers: html, body: 'slow' }, 408, 'text/html', 'slow'],
  ['302', { status: 302, headers: { location: '/v3/projects' }, body: 'there' }, 302, 'application/json', 'there'],
  ['304', { status: 304, headers: { etag: '"1"' } }, 304, 'application/json', ''],
  ['205', { status: 205 }, 205, 'application/json', ''],
  ['206', { status: 206, body: '{"half":' }, 206, 'application/json', '{"half":'],
  ['599', { status: 599, body: 'é' }, 599, 'application/json', 'é'],
  ['200 with a sign', json({ response_code: 26 }), 200, 'application/json', '{"response_code":26}'],
  ['200 that is no JSON', { headers: html, body: '<p>hello</p>' }, 200, 'text/html', '<p>hello</p>'],
  ['200 of a cache', { headers: { age: '7' }, body: '{}' }, 200, 'application/json', '{}'],
  ['our token', json({ token: serviceToken }, 500), 500, 'application/json', '{"token":"[redacted]"}'],
]

describe.each(platforms)('a doubt after an answer of the service, %s', (_platform, ask) => {
  test.each(doubts)(
    'a gateway run in doubt hands on the service’s own answer: %s',
    async (_what, answer, ...expected) => {
      const product = await start(answer)
      const { status, headers, text } = await ask(product)
      expect([status, headers.get('content-type'), text]).toEqual(expected)
      expect(headers.get('unit-guard-state')).toBe('in-doubt')
      expect(headers.get('unit-guard-update')).toMatch(/^upd_/)
      for (const name of ['location', 'retry-after', 'etag', 'age']) expect(headers.get(name)).toBeNull()
      expect(product.seen('run')).toHaveLength(1)
      expect(await product.figures()).toMatchObject({ inDoubt: 40, held: 0, spent: 0 })
    },
  )
})

test('a gateway run hands on the byte order mark of the service’s answer', async () => {
  const bytes = Buffer.from('\ufeff{"response_code":26}')
  const product = await start({ status: 500, body: bytes })
  const answer = await product.api.request(path, { headers: await bearerOf(product) })
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes)
})

describe('a doubt without a whole answer of the service', () => {
  test.each<[what: string, answer: Answer]>([
    ['a reset', { kind: 'reset' }],
    ['a body that breaks off', { kind: 'reset-in-body', status: 500 }],
    ['a body that was cut', { status: 500, body: 'x'.repeat(16 * 1024 + 1) }],
    ['a body that is not UTF-8', { status: 500, body: Buffer.from([0xff, 0xfe, 0x41]) }],
    ['a body in an unknown encoding', { status: 500, headers: { 'content-encoding': 'zstd' }, body: 'x' }],
    ['a status that no answer can carry', { status: 600, body: 'odd' }],
  ])('a gateway run in doubt is 202 after %s', async (_what, answer) => {
    const product = await start(answer)
    const { status, body, headers } = await product.call('GET', path)
    expect([status, body.updates[0].state]).toEqual([202, 'in-doubt'])
    expect(headers.get('unit-guard-state')).toBe('in-doubt')
    expect(headers.get('unit-guard-update')).toBe(body.updates[0].id)
    expect(product.seen('run')).toHaveLength(1)
  })
})

test('a gateway run that settled or was refused has no header of its state', async () => {
  const settled = await (await start(json({ response_code: 0 }))).call('GET', path)
  expect([settled.status, settled.headers.get('unit-guard-state')]).toEqual([200, null])
  const refused = await (await start({ status: 404 })).call('GET', path)
  expect([refused.status, refused.body.type, refused.headers.get('unit-guard-state')]).toEqual([
    502,
    '/problems/service-refused',
    null,
  ])
})

test('a gateway run with one project of a configured separator hands on the service’s answer, and with two does not', async () => {
  const product = await start({ status: 500, headers: html, body: 'oops' }, { PROJECT_SEPARATOR: ',' })
  const one = await product.call('GET', path)
  expect([one.status, one.text, one.headers.get('unit-guard-state')]).toEqual([500, 'oops', 'in-doubt'])
  const two = await product.call('GET', '/v3/on-demand/globex,initech/run')
  expect([two.status, two.body.updates.length, two.headers.get('unit-guard-state')]).toEqual([202, 2, null])
})

describe('the same gateway run again', () => {
  const badGateway: Answer = { status: 502, headers: html, body: '<h1>Bad</h1>' }

  /** Repeats any 5xx up to three times, as many HTTP clients do. */
  async function withRetries(product: Product, headers: Record<string, string> = {}) {
    const statuses: number[] = []
    const types: unknown[] = []
    do {
      const { status, headers: answered, body } = await product.call('GET', path, { headers })
      statuses.push(status)
      types.push(body.type ?? answered.get('unit-guard-state'))
    } while ((statuses.at(-1) ?? 0) >= 500 && statuses.length < 4)
    return { statuses, types }
  }

  test('a client that repeats a 502 gets 409 and stops, and the run is sent once', async () => {
    const product = await start(badGateway)
    expect(await withRetries(product)).toEqual({
      statuses: [502, 409],
      types: ['in-doubt', '/problems/duplicate-work'],
    })
    expect(product.seen('run')).toHaveLength(1)
  })

  test('a client that repeats a 502 three times whatever it gets sends the run once', async () => {
    const product = await start(badGateway)
    const first = await product.call('GET', path)
    const repeats = [await product.call('GET', path), await product.call('GET', path), await product.call('GET', path)]
    expect(repeats.map(({ status, body }) => [status, body.type, body.update])).toEqual(
      Array.from({ length: 3 }, () => [409, '/problems/duplicate-work', first.headers.get('unit-guard-update')]),
    )
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject({ inDoubt: 40, spent: 0 })
  })

  test('a client that repeats a 502 with one key gets the stored answer each time, and the run is sent once', async () => {
    const product = await start(badGateway)
    expect(await withRetries(product, { 'idempotency-key': 'k' })).toEqual({
      statuses: [502, 502, 502, 502],
      types: ['in-doubt', 'in-doubt', 'in-doubt', 'in-doubt'],
    })
    expect(product.seen('run')).toHaveLength(1)
  })

  const keyed = { headers: { 'idempotency-key': 'k' } }

  test('a replay hands on the stored answer, and says that it is a replay', async () => {
    const product = await start(badGateway)
    const first = await product.call('GET', path, keyed)
    const again = await product.call('GET', path, keyed)
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ])
    expect([again.status, again.text, again.headers.get('content-type')]).toEqual([502, '<h1>Bad</h1>', 'text/html'])
    expect(again.headers.get('unit-guard-update')).toBe(first.headers.get('unit-guard-update'))
    expect((await product.call('GET', '/v3/on-demand/globex/run', keyed)).status).toBe(422)
    expect(product.seen('run')).toHaveLength(1)
  })

  test.each([
    ['ran', badGateway, [200, 'settled', null]],
    ['did-not-run', badGateway, [502, '/problems/service-refused', null]],
    ['ran', json({ response_code: 26 }), [200, 26, null]],
  ])('after a person resolved it as %s, a replay says so instead of the doubt', async (outcome, answer, expected) => {
    const product = await start(answer)
    const first = await product.call('GET', path, keyed)
    product.clock.advance(60 * 60_000)
    const id = first.headers.get('unit-guard-update')
    const resolved = await product.call('POST', `/updates/${id}/resolve`, { body: { outcome, reason: 'asked' } })
    expect(resolved.status).toBe(200)
    const { status, body, headers } = await product.call('GET', path, keyed)
    const what = body.type ?? body.state ?? body.response_code
    expect([status, what, headers.get('unit-guard-state')]).toEqual(expected)
    expect(product.seen('run')).toHaveLength(1)
  })
})
