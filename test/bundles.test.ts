import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bundle } from '../infra/bundle.ts'

/** An event of a function URL, payload format 2.0, as AWS sends it. */
const event = (method: string, rawPath: string, headers: Record<string, string> = {}, body?: string) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath,
  rawQueryString: '',
  headers: { host: 'abc.lambda-url.eu-central-1.on.aws', ...headers },
  requestContext: {
    accountId: 'anonymous',
    apiId: 'abc',
    domainName: 'abc.lambda-url.eu-central-1.on.aws',
    domainPrefix: 'abc',
    http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
    requestId: 'e1506fd5-9e7b-434f-bd42-4f8fa224b599',
    routeKey: '$default',
    stage: '$default',
    time: '20/Nov/2026:10:00:00 +0000',
    timeEpoch: 1795168800000,
  },
  ...(body !== undefined && { body: Buffer.from(body).toString('base64') }),
  isBase64Encoded: body !== undefined,
})

describe('the api function, as it is deployed', () => {
  let folder: string
  let handler: (
    event: unknown,
    context: unknown,
  ) => Promise<{ statusCode: number; body: string; headers: Record<string, string>; cookies?: string[] }>
  const context = { getRemainingTimeInMillis: () => 100_000 }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
    const outfile = join(folder, 'api.mjs')
    await bundle({ entry: 'functions/api/handler.ts', outfile })
    vi.stubEnv('TABLE_NAME', 'unit-guard')
    vi.stubEnv('ACCOUNT_UNITS_PER_MONTH', '50000')
    vi.stubEnv('TRACKING_BASE_URL', 'https://service.invalid/v3')
    vi.stubEnv('SECRETS_ENDPOINT', 'http://127.0.0.1:9')
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    handler = (await import(pathToFileURL(outfile).href)).handler
  })

  afterAll(async () => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
    await rm(folder, { recursive: true })
  })

  test('answers /health', async () => {
    const { statusCode, body } = await handler(event('GET', '/health'), context)
    expect(statusCode).toBe(200)
    expect(JSON.parse(body)).toEqual({ status: 'ok' })
  })

  test('refuses a request without a token, body and all', async () => {
    const body = '{"kind":"ranking","project":"café"}'
    const answer = await handler(event('POST', '/updates', { 'content-type': 'application/json' }, body), context)
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['content-type']).toBe('application/problem+json')
  })

  test('shows pages, with https', async () => {
    const { statusCode, body, headers } = await handler(event('GET', '/login'), context)
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
    expect(body).toContain('<h1>Log in</h1>')
  })

  test('gets cookies, and a form that a page of its own has sent', async () => {
    const withCookie = { ...event('GET', '/'), cookies: ['other=1', '__Host-unit-guard=YQ.YQ.YQ'] }
    expect((await handler(event('GET', '/'), context)).headers.location).toBe('/login')
    expect((await handler(withCookie, context)).statusCode).toBe(503)
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
    const origin = 'https://abc.lambda-url.eu-central-1.on.aws'
    const sent = await handler(event('POST', '/login', { ...form, origin }, 'code=x'), context)
    expect([sent.statusCode, sent.cookies ?? []]).toEqual([401, []])
    const foreign = await handler(
      event('POST', '/login', { ...form, origin: 'https://evil.example' }, 'code=x'),
      context,
    )
    expect(foreign.statusCode).toBe(403)
  })

  test('fails closed while the secret cannot be read', async () => {
    const answer = await handler(event('GET', '/budgets', { authorization: 'Bearer YQ.YQ.YQ' }), context)
    expect(answer.statusCode).toBe(503)
    expect(JSON.parse(answer.body)).toMatchObject({ type: '/problems/secret-unavailable' })
  })
})
