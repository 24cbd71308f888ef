import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { bundle } from '../../infra/bundle.ts'
import { dynamodb } from '../support/dynamodb/endpoint.ts'
import { createSandboxTableForTest } from '../support/sandbox.ts'
import { startTestSecrets } from '../support/secrets.ts'

type Handler = (event: object, response: PassThrough, context: object) => Promise<void>

/** Does what the runtime of a streaming function does: passes on the head separately, and the body as it comes. */
const awslambda = {
  streamifyResponse: (handler: Handler) => handler,
  HttpResponseStream: {
    from: (response: PassThrough, head: object) => Object.assign(response, { head }),
  },
}

describe.skipIf(inject('dynamodb') === null)('the sandbox function as it is deployed', () => {
  let folder: string
  let handler: Handler
  let closeSecrets: () => Promise<unknown>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
    await bundle({ entry: 'functions/sandbox/handler.ts', into: folder })
    const secrets = await startTestSecrets({ 'unit-guard/service-token': 'the-service-token' })
    closeSecrets = () => secrets.close()
    vi.stubEnv('SECRETS_ENDPOINT', secrets.endpoint)
    vi.stubEnv('DYNAMODB_ENDPOINT', await dynamodb())
    vi.stubEnv('SANDBOX_TABLE', await createSandboxTableForTest())
    // daily.example reserves 25 units for each day of a month.
    vi.stubEnv('SANDBOX_UNITS_PER_MONTH', '1475')
    vi.stubGlobal('awslambda', awslambda)
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    handler = (await import(pathToFileURL(join(folder, 'index.mjs')).href)).handler
  })

  afterAll(async () => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
    vi.unstubAllEnvs()
    await closeSecrets()
    await rm(folder, { recursive: true })
  })

  async function call(rawPath: string, token = 'the-service-token') {
    const response: PassThrough & { head?: { statusCode: number } } = new PassThrough()
    const body = text(response)
    const domainName = 'abc.lambda-url.eu-central-1.on.aws'
    const event = {
      version: '2.0',
      rawPath,
      rawQueryString: '',
      headers: { host: domainName, authorization: `Bearer ${token}` },
      requestContext: { domainName, http: { method: 'GET', path: rawPath } },
      isBase64Encoded: false,
    }
    await handler(event, response, {})
    return { status: response.head?.statusCode, body: JSON.parse(await body) }
  }

  test('the sandbox function accepts the token of the guard’s own secret', async () => {
    expect((await call('/v3/projects', 'another')).status).toBe(401)
    expect((await call('/v3/projects')).body.projects).toHaveLength(5)
  })

  test('the sandbox function has the given account, and streams', async () => {
    expect((await call('/v3/on-demand/caf%C3%A9%20%26%20co%2Fparis/run')).body.data.keyword_units).toBe(12)
    expect((await call('/v3/on-demand/globex/run')).status).toBe(200)
    expect((await call('/v3/on-demand/globex/run')).status).toBe(402)
    expect((await call('/v3/projects/globex/export-rankings')).body).toHaveLength(160 * 4 * 3)
  })
})
