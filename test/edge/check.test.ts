import { describe, expect, test } from 'vitest'
import { originHeader } from '../../shared/platform/edge.ts'
import { minutes } from '../support/clock.ts'
import { originSecret, originValue, startBehindEdge } from '../support/edge/edge.ts'
import { linesOf } from '../support/log-lines.ts'

const earlier = 'canary-origin-earlier-0123456789abcdefghijkl'
const wrong = originValue.replace('0', '1')
const asked = ({ product }: Awaited<ReturnType<typeof startBehindEdge>>) =>
  product.secrets.asked.filter((each) => each.startsWith(originSecret))

const everyAddress = [
  ['api', 'GET', '/health'],
  ['api', 'GET', '/openapi.json'],
  ['api', 'POST', '/updates'],
  ['api', 'GET', '/v3/on-demand/acme/run'],
  ['api', 'HEAD', '/nothing'],
  ['dashboard', 'GET', '/'],
  ['dashboard', 'GET', '/login'],
  ['dashboard', 'POST', '/login'],
  ['dashboard', 'GET', '/docs'],
  ['mcp', 'POST', '/mcp'],
  ['mcp', 'GET', '/.well-known/oauth-protected-resource'],
  ['slack', 'POST', '/slack/commands'],
  ['slack', 'GET', '/slack/commands?ssl_check=1'],
] as const

describe.each(['events', 'sockets'] as const)('a request that skips the edge, on %s', (on) => {
  test('a request that skips the edge is refused with the same words on every address', async () => {
    const edge = await startBehindEdge({ on })
    const { product, token, skip } = edge
    const headers = { authorization: `Bearer ${token}` }
    const answers = new Set<string>()
    for (const [app, method, path] of everyAddress) {
      const { status, text, headers: answered } = await skip(app, method, path, { headers })
      expect([app, method, path, status]).toEqual([app, method, path, 403])
      if (method !== 'HEAD' && app !== 'slack') {
        expect(answered['content-type']).toBe('application/problem+json')
        answers.add(JSON.stringify({ ...JSON.parse(text), requestId: 'of the request' }))
      }
    }
    expect([...answers].map((text) => JSON.parse(text))).toEqual([
      {
        type: '/problems/wrong-address',
        title: 'This address is not open',
        status: 403,
        detail:
          'This address takes no requests; use the public address of Unit Guard. Nothing was read, sent or spent.',
        requestId: 'of the request',
      },
    ])
    expect(product.secrets.asked).toEqual([])
    expect(product.service.requests).toEqual([])
    const lines = linesOf(product.logged)
    expect(lines.map(({ event, status }) => [event, status])).toEqual(everyAddress.map(() => ['request', 403]))
  })

  test('a request with an invented edge header is refused, and reads the secret once in ten seconds', async () => {
    const edge = await startBehindEdge({ on })
    const { product, skip } = edge
    const statuses = new Set<number>()
    for (const given of [wrong, '', originValue.slice(1), `${originValue}, ${wrong}`, JSON.stringify(originValue)])
      for (const app of ['api', 'dashboard', 'mcp', 'slack'] as const)
        statuses.add((await skip(app, 'GET', '/health', { headers: { [originHeader]: given } })).status)
    expect([...statuses]).toEqual([403])
    expect(asked(edge)).toHaveLength(1)
    product.clock.advance(10_000)
    for (let flood = 0; flood < 5; flood++) await skip('api', 'GET', '/health', { headers: { [originHeader]: wrong } })
    expect(asked(edge)).toHaveLength(2)
  })
})

describe('the secret value of the edge', () => {
  test.each([
    ['it is the current value', { current: originValue }, 200],
    ['it is the previous value', { current: earlier, previous: originValue }, 200],
    ['it was taken out', { current: earlier }, 403],
  ])('a request through the edge is accepted if its secret is known: %s', async (_what, secret, status) => {
    const { call } = await startBehindEdge({ secret: JSON.stringify(secret) })
    expect((await call('GET', '/budgets')).status).toBe(status)
  })

  test('a new value of the edge is accepted at once, and refused after it is removed', async () => {
    const { product, call } = await startBehindEdge({ secret: JSON.stringify({ current: earlier }) })
    expect((await call('GET', '/health')).status).toBe(403)
    product.secrets.values[originSecret] = JSON.stringify({ current: originValue, previous: earlier })
    product.clock.advance(10_000)
    expect((await call('GET', '/health')).status).toBe(200)
    product.secrets.values[originSecret] = JSON.stringify({ current: earlier })
    product.clock.advance(minutes(5))
    expect((await call('GET', '/health')).status).toBe(403)
  })

  test('the value of the edge reaches neither the service nor a line of the log', async () => {
    for (const on of ['events', 'sockets'] as const) {
      const { product, call } = await startBehindEdge({ on })
      product.service.script('/projects', { body: '[]' })
      expect((await call('GET', '/v3/projects')).text).toBe('[]')
      expect(JSON.stringify(product.service.requests)).not.toContain(originHeader)
      expect(product.logged.join()).not.toContain(originValue)
    }
  })

  test('log lines that quote the value of the edge hide this value', async () => {
    const secret = JSON.stringify({ current: earlier, previous: originValue })
    const { product, behind, call } = await startBehindEdge({ secret })
    await call('GET', '/health')
    behind.services.log.error('failed', { cause: new Error(`${earlier} and ${originValue}`) })
    expect(linesOf(product.logged, 'failed')).toMatchObject([{ cause: { message: '[redacted] and [redacted]' } }])
  })
})

describe.each(['events', 'sockets'] as const)('the address of the caller, on %s', (on) => {
  test('the address of the caller is the one that the edge saw, whatever the caller sends', async () => {
    const { product, call } = await startBehindEdge({ on })
    await call('GET', '/health')
    await call('GET', '/health', { headers: { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' } })
    await call('GET', '/slack/commands', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(linesOf(product.logged, 'request').map(({ sourceIp }) => sourceIp)).toEqual(
      Array.from({ length: 3 }, () => '198.51.100.7'),
    )
  })
})

test.each([
  ['the edge alone added one', '198.51.100.7', '198.51.100.7'],
  ['Lambda added the address of the edge', '198.51.100.7, 192.0.2.1', '198.51.100.7'],
  [
    'Lambda added the address of the edge to what the caller wrote',
    '203.0.113.9,198.51.100.7,192.0.2.1',
    '198.51.100.7',
  ],
  ['the caller wrote the address of the edge', '192.0.2.1, 198.51.100.7', '198.51.100.7'],
  ['the address of the edge is the only one', '192.0.2.1', undefined],
  ['the list is empty', '', undefined],
])('the address of a caller through the edge is the last one but the address of the edge: %s', async (_, list, ip) => {
  const { product, skip } = await startBehindEdge()
  await skip('api', 'GET', '/health', { headers: { 'x-forwarded-for': list, [originHeader]: originValue } })
  expect(linesOf(product.logged, 'request').map(({ status, sourceIp }) => [status, sourceIp])).toEqual([[200, ip]])
})

test('the address of a caller who skips the edge is the one that Lambda saw', async () => {
  const { product, skip } = await startBehindEdge()
  await skip('api', 'GET', '/health', { headers: { 'x-forwarded-for': '203.0.113.9', [originHeader]: wrong } })
  expect(linesOf(product.logged, 'request')).toMatchObject([{ status: 403, sourceIp: '192.0.2.1' }])
})

describe('a secret that cannot be read', () => {
  test.each([
    ['is missing', undefined],
    ['is not JSON', originValue],
    ['is short', '{"current":""}'],
    ['has other members', JSON.stringify({ current: originValue, next: earlier })],
  ])('a secret that %s closes every function, which logs it once in ten seconds', async (_what, secret) => {
    const edge = await startBehindEdge()
    const { product, call } = edge
    product.secrets.values[originSecret] = secret
    for (const path of ['/health', '/login', '/mcp', '/slack/commands', '/budgets']) {
      const answer = await call('GET', path)
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '10'])
    }
    expect(asked(edge)).toHaveLength(1)
    const errors = linesOf(product.logged).filter(({ level }) => level === 'error')
    expect(errors).toMatchObject([{ event: 'secret-unavailable', secret: originSecret }])
    product.secrets.values[originSecret] = JSON.stringify({ current: originValue })
    product.clock.advance(10_000)
    expect((await call('GET', '/health')).status).toBe(200)
  })

  test('the cached value of the edge is used if Secrets Manager does not answer', async () => {
    const { product, call } = await startBehindEdge()
    expect((await call('GET', '/health')).status).toBe(200)
    product.secrets.values[originSecret] = undefined
    product.clock.advance(minutes(5))
    expect((await call('GET', '/health')).status).toBe(200)
  })
})
