import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '../../shared/platform/log.ts'
import { createSecret, SecretUnavailable } from '../../shared/platform/secrets.ts'
import { createTestClock, minutes } from '../support/clock.ts'

type Reply = string | { readonly status: number; readonly body: string } | 'hang' | 'reset'
const fault = (type: string, status = 400): Reply => ({ status, body: JSON.stringify({ __type: type, message: 'no' }) })
const absent = fault('ResourceNotFoundException')
const throttled = fault('ThrottlingException')

/** One secret behind a real socket, with two stages that answer as the test says. */
async function start(options: { current?: Reply; previous?: Reply; keepsPrevious?: boolean } = {}) {
  const stages: Record<string, Reply> = {
    AWSCURRENT: options.current ?? 'the-first-value',
    AWSPREVIOUS: options.previous ?? absent,
  }
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { SecretId, VersionStage } = JSON.parse(body)
    asked.push(`${SecretId} ${VersionStage}`)
    give(response, stages[VersionStage] ?? absent)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const client = new SecretsManagerClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })
  const clock = createTestClock()
  const lines: string[] = []
  const log = createLog({ write: (line) => lines.push(line), now: clock.now })
  const keepsPrevious = options.keepsPrevious ?? false
  return {
    secret: createSecret({ client, id: 'a/secret', keepsPrevious, clock, log }),
    stages,
    asked,
    clock,
    log,
    lines,
  }
}

function give(response: ServerResponse, reply: Reply): void {
  response.setHeader('content-type', 'application/x-amz-json-1.1')
  if (reply === 'hang') return
  if (reply === 'reset') response.destroy()
  else if (typeof reply === 'string') response.end(JSON.stringify({ Name: 'a/secret', SecretString: reply }))
  else response.writeHead(reply.status).end(reply.body)
}

describe('the reading of a secret', () => {
  test('a secret is read at its first use, and cached for five minutes', async () => {
    const { secret, stages, asked, clock } = await start()
    expect(asked).toEqual([])
    expect(await secret.read()).toEqual({ current: 'the-first-value', previous: null })
    stages.AWSCURRENT = 'the-second-value'
    clock.advance(minutes(5) - 1)
    expect((await secret.read()).current).toBe('the-first-value')
    expect(asked).toEqual(['a/secret AWSCURRENT'])
    clock.advance(1)
    expect((await secret.read()).current).toBe('the-second-value')
    expect(asked).toEqual(['a/secret AWSCURRENT', 'a/secret AWSCURRENT'])
  })

  test('secret: delivered twice: one request reads the secret for all callers', async () => {
    const { secret, asked, clock } = await start()
    const flood = () =>
      Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? secret.read() : secret.reread())))
    await flood()
    expect(asked).toHaveLength(1)
    clock.advance(minutes(5))
    await flood()
    expect(asked).toHaveLength(2)
  })

  test('a secret is reread once for all callers that were refused together, and no caller gets the old value', async () => {
    const { secret, stages, asked, clock } = await start()
    await secret.read()
    stages.AWSCURRENT = 'the-second-value'
    clock.advance(minutes(1))
    const values = await Promise.all([secret.reread(), secret.reread(), secret.reread()])
    expect(values.map(({ current }) => current)).toEqual(Array.from({ length: 3 }, () => 'the-second-value'))
    expect(asked).toHaveLength(2)
  })

  test('a secret is reread on demand at most once in ten seconds', async () => {
    const { secret, stages, asked, clock } = await start()
    await secret.read()
    stages.AWSCURRENT = 'the-second-value'
    clock.advance(9_999)
    expect((await secret.reread()).current).toBe('the-first-value')
    clock.advance(1)
    expect((await secret.reread()).current).toBe('the-second-value')
    expect((await secret.reread()).current).toBe('the-second-value')
    expect((await secret.read()).current).toBe('the-second-value')
    expect(asked).toHaveLength(2)
  })

  test('a secret is hidden in the log after it has been read', async () => {
    const { secret, log, lines } = await start({ previous: 'the-value-before', keepsPrevious: true })
    await secret.read()
    log.info('x', { said: 'the-first-value and the-value-before' })
    expect(lines.map((line) => JSON.parse(line).said)).toEqual(['[redacted] and [redacted]'])
  })
})

describe('the previous value of a secret', () => {
  test('the previous value of a secret is read if there is one', async () => {
    const { secret, asked } = await start({ previous: 'the-value-before', keepsPrevious: true })
    expect(await secret.read()).toEqual({ current: 'the-first-value', previous: 'the-value-before' })
    expect(asked).toEqual(['a/secret AWSCURRENT', 'a/secret AWSPREVIOUS'])
  })

  test.each<[string, Reply]>([
    ['absent, because it was never rotated', absent],
    ['refused', throttled],
    ['empty', ''],
  ])('the previous value of a secret is null if it is %s', async (_name, previous) => {
    const { secret } = await start({ previous, keepsPrevious: true })
    expect(await secret.read()).toEqual({ current: 'the-first-value', previous: null })
  })

  test.each<[string, Reply]>([
    ['throttled', throttled],
    ['reset', 'reset'],
    ['an error of theirs', fault('InternalServiceError', 500)],
  ])('the previous value of a secret is kept if one reading of it is %s', async (_name, reply) => {
    const { secret, stages, clock } = await start({ previous: 'the-value-before', keepsPrevious: true })
    await secret.read()
    stages.AWSPREVIOUS = reply
    clock.advance(minutes(5))
    expect(await secret.read()).toEqual({ current: 'the-first-value', previous: 'the-value-before' })
    stages.AWSCURRENT = 'the-second-value'
    clock.advance(minutes(5))
    expect(await secret.read()).toEqual({ current: 'the-second-value', previous: 'the-first-value' })
  })

  test('the previous value of a secret is forgotten after it is gone', async () => {
    const { secret, stages, clock } = await start({ previous: 'the-value-before', keepsPrevious: true })
    await secret.read()
    stages.AWSPREVIOUS = absent
    clock.advance(minutes(5))
    expect(await secret.read()).toEqual({ current: 'the-first-value', previous: null })
  })
})

describe('a secret that cannot be read', () => {
  const faults: [string, Reply][] = [
    ['absent', absent],
    ['refused', fault('AccessDeniedException')],
    ['throttled', throttled],
    ['an error of theirs', fault('InternalServiceError', 500)],
    ['HTML', { status: 200, body: '<html>the-broken-value' }],
    ['without a value', { status: 200, body: '{"Name":"a/secret"}' }],
    ['only binary', { status: 200, body: '{"Name":"a/secret","SecretBinary":"dGhlLWJyb2tlbi12YWx1ZQ=="}' }],
    ['reset', 'reset'],
    ['empty', ''],
    ['with a space', 'the broken-value'],
    ['with a line break at its end', 'the-broken-value\n'],
    ['beyond ASCII', 'the-brökén-value'],
    ['with NUL', 'the-broken-value\u0000'],
  ]

  test.each(faults)('%s: error and log name the secret, and the next caller tries again', async (_name, reply) => {
    const { secret, stages, asked, lines } = await start({ current: reply })
    const error = await secret.read().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SecretUnavailable)
    expect(error).toMatchObject({ message: 'the secret a/secret could not be read', secret: 'a/secret' })
    await expect(secret.reread()).rejects.toThrow(SecretUnavailable)
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'error', event: 'secret-unavailable', secret: 'a/secret' }),
      expect.objectContaining({ level: 'error', event: 'secret-unavailable', secret: 'a/secret' }),
    ])
    expect(lines.join('\n')).not.toMatch(/br[oö]k[eé]n-value/)
    stages.AWSCURRENT = 'the-first-value'
    expect((await secret.read()).current).toBe('the-first-value')
    expect(asked).toHaveLength(3)
  })

  test.each(faults)('%s: a cached secret is still used, and read again every ten seconds', async (_name, reply) => {
    const { secret, stages, asked, clock, lines } = await start()
    await secret.read()
    stages.AWSCURRENT = reply
    clock.advance(minutes(60))
    for (let second = 0; second < 20; second++) {
      expect((await secret.read()).current).toBe('the-first-value')
      expect((await secret.reread()).current).toBe('the-first-value')
      clock.advance(1_000)
    }
    expect(asked).toHaveLength(3)
    expect(lines).toHaveLength(2)
    stages.AWSCURRENT = 'the-second-value'
    clock.advance(10_000)
    expect((await secret.read()).current).toBe('the-second-value')
  })

  test('secret: slow: the reading is given up after three seconds without an answer', async () => {
    const [fresh, known] = [await start({ current: 'hang' }), await start()]
    await known.secret.read()
    known.stages.AWSCURRENT = 'hang'
    known.clock.advance(minutes(5))
    const deadline = vi.spyOn(AbortSignal, 'timeout')
    onTestFinished(() => deadline.mockRestore())
    const [never, served] = await Promise.all([fresh.secret.read().catch((error) => error), known.secret.read()])
    expect(deadline.mock.calls).toEqual([[3_000], [3_000]])
    expect(never).toBeInstanceOf(SecretUnavailable)
    expect(served.current).toBe('the-first-value')
  })
})
