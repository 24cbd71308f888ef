import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { agentMessage } from '../support/agent-message.ts'
import { address, type Got, read, startBehindEdge } from '../support/edge/edge.ts'
import { linesOf } from '../support/log-lines.ts'
import { patienceMs } from '../support/patience.ts'
import { gate, json } from '../support/scripted-service.ts'
import { listPeople, signedFor } from '../support/slack/slack.ts'

// CloudFront changes headers, paths and encodings (test/support/edge/cloudfront.ts), but no request or answer loses anything.

const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe.each(['events', 'sockets'] as const)('through the edge, on %s', (on) => {
  test('a bearer token, a body and a replay arrive through the edge', async () => {
    const { product, call } = await startBehindEdge({ on })
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': 'k-1',
      'Accept-Encoding': 'gzip, deflate, br',
    }
    const body = JSON.stringify({ kind: 'ranking', project: 'café & co' })
    const first = await call('POST', '/updates', { headers, body })
    const again = await call('POST', '/updates', { headers, body })
    expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([201, 201, 'true'])
    expect(JSON.parse(again.text)).toEqual(JSON.parse(first.text))
    expect(product.seen('run').map(({ url }) => url)).toEqual(['/v3/on-demand/caf%C3%A9%20%26%20co/run'])
    expect((await call('GET', '/budgets', { headers: { authorization: 'Bearer no' } })).status).toBe(401)
  })

  test.each([
    '/projects/a%2Fb/details',
    '/projects/a%252Fb%20c%2B/details?x=%7e&y=a+b&y=',
    '/projects/caf%c3%a9,acme/details?from=2026-01-01',
    '/projects/a;x/details',
    "/projects/a~b!'()*/details",
  ])('the gateway passes the path on unchanged: %s', async (path) => {
    const { product, call } = await startBehindEdge({ on })
    product.service.script('/projects', { body: '{"a":1}', headers: { etag: '"v1"' } })
    const { status, text, headers } = await call('GET', `/v3${path}`)
    expect([status, text, headers.etag]).toEqual([200, '{"a":1}', '"v1"'])
    expect(product.service.requests.map(({ url }) => url)).toEqual([`/v3${path}`])
  })

  test('If-None-Match and HEAD arrive through the edge, and 304 comes back', async () => {
    const { product, call } = await startBehindEdge({ on })
    product.service.script('/projects', { status: 304, headers: { etag: '"v1"' } })
    const { status, text } = await call('GET', '/v3/projects', { headers: { 'if-none-match': '"v1"' } })
    expect([status, text, product.service.requests[0]?.headers['if-none-match']]).toEqual([304, '', '"v1"'])
    const head = await call('HEAD', '/budgets')
    expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', 'application/json'])
    expect((await call('HEAD', '/v3/on-demand/acme/run')).status).toBe(405)
    const { etag = '' } = (await call('GET', '/budgets')).headers
    expect(etag).not.toBe('')
    expect((await call('GET', '/budgets', { headers: { 'if-none-match': etag } })).status).toBe(200)
  })

  test('the edge streams an answer: its first byte comes before its second', async () => {
    const { product, open, token } = await startBehindEdge({ on })
    product.service.script('/projects', { kind: 'byte-by-byte', body: 'ab', everyMs: 300_000 })
    const response = await open('GET', '/v3/projects', { headers: { authorization: `Bearer ${token}` } })
    const [first] = await once(response, 'data')
    expect([response.statusCode, String(first)]).toEqual([200, 'a'])
    response.destroy()
  })

  test('a signature of Slack over the raw body is valid behind the edge', async () => {
    const { product, open } = await startBehindEdge({ on, slack: true })
    await listPeople(product, { U1ADA: { scopes: ['read'] } })
    const body =
      'user_id=U1ADA&text=updates&channel_name=caf%c3%a9+%7e&trigger_id=1.2&response_url=https%3A%2F%2Fhooks.slack.com%2Fx'
    const signed = signedFor(body, product.clock.now() / 1000)
    const send = async (sent: string) =>
      (await read(await open('POST', '/slack/commands', { headers: { ...form, ...signed }, body: sent }))).status
    expect([await send(body), await send(body.replace('updates', 'inbox'))]).toEqual([200, 401])
    expect(linesOf(product.logged, 'slack')).toMatchObject([{ user: 'U1ADA', isNew: true }])
  })

  test('an agent gets its answer through the edge', async () => {
    const { token, call } = await startBehindEdge({ on })
    const { headers, body } = agentMessage(token, 'tools/list')
    expect((await call('POST', '/mcp', { headers, body })).text).toContain('request_update')
    expect((await call('GET', '/.well-known/oauth-protected-resource/mcp')).status).toBe(200)
  })
})

test('a person logs in to the dashboard through the edge with cookies of one host', async () => {
  const { product, open } = await startBehindEdge()
  const visit = async (method: string, path: string, headers: object = {}, body?: string): Promise<Got> =>
    read(await open(method, path, { headers: { ...headers }, ...(body !== undefined && { body }) }))
  const token = await product.signed({ sub: 'rita', scope: 'read' })
  const sent = await visit('POST', '/login', { ...form, origin: address }, `token=${token}`)
  const [cookie = ''] = sent.headers['set-cookie'] ?? []
  expect([sent.status, sent.headers.location]).toEqual([303, '/'])
  expect(cookie).toMatch(/^__Host-unit-guard=\S+; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
  const session = { cookie: ['theirs=1', cookie.split(';')[0] ?? ''] }
  const overview = await visit('GET', '/', session)
  expect([overview.status, overview.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
  expect((await visit('GET', '/dashboard', session)).headers.location).toBe('/')
  const [path = ''] = /\/dashboard\/\w+\.css/.exec(overview.text) ?? []
  expect((await visit('GET', path)).headers['cache-control']).toContain('immutable')
  const other = await visit('POST', '/login', { ...form, origin: 'https://evil.example' }, `token=${token}`)
  expect(other.status).toBe(403)
})

describe('a GET with a run that takes longer than the edge waits', () => {
  test.each([
    ['sends a request once', 1, 504],
    ['repeats what is not answered', 3, 409],
  ])(
    'a run that outlasts the edge is sent to the service once if the edge %s',
    async (_what, attempts, firstStatus) => {
      const [sent, answered] = [gate(), gate()]
      let waits = 0
      const { product, call } = await startBehindEdge({
        attempts,
        givesUp: () => (waits++ === 0 ? sent.opened : undefined),
        service: ({ url }) => {
          if (!url.endsWith('/run')) return undefined
          sent.open()
          return { once: answered.opened, ...json({ data: { keyword_units: 40 } }) }
        },
      })
      const run = async () => {
        const { status, text } = await call('GET', '/v3/on-demand/acme/run')
        return { status, type: text.startsWith('{') ? JSON.parse(text).type : null }
      }
      expect((await run()).status).toBe(firstStatus)
      expect(await run()).toEqual({ status: 409, type: '/problems/duplicate-work' })
      answered.open()
      await expect.poll(async () => (await product.figures()).spent, { timeout: patienceMs }).toBe(40)
      expect((await run()).status).toBe(200)
      expect(product.seen('run')).toHaveLength(1)
      expect(await product.figures()).toMatchObject({ held: 0, inDoubt: 0, spent: 40 })
    },
  )
})
