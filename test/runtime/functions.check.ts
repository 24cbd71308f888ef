import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { signCallerToken } from '../../infra/local/secrets.ts'
import { scopes } from '../../shared/platform/words.ts'
import { dynamodb } from '../support/dynamodb/endpoint.ts'
import { urlEvent } from '../support/infra/lambda.ts'
import { callerKey, json, serviceToken } from '../support/product.ts'
import { quoteKey } from '../support/quote-key.ts'
import { type Answer, type ScriptedService, startScriptedService } from '../support/scripted-service.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { createLocalTable } from '../support/store/stores.ts'
import { type Environment, startEnvironment, whole } from './lambda/environment.ts'

const megabyte = 1024 * 1024
const closings: (() => Promise<unknown>)[] = []
let service: ScriptedService
let runtime: Environment
let agents: Environment
let token: string
let environment: Record<string, string>

beforeAll(async () => {
  const folderOf = (name: string) => join(inject('bundles'), name)
  service = await startScriptedService({ fallback: () => json({ response_code: 0, data: { keyword_units: 40 } }) })
  closings.push(() => service.close())
  const secrets = await startTestSecrets({
    'unit-guard/service-token': serviceToken,
    'unit-guard/caller-key': callerKey,
    'unit-guard/quote-key': quoteKey,
  })
  closings.push(() => secrets.close())
  const { table } = await createLocalTable()
  environment = {
    TABLE_NAME: table,
    DYNAMODB_ENDPOINT: await dynamodb(),
    SECRETS_ENDPOINT: secrets.endpoint,
    ACCOUNT_UNITS_PER_MONTH: '50000',
    TRACKING_BASE_URL: service.baseUrl,
  }
  runtime = await startEnvironment({ name: 'api', folder: folderOf('api'), environment })
  agents = await startEnvironment({ name: 'mcp', folder: folderOf('mcp'), environment })
  closings.push(() => Promise.all([runtime.stop(), agents.stop()]))
  token = await signCallerToken({
    key: callerKey,
    sub: 'ada',
    scopes,
    budgets: '*',
    now: Date.now(),
    lastsMs: 3_600_000,
  })
})

afterAll(async () => {
  for (const close of closings.toReversed()) await close()
})

async function call(method: string, target: string, body?: object) {
  const event = urlEvent(method, target, {
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return whole(await runtime.invoke(event))
}

test('the bundled function runs and settles an update on Node 24 under Lambda’s runtime client', async () => {
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

test('an error line shows places of TypeScript, and no source map is read before it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  await cp(join(inject('bundles'), 'api'), folder, { recursive: true })
  const maps = (await readdir(folder)).filter((name) => name.endsWith('.mjs.map'))
  const early = JSON.stringify({ version: 3, sources: ['read-too-early.ts'], names: [], mappings: 'AAAA' })
  for (const map of maps) await writeFile(join(folder, map), early)
  const fresh = await startEnvironment({ name: 'api', folder, environment })
  closings.push(() => fresh.stop().then(() => rm(folder, { recursive: true })))
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ kind: 'ranking', project: 'initech' })
  expect((await whole(await fresh.invoke(urlEvent('POST', '/updates', { headers, body })))).status).toBe(201)
  expect((await whole(await fresh.invoke(urlEvent('GET', '/nothing', { headers })))).status).toBe(404)
  for (const map of maps) await cp(join(inject('bundles'), 'api', map), join(folder, map))
  service.script('/projects/initech/details', { kind: 'raw', bytes: head(3 * megabyte) + 'x'.repeat(2 * megabyte) })
  await whole(await fresh.invoke(urlEvent('GET', '/v3/projects/initech/details', { headers })))
  expect(fresh.output()).toMatch(
    /"event":"answer-broken".*"stack":"AnswerBroken: [^"]*shared\/tracking\/answer-body\.ts:\d+:\d+\)/,
  )
  expect(fresh.output()).toMatch(/ERROR\s+Invoke Error.*shared\/platform\/http\.ts:\d+:\d+/)
  expect(fresh.output()).not.toMatch(/read-too-early|chunk-\w+\.mjs/)
})

test('the bundled function passes on a complete answer of three megabytes', async () => {
  service.script('/projects/acme/details', { body: 'x'.repeat(3 * megabyte) })
  const answer = await call('GET', '/v3/projects/acme/details')
  expect([answer.status, answer.body.length, answer.errorType]).toEqual([200, 3 * megabyte, undefined])
})

test('the bundled function passes on the status and headers of an answer without a body', async () => {
  service.script('/projects/acme/details', { status: 204 })
  const answer = await call('GET', '/v3/projects/acme/details')
  expect([answer.status, answer.body]).toEqual([204, ''])
})

/** Sends each request of a client to the function for agents, with its headers and its whole stream. */
const callAgents: typeof fetch = async (address, { method = 'GET', headers, body } = {}) => {
  const { pathname } = new URL(String(address))
  const how = { headers: Object.fromEntries(new Headers(headers)), ...(body && { body: String(body) }) }
  const answer = await whole(await agents.invoke(urlEvent(method, pathname, how)))
  expect(answer.errorType).toBeUndefined()
  types.add(answer.headers['content-type'] ?? '')
  return new Response(answer.body || null, { status: answer.status ?? 0, headers: answer.headers })
}
const types = new Set<string>()

test.each([
  ['2026-07-28', { pin: '2026-07-28' }, 'stark', 'application/json'],
  ['earlier ones', 'legacy', 'umbrella', 'text/event-stream'],
] as const)('serves the official client of an agent, revision %s', async (_revision, mode, project, type) => {
  types.clear()
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const authProvider = { token: async () => token }
  const address = new URL('https://agents.example/mcp')
  await client.connect(new StreamableHTTPClientTransport(address, { authProvider, fetch: callAgents }))
  expect((await client.listTools()).tools).toHaveLength(8)
  const use = async (name: string, input: Record<string, unknown>) =>
    Object((await client.callTool({ name, arguments: input })).structuredContent)
  const { quote } = await use('estimate_update', { kind: 'ranking', project })
  const first = await use('request_update', { quote, reason: 'report' })
  expect([first.state, (await use('request_update', { quote, reason: 'report' })).id]).toEqual(['settled', first.id])
  expect((await use('get_update', { id: first.id, waitSeconds: 20 })).timeline.at(-1)).toContain('settled')
  expect(service.requests.filter(({ url }) => url.endsWith(`/on-demand/${project}/run`))).toHaveLength(1)
  expect([...types]).toContain(type)
  await client.close()
})
