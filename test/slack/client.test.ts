import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '../../shared/platform/log.ts'
import { createSlackClient } from '../../shared/slack/tell/client.ts'
import { createTestClock } from '../support/clock.ts'
import { arrival, patienceMs } from '../support/patience.ts'

const path = '/services/T0001/B0002/abcdefghijklmnop'
const message = { text: 'Grüße & <Küsse>', blocks: [] }

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A receiver on this machine with the given answers, and a client that writes to it. */
async function start(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  { timeoutMs = patienceMs } = {},
) {
  const received: { method: string; url: string; type: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url = '', headers } = request
    received.push({ method, url, type: headers['content-type'] ?? '', body: Buffer.concat(chunks).toString() })
    answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  closers.push(close)
  const { port } = server.address() as AddressInfo
  const base = `http://127.0.0.1:${port}`
  return { ...client({ timeoutMs, apiUrl: `${base}/api` }), received, close, url: `${base}${path}` }
}

function client({ timeoutMs = patienceMs, allowLoopback = true, apiUrl = '' } = {}) {
  const lines: string[] = []
  const log = createLog({ write: (line) => lines.push(line), now: () => 0 })
  return { ...createSlackClient({ clock: createTestClock(), log, timeoutMs, allowLoopback, apiUrl }), lines, log }
}

const status =
  (code: number, body = '', headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(code, headers).end(body)

test('a message is one POST of JSON', async () => {
  const { send, url, received } = await start(status(200, 'ok'))
  expect(await send(url, message)).toEqual({ kind: 'sent' })
  expect(received).toEqual([
    { method: 'POST', url: path, type: 'application/json; charset=utf-8', body: JSON.stringify(message) },
  ])
})

describe('the outcome of a message', () => {
  const again = (reason: string, afterMs = 60_000) => ({ kind: 'try-again', afterMs, reason })
  const refused = (code: number, reason: string) => ({ kind: 'refused', status: code, reason })

  const tooMany = (retryAfter: string, body = '') => status(429, body, { 'retry-after': retryAfter })

  test.each<[string, ReturnType<typeof status>, object]>([
    ['200', status(200, 'ok'), { kind: 'sent' }],
    ['200 with anything', status(200, '<html>'), { kind: 'sent' }],
    ['204', status(204), { kind: 'sent' }],
    ['429 with seconds', tooMany('7', 'rate_limited'), again('rate_limited', 7_000)],
    ['429 without', status(429, 'rate_limited'), again('rate_limited')],
    ['429 with 0', tooMany('0'), again('status 429', 1_000)],
    ['429 with 10⁹', tooMany('1000000000'), again('status 429', 3600_000)],
    ['429 with 400 digits', tooMany('9'.repeat(400)), again('status 429', 3600_000)],
    ['429 with nonsense', tooMany('soon'), again('status 429')],
    ['429 with minus', tooMany('-5'), again('status 429')],
    ['429 with a date', tooMany('Fri, 20 Nov 2026 10:00:30 GMT'), again('status 429', 30_000)],
    ['429 with a date of the past', tooMany('Fri, 20 Nov 2020 10:00:30 GMT'), again('status 429', 1_000)],
    ['500', status(500, 'rollup_error'), again('rollup_error')],
    ['503', status(503), again('status 503')],
    ['400', status(400, 'invalid_blocks'), refused(400, 'invalid_blocks')],
    ['403', status(403, 'action_prohibited\n'), refused(403, 'action_prohibited')],
    ['404', status(404, 'no_service'), refused(404, 'no_service')],
    ['410', status(410, 'channel_is_archived'), refused(410, 'channel_is_archived')],
    [
      '404 expired',
      status(404, '{"ok":false,"error":"expired_url"}'),
      refused(404, '{"ok":false,"error":"expired_url"}'),
    ],
    [
      'long and odd',
      status(400, `a\u0000\u001b[31m${'ü'.repeat(50)}${'b'.repeat(5_000)}`),
      refused(400, `a [31m ${'b'.repeat(92)}…`),
    ],
    ['302', status(302, '', { location: 'http://127.0.0.1:1/elsewhere' }), refused(302, 'status 302')],
    ['308', status(308, '', { location: path }), refused(308, 'status 308')],
    ['304', status(304), refused(304, 'status 304')],
  ])('the status of Slack’s answer decides the outcome of a message: %s', async (_name, answer, expected) => {
    const { send, url, received } = await start(answer)
    expect(await send(url, message)).toEqual(expected)
    expect(received).toHaveLength(1)
  })
})

describe('a connection to Slack that fails', () => {
  /** Passes the client's deadline when the test says so, even on a busy machine. */
  function givenUp() {
    const controller = new AbortController()
    const asked: number[] = []
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      asked.push(ms)
      return controller.signal
    })
    onTestFinished(() => spy.mockRestore())
    return { timeout: () => controller.abort(new DOMException('too late', 'TimeoutError')), asked }
  }

  test('the client does not wait for an answer that never comes', async () => {
    const { timeout, asked } = givenUp()
    const { send, url, received } = await start(timeout)
    const expected = { kind: 'try-again', afterMs: 60_000, reason: 'no answer within 60 s' }
    expect(await send(url, message)).toEqual(expected)
    expect([received.length, asked]).toEqual([1, [60_000]])
  })

  test('an endless body does not change the outcome that its status decides', async () => {
    const refused = await start((response) => response.writeHead(400).write('x'.repeat(100_000)))
    expect(await refused.send(refused.url, message)).toMatchObject({ kind: 'refused', status: 400 })
    const { timeout } = givenUp()
    const sent = await start((response) => response.writeHead(200).write('o', () => void arrival().then(timeout)))
    expect(await sent.send(sent.url, message)).toEqual({ kind: 'sent' })
  })

  test('a message is repeated after a connection that broke', async () => {
    const { send, url } = await start((response) => response.socket?.destroy())
    expect(await send(url, message)).toMatchObject({ kind: 'try-again', afterMs: 60_000 })
  })

  test('a message is repeated after a refused connection', async () => {
    const { send, url, close } = await start(status(200))
    await close()
    const expected = { kind: 'try-again', afterMs: 60_000, reason: 'connection failed (ECONNREFUSED)' }
    expect(await send(url, message)).toEqual(expected)
  })
})

describe('the address of messages', () => {
  const refused = { kind: 'refused', status: null, reason: 'the address is not one of Slack' }

  test.each([
    '',
    'hooks.slack.com/services/x',
    'http://hooks.slack.com/services/x',
    'https://hooks.slack.com.evil.example/services/x',
    'https://hooks.slack.com:8443/services/x',
    'https://hooks.slack.com@evil.example/services/x',
    'https://evil.example/hooks.slack.com',
    'https://evil.example#hooks.slack.com',
    'https://user:pass@hooks.slack.com/services/x',
    'https://slack.com/services/x',
    'https://sub.hooks.slack.com/services/x',
    'https://hooks.slack.com./services/x',
    'https://127.0.0.1/x',
    'http://127.0.0.2/x',
    'http://169.254.169.254/latest/meta-data',
    'http://localhost.evil.example/x',
    'http://[::ffff:127.0.0.1]/x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    `https://hooks.slack.com/${'x'.repeat(1_000)}`,
  ])('the address %s is refused for messages', async (url) => {
    expect(await client().send(url, message)).toEqual(refused)
  })

  test('messages go to this machine only if that is allowed', async () => {
    const { url, received } = await start(status(200))
    expect(await client({ allowLoopback: false }).send(url, message)).toEqual(refused)
    expect(received).toEqual([])
    expect(await client().send(url.replace('127.0.0.1', 'localhost'), message)).toEqual({ kind: 'sent' })
  })
})

describe('the secrecy of the address', () => {
  const leaky: [string, Parameters<typeof start>[0]][] = [
    ['an answer with the address', (response, request) => response.writeHead(400).end(`no ${request.url} here`)],
    ['an answer that ends in it', (response, request) => response.writeHead(400).end('x'.repeat(90) + request.url)],
    ['a redirect to it', (response, request) => response.writeHead(302, { location: `${request.url}/x` }).end()],
    ['a broken connection', (response) => response.socket?.destroy()],
  ]

  test.each(leaky)('the address stays a secret after %s', async (_name, answer) => {
    const { send, url, lines, log } = await start(answer)
    const shown = [JSON.stringify(await send(url, message)), ...lines].join('\n')
    expect(lines).toHaveLength(1)
    expect(shown).not.toContain('services')
    expect(shown).not.toContain('abcdefgh')
    log.info('careless', { url, path })
    expect(lines.at(-1)).not.toContain('abcdefgh')
  })

  test('a refused address is not shown', async () => {
    const { send, lines } = client()
    const sent = await send('https://evil.example/services/abcdefghijklmnop', message)
    expect(JSON.stringify([sent, lines])).not.toMatch(/evil|abcdefgh/)
  })
})

describe('the secrecy of the bot token', () => {
  const token = 'xoxb-1234-abcdefghijklmnop'
  const saying = (code: number, text: (token: string) => string): Parameters<typeof start>[0] => {
    return (response, { headers }) => response.writeHead(code).end(text(headers.authorization?.split(' ')[1] ?? ''))
  }

  test.each<[string, Parameters<typeof start>[0]]>([
    ['an accepted message', saying(200, () => '{"ok":true}')],
    ['a refusal with the token', saying(200, (given) => JSON.stringify({ ok: false, error: `no ${given} here` }))],
    ['a status with the token', saying(400, (given) => `no ${given} here`)],
    ['a failure with the token', saying(500, (given) => `${'x'.repeat(90)}${given}`)],
    ['an answer that is not JSON', saying(200, (given) => given)],
    ['a broken connection', (response) => response.socket?.destroy()],
  ])('the bot token stays a secret after %s', async (_name, answer) => {
    const { call, lines, log, received } = await start(answer)
    const shown = [JSON.stringify(await call('chat.postMessage', token, message)), ...lines].join('\n')
    expect(received).toMatchObject([{ url: '/api/chat.postMessage' }])
    expect(lines).toHaveLength(1)
    expect(shown).not.toContain('abcdefgh')
    log.info('careless', { token, headers: { authorization: `Bearer ${token}` } })
    expect(lines.at(-1)).not.toContain('abcdefgh')
  })
})
