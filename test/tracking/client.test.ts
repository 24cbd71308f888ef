import { createServer, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTracking, isUsableToken, type Target, type Tracking, targetOf } from '../../shared/tracking/tracking.ts'
import { isSlow, pastDeadline, patienceMs } from '../support/patience.ts'
import { type Answer, gate, type ScriptedService, startScriptedService } from '../support/scripted-service.ts'

const token = 'header.payload.signature'
const alpha = targetOf('ranking', 'alpha')
const units5: Answer = { body: '{"keyword_units":5}' }
const deadlineMs = 30_000
const openings: { close(): unknown }[] = []
afterEach(() => Promise.all(openings.splice(0).map((opening) => opening.close())))

async function startService(): Promise<ScriptedService> {
  const service = await startScriptedService()
  openings.push(service)
  return service
}

function clientOf(
  baseUrl: string,
  options: Partial<Parameters<typeof createTracking>[0]> & { tokens?: readonly string[] } = {},
): Tracking & { refused: string[] } {
  const [first = token, renewed = first] = options.tokens ?? []
  const refused: string[] = []
  const tracking = createTracking({
    baseUrl,
    token: {
      read: async () => first,
      reread: async (old) => {
        refused.push(old)
        return renewed
      },
    },
    timeoutMs: deadlineMs,
    pointers: { estimate: {}, run: {} },
    ...options,
  })
  return { ...tracking, refused }
}

const run = (tracking: Tracking, target: Target = alpha, timeoutMs = deadlineMs) =>
  tracking.run(target, { timeoutMs, token })

/** The deadline passes as soon as the service has the request. */
const tooLate = <T>(act: () => Promise<T>, service: ScriptedService): Promise<T> =>
  pastDeadline(act, { deadlineMs, isThere: () => service.requests.length > 0 })

/** A TCP server that does not speak HTTP, with its address as https. */
async function startTcp(onConnection: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(onConnection)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  openings.push(server)
  return `https://127.0.0.1:${portOf(server)}/v3`
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** An address at which nothing listens. */
async function deadBaseUrl(): Promise<string> {
  const service = await startScriptedService()
  await service.close()
  return service.baseUrl
}

describe('the bytes of a request', () => {
  it.each<[name: string, target: Target, url: string]>([
    ['ranking', alpha, '/v3/on-demand/alpha/run'],
    ['keyword difficulty', targetOf('keyword-difficulty', '17'), '/v3/keyword-difficulty/17/run'],
    ['a name in need of encoding', targetOf('ranking', 'a/b ?#%é'), '/v3/on-demand/a%2Fb%20%3F%23%25%C3%A9/run'],
    ['characters that encodeURIComponent leaves', targetOf('ranking', "(a)!'*~"), "/v3/on-demand/(a)!'*~/run"],
    [
      'a query, in its order',
      targetOf('ranking', 'alpha', { stopDate: '2026-11-02', a: 'x&y=1' }),
      '/v3/on-demand/alpha/run?stopDate=2026-11-02&a=x%26y%3D1',
    ],
    [
      'a raw segment and query, byte for byte',
      { kind: 'ranking', segment: '%61lpha%2f,beta;x', search: 'a=b&&c=%zz[]?/' },
      '/v3/on-demand/%61lpha%2f,beta;x/run?a=b&&c=%zz[]?/',
    ],
  ])('run: %s has its bytes on the wire', async (_name, target, url) => {
    const service = await startService()
    service.script('', { status: 204 })
    await run(clientOf(service.baseUrl), target)
    expect(service.requests.map((request) => request.url)).toEqual([url])
  })

  it('estimate, dates and run: method and headers', async () => {
    const service = await startService()
    service.script('', units5)
    const tracking = clientOf(`${service.baseUrl}/`)
    await tracking.estimate(alpha)
    await tracking.dates(targetOf('ranking', 'alpha', { a: 'b' }))
    await run(tracking)
    const common = {
      host: new URL(service.baseUrl).host,
      authorization: 'Bearer header.payload.signature',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'cache-control': 'no-cache, no-store',
      pragma: 'no-cache',
    }
    const seen = service.requests.map(({ method, url, headers, body }) => ({ method, url, headers, body }))
    expect(seen).toEqual([
      {
        method: 'GET',
        url: '/v3/on-demand/alpha/estimate',
        headers: { ...common, connection: 'keep-alive' },
        body: '',
      },
      { method: 'GET', url: '/v3/projects/alpha/dates', headers: { ...common, connection: 'keep-alive' }, body: '' },
      { method: 'GET', url: '/v3/on-demand/alpha/run', headers: { ...common, connection: 'close' }, body: '' },
    ])
  })

  it.each(['', '.', '..', '\ud800'])('the target %j is refused', (project) => {
    expect(() => targetOf('ranking', project)).toThrow(RangeError)
  })

  it.each<[segment: string, search: string]>([
    ['alpha/run?', ''],
    ['alpha/../beta', ''],
    ['%2e%2E', ''],
    ['a\\b', ''],
    ['a b', ''],
    ['a\r\nb', ''],
    ['é', ''],
    ['alpha', 'a#b'],
    ['alpha', 'a b'],
    ['alpha', 'a\nb'],
  ])('the target %j ? %j is never sent', async (segment, search) => {
    const service = await startService()
    const target: Target = { kind: 'ranking', segment, search }
    await expect(run(clientOf(service.baseUrl), target)).rejects.toThrow(RangeError)
    await expect(clientOf(service.baseUrl).estimate(target)).rejects.toThrow(RangeError)
    expect(service.requests).toEqual([])
  })

  it.each(['', ' ', 'a b', 'a\r\nx: y', 'a\n', 'tökén', '\u0000', 'a\u007f'])('token %j is never sent', async (bad) => {
    const service = await startService()
    const tracking = clientOf(service.baseUrl, { tokens: [bad] })
    expect(isUsableToken(bad)).toBe(false)
    await expect(tracking.run(alpha, { timeoutMs: 1_000, token: bad })).rejects.toThrow(RangeError)
    await expect(tracking.estimate(alpha)).rejects.toThrow('the service token is not visible ASCII')
    await expect(tracking.dates(alpha)).rejects.toThrow(RangeError)
    expect(service.requests).toEqual([])
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])('timeout %d is refused at once', async (ms) => {
    const service = await startService()
    await expect(run(clientOf(service.baseUrl), alpha, ms)).rejects.toThrow(RangeError)
    expect(service.requests).toEqual([])
  })

  it.each([
    '',
    'v3',
    'http://x',
    'http://x/v2',
    'ftp://x/v3',
    'http://x/v3/y',
    'http://x/xv3?',
    'http://u:p@x/v3',
    'http://x/v3?a=b',
    'http://x/v3#a',
    'http://x/av3',
  ])('the base address %s is refused', (baseUrl) => {
    expect(() => clientOf(baseUrl)).toThrow(RangeError)
  })

  it('a wrong pointer is refused at start', () => {
    expect(() => clientOf('http://x/v3', { pointers: { estimate: { ranking: 'units' }, run: {} } })).toThrow(RangeError)
  })
})

describe('run', () => {
  it('run: an answer with stated units ran, and is stored', async () => {
    const service = await startService()
    service.script('/on-demand/alpha/run', { status: 202, body: '{"data":{"used":7},"units":9}' })
    const tracking = clientOf(service.baseUrl, { pointers: { estimate: {}, run: { ranking: '/data/used' } } })
    expect(await run(tracking)).toEqual({
      kind: 'ran',
      isSilent: true,
      stated: { units: 7, source: '/data/used', by: 'pointer' },
      answer: {
        status: 202,
        contentType: 'application/json',
        body: '{"data":{"used":7},"units":9}',
        truncated: false,
      },
    })
  })

  it('run: each kind has its own pointer', async () => {
    const service = await startService()
    service.script('', { body: '{"used":7,"keyword_units":5}' })
    const tracking = clientOf(service.baseUrl, { pointers: { estimate: {}, run: { 'keyword-difficulty': '/used' } } })
    expect(await run(tracking)).toMatchObject({ stated: { units: 5, source: '/keyword_units', by: 'none' } })
    const other = targetOf('keyword-difficulty', 'alpha')
    expect(await run(tracking, other)).toMatchObject({ stated: { units: 7, source: '/used', by: 'pointer' } })
  })

  const elsewhere = 'http://127.0.0.1:9/v3/on-demand/alpha/run'
  it.each<[name: string, answer: Answer, kind: string, reason: string, status: number | null]>([
    ['reset before the answer', { kind: 'reset' }, 'unknown', 'connection reset', null],
    ['closed before the answer', { kind: 'close' }, 'unknown', 'connection reset', null],
    ['reset in the middle of the answer', { kind: 'reset-in-body' }, 'unknown', 'connection reset', 200],
    ['reset in the middle of a refusal', { kind: 'reset-in-body', status: 404 }, 'unknown', 'connection reset', 404],
    ['no answer', { kind: 'hang' }, 'unknown', 'no whole answer before the deadline', null],
    ['headers and no body', { kind: 'hang-in-body' }, 'unknown', 'no whole answer before the deadline', 200],
    [
      'one byte at a time',
      { kind: 'byte-by-byte', body: '{"units":5}'.repeat(9), everyMs: 5_000 },
      'unknown',
      'no whole answer before the deadline',
      200,
    ],
    ['endless body', { kind: 'endless' }, 'unknown', 'the answer is larger than 1048576 bytes', 200],
    [
      '100 MB body',
      { kind: 'endless', headers: { 'content-length': '100000000' } },
      'unknown',
      'the answer is larger than 1048576 bytes',
      200,
    ],
    ['421', { status: 421 }, 'unknown', 'answered with status 421', 421],
    [
      '302 to itself',
      { status: 302, headers: { location: '/v3/on-demand/alpha/run' } },
      'unknown',
      'answered with status 302',
      302,
    ],
    ['307 elsewhere', { status: 307, headers: { location: elsewhere } }, 'unknown', 'answered with status 307', 307],
    [
      '503 with Retry-After',
      { status: 503, headers: { 'retry-after': '0' } },
      'unknown',
      'answered with status 503',
      503,
    ],
    ['401', { status: 401 }, 'did-not-run', 'refused with status 401', 401],
    [
      '429 with Retry-After 10^9',
      { status: 429, headers: { 'retry-after': '1000000000' } },
      'did-not-run',
      'refused with status 429',
      429,
    ],
    [
      'a code of an error',
      { body: '{"response_code":3}' },
      'unknown',
      'the answer has response_code 3 at /response_code, so it proves nothing',
      200,
    ],
    [
      'HTML on 200',
      { headers: { 'content-type': 'text/html' }, body: '<html>' },
      'unknown',
      'the body is neither JSON nor empty',
      200,
    ],
    [
      'gzip twice on 200',
      { headers: { 'content-encoding': 'gzip, gzip' }, body: gzipSync(gzipSync('{}')) },
      'unknown',
      'the body is content-encoded',
      200,
    ],
    ['no HTTP', { kind: 'raw', bytes: '220 ready\r\n' }, 'unknown', 'the answer is not HTTP', null],
    [
      'HTTP and then none',
      { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n' },
      'unknown',
      'the answer is not HTTP',
      200,
    ],
    [
      'endless headers',
      { kind: 'raw', bytes: `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n` },
      'unknown',
      'the answer is not HTTP',
      null,
    ],
    [
      'a body shorter than declared',
      { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}' },
      'unknown',
      'connection reset',
      200,
    ],
    [
      'chunks without an end',
      { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n' },
      'unknown',
      'connection reset',
      200,
    ],
    [
      '101 with upgrade',
      { kind: 'raw', bytes: 'HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: y\r\n\r\n' },
      'unknown',
      'the service switched protocols',
      101,
    ],
    [
      '101 without upgrade',
      { kind: 'raw', bytes: 'HTTP/1.1 101 x\r\n\r\n' },
      'unknown',
      'answered with status 101',
      101,
    ],
    [
      '103 and no more',
      { kind: 'raw', bytes: 'HTTP/1.1 103 Early Hints\r\n\r\n' },
      'unknown',
      'connection reset',
      null,
    ],
  ])('run: %s, one request on the wire', async (_name, answer, kind, reason, status) => {
    const service = await startService()
    service.script('', answer)
    const act = () => run(clientOf(service.baseUrl))
    expect(await (isSlow(answer) ? tooLate(act, service) : act())).toMatchObject({ kind, reason, status })
    expect(service.requests).toHaveLength(1)
    await vi.waitFor(() => expect(service.openConnections()).toBe(0), { interval: 2, timeout: patienceMs })
  })

  it.each<[name: string, answer: Answer]>([
    ['after a delay', { delayMs: 20, body: '{}' }],
    ['one byte at a time within the deadline', { kind: 'byte-by-byte', body: '{}', everyMs: 1 }],
    [
      'after 100 and 103',
      { kind: 'raw', bytes: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\n\r\nHTTP/1.1 204 x\r\n\r\n' },
    ],
    ['that ends with its connection', { kind: 'raw', bytes: `HTTP/1.1 200 OK\r\n\r\n{"a":"${'x'.repeat(300_000)}"}` }],
    ['with exactly 1 MiB', { body: `{"a":"${'x'.repeat(1024 * 1024 - 8)}"}` }],
  ])('run: an answer %s ran, one request on the wire', async (_name, answer) => {
    const service = await startService()
    service.script('', answer)
    expect(await run(clientOf(service.baseUrl))).toMatchObject({ kind: 'ran' })
    expect(service.requests).toHaveLength(1)
    await vi.waitFor(() => expect(service.openConnections()).toBe(0), { interval: 2, timeout: patienceMs })
  })

  it('run: a 302 sends nothing to another address', async () => {
    const service = await startService()
    const other = await startService()
    service.script('', { status: 302, headers: { location: `${other.baseUrl}/on-demand/alpha/run` } })
    await run(clientOf(service.baseUrl))
    await clientOf(service.baseUrl).estimate(alpha)
    expect(other.openConnections()).toBe(0)
    expect(other.requests).toEqual([])
  })

  it('run: an echo of our token is redacted', async () => {
    const service = await startService()
    service.script('', { body: `{"you sent":"Bearer ${token}"}` })
    expect(await run(clientOf(service.baseUrl))).toMatchObject({
      kind: 'ran',
      answer: { body: '{"you sent":"Bearer [redacted]"}' },
    })
  })

  it('run: a kept connection is never used, whether idle or closed by the service', async () => {
    const service = await startService()
    service.script('', units5)
    const tracking = clientOf(service.baseUrl)
    await tracking.estimate(alpha)
    await tracking.dates(alpha)
    await run(tracking)
    service.dropIdleConnections()
    expect(await run(tracking)).toMatchObject({ kind: 'ran' })
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 3])
  })

  it('run: connection refused did not run', async () => {
    expect(await run(clientOf(await deadBaseUrl()))).toEqual({
      kind: 'did-not-run',
      reason: 'connection refused',
      status: null,
      answer: null,
    })
  })

  it('run: name not resolved did not run', async () => {
    const result = await run(clientOf('http://does-not-exist.invalid/v3'), alpha, 15_000)
    expect(result).toEqual({ kind: 'did-not-run', reason: 'name not resolved', status: null, answer: null })
  })

  it('run: TLS refused did not run', async () => {
    const service = await startService()
    const result = await run(clientOf(service.baseUrl.replace('http:', 'https:')))
    expect(result).toEqual({ kind: 'did-not-run', reason: 'TLS refused', status: null, answer: null })
    expect(service.requests).toEqual([])
  })

  it('run: connection closed during the TLS handshake did not run', async () => {
    const baseUrl = await startTcp((socket) => socket.once('data', () => socket.destroy()))
    expect(await run(clientOf(baseUrl))).toMatchObject({ kind: 'did-not-run', reason: 'TLS refused' })
  })

  it('run: a deadline before the connection is established is unknown', async () => {
    let isThere = false
    const baseUrl = await startTcp((socket) => {
      isThere = true
      socket.on('error', () => {})
      openings.push({ close: () => socket.destroy() })
    })
    const late = await pastDeadline(() => run(clientOf(baseUrl)), { deadlineMs, isThere: () => isThere })
    expect(late).toEqual({
      kind: 'unknown',
      reason: 'no whole answer before the deadline',
      status: null,
      answer: null,
    })
  })
})

describe('estimate', () => {
  const deadline = 'no whole answer before the deadline'
  it.each<[name: string, answers: [Answer, ...Answer[]], reading: object, requests: number]>([
    ['units', [units5], { kind: 'units', units: 5, source: 'keyword_units' }, 1],
    ['500, then units', [{ status: 500 }, units5], { kind: 'units', units: 5 }, 2],
    ['reset, then units', [{ kind: 'reset' }, units5], { kind: 'units', units: 5 }, 2],
    ['reset in the body, then units', [{ kind: 'reset-in-body' }, units5], { kind: 'units', units: 5 }, 2],
    [
      '503 twice',
      [{ status: 503 }, { status: 503 }, units5],
      { kind: 'unreachable', reason: 'answered with status 503', status: 503 },
      2,
    ],
    [
      'reset twice',
      [{ kind: 'reset' }, { kind: 'reset' }, units5],
      { kind: 'unreachable', reason: 'connection reset', status: null },
      2,
    ],
    ['500, then 404', [{ status: 500 }, { status: 404 }, units5], { kind: 'refused', status: 404 }, 2],
    ['500, then 401', [{ status: 500 }, { status: 401 }, units5], { kind: 'refused', status: 401 }, 2],
    ['400', [{ status: 400 }, units5], { kind: 'refused', status: 400 }, 1],
    ['404', [{ status: 404 }, units5], { kind: 'refused', status: 404 }, 1],
    ['421', [{ status: 421 }, units5], { kind: 'refused', status: 421 }, 1],
    [
      '429 with Retry-After 10^9',
      [{ status: 429, headers: { 'retry-after': '1000000000' } }, units5],
      { kind: 'refused', status: 429 },
      1,
    ],
    [
      '302 to itself',
      [{ status: 302, headers: { location: '/v3/on-demand/alpha/estimate' } }, units5],
      { kind: 'refused', status: 302 },
      1,
    ],
    ['304', [{ status: 304 }, units5], { kind: 'refused', status: 304 }, 1],
    ['no answer', [{ kind: 'hang' }, units5], { kind: 'unreachable', reason: deadline, status: null }, 1],
    [
      'headers and no body',
      [{ kind: 'hang-in-body' }, units5],
      { kind: 'unreachable', reason: deadline, status: 200 },
      1,
    ],
    [
      'one byte at a time',
      [{ kind: 'byte-by-byte', body: '{"keyword_units":5}', everyMs: 5_000 }, units5],
      { kind: 'unreachable', reason: deadline, status: 200 },
      1,
    ],
    [
      '500, then no answer within the one deadline',
      [{ status: 500 }, { kind: 'hang' }],
      { kind: 'unreachable', reason: deadline, status: null },
      2,
    ],
    [
      'no HTTP',
      [{ kind: 'raw', bytes: '220 ready\r\n' }, units5],
      { kind: 'unreachable', reason: 'the answer is not HTTP', status: null },
      1,
    ],
    [
      '101',
      [{ kind: 'raw', bytes: 'HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: y\r\n\r\n' }, units5],
      { kind: 'unreachable', reason: 'the service switched protocols', status: 101 },
      1,
    ],
    [
      'HTML on 200',
      [{ headers: { 'content-type': 'text/html' }, body: '<html>5' }],
      { kind: 'unreadable', reason: 'not JSON', shape: 'text/html, 7 bytes' },
      1,
    ],
    [
      '204',
      [{ status: 204 }],
      { kind: 'unreadable', reason: 'the body is empty', shape: 'application/json, 0 bytes' },
      1,
    ],
    ['gzip', [{ headers: { 'content-encoding': 'gzip' }, body: gzipSync('5') }], { kind: 'units', units: 5 }, 1],
    [
      'bad UTF-8',
      [{ body: Buffer.from([0x22, 0xff, 0x22]) }],
      { kind: 'unreadable', reason: 'the body is not UTF-8' },
      1,
    ],
    ['byte order mark', [{ body: '\ufeff{"units":5}' }], { kind: 'units', units: 5 }, 1],
    [
      '−1',
      [{ body: '{"units":-1}' }],
      { kind: 'unreadable', reason: 'units is not a non-negative integer', shape: '{"units": number}' },
      1,
    ],
    [
      'units twice',
      [{ body: '{"units":5,"units":6}' }],
      { kind: 'unreadable', reason: 'the same name twice in one object' },
      1,
    ],
    ['our token as a name', [{ body: `{"${token}":1}` }], { kind: 'unreadable', shape: '{"[redacted]": number}' }, 1],
    [
      'endless body',
      [{ kind: 'endless' }, units5],
      { kind: 'unreadable', reason: 'the answer is larger than 1048576 bytes', shape: 'more than 1048576 bytes' },
      1,
    ],
  ])('estimate: %s', async (_name, answers, reading, requests) => {
    const service = await startService()
    service.script('/on-demand/alpha/estimate', ...answers)
    const act = () => clientOf(service.baseUrl).estimate(alpha)
    expect(await (answers.some(isSlow) ? tooLate(act, service) : act())).toMatchObject(reading)
    expect(service.requests).toHaveLength(requests)
  })

  it('estimate: connection refused is unreachable', async () => {
    const reading = await clientOf(await deadBaseUrl()).estimate(alpha)
    expect(reading).toEqual({ kind: 'unreachable', reason: 'connection refused', status: null })
  })

  it('estimate: the configured pointer names the units', async () => {
    const service = await startService()
    service.script('', { body: '{"need":7,"units":9}' })
    const tracking = clientOf(service.baseUrl, { pointers: { estimate: { ranking: '/need' }, run: {} } })
    expect(await tracking.estimate(alpha)).toEqual({
      kind: 'units',
      units: 7,
      source: '/need',
      place: '/need',
      sentAt: expect.any(Number),
    })
    const other = targetOf('keyword-difficulty', 'alpha')
    expect(await tracking.estimate(other)).toEqual({
      kind: 'units',
      units: 9,
      source: 'units',
      place: '/units',
      sentAt: expect.any(Number),
    })
  })

  it('estimate: after a 401 the request is sent once more with a renewed token', async () => {
    const service = await startService()
    service.script('', { status: 401 }, units5)
    const tracking = clientOf(service.baseUrl, { tokens: ['old', 'new'] })
    expect(await tracking.estimate(alpha)).toMatchObject({ kind: 'units' })
    expect(service.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new'])
    expect(tracking.refused).toEqual(['old'])
  })

  it('estimate: after a 401 with an unchanged token the request is not repeated', async () => {
    const service = await startService()
    service.script('', { status: 401 }, units5)
    const tracking = clientOf(service.baseUrl)
    expect(await tracking.estimate(alpha)).toEqual({ kind: 'refused', status: 401 })
    expect(service.requests).toHaveLength(1)
    expect(tracking.refused).toEqual([token])
  })

  it.each<[name: string, second: Answer, reading: object]>([
    ['401', { status: 401 }, { kind: 'refused', status: 401 }],
    ['500', { status: 500 }, { kind: 'unreachable', status: 500 }],
    ['reset', { kind: 'reset' }, { kind: 'unreachable', status: null }],
  ])('estimate: 401, then %s with the renewed token, two requests', async (_name, second, reading) => {
    const service = await startService()
    service.script('', { status: 401 }, second, units5)
    const tracking = clientOf(service.baseUrl, { tokens: ['old', 'new'] })
    expect(await tracking.estimate(alpha)).toMatchObject(reading)
    expect(service.requests).toHaveLength(2)
    expect(tracking.refused).toEqual(['old'])
  })

  it('estimate: a token that is renewed after the deadline is not sent', async () => {
    const service = await startService()
    service.script('', { status: 401 }, units5)
    const reread = vi.fn(() => new Promise<string>((resolve) => setTimeout(resolve, deadlineMs, 'new')))
    const tracking = clientOf(service.baseUrl, { token: { read: async () => token, reread } })
    const isThere = () => reread.mock.calls.length > 0
    const reading = await pastDeadline(() => tracking.estimate(alpha), { deadlineMs, isThere })
    expect(reading).toMatchObject({ kind: 'unreachable', status: null })
    expect(service.requests).toHaveLength(1)
  })

  it('estimate: nothing is sent without a token', async () => {
    const service = await startService()
    const unavailable = async () => {
      throw new Error('no secret')
    }
    const tracking = clientOf(service.baseUrl, { token: { read: unavailable, reread: unavailable } })
    await expect(tracking.estimate(alpha)).rejects.toThrow('no secret')
    expect(service.openConnections()).toBe(0)
  })

  it('estimate: a kept connection that the service closed fails no estimate', async () => {
    const service = await startService()
    service.script('', units5)
    const tracking = clientOf(service.baseUrl)
    await tracking.estimate(alpha)
    service.dropIdleConnections()
    expect(await tracking.estimate(targetOf('ranking', 'beta'))).toMatchObject({ kind: 'units' })
  })

  it('estimate: kept connections that all died while the process was frozen fail no estimate', async () => {
    const service = await startService()
    service.script('', { ...units5, delayMs: 20 })
    const tracking = clientOf(service.baseUrl)
    await Promise.all(['one', 'two', 'three', 'four'].map((name) => tracking.estimate(targetOf('ranking', name))))
    expect(service.openConnections()).toBe(4)
    service.script(({ connection }) => connection <= 4, { kind: 'reset' })
    expect(await tracking.estimate(alpha)).toMatchObject({ kind: 'units' })
    expect(service.requests.slice(4).map(({ connection }) => connection <= 4)).toEqual([true, false])
  })
})

describe('shared estimates', () => {
  it('estimate: delivered twice: equal estimates at the same time are one request', async () => {
    const service = await startService()
    service.script('', { ...units5, delayMs: 10 })
    const tracking = clientOf(service.baseUrl)
    const readings = await Promise.all([1, 2, 3].map(() => tracking.estimate(targetOf('ranking', 'alpha'))))
    expect(readings).toEqual(
      Array(3).fill({
        kind: 'units',
        units: 5,
        source: 'keyword_units',
        place: '/keyword_units',
        sentAt: expect.any(Number),
      }),
    )
    expect(service.requests).toHaveLength(1)
  })

  it('estimate: another kind, project or query is another request', async () => {
    const service = await startService()
    service.script('', units5)
    const tracking = clientOf(service.baseUrl)
    await tracking.estimate(alpha)
    await tracking.estimate(targetOf('ranking', 'beta'))
    await tracking.estimate(targetOf('keyword-difficulty', 'alpha'))
    await tracking.estimate(targetOf('ranking', 'alpha', { a: 'b' }))
    expect(service.requests).toHaveLength(4)
  })

  it('estimate: an estimate after the first answer is a new request', async () => {
    const service = await startService()
    service.script('', units5, { body: '{"keyword_units":500}' })
    const tracking = clientOf(service.baseUrl)
    expect(await tracking.estimate(alpha)).toMatchObject({ units: 5 })
    expect(await tracking.estimate(alpha)).toMatchObject({ units: 500 })
  })

  it('estimate: an estimate after the first was sent joins neither the first nor its repetition', async () => {
    const service = await startService()
    const arrived = gate()
    const asked = gate()
    service.script(
      (request) => {
        if (service.requests.length === 1) arrived.open()
        return request.url.endsWith('/alpha/estimate')
      },
      { status: 500, once: asked.opened },
      units5,
    )
    const tracking = clientOf(service.baseUrl)
    const first = [tracking.estimate(alpha), tracking.estimate(alpha)]
    await arrived.opened
    const later = tracking.estimate(alpha)
    asked.open()
    expect(await Promise.all([...first, later])).toEqual(
      Array(3).fill({
        kind: 'units',
        units: 5,
        source: 'keyword_units',
        place: '/keyword_units',
        sentAt: expect.any(Number),
      }),
    )
    expect(service.requests).toHaveLength(3)
  })

  it('estimate: an estimate joins an estimate that still waits for a connection', async () => {
    const service = await startService()
    const full = gate()
    service.script('', { ...units5, once: full.opened })
    const tracking = clientOf(service.baseUrl)
    const others = Array.from({ length: 16 }, (_, index) => tracking.estimate(targetOf('ranking', `other ${index}`)))
    const first = tracking.estimate(alpha)
    await vi.waitFor(() => expect(service.requests).toHaveLength(16))
    const later = tracking.estimate(alpha)
    full.open()
    await Promise.all([...others, first, later])
    expect(service.requests).toHaveLength(17)
  })

  it('estimate: a token that cannot be read fails all joined estimates, and the next estimate reads it again', async () => {
    const service = await startService()
    service.script('', units5)
    let reads = 0
    const read = async () => {
      if (++reads === 1) throw new Error('no secret')
      return token
    }
    const tracking = clientOf(service.baseUrl, { token: { read, reread: read } })
    const joined = await Promise.allSettled([tracking.estimate(alpha), tracking.estimate(alpha)])
    expect(joined.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await tracking.estimate(alpha)).toMatchObject({ kind: 'units' })
    expect(reads).toBe(2)
  })
})

describe('dates', () => {
  it.each<[name: string, answers: [Answer, ...Answer[]], reading: object, requests: number]>([
    ['read', [{ body: '["2026-11-01"]' }], { kind: 'dates', dates: ['2026-11-01'] }, 1],
    ['500, then read', [{ status: 500 }, { body: '[]' }], { kind: 'dates', dates: [] }, 2],
    ['404', [{ status: 404 }], { kind: 'unreadable', reason: 'answered with status 404' }, 1],
    ['no answer', [{ kind: 'hang' }], { kind: 'unreadable', reason: 'no whole answer before the deadline' }, 1],
  ])('dates: %s', async (_name, answers, reading, requests) => {
    const service = await startService()
    service.script('/projects/alpha/dates', ...answers)
    const act = () => clientOf(service.baseUrl).dates(alpha)
    expect(await (answers.some(isSlow) ? tooLate(act, service) : act())).toEqual(reading)
    expect(service.requests).toHaveLength(requests)
  })
})
