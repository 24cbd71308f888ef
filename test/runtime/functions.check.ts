import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { bundleAll } from '../../infra/bundle.ts'
import { signCallerToken } from '../../infra/local/secrets.ts'
import { scopes } from '../../shared/platform/words.ts'
import { urlEvent } from '../support/infra/lambda.ts'
import { callerKey, json, serviceToken } from '../support/product.ts'
import { type Answer, type ScriptedService, startScriptedService } from '../support/scripted-service.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { createLocalTable } from '../support/store/stores.ts'
import { startRuntime } from './runtime-api.ts'

const megabyte = 1024 * 1024
const closings: (() => Promise<unknown>)[] = []
let service: ScriptedService
let runtime: Awaited<ReturnType<typeof startRuntime>>
let token: string

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  closings.push(() => rm(folder, { recursive: true }))
  const { folders } = await bundleAll({ into: folder })
  service = await startScriptedService({ fallback: () => json({ response_code: 0, data: { keyword_units: 40 } }) })
  closings.push(() => service.close())
  const secrets = await startTestSecrets({
    'unit-guard/service-token': serviceToken,
    'unit-guard/caller-key': callerKey,
  })
  closings.push(() => secrets.close())
  const { table } = await createLocalTable()
  runtime = await startRuntime({
    folder: folders.api,
    environment: {
      TABLE_NAME: table,
      DYNAMODB_ENDPOINT: inject('dynamodb') ?? '',
      SECRETS_ENDPOINT: secrets.endpoint,
      ACCOUNT_UNITS_PER_MONTH: '50000',
      TRACKING_BASE_URL: service.baseUrl,
    },
  })
  closings.push(() => runtime.stop())
  token = await signCallerToken({
    ...{ key: callerKey, sub: 'ada', scopes, budgets: '*' },
    ...{ now: Date.now(), lastsMs: 3_600_000 },
  })
})

afterAll(async () => {
  for (const close of closings.toReversed()) await close()
})

const call = (method: string, target: string, body?: object) =>
  runtime.invoke(
    urlEvent(method, target, {
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )

test('runs and settles an update on Node 24 under Lambda’s runtime client', async () => {
  const answer = await call('POST', '/updates', { kind: 'ranking', project: 'acme' })
  expect([answer.status, JSON.parse(answer.body).updates[0].state]).toEqual([201, 'settled'])
  expect(answer.errorType).toBeUndefined()
})

const head = (length: number) => `HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: ${length}\r\n\r\n`

test.each<[how: string, answer: Answer]>([
  ['closes after two megabytes of three', { kind: 'raw', bytes: head(3 * megabyte) + 'x'.repeat(2 * megabyte) }],
  [
    'ends in the middle of a chunk',
    {
      kind: 'raw',
      bytes: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n200000\r\n${'x'.repeat(megabyte)}`,
    },
  ],
  [
    'writes what is not a chunk',
    {
      kind: 'raw',
      bytes: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n100000\r\n${'x'.repeat(megabyte)}\r\nzz\r\n`,
    },
  ],
])('a service that %s breaks its answer, but the process serves the next request', async (_how, broken) => {
  service.script('/projects/acme/details', broken)
  const process = runtime.processId
  const answer = await call('GET', '/v3/projects/acme/details')
  expect(answer.status).toBe(200)
  expect(answer.body.length).toBeGreaterThan(0)
  expect(answer.errorType).toBe('Error')
  expect((await call('GET', '/budgets')).status).toBe(200)
  expect(runtime.processId).toBe(process)
  expect(runtime.output()).toContain('"event":"answer-broken"')
})

test('passes on a complete answer of three megabytes', async () => {
  service.script('/projects/acme/details', { body: 'x'.repeat(3 * megabyte) })
  const answer = await call('GET', '/v3/projects/acme/details')
  expect([answer.status, answer.body.length, answer.errorType]).toEqual([200, 3 * megabyte, undefined])
})

test('passes on the status and headers of an answer without a body', async () => {
  service.script('/projects/acme/details', { status: 204 })
  const answer = await call('GET', '/v3/projects/acme/details')
  expect([answer.status, answer.body]).toEqual([204, ''])
})
