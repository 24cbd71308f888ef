import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CloudEvent } from '../../shared/events/event.ts'
import { createWebhookSender, type Network } from '../../shared/events/webhook.ts'
import { mustBeSigned, signingKey, startReceiver, targetAt } from '../support/receiver.ts'

const event: CloudEvent = {
  specversion: '1.0',
  id: 'upd_1-2',
  source: '/unit-guard/led_1',
  type: 'unit-guard.update.settled',
  time: '2026-11-20T10:00:00.000Z',
  subject: 'upd_1',
  datacontenttype: 'application/json',
  recordversion: 2,
  data: { project: 'zürich' },
}

const clock = { now: () => Date.parse('2026-11-20T10:00:00Z') }

interface How {
  readonly network?: Network
  readonly allowLoopback?: boolean
  readonly key?: string
  readonly withinMs?: number
}

async function send(url: string, { network, allowLoopback = true, key = signingKey, withinMs = 5_000 }: How = {}) {
  const read = async () => ({ current: key, previous: null })
  const secret = { read, reread: read }
  const parts = { secret, allowLoopback, clock, ...(network && { network }) }
  const target = targetAt(url)
  return createWebhookSender(target, parts).send(event, AbortSignal.timeout(withinMs))
}

const failedWith = (reason: string) => ({ kind: 'failed', reason })

describe('an event that is sent to a webhook', () => {
  test('an event arrives once, signed, as one POST of a CloudEvent', async () => {
    const receiver = await startReceiver()
    expect(await send(receiver.url)).toEqual({ kind: 'delivered' })
    expect(receiver.received).toHaveLength(1)
    const [received] = receiver.received
    if (!received) throw new Error('nothing came')
    expect(received.event).toEqual(event)
    expect(received).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'user-agent': 'unit-guard',
        'webhook-id': 'upd_1-2',
        'webhook-timestamp': '1795168800',
      },
    })
    mustBeSigned(received)
  })

  test.each([
    [500, { kind: 'failed', reason: 'status 500', status: 500 }],
    [404, { kind: 'failed', reason: 'status 404', status: 404 }],
    [410, { kind: 'gone', reason: 'status 410' }],
    [204, { kind: 'delivered' }],
  ])('an event answered with the status %i is delivered, failed or dead', async (status, result) => {
    const receiver = await startReceiver((response) => response.writeHead(status).end())
    expect(await send(receiver.url)).toEqual(result)
    expect(receiver.received).toHaveLength(1)
  })

  test.each([
    ['120', 120_000],
    ['Fri, 20 Nov 2026 10:05:00 GMT', 300_000],
    ['999999999', 3_600_000],
    ['soon', undefined],
  ])('an event waits as long as the target says, but at most an hour: Retry-After %s', async (header, afterMs) => {
    const receiver = await startReceiver((response) => response.writeHead(429, { 'retry-after': header }).end())
    expect(await send(receiver.url)).toEqual({ kind: 'failed', reason: 'status 429', status: 429, afterMs })
  })

  test.each([301, 302, 307, 308])(
    'an event follows no redirect with status %i, to a private address or another',
    async (status) => {
      const elsewhere = await startReceiver()
      for (const location of [elsewhere.url, 'http://169.254.169.254/latest/meta-data']) {
        const receiver = await startReceiver((response) => response.writeHead(status, { location }).end())
        const reason = `status ${status}: redirects are not followed`
        expect(await send(receiver.url)).toEqual({ kind: 'failed', reason, status })
      }
      expect(elsewhere.received).toEqual([])
    },
  )

  test('an event fails when no answer comes in time, and closes the connection', async () => {
    let isClosed = false
    const receiver = await startReceiver((response) => response.on('close', () => (isClosed = true)))
    expect(await send(receiver.url, { withinMs: 50 })).toEqual(failedWith('no answer in time'))
    await expect.poll(() => isClosed).toBe(true)
  })

  test('an event does not wait for the end of an endless answer', async () => {
    let isClosed = false
    const receiver = await startReceiver((response) => {
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1)
      response.on('close', () => {
        clearInterval(timer)
        isClosed = true
      })
    })
    expect(await send(receiver.url)).toEqual({ kind: 'delivered' })
    await expect.poll(() => isClosed).toBe(true)
  })

  test('an event fails when headers never end or the answer is not HTTP', async () => {
    const endless = await startReceiver((response) =>
      response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(50_000)}`),
    )
    expect(await send(endless.url)).toEqual(failedWith('connection failed (HPE_HEADER_OVERFLOW)'))
    const other = await startReceiver((response) => response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'))
    expect(await send(other.url)).toEqual(failedWith('connection failed (HPE_INVALID_CONSTANT)'))
  })

  test.each<[string, Parameters<typeof startReceiver>[0], object]>([
    ['before its answer', (response) => response.socket?.destroy(), failedWith('connection failed (ECONNRESET)')],
    [
      'in the middle of its head',
      (response) => response.socket?.end('HTTP/1.1 200 OK\r\ncontent-le'),
      failedWith('connection failed (ECONNRESET)'),
    ],
    // The status had arrived, so sending the event again would not help.
    [
      'in the middle of its body',
      (response) => response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
      { kind: 'delivered' },
    ],
  ])('an event is delivered only with a status: the target closes the connection %s', async (_when, handle, result) => {
    expect(await send((await startReceiver(handle)).url)).toEqual(result)
  })

  test('an event fails without naming the address if nothing listens', async () => {
    const { port } = await startReceiver()
    const url = `http://127.0.0.1:${port === 65_535 ? 1 : port + 1}/`
    expect(await send(url)).toEqual(failedWith('connection failed (ECONNREFUSED)'))
  })

  test('an event is not sent without a key', async () => {
    const receiver = await startReceiver()
    expect(await send(receiver.url, { key: 'not a key' })).toEqual(failedWith('the secret could not be read'))
    expect(receiver.received).toEqual([])
  })
})

describe('an address inside the network', () => {
  const resolvesTo = (...addresses: string[]): Network => ({
    resolve: (_name, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
  })

  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '172.16.0.1',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    'fd00::1',
    'fd00:ec2::254',
    'fe80::1',
  ])('an event is refused if the name of its target leads inside: %s', async (address) => {
    const receiver = await startReceiver()
    const url = `https://hooks.example:${receiver.port}/`
    const refused = failedWith('the name leads to a private address')
    expect(await send(url, { network: resolvesTo(address) })).toEqual(refused)
    expect(await send(url, { network: resolvesTo('93.184.215.14', address) })).toEqual(refused)
    expect(receiver.received).toEqual([])
  })

  test.each([
    'https://127.0.0.1',
    'http://127.0.0.1',
    'https://localhost',
    'https://[::1]',
    'https://2130706433',
    'http://hooks.example',
    'https://10.0.0.1',
    'https://[::ffff:7f00:1]',
    'https://169.254.169.254',
  ])('a target with the inside address %s in the file of a deployment is refused', async (origin) => {
    const receiver = await startReceiver()
    const result = await send(`${origin}:${receiver.port}/`, { allowLoopback: false })
    expect(result).toEqual(failedWith('the address is not a public one'))
    expect(receiver.received).toEqual([])
  })

  test('an event connects to the address that was checked, without a second query', async () => {
    const asked: string[] = []
    const network: Network = {
      resolve: (name, done) => {
        asked.push(name)
        // The name leads to an inside address from the second query on.
        done(null, [{ address: asked.length === 1 ? '192.0.0.1' : '127.0.0.1', family: 4 }])
      },
    }
    await send('https://hooks.example/', { network, withinMs: 50 })
    expect(asked).toEqual(['hooks.example'])
  })

  test('an event fails when the name of its target is not found', async () => {
    const missing = Object.assign(new Error('getaddrinfo ENOTFOUND hooks.example'), { code: 'ENOTFOUND' })
    const network: Network = { resolve: (_name, done) => done(missing, []) }
    expect(await send('https://hooks.example/', { network })).toEqual(failedWith('connection failed (ENOTFOUND)'))
  })
})

describe('a certificate', () => {
  const run = promisify(execFile)
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** The certificate is its own authority. */
  async function certify(name: string) {
    const [key, file] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)]
    await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      file,
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=DNS:${name}`,
    ])
    return { key: await readFile(key, 'utf8'), cert: await readFile(file, 'utf8') }
  }
  const resolve: Network['resolve'] = (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }])

  test('a certificate must name the host of the address and come from a known authority', async () => {
    const [own, other] = await Promise.all([certify('localhost'), certify('other.example')])
    const good = await startReceiver(undefined, own)
    const network = { resolve, ca: own.cert }
    expect(await send(`https://localhost:${good.port}/`, { network })).toEqual({ kind: 'delivered' })
    expect(await send(`https://localhost:${good.port}/`, { network: { resolve } })).toEqual(
      failedWith('connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)'),
    )
    const liar = await startReceiver(undefined, other)
    expect(await send(`https://localhost:${liar.port}/`, { network: { resolve, ca: other.cert } })).toEqual(
      failedWith('the certificate is for another name'),
    )
    expect([good.received.length, liar.received.length]).toEqual([1, 0])
  })
})
