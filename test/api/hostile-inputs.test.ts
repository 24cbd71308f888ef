import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isSlow, pastDeadline } from '../support/patience.ts'
import { json, type Product, serviceTimeoutMs, serviceToken, startProduct } from '../support/product.ts'
import type { Answer } from '../support/scripted-service.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/**
 * Hostile paths and headers at the gateway, and hostile answers of the service cause no run, no 5xx of ours and no write in the ledger.
 * Bodies, tokens, forms and events have tables in their own rooms.
 */
const start = (options: Parameters<typeof startProduct>[0] = {}) =>
  startProduct({ store: createMemoryStore(), ...options })

/** Checks that nothing was spent, recorded or moved. */
async function expectUntouched(product: Product): Promise<void> {
  expect(product.seen('run')).toEqual([])
  expect((await product.call('GET', '/updates')).body).toEqual({ updates: [] })
  expect(await product.figures()).toEqual({
    limit: 50_000,
    granted: 0,
    available: 50_000,
    held: 0,
    inDoubt: 0,
    spent: 0,
  })
}

const run = '/v3/on-demand/acme/run'
type Path = [method: string, target: string, status: number, headers?: Record<string, string>]
const paths: Path[] = [
  ['GET', '/v3/../v3/on-demand/acme/run', 404],
  ['GET', '/v3/./on-demand/acme/run', 404],
  ['GET', '/v3/on-demand/x/../acme/run', 404],
  ['GET', '/v3/on-demand/..%2facme/run', 404],
  ['GET', '/v3/on-demand/%2e%2e/run', 404],
  ['GET', '/v3/on-demand/%252e%252e/run', 404],
  ['GET', '//evil.example/v3/on-demand/acme/run', 404],
  ['GET', '/v3//on-demand/acme/run', 404],
  ['GET', '/v3/on-demand//acme/run', 404],
  ['GET', '/v3/on-demand/acme\\run', 400],
  ['GET', '/v3/on-demand/acme/run;x', 404],
  ['GET', '/v3/on-demand/acme;/run;', 404],
  ['GET', '/v3/on-demand/a%00b/run', 404],
  ['GET', '/v3/on-demand/a%0d%0ab/run', 404],
  ['GET', '/v3/on-demand/%ff/run', 400],
  ['GET', '/v3/on-demand/%/run', 404],
  ['GET', '/v3/on-demand/acme/r%75n', 404],
  ['GET', '/v3/on-demand/acme%2frun', 404],
  ['GET', '/v3/on-demand/acme/run/', 404],
  ['GET', '/v3/on-demand/acme/RUN', 404],
  ['GET', '/V3/on-demand/acme/run', 404],
  ['GET', '/v3/on-demand/acme/run%20', 404],
  ['GET', '/v3/on-demand/acme/run%3fx', 404],
  ['GET', '/v3/on-demand/run', 404],
  ['GET', '/v3/on-demand/.../run/../run', 404],
  ['GET', 'http://evil.example/v3/nothing', 404],
  ['HEAD', run, 405],
  ['POST', run, 405],
  ['PUT', run, 405],
  ['DELETE', run, 405],
  ['OPTIONS', run, 405],
  ['PATCH', run, 405],
  ['POST', run, 405, { 'x-http-method-override': 'GET' }],
  ['GET', run, 401, { authorization: 'Bearer x', cookie: 'session=1' }],
  ['GET', run, 400, { 'unit-guard-budget': '../account' }],
  ['GET', run, 400, { 'unit-guard-budget': 'there-is-none' }],
  ['GET', run, 400, { 'idempotency-key': 'x'.repeat(256) }],
  ['GET', run, 400, { 'transfer-encoding': 'chunked', 'content-length': '5' }],
  ['GET', run, 431, { 'x-long': 'x'.repeat(20_000) }],
  [
    'GET',
    '/v3/projects',
    200,
    { range: 'bytes=0-0', 'if-none-match': '*', te: 'trailers', 'proxy-connection': 'close' },
  ],
]

const html: Answer = { headers: { 'content-type': 'text/html' }, body: '<script>alert(1)</script>' }
const endlessly: Answer = { kind: 'endless' }
const slowly: Answer = { kind: 'byte-by-byte', body: '{"units":40}', everyMs: 5_000 }
const rude: Answer = { status: 429, headers: { 'retry-after': '1000000000' } }
const elsewhere: Answer = { status: 302, headers: { location: 'http://127.0.0.1:9/v3' } }
const echoing = (status: number): Answer => json({ error: `Bearer ${serviceToken}`, token: serviceToken }, status)

/** The service's answer to one operation, whether the update is sent, and how it ends. */
const service: readonly (readonly [
  operation: 'estimate' | 'dates' | 'run',
  name: string,
  status: number,
  runs: 0 | 1,
  spent: number,
  answer: Answer,
])[] = [
  ['estimate', '302 to elsewhere', 502, 0, 0, elsewhere],
  ['estimate', '302 to itself', 502, 0, 0, { status: 302, headers: { location: '/v3/on-demand/acme/estimate' } }],
  ['estimate', 'HTML on 200', 502, 0, 0, html],
  ['estimate', 'an endless body', 502, 0, 0, endlessly],
  ['estimate', '100 MB', 502, 0, 0, { kind: 'endless', headers: { 'content-length': '100000000' } }],
  ['estimate', 'a byte a second', 502, 0, 0, slowly],
  ['estimate', 'a reset in mid-body', 502, 0, 0, { kind: 'reset-in-body' }],
  ['estimate', 'our token', 502, 0, 0, echoing(200)],
  ['estimate', 'our token in an error', 502, 0, 0, echoing(500)],
  ['estimate', '429 for thirty years', 502, 0, 0, rude],
  ['estimate', 'units of -1', 502, 0, 0, json({ units: -1 })],
  ['estimate', 'units of 1e9', 402, 0, 0, json({ units: 1e9 })],
  ['estimate', 'units of 1e308', 502, 0, 0, json({ units: 1e308 })],
  ['estimate', 'units twice', 502, 0, 0, { body: '{"units":1,"units":2}' }],
  ['estimate', 'no HTTP at all', 502, 0, 0, { kind: 'raw', bytes: 'SSH-2.0-OpenSSH_9.6\r\n' }],
  ['estimate', 'a header that is split', 502, 0, 0, { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nx: a\rb\r\n\r\n{}' }],
  ['dates', 'HTML on 200', 201, 1, 40, html],
  ['dates', 'a million dates', 201, 1, 40, json(Array(200_000).fill('2026-11-01'))],
  ['dates', 'a reset', 201, 1, 40, { kind: 'reset' }],
  ['run', '302 to elsewhere', 202, 1, 0, elsewhere],
  ['run', '302 to itself', 202, 1, 0, { status: 302, headers: { location: '/v3/on-demand/acme/run' } }],
  ['run', '421, which some clients send again', 202, 1, 0, { status: 421 }],
  ['run', 'HTML on 200', 202, 1, 0, html],
  ['run', 'an endless body', 202, 1, 0, endlessly],
  ['run', 'a byte a second', 202, 1, 0, slowly],
  ['run', 'a reset in mid-body', 202, 1, 0, { kind: 'reset-in-body' }],
  ['run', 'our token', 201, 1, 40, json({ echo: serviceToken })],
  ['run', '429 for thirty years', 502, 1, 0, rude],
  ['run', 'units of -1', 201, 1, 40, json({ units: -1 })],
  ['run', 'units as text', 201, 1, 40, json({ units: '55' })],
  ['run', 'units of 1e9', 201, 1, 40, json({ units: 1e9 })],
  ['run', 'units twice', 202, 1, 0, { body: '{"units":50,"units":60}' }],
]

describe('hostile paths and headers at the gateway', () => {
  test.each<Path>(paths)('the gateway answers %s %s with %i', async (method, target, status, headers = {}) => {
    const product = await start({ service: ({ url }) => (url === '/v3/projects' ? json([]) : undefined) })
    expect(await statusOf(product, method, target, headers)).toBe(status)
    expect(product.service.requests).toHaveLength(status === 200 ? 1 : 0)
    await expectUntouched(product)
  })

  /** Uses a raw socket, which normalizes nothing. */
  async function statusOf(product: Product, method: string, target: string, headers: Record<string, string>) {
    const server = createAdaptorServer({ fetch: product.api.fetch })
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const token = await product.signed({ sub: 'tool', scope: 'read run', budgets: '*' })
    const all = { host: 'guard', authorization: `Bearer ${token}`, connection: 'close', ...headers }
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    return Number(answer.split(' ')[1])
  }
})

describe('a hostile service', () => {
  test.each(service)('a hostile answer: %s: %s: %i, %i sent', async (operation, _name, status, runs, spent, answer) => {
    const product = await start({
      service: ({ url }) => (url.endsWith(`/${operation}`) ? answer : undefined),
    })
    const act = () => product.update({ kind: 'ranking', project: 'acme' })
    const isThere = () => product.seen(operation).length > 0
    const called = await (isSlow(answer) ? pastDeadline(act, { deadlineMs: serviceTimeoutMs, isThere }) : act())
    expect(called.status).toBe(status)
    expect(called.text.length).toBeLessThan(32_768)
    expect(product.seen('run')).toHaveLength(runs)
    expect(await product.figures()).toMatchObject({ held: 0, spent, inDoubt: status === 202 ? 40 : 0 })
    expect(await product.audit()).toBe(true)
  })
})
