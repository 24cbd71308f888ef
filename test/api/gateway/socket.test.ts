import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApi } from '../../../functions/api/app.ts'
import { patienceMs } from '../../support/patience.ts'
import { type Product, serviceToken, startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** The API as `npm start` serves it: the service's answers go directly to Node's own response. */
async function serve(answer: Answer, change: (product: Product) => Product['api'] = ({ api }) => api) {
  const product = await startProduct({ store: createMemoryStore(), service: () => answer })
  const server = createAdaptorServer({ fetch: change(product).fetch }) as http.Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const authorization = `Bearer ${await product.signed({ sub: 'tool', scope: 'read' })}`

  function send(path = '/projects', { method = 'GET', headers = {} } = {}): http.ClientRequest {
    const request = http.request({ port, path: `/v3${path}`, method, agent, headers: { authorization, ...headers } })
    return request.on('error', () => {}).end()
  }
  async function get(...asked: Parameters<typeof send>): Promise<IncomingMessage> {
    const [response] = await once(send(...asked), 'response')
    return response
  }
  return { ...product, send, get }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}

const rawAnswer = (head: string, body: string): Answer => ({
  kind: 'raw',
  bytes: `HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`,
})
const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

describe('an answer', () => {
  test('a service answer passes with our request id and without hop-by-hop headers', async () => {
    const { get, service, logged } = await serve(
      rawAnswer(
        [
          'Content-Length: 5',
          'ETag: "v1"',
          'Link: <a>',
          'Link: <b>',
          'X-Request-Id: theirs',
          'Set-Cookie: a=b',
          'Connection: close, X-Hop',
          'Keep-Alive: timeout=1',
          'X-Hop: 1',
        ].join('\r\n'),
        'bytes',
      ),
    )
    const headers = { cookie: 'session=1', te: 'trailers', 'accept-language': ['de', 'en'], range: 'bytes=0-1' }
    const response = await get('/projects', { headers })
    const { 'x-request-id': requestId, date: _date, connection: _connection, ...rest } = response.headers
    expect([response.statusCode, rest, await textOf(response)]).toEqual([
      200,
      { 'content-length': '5', etag: '"v1"', link: '<a>, <b>', 'keep-alive': 'timeout=5' },
      'bytes',
    ])
    expect(response.rawHeaders.filter((text) => text === 'Link')).toHaveLength(2)
    expect(response.rawHeaders).toContain('ETag')
    expect(requestId).toMatch(/^[0-9a-z]{26}$/)
    // The line may come shortly after the last byte.
    await vi.waitFor(() => expect(logged).toHaveLength(1), { timeout: 30_000 })
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'request', requestId, caller: 'tool', method: 'GET', status: 200 },
    ])
    expect(service.requests[0]?.headers).toEqual({
      authorization: `Bearer ${serviceToken}`,
      'accept-encoding': 'identity',
      'accept-language': 'de, en',
      connection: 'keep-alive',
      host: new URL(service.baseUrl).host,
    })
  })

  test.each([[204], [205], [304], [401], [503]])('status %i passes twice over one connection', async (status) => {
    const { get, logged } = await serve({ status, headers: { etag: '"v1"' } })
    const first = await get()
    expect([first.statusCode, first.headers.etag, await textOf(first)]).toEqual([status, '"v1"', ''])
    const second = await get()
    expect([second.statusCode, await textOf(second)]).toEqual([status, ''])
    expect(second.socket).toBe(first.socket)
    const requests = logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
    expect(requests.map((line) => line.status)).toEqual([status, status])
  })

  test('HEAD calls no service and has no body', async () => {
    const { get, service } = await serve({ body: 'text' })
    const response = await get('/on-demand/acme/run', { method: 'HEAD' })
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET'])
    expect(service.requests).toEqual([])
  })
})

describe('a streamed answer', () => {
  test('a streamed answer waits for a slow reader instead of filling memory', async () => {
    const size = 200 * 1024 * 1024
    const { get } = await serve({ kind: 'endless', headers: { 'content-length': String(size) } })
    const response = await get('/projects/acme/export-rankings')
    const before = process.memoryUsage().arrayBuffers
    await wait(200) // the whole answer would be sent in this time
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024)
    let length = 0
    for await (const chunk of response) length += chunk.length
    expect(length).toBe(size)
  })

  test.each([
    ['breaks in the middle', chunkOf('half')],
    ['carries our token', chunkOf('half') + chunkOf(` ${serviceToken}`) + chunkOf('')],
  ])('a streamed answer that %s is cut', async (_what, body) => {
    const { get, logged } = await serve(rawAnswer('Transfer-Encoding: chunked', body))
    const response = await get()
    let text = ''
    const reading = async () => {
      for await (const chunk of response) text += chunk
    }
    await expect(reading()).rejects.toThrow('aborted')
    expect('half '.startsWith(text)).toBe(true)
    expect([response.statusCode, response.complete]).toEqual([200, false])
    expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  test('the first byte of a streamed answer passes before the second', async () => {
    const { get } = await serve({ kind: 'byte-by-byte', body: 'ab', everyMs: 300_000 })
    const response = await get()
    const [chunk] = await once(response, 'data')
    expect(String(chunk)).toBe('a')
  })
})

describe('a small answer', () => {
  const broken: [string, Answer][] = [
    ['breaks in the middle', { kind: 'reset-in-body' }],
    ['carries our token', rawAnswer(`Content-Length: ${serviceToken.length}`, serviceToken)],
  ]

  test.each(broken)('a small answer that %s becomes a problem', async (_what, answer) => {
    const { get, logged } = await serve(answer)
    const response = await get()
    const body = JSON.parse(await textOf(response))
    expect(body).toMatchObject({ status: 502, type: '/problems/service-unreachable' })
    expect(response.headers).toMatchObject({ 'x-request-id': body.requestId, 'cache-control': 'no-store' })
    expect(JSON.parse(logged.at(-1) ?? '')).toMatchObject({ requestId: body.requestId, status: 502 })
  })

  test('a small answer becomes a problem if it broke off before it was read', async () => {
    const body = new Readable().on('error', () => {}).destroy(new Error('broken'))
    await new Promise((resolve) => body.on('close', resolve))
    const { get } = await serve({}, ({ services }) =>
      createApi({
        ...services,
        tracking: {
          ...services.tracking,
          open: async () => ({ kind: 'answered', status: 401, headers: [['Content-Length', '5']], body }),
        },
      }),
    )
    expect((await get()).statusCode).toBe(502)
  })
})

describe('a caller who leaves a read', () => {
  const gone = (product: Pick<Product, 'service'>) =>
    vi.waitFor(() => expect(product.service.openConnections()).toBe(0), { timeout: patienceMs })

  test('a caller who leaves before the answer ends the read at the service', async () => {
    const product = await serve({ kind: 'hang' })
    const request = product.send()
    await vi.waitFor(() => expect(product.service.requests).toHaveLength(1), { timeout: patienceMs })
    request.destroy()
    await gone(product)
  })

  test('a caller who leaves a large answer ends the read at the service', async () => {
    const product = await serve({ kind: 'endless' })
    const response = await product.get()
    await once(response, 'data')
    response.destroy()
    await gone(product)
  })

  test('a caller who leaves a small answer ends the read at the service', async () => {
    const product = await serve({ kind: 'hang-in-body' })
    const request = product.send()
    await vi.waitFor(() => expect(product.service.requests).toHaveLength(1), { timeout: patienceMs })
    await wait(20) // half of the answer is on its way
    request.destroy()
    await gone(product)
  })
})
