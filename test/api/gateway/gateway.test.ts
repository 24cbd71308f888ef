import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import type { Store, Write } from '../../../shared/ledger/store/store.ts'
import { type Called, json, type Product, serviceToken, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** The API on a real socket, and a client that normalizes nothing. */
async function listen(product: Product) {
  const server = createAdaptorServer({ fetch: product.api.fetch })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const token = await product.signed({ sub: 'tool', scope: 'read run write admin', budgets: '*' })

  return async function raw(
    method: string,
    target: string,
    headers: Record<string, string> = {},
    body = '',
  ): Promise<Called> {
    const socket = connect(port, '127.0.0.1')
    const lines = Object.entries({
      host: 'guard',
      authorization: `Bearer ${token}`,
      connection: 'close',
      ...(body !== '' && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const [head = '', ...rest] = text.split('\r\n\r\n')
    const [first = '', ...named] = head.split('\r\n')
    const response = new Headers(
      named.map(
        (line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as [string, string],
      ),
    )
    const plain = rest.join('\r\n\r\n')
    const isChunked = response.get('transfer-encoding') === 'chunked'
    const payload = isChunked ? plain.replaceAll(/(^|\r\n)[\da-f]+\r\n/g, '').replace(/\r\n$/, '') : plain
    const isJson = /json/.test(response.get('content-type') ?? '') && payload !== ''
    return {
      status: Number(first.split(' ')[1]),
      headers: response,
      body: isJson ? JSON.parse(payload) : payload,
      text: payload,
    }
  }
}

const createBody =
  '{"keywords":[{"name":"shoes"},{"name":"boots"}],"searchengines":[{"name":"general"}],"websites":[{"name":"acme.example"}]}'
const updateBody =
  '{"keywords":[{"name":"hats"}],"websites":[],"addSearchengines":[{"name":"general","country":"DE"}],"removeSearchengines":[{"svc_id":7}]}'

/** Every operation of the interface, as a tool requests it. */
const operations: [method: string, path: string, body?: string][] = [
  ['GET', '/projects'],
  ['POST', '/projects/acme/create?frequency=ondemand&country=DE', createBody],
  ['POST', '/projects/acme/update', updateBody],
  ['GET', '/projects/acme/details'],
  ['GET', '/projects/1001/keywords'],
  ['GET', '/projects/acme/dates'],
  ['GET', '/projects/acme/export-rankings?startDate=2026-11-01&stopDate=2026-11-20'],
  ['GET', '/projects/acme/export-visibility'],
  ['GET', '/projects/acme/export-pages'],
  ['GET', '/projects/acme/export-topsites'],
  ['GET', '/projects/acme/export-gsc'],
  ['POST', '/projects/acme/export-ctr'],
  ['GET', '/projects/1001/export-keyword-difficulty'],
  ['GET', '/on-demand/acme/estimate'],
  ['GET', '/on-demand/acme/run'],
  ['GET', '/keyword-difficulty/1001/estimate'],
  ['GET', '/keyword-difficulty/1001/run'],
  ['GET', '/marketshare/projects'],
  ['GET', '/marketshare/projects/1001/websites'],
  ['GET', '/marketshare/projects/1001/search-engines'],
  ['GET', '/marketshare/projects/1001/metadata'],
  ['GET', '/marketshare/projects/1001/url-keywords?url=a%20b'],
  ['GET', '/marketshare/projects/1001/domain-urls'],
]

const echo = (product?: Parameters<typeof startProduct>[0]) =>
  startProduct({
    store: createMemoryStore(),
    service: ({ url }) =>
      /\/(estimate|run)(\?|$)/.test(url)
        ? undefined
        : { headers: { 'content-type': 'application/json', etag: '"v1"', 'x-own': 'kept' }, body: '{"mine":true}' },
    ...product,
  })

test('the gateway knows 23 operations', () => {
  expect(operations).toHaveLength(23)
})

describe('an operation through the gateway', () => {
  test.each(operations)('%s %s goes through the gateway', async (method, path, body) => {
    const product = await echo()
    const raw = await listen(product)
    const { status, headers, text } = await raw(
      method,
      `/v3${path}`,
      { cookie: 'session=secret', 'x-forwarded-for': '192.0.2.1' },
      body,
    )
    expect(status).toBe(200)
    const isRun = path.endsWith('/run')
    const seen = product.service.requests.filter(({ url }) => url === `/v3${path}`)
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ method, body: body ?? '', headers: { authorization: `Bearer ${serviceToken}` } })
    expect(seen[0]?.headers.cookie).toBeUndefined()
    expect(seen[0]?.headers['x-forwarded-for']).toBeUndefined()
    if (!isRun && !path.endsWith('/estimate')) {
      expect([text, headers.get('etag'), headers.get('x-own')]).toEqual(['{"mine":true}', '"v1"', 'kept'])
      expect(headers.get('cache-control')).toBeNull()
    }
    if (isRun) {
      expect(text).toBe('{"response_code":0,"data":{"keyword_units":40}}')
      expect(headers.get('unit-guard-update')).toMatch(/^upd_/)
      expect(headers.get('unit-guard-units-charged')).toBe('40')
      expect(headers.get('unit-guard-units-available')).toBe('49960')
    }
    expect(await product.audit()).toBe(true)
  })

  test.each([
    '/on-demand/caf%C3%A9%20%26%20co%2Fparis/run',
    '/keyword-difficulty/1%3b2%2D3/run',
    '/on-demand/a/run?q=a+b&q=a%2Bb&empty=&flag',
    '/projects/caf%C3%A9%20%26%20co%2Fparis/export-rankings?x=%2B+&x=1&X=%7E~',
  ])('a read passes unchanged, byte for byte: %s', async (path) => {
    const product = await echo()
    const raw = await listen(product)
    expect((await raw('GET', `/v3${path}`)).status).toBe(200)
    expect(product.service.requests.filter(({ url }) => url === `/v3${path}`)).toHaveLength(1)
    if (path.includes('run')) {
      const estimate = path.replace('/run', '/estimate')
      expect(product.service.requests.filter(({ url }) => url === `/v3${estimate}`)).toHaveLength(1)
    }
  })
})

describe('a request that is not an operation', () => {
  test.each([
    ['GET', '/v3'],
    ['GET', '/v3/'],
    ['GET', '/v3/projects/'],
    ['GET', '/v3//projects'],
    ['GET', '/v3/projects/acme'],
    ['GET', '/v3/projects/acme/run'],
    ['GET', '/v3/../updates'],
    ['GET', '/v3/projects/../projects'],
    ['GET', '/v3/on-demand/../acme/run'],
    ['GET', '/v3/on-demand/..%2fx/run'],
    ['GET', '/v3/on-demand/%2e%2e/run'],
    ['GET', '/v3/on-demand/%252e%252e/run'],
    ['GET', '/v3/on-demand/acme/r%75n'],
    ['GET', '/v3/On-Demand/acme/run'],
    ['GET', '/v3/on-demand/acme/run/'],
    ['GET', '/v3/on-demand/acme/RUN'],
    ['GET', '/v3/on-demand//run'],
    ['GET', '/v3/on-demand/a%00b/run'],
    ['GET', '/v3/on-demand/a%0d%0ab/run'],
    ['GET', '/v3/on-demand/a/run;x'],
    ['GET', '//evil/v3/on-demand/acme/run'],
    ['GET', '/v3/account'],
    ['GET', '/V3/projects'],
  ])('%s %s is answered with 404 without calling the service', async (method, path) => {
    const product = await echo()
    const raw = await listen(product)
    const { status } = await raw(method, path)
    expect(status).toBe(404)
    expect(product.service.requests).toEqual([])
  })

  test('GET /v3/on-demand/a\\b/run is answered with 400 by the server itself', async () => {
    const product = await echo()
    const raw = await listen(product)
    expect((await raw('GET', '/v3/on-demand/a\\b/run')).status).toBe(400)
    expect(product.service.requests).toEqual([])
  })

  test.each([
    ['HEAD', '/v3/on-demand/acme/run', 'GET'],
    ['POST', '/v3/on-demand/acme/run', 'GET'],
    ['HEAD', '/v3/keyword-difficulty/1/run', 'GET'],
    ['DELETE', '/v3/projects', 'GET'],
    ['GET', '/v3/projects/acme/create', 'POST'],
    ['GET', '/v3/projects/acme/export-ctr', 'POST'],
    ['OPTIONS', '/v3/projects', 'GET'],
  ])('%s %s is answered with 405 without calling the service', async (method, path, allow) => {
    const product = await echo()
    const raw = await listen(product)
    const { status, headers } = await raw(method, path)
    expect([status, headers.get('allow')]).toEqual([405, allow])
    expect(product.service.requests).toEqual([])
  })

  test.each([
    ['read', 'GET', '/v3/on-demand/acme/run', 'run'],
    ['run', 'GET', '/v3/projects', 'read'],
    ['read run', 'POST', '/v3/projects/acme/create', 'write'],
    ['read write', 'POST', '/v3/projects/acme/create?frequency=daily', 'admin'],
  ])('a token with %s is refused with 403: %s %s', async (scope, method, path, needed) => {
    const product = await echo()
    const token = product.signed({ sub: 'tool', scope, budgets: '*' })
    const { status, body } = await product.call(method, path, { token, ...(method === 'POST' && { body: createBody }) })
    expect(status).toBe(403)
    expect(body.detail).toContain(needed)
    expect(product.service.requests).toEqual([])
  })
})

test('a query with characters that need encoding is answered with 400', async () => {
  const product = await echo()
  const { status, body } = await (await listen(product))('GET', '/v3/projects?a#b')
  expect([status, body.errors]).toEqual([400, [{ path: '', message: expect.stringContaining('percent-encoded') }]])
  expect(product.service.requests).toEqual([])
})

describe('a run', () => {
  test('a run within the cool-down gets the earlier answer without a call', async () => {
    const product = await startProduct()
    const first = await product.call('GET', '/v3/on-demand/acme/run')
    const calls = product.service.requests.length
    const again = await product.call('GET', '/v3/on-demand/acme/run')
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(again.headers.get('content-type')).toBe('application/json')
    expect(again.headers.get('unit-guard-replayed')).toBe(first.headers.get('unit-guard-update'))
    expect(product.service.requests).toHaveLength(calls)
    expect(await product.figures()).toMatchObject({ spent: 40 })
  })

  test('a run answer without a content type passes without one, also when it is replayed', async () => {
    const bytes = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'
    const product = await startProduct({
      service: ({ url }) => (url.endsWith('/run') ? { kind: 'raw', bytes } : undefined),
    })
    const raw = await listen(product)
    const onLambda = () => product.call('GET', '/v3/on-demand/acme/run')
    const onOneMachine = () => raw('GET', '/v3/on-demand/acme/run')
    for (const run of [onLambda, onLambda, onOneMachine]) {
      const { status, text, headers } = await run()
      expect([status, text, headers.get('content-type')]).toEqual([200, '{}', null])
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-z]{26}$/)
    }
    expect(product.seen('run')).toHaveLength(1)
  })

  test('a run answer of 205 passes without a body', async () => {
    const bytes = 'HTTP/1.1 205 -\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'
    const product = await startProduct({
      service: ({ url }) => (url.endsWith('/run') ? { kind: 'raw', bytes } : undefined),
    })
    const { status, text, headers } = await product.call('GET', '/v3/on-demand/acme/run')
    expect([status, text, headers.get('unit-guard-state')]).toEqual([205, '', 'in-doubt'])
  })

  test('ten simultaneous requests of a retrying client make one run', async () => {
    const { opened, open } = gate()
    const product = await startProduct({
      service: ({ url }) => (url.endsWith('/run') ? { ...json({}), once: opened } : undefined),
    })
    const all = Promise.all(Array.from({ length: 10 }, () => product.call('GET', '/v3/on-demand/acme/run')))
    while (product.seen('run').length === 0) await new Promise(setImmediate)
    open()
    const statuses = (await all).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
    expect(product.seen('run')).toHaveLength(1)
  })

  test('a run charges the budget of the header, or the owner of the project', async () => {
    const product = await startProduct()
    await product.call('PUT', '/budgets/seo', {
      body: { limits: [{ window: 'month', units: 100 }], projects: [{ name: 'owned', id: '7' }] },
    })
    await product.call('PUT', '/budgets/other', { body: { limits: [{ window: 'month', units: 10 }] } })
    const owned = await product.call('GET', '/v3/keyword-difficulty/7/run')
    expect(owned.headers.get('unit-guard-units-available')).toBe('60')
    const over = await product.call('GET', '/v3/on-demand/acme/run', { headers: { 'unit-guard-budget': 'other' } })
    expect(over.status).toBe(402)
    expect(over.body).toMatchObject({ type: '/problems/over-budget', budgets: [{ budget: 'other', short: 30 }] })
    const bad = await product.call('GET', '/v3/on-demand/acme/run', { headers: { 'unit-guard-budget': 'NO!' } })
    expect(bad.status).toBe(400)
    const updates = (await product.call('GET', '/updates')).body.updates
    expect(updates.map(({ via, budget }: { via: string; budget: string }) => `${via} ${budget}`).sort()).toEqual([
      'gateway other',
      'gateway seo',
    ])
  })

  test('a run without an answer of the service is answered with 202, a refusal of the service with 502', async () => {
    const product = await startProduct({
      service: ({ url }) =>
        url.endsWith('/doubt/run') ? { kind: 'reset' } : url.endsWith('/gone/run') ? { status: 404 } : undefined,
    })
    const doubt = await product.call('GET', '/v3/on-demand/doubt/run')
    expect([doubt.status, doubt.body.updates[0].state]).toEqual([202, 'in-doubt'])
    expect((await product.call('GET', '/v3/on-demand/gone/run')).status).toBe(502)
  })

  test('the gateway answers with the update if the run answer is too long to store', async () => {
    const product = await startProduct({
      service: ({ url }) => (url.endsWith('/run') ? json({ text: 'x'.repeat(20_000) }) : undefined),
    })
    const { status, body } = await product.call('GET', '/v3/on-demand/acme/run')
    expect([status, body.state, body.service.truncated]).toEqual([200, 'settled', true])
  })
})

describe('writes', () => {
  test('a write with faults in body and query reports all of them without a call', async () => {
    const product = await echo()
    const body = {
      keywords: [{}],
      searchengines: [{ name: 'x', country: 'XX' }],
      websites: [{ name: 'a', color_r: 256 }],
    }
    const { status, body: problem } = await product.call(
      'POST',
      '/v3/projects/acme/create?frequency=hourly&country=QQ',
      { body },
    )
    expect(status).toBe(400)
    expect(problem.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      'country',
      'frequency',
      'keywords.0.name',
      'searchengines.0.country',
      'websites.0.color_r',
    ])
    expect(product.service.requests).toEqual([])
    expect((await product.call('GET', '/changes')).body.changes).toEqual([])
  })

  test("writes are listed in /changes with the service's status", async () => {
    const product = await echo()
    await product.call('POST', '/v3/projects/caf%C3%A9/create', { body: createBody })
    product.clock.advance(1000)
    await product.call('POST', '/v3/projects/caf%C3%A9/update', { body: updateBody })
    const { body } = await product.call('GET', '/changes')
    expect(body.changes).toEqual([
      {
        id: expect.stringMatching(/^chg_/),
        operation: 'update',
        project: 'café',
        caller: 'ada',
        at: '2026-11-20T10:00:01.000Z',
        added: { keywords: 1, searchengines: 1, websites: 0 },
        removed: { searchengines: 1 },
        serviceStatus: 200,
      },
      {
        id: expect.stringMatching(/^chg_/),
        operation: 'create',
        project: 'café',
        caller: 'ada',
        at: '2026-11-20T10:00:00.000Z',
        added: { keywords: 2, searchengines: 1, websites: 1 },
        removed: {},
        serviceStatus: 200,
      },
    ])
  })

  test("a write gets the service's answer and raises an alarm if recording it fails", async () => {
    const memory = createMemoryStore()
    const isAnswered = (writes: readonly Write[]) =>
      writes.some((write) => write.kind === 'put' && write.item.sk === 'project-change' && write.item.status === 200)
    const store: Store = {
      ...memory,
      transact: async (writes, token) => {
        if (isAnswered(writes)) throw new LedgerUnavailable('down')
        return memory.transact(writes, token)
      },
    }
    const product = await echo({ store })
    const { status, text } = await product.call('POST', '/v3/projects/acme/create', { body: createBody })
    expect([status, text]).toEqual([200, '{"mine":true}'])
    expect((await product.call('GET', '/changes')).body.changes).toMatchObject([{ serviceStatus: null }])
    expect(product.logged.join()).toContain('change-not-noted')
  })

  test('a write with a broken connection is 502 and stays recorded as unknown', async () => {
    const product = await echo({ service: () => ({ kind: 'reset' }) })
    const { status, body } = await product.call('POST', '/v3/projects/acme/create', { body: createBody })
    expect(status).toBe(502)
    expect(body.detail).toContain('It may have taken effect')
    expect((await product.call('GET', '/changes')).body.changes).toMatchObject([{ serviceStatus: null }])
    expect(product.service.requests).toHaveLength(1)
  })

  test('a write that was not sent and a read that broke off changed nothing, and may be repeated', async () => {
    const nothing = 'Nothing was changed; the same request may be sent again.'
    const broken = await echo({ service: () => ({ kind: 'reset' }) })
    expect((await broken.call('GET', '/v3/projects')).body.detail).toContain(nothing)
    const closed = await echo()
    await closed.service.close()
    const { status, body } = await closed.call('POST', '/v3/projects/acme/create', { body: createBody })
    expect([status, body.detail]).toEqual([502, expect.stringContaining(nothing)])
  })
})

describe('answers of the service', () => {
  test.each([[201], [204], [205], [302], [304], [401], [404], [421], [429], [500], [503]])(
    'the gateway sends a run once and passes status %i on',
    async (status) => {
      const product = await echo({
        service: () => ({ status, headers: { location: '/v3/elsewhere', 'retry-after': '9' } }),
      })
      const raw = await listen(product)
      const answer = await raw('GET', '/v3/projects')
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '9'])
      expect(product.service.requests).toHaveLength(1)
    },
  )

  test.each([[600], [999]])('the gateway answers 502 for the invalid status %i', async (status) => {
    const product = await echo({ service: () => ({ status, body: 'odd' }) })
    const answer = await product.call('GET', '/v3/projects')
    expect([answer.status, answer.body.type]).toEqual([502, '/problems/service-unreachable'])
  })

  test('cookies and hop-by-hop headers of the service do not pass', async () => {
    const headers = {
      'content-type': 'text/plain',
      'set-cookie': 'a=b',
      'proxy-authenticate': 'x',
      connection: 'close, x-hop',
      'x-hop': '1',
      'x-stays': '1',
    }
    const product = await echo({ service: () => ({ headers, body: 'text' }) })
    const answer = await product.call('GET', '/v3/projects')
    expect(['set-cookie', 'proxy-authenticate', 'x-hop', 'x-stays'].map((name) => answer.headers.get(name))).toEqual([
      null,
      null,
      null,
      '1',
    ])
    expect(answer.text).toBe('text')
  })

  test('a service answer with our token is cut off before the token', async () => {
    const product = await echo({ service: () => ({ body: `before ${serviceToken} after` }) })
    const raw = await listen(product)
    const { text } = await raw('GET', '/v3/projects').catch((error) => ({ text: String(error) }))
    expect(text).not.toContain(serviceToken)
    expect(text).not.toContain('after')
  })
})

test('a huge export waits for a slow reader instead of filling memory', async () => {
  const size = 200 * 1024 * 1024
  const product = await echo({
    service: () => ({ kind: 'endless', headers: { 'content-type': 'text/csv', 'content-length': String(size) } }),
  })
  const response = await product.api.request('/v3/projects/acme/export-rankings', {
    headers: { authorization: `Bearer ${await product.signed({ sub: 'tool', scope: 'read' })}` },
  })
  const before = process.memoryUsage.rss()
  let most = 0
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    most = Math.max(most, process.memoryUsage.rss() - before)
  }
  expect(length).toBe(size)
  expect(most).toBeLessThan(150 * 1024 * 1024)
})

test('the gateway ends a read at the service if the caller leaves', async () => {
  const product = await echo({ service: () => ({ kind: 'endless' }) })
  const aborting = new AbortController()
  const response = await product.api.request('/v3/projects/acme/export-rankings', {
    headers: { authorization: `Bearer ${await product.signed({ sub: 'tool', scope: 'read' })}` },
    signal: aborting.signal,
  })
  await response.body?.getReader().read()
  expect(product.service.openConnections()).toBe(1)
  aborting.abort()
  while (product.service.openConnections() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
})
