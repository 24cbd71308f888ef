import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate as tick, setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, test, vi } from 'vitest'
import { AnswerBroken } from '../../shared/tracking/answer-body.ts'
import { createForward, type OpenedAnswer, type OpenLimits, type OpenRequest } from '../../shared/tracking/forward.ts'
import type { OpenOperation } from '../../shared/tracking/operations.ts'
import { createTracking } from '../../shared/tracking/tracking.ts'
import { pastDeadline, patienceMs } from '../support/patience.ts'
import { type Answer, type ScriptedService, startScriptedService } from '../support/scripted-service.ts'

const token = 'header.payload.signature'
const listing: OpenRequest = { operation: 'list-projects', segment: null, search: '' }
const create: OpenRequest = { operation: 'create-project', segment: 'alpha', search: '', body: Buffer.from('{"a":1}') }

const openings: { close(): unknown }[] = []
afterEach(() => Promise.all(openings.splice(0).map((opening) => opening.close())))

async function startService(...answers: Answer[]): Promise<ScriptedService> {
  const service = await startScriptedService()
  openings.push(service)
  const [first, ...more] = answers
  if (first) service.script('', first, ...more)
  return service
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  openings.push(server)
  return (server.address() as AddressInfo).port
}

function clientOf({ baseUrl }: { baseUrl: string }, limits: Partial<OpenLimits> = {}, secret = token) {
  const reread = vi.fn(async () => secret)
  const open = createForward({ baseUrl, token: { read: async () => secret, reread }, limits })
  return { open, reread }
}

function answered(answer: OpenedAnswer): Extract<OpenedAnswer, { kind: 'answered' }> {
  if (answer.kind === 'failed') throw new Error(`failed: ${answer.reason}`)
  return answer
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** The received part of a body, and the reason why it ended. */
async function drained(body: Readable): Promise<{ text: string; why: unknown }> {
  let text = ''
  try {
    for await (const chunk of body) text += chunk
    return { text, why: null }
  } catch (error) {
    return { text, why: error instanceof AnswerBroken ? error.why : error }
  }
}

const megabyte = 1024 * 1024
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Bytes of buffers that are still referenced. */
function bytesInUse(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

const gone = (service: ScriptedService) =>
  vi.waitFor(() => expect(service.openConnections()).toBe(0), { timeout: patienceMs })

describe('forwarding a request', () => {
  it.each<[operation: OpenOperation, segment: string | null, search: string, line: string]>([
    ['list-projects', null, '', 'GET /v3/projects'],
    [
      'project-details',
      '%61lpha%2f,beta;x',
      'a=b&&c=%zz[]?/',
      'GET /v3/projects/%61lpha%2f,beta;x/details?a=b&&c=%zz[]?/',
    ],
    ['export-gsc', "(a)!'*~", '', "GET /v3/projects/(a)!'*~/export-gsc"],
    ['export-ctr', 'alpha', '', 'POST /v3/projects/alpha/export-ctr'],
    ['create-project', 'a|b[c]^', 'frequency=daily', 'POST /v3/projects/a|b[c]^/create?frequency=daily'],
    ['estimate-difficulty', '1,2', '', 'GET /v3/keyword-difficulty/1,2/estimate'],
  ])('the operation %s is forwarded to %s %s', async (operation, segment, search, line) => {
    const service = await startService({ status: 204 })
    answered(await clientOf(service).open({ operation, segment, search })).body.resume()
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([line])
  })

  it('a GET is forwarded with our token, and only with headers that mean something to the service', async () => {
    const service = await startService({ body: '{}' })
    const headers = new Headers({
      accept: 'text/csv',
      'if-none-match': '"1"',
      'user-agent': 'tool/1',
      authorization: 'Bearer of.the.caller',
      cookie: 'session=1',
      host: 'evil.example',
      connection: 'close, x-more',
      'x-more': '1',
      'transfer-encoding': 'chunked',
      'content-length': '5',
      'accept-encoding': 'gzip',
      range: 'bytes=0-10',
      expect: '100-continue',
      te: 'trailers',
      upgrade: 'h2c',
      'proxy-authorization': 'Basic x',
      'x-forwarded-for': '10.0.0.1',
      'unit-guard-budget': 'seo',
    })
    await textOf(answered(await clientOf(service).open({ ...listing, headers })).body)
    expect(service.requests[0]?.headers).toEqual({
      accept: 'text/csv',
      'if-none-match': '"1"',
      'user-agent': 'tool/1',
      authorization: `Bearer ${token}`,
      'accept-encoding': 'identity',
      host: new URL(service.baseUrl).host,
      connection: 'keep-alive',
    })
  })

  it('invalid headers are not forwarded, and repeated headers are joined', async () => {
    const service = await startService({ body: '{}' })
    const headers: [string, string][] = [
      ['User-Agent', 'a\r\nx-evil: 1'],
      ['Accept-Language', 'de'],
      ['accept-language', 'en'],
    ]
    await textOf(answered(await clientOf(service).open({ ...listing, headers })).body)
    expect(service.requests[0]?.headers).toMatchObject({ 'accept-language': 'de, en' })
    expect(service.requests[0]?.headers).not.toHaveProperty('user-agent')
  })

  it('the bytes of a POST are forwarded on its own connection', async () => {
    const service = await startService({ body: '{}' })
    const { open } = clientOf(service)
    await textOf(answered(await open(listing)).body)
    const body = Buffer.from('{ "name":"é" , "name2":1e0 }\n')
    await textOf(answered(await open({ ...create, body, headers: [['content-type', 'application/json']] })).body)
    await textOf(answered(await open({ ...create, operation: 'export-ctr', body: undefined })).body)
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 2, 3])
    expect(service.requests[1]).toMatchObject({
      body: body.toString(),
      headers: { 'content-type': 'application/json', 'content-length': '30', connection: 'close' },
    })
    expect(service.requests[2]).toMatchObject({ body: '', headers: { 'content-length': '0' } })
  })

  it('connections for GETs are kept, apart from the connections of estimates', async () => {
    const service = await startService({ body: '{"keyword_units":5}' })
    const secret = { read: async () => token, reread: async () => token }
    const pointers = { estimate: {}, run: {} }
    const tracking = createTracking({ baseUrl: service.baseUrl, token: secret, timeoutMs: patienceMs, pointers })
    await tracking.estimate({ kind: 'ranking', segment: 'alpha', search: '' })
    await textOf(answered(await tracking.open(listing)).body)
    await textOf(answered(await tracking.open(listing)).body)
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 2, 2])
  })

  it.each<[name: string, request: Omit<OpenRequest, 'operation'> & { operation: string }, secret: string]>([
    ['a run', { operation: 'run-ranking', segment: 'alpha', search: '' }, token],
    ['the other run', { operation: 'run-difficulty', segment: '17', search: '' }, token],
    ['no segment', { operation: 'project-details', segment: null, search: '' }, token],
    ['a segment too many', { operation: 'list-projects', segment: 'alpha', search: '' }, token],
    ['a way up', { operation: 'project-details', segment: '..%2f..', search: '' }, token],
    ['a query with a line break', { operation: 'list-projects', segment: null, search: 'a\r\nb' }, token],
    ['a broken token', { operation: 'list-projects', segment: null, search: '' }, 'a\r\nb'],
  ])('nothing is forwarded for %s', async (_name, request, secret) => {
    const service = await startService({ body: '{}' })
    const operation = request.operation as OpenOperation
    await expect(clientOf(service, {}, secret).open({ ...request, operation })).rejects.toThrow(RangeError)
    expect(service.openConnections()).toBe(0)
  })

  it('a request without a token is not sent', async () => {
    const service = await startService({ body: '{}' })
    const read = async () => Promise.reject(new Error('no secret'))
    const open = createForward({ baseUrl: service.baseUrl, token: { read, reread: read } })
    await expect(open(listing)).rejects.toThrow('no secret')
    expect(service.openConnections()).toBe(0)
  })
})

describe('forwarding an answer', () => {
  it.each<[status: number, headers: Record<string, string>, body: string]>([
    [200, {}, '{"projects":[]}'],
    [200, { 'content-type': 'text/html' }, '<html>'],
    [201, {}, 'x'],
    [204, {}, ''],
    [206, {}, 'x'],
    [301, { location: 'http://elsewhere.example/v3/projects' }, 'x'],
    [302, { location: '/v3/projects' }, 'x'],
    [304, { etag: '"1"' }, ''],
    [307, { location: '/v3/on-demand/alpha/run' }, 'x'],
    [400, {}, '{"error":"x"}'],
    [401, {}, 'x'],
    [404, {}, 'x'],
    [408, {}, 'x'],
    [421, {}, 'x'],
    [429, { 'retry-after': '1000000000' }, 'x'],
    [500, {}, 'x'],
    [503, {}, 'x'],
    [599, {}, 'x'],
  ])('%d %j is forwarded unchanged, after one request', async (status, headers, body) => {
    const service = await startService({ status, headers, body })
    for (const request of [listing, create]) {
      const answer = answered(await clientOf(service).open(request))
      expect(answer.status).toBe(status)
      for (const header of Object.entries(headers)) expect(answer.headers).toContainEqual(header)
      expect(await textOf(answer.body)).toBe(body)
    }
    expect(service.requests).toHaveLength(2)
  })

  it.each([
    ['the service’s own address', (base: string) => `${base}/projects/7`, false],
    ['another port', () => 'http://127.0.0.1:1/v3/projects/7', true],
    ['another host', (base: string) => base.replace('127.0.0.1', 'elsewhere.example'), true],
    ['a path', () => '/v3/projects/7', true],
  ])('a Location with %s is forwarded unless it leads around the guard', async (_name, locationOf, isForwarded) => {
    const service = await startService()
    const location = locationOf(service.baseUrl)
    service.script(() => true, { status: 302, headers: { location }, body: 'x' })
    const answer = answered(await clientOf(service).open(listing))
    expect(answer.headers.some(([name]) => name.toLowerCase() === 'location')).toBe(isForwarded)
    await textOf(answer.body)
  })

  it('the headers of an answer are forwarded as they came', async () => {
    const bytes =
      'HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nX-ODD: \xe9\r\nset-cookie: b=2\r\nContent-Length: 2\r\n\r\n{}'
    const service = await startService({ kind: 'raw', bytes: Buffer.from(bytes, 'latin1') })
    const answer = answered(await clientOf(service).open(listing))
    expect(answer.headers).toEqual([
      ['Set-Cookie', 'a=1'],
      ['X-ODD', '\xe9'],
      ['set-cookie', 'b=2'],
      ['Content-Length', '2'],
    ])
    expect(await textOf(answer.body)).toBe('{}')
  })

  it('an answer that ends with its connection is complete', async () => {
    const service = await startService({ kind: 'raw', bytes: 'HTTP/1.0 200 OK\r\n\r\nall of it' })
    expect(await textOf(answered(await clientOf(service).open(listing)).body)).toBe('all of it')
  })

  it('an answer is passed on before its end', async () => {
    const service = await startService({ kind: 'hang-in-body' })
    const { body } = answered(await clientOf(service).open(listing))
    const first = await new Promise((resolve) => body.once('data', resolve))
    expect(String(first)).toBe('{"keyword_units": 5')
    body.destroy()
    await gone(service)
  })

  it('a 401 is passed on, and the next request reads the token again', async () => {
    const service = await startService({ status: 401, body: 'who?' })
    const { open, reread } = clientOf(service)
    reread.mockRejectedValueOnce(new Error('no secret'))
    expect(await textOf(answered(await open(listing)).body)).toBe('who?')
    expect(reread.mock.calls).toEqual([[token]])
    expect(service.requests).toHaveLength(1)
  })

  test('50 MB are passed on at the pace of a slow reader, with little memory', async () => {
    const total = 50 * megabyte
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let written = 0
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': total })
      const fill = () => {
        while (written < total && !response.destroyed) {
          written += chunk.length
          if (!response.write(chunk)) return
        }
        response.end()
      }
      response.on('drain', fill)
      fill()
    })
    const port = await listen(server)
    const { body } = answered(await clientOf({ baseUrl: `http://127.0.0.1:${port}/v3` }).open(listing))
    const before = bytesInUse()
    let received = 0
    let mostAhead = 0
    let mostInUse = 0
    for await (const bytes of body) {
      for (let ticks = 0; ticks < 5; ticks++) await tick() // the service could write far more in this time
      mostAhead = Math.max(mostAhead, written - received)
      if (Math.floor(received / megabyte) < Math.floor((received + bytes.length) / megabyte)) {
        mostInUse = Math.max(mostInUse, bytesInUse() - before)
      }
      received += bytes.length
    }
    expect(received).toBe(total)
    expect(mostAhead).toBeLessThan(20 * megabyte) // the sockets' own buffers, in the operating system
    expect(mostInUse).toBeLessThan(8 * megabyte)
  })
})

describe('an answer that breaks off', () => {
  it.each<[name: string, answer: Answer, reason: string]>([
    ['our token in a header', { headers: { 'x-echo': `Bearer ${token}` } }, "the answer carries the service's token"],
    [
      'our token in a location',
      { status: 302, headers: { location: `/?t=${token}` } },
      "the answer carries the service's token",
    ],
    [
      'a compressed body',
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(token) },
      'it is content-encoded although identity was asked, so the guard cannot search it for its token: turn off forced compression at the service or its proxy',
    ],
    [
      'a compressed transfer',
      { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n' },
      'its transfer is encoded although that was not asked, so the guard cannot search it for its token: turn off forced compression at the service or its proxy',
    ],
    ['no HTTP', { kind: 'raw', bytes: 'SSH-2.0-x\r\n\r\n' }, 'the answer is not HTTP'],
    [
      'endless headers',
      { kind: 'raw', bytes: `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n` },
      'the answer is not HTTP',
    ],
    [
      'another protocol',
      { kind: 'raw', bytes: 'HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n' },
      'the service switched protocols',
    ],
  ])('an answer is refused before its body: %s', async (_name, answer, reason) => {
    const service = await startService(answer)
    const failure = await clientOf(service).open(listing)
    expect(failure).toMatchObject({ kind: 'failed', sent: 'maybe', cause: 'protocol', reason })
    expect(service.requests).toHaveLength(1)
    await gone(service)
  })

  it('an answer breaks off before our token in its body', async () => {
    const service = await startService({ body: `{"a":1,"echo":"Bearer ${token}"}` })
    const { text, why } = await drained(answered(await clientOf(service).open(listing)).body)
    expect(why).toBe('token')
    expect('{"a":1,"echo":"Bearer '.startsWith(text)).toBe(true)
    await gone(service)
  })

  it('an answer breaks off before our token that comes byte by byte', async () => {
    const service = await startService({ kind: 'byte-by-byte', body: `{"echo":"${token}"}`, everyMs: 1 })
    expect(await drained(answered(await clientOf(service).open(listing)).body)).toEqual({
      text: '{"echo":"',
      why: 'token',
    })
    await gone(service)
  })

  it('text that only begins like our token is passed on', async () => {
    const body = `{"echo":"${token.slice(0, -1)}`
    const service = await startService({ body })
    expect(await textOf(answered(await clientOf(service).open(listing)).body)).toBe(body)
  })

  it.each<[name: string, answer: Answer, limits: Partial<OpenLimits>, why: string]>([
    ['reset in the middle', { kind: 'reset-in-body' }, {}, 'connection'],
    ['silent in the middle', { kind: 'hang-in-body' }, { idleMs: 50 }, 'idle'],
    [
      'a byte at a time, too long',
      { kind: 'byte-by-byte', body: 'x'.repeat(10_000), everyMs: 5 },
      { bodyMs: 100 },
      'overlong',
    ],
    ['endless, too long', { kind: 'endless' }, { bodyMs: 100 }, 'overlong'],
    ['too short', { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf' }, {}, 'connection'],
    [
      'chunks without an end',
      { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n' },
      {},
      'connection',
    ],
    [
      'broken chunks',
      { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz' },
      {},
      'connection',
    ],
  ])('an answer breaks off: %s', async (_name, answer, limits, why) => {
    const service = await startService(answer)
    const { body } = answered(await clientOf(service, limits).open(listing))
    expect((await drained(body)).why).toBe(why)
    expect(service.requests).toHaveLength(1)
    await gone(service)
  })

  it('an answer that takes too long breaks off, although it is never silent', async () => {
    const service = await startService({ kind: 'byte-by-byte', body: 'x'.repeat(20), everyMs: 100 })
    const act = async () => drained(answered(await clientOf(service, { idleMs: 250 }).open(listing)).body)
    const read = await pastDeadline(act, { deadlineMs: 2_000, isThere: () => service.requests.length > 0 })
    expect(read.text).toHaveLength(20)
  })

  it('a slow reader does not count as a silent service', async () => {
    const service = await startService({ kind: 'endless', headers: { 'content-length': '4000000' } })
    const { body } = answered(await clientOf(service, { idleMs: 1_000 }).open(listing))
    let bytes = 0
    for await (const chunk of body) {
      if (bytes === 0) await wait(1_500)
      bytes += chunk.length
      if (bytes > 2_000_000) break
    }
    expect(bytes).toBeGreaterThan(2_000_000)
    await gone(service)
  })

  it('an answer that no one reads is given up', async () => {
    const service = await startService({ kind: 'endless' })
    const { body } = answered(await clientOf(service, { idleMs: 20, bodyMs: 100 }).open(listing))
    await gone(service)
    expect(body.errored).toMatchObject({ why: 'overlong' })
  })
})

describe('a request without an answer', () => {
  it('a request fails at the deadline', async () => {
    const service = await startService({ kind: 'hang' })
    for (const [before, request] of [listing, create].entries()) {
      const act = () => clientOf(service, { firstByteMs: 5_000 }).open(request)
      const isThere = () => service.requests.length > before
      expect(await pastDeadline(act, { deadlineMs: 5_000, isThere })).toEqual({
        kind: 'failed',
        sent: 'maybe',
        cause: 'deadline',
        reason: 'no answer before the deadline',
        status: null,
      })
    }
    expect(service.requests).toHaveLength(2)
    await gone(service)
  })

  it.each<Answer>([{ kind: 'reset' }, { kind: 'close' }])(
    'an end of a fresh connection ($kind) is one request',
    async (answer) => {
      const service = await startService(answer)
      for (const request of [listing, create]) {
        expect(await clientOf(service).open(request)).toMatchObject({
          kind: 'failed',
          sent: 'maybe',
          cause: 'connection',
        })
      }
      expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
    },
  )

  it('a GET is repeated once on a fresh connection if a kept one ended', async () => {
    const service = await startService({ body: '2' })
    const { open } = clientOf(service)
    const both = await Promise.all([open(listing), open(listing)])
    await Promise.all(both.map((answer) => textOf(answered(answer).body)))
    service.script(({ connection }) => connection <= 2, { kind: 'close' }) // the second kept connection is dead, too
    expect(await textOf(answered(await open(listing)).body)).toBe('2')
    expect(service.requests.slice(2).map(({ connection }) => connection)).toEqual([expect.any(Number), 3])
  })

  it('a GET is sent at most twice if the fresh connection ends, too', async () => {
    const service = await startService({ body: '1' }, { kind: 'close' })
    const { open } = clientOf(service)
    await textOf(answered(await open(listing)).body)
    expect(await open(listing)).toMatchObject({ kind: 'failed', sent: 'maybe', cause: 'connection' })
    expect(service.requests).toHaveLength(3)
  })

  it('a request is provably unsent if the port is closed', async () => {
    const service = await startScriptedService()
    await service.close()
    for (const request of [listing, create]) {
      expect(await clientOf(service).open(request)).toEqual({
        kind: 'failed',
        sent: 'no',
        cause: 'connection',
        reason: 'connection refused',
        status: null,
      })
    }
  })

  it('a GET is repeated once if TLS is refused, but a POST is not', async () => {
    let connections = 0
    const port = await listen(
      createTcpServer((socket) => {
        connections++
        socket.on('error', () => {})
        socket.end('not TLS')
      }),
    )
    const { open } = clientOf({ baseUrl: `https://127.0.0.1:${port}/v3` })
    expect(await open(listing)).toMatchObject({ kind: 'failed', sent: 'no', reason: 'TLS refused' })
    expect(connections).toBe(2)
    expect(await open(create)).toMatchObject({ kind: 'failed', sent: 'no', reason: 'TLS refused' })
    expect(connections).toBe(3)
  })
})

describe('a caller who leaves', () => {
  it('a caller who leaves early stops a request before it is sent', async () => {
    const service = await startService({ body: '{}' })
    const answer = await clientOf(service).open({ ...listing, signal: AbortSignal.abort() })
    expect(answer).toMatchObject({ kind: 'failed', sent: 'no', cause: 'aborted' })
    await gone(service)
    expect(service.requests).toHaveLength(0)
  })

  it.each([listing, create])('a caller who leaves stops a request before its answer: $operation', async (request) => {
    const service = await startService({ kind: 'hang' })
    const leaving = new AbortController()
    const opening = clientOf(service).open({ ...request, signal: leaving.signal })
    await vi.waitFor(() => expect(service.requests).toHaveLength(1), { timeout: patienceMs })
    leaving.abort()
    expect(await opening).toMatchObject({ kind: 'failed', sent: 'maybe', cause: 'aborted' })
    await gone(service)
    expect(service.requests).toHaveLength(1)
  })

  it('a caller who leaves stops an answer by the signal', async () => {
    const service = await startService({ kind: 'endless' })
    const leaving = new AbortController()
    const { body } = answered(await clientOf(service).open({ ...listing, signal: leaving.signal }))
    body.once('data', () => leaving.abort())
    await gone(service)
    expect(body.errored).toMatchObject({ why: 'aborted' })
  })

  it('a caller who leaves stops an answer by destroying its body', async () => {
    const service = await startService({ kind: 'endless' })
    answered(await clientOf(service).open(listing)).body.destroy()
    await gone(service)
  })

  it('a complete answer keeps the connection although its caller leaves', async () => {
    const service = await startService({ body: '{}' })
    const leaving = new AbortController()
    const { open } = clientOf(service)
    await textOf(answered(await open({ ...listing, signal: leaving.signal })).body)
    leaving.abort()
    await textOf(answered(await open(listing)).body)
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 1])
  })
})
