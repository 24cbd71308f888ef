import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WrongTrigger } from '../../functions/scheduled/triggers.ts'
import { isSlow, pastDeadline } from '../support/patience.ts'
import { callerKey, json, type Product, serviceTimeoutMs, serviceToken, startProduct } from '../support/product.ts'
import type { Answer } from '../support/scripted-service.ts'
import { signedFor } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/**
 * What strangers, tools with bugs and a service gone bad may send, class by class: each with its status, without a run,
 * without a 5xx of ours, without a trace in the ledger; that no secret comes out is seen to by whatever starts a product.
 * Longer tables of some classes are with their rooms: api/bodies, api/tokens, api/gateway, slack/app, tracking.
 */
const now = Date.parse('2026-11-20T10:00:00Z') / 1000
const plans = [{ name: 'night', kind: 'ranking', projects: ['a'], schedule: 'cron(0 10 * * ? *)' }]
const start = (options: Parameters<typeof startProduct>[0] = {}) =>
  startProduct({ store: createMemoryStore(), ...options })

/** Nothing has happened: no call that spends, no record, no unit moved. */
async function expectUntouched(product: Product): Promise<void> {
  expect(product.seen('run')).toEqual([])
  expect((await product.call('GET', '/updates')).body).toEqual({ updates: [] })
  expect(await product.figures()).toEqual({
    limit: 50_000,
    granted: 0,
    available: 50_000,
    held: 0,
    inDoubt: 0,
    spent: 0,
  })
}

const ok = '{"kind":"ranking","project":"acme"}'
const with_ = (members: string) => ok.replace('}', `,${members}}`)
const of = (project: string) => JSON.stringify({ kind: 'ranking', project })
const isJson = { 'content-type': 'application/json' }
type Bytes = string | Uint8Array<ArrayBuffer>

type Body = [name: string, status: number, body: Bytes, headers?: Record<string, string>]
const bodies: Body[] = [
  ['empty', 400, ''],
  ['half an object', 400, '{'],
  ['null', 400, 'null'],
  ['a list', 400, '[]'],
  ['a number', 400, '7'],
  ['a text', 400, '"ranking"'],
  ['true', 400, 'true'],
  ['two documents', 400, `${ok}${ok}`],
  ['a comment', 400, `${ok}//`],
  ['single quotes', 400, "{'kind':'ranking','project':'acme'}"],
  ['nesting of 100,000', 400, '['.repeat(100_000)],
  ['nesting of 100,000 objects', 400, '{"a":'.repeat(50_000)],
  ['10 MB', 413, ok.padEnd(10_000_000)],
  ['10 MB that is no JSON', 413, 'x'.repeat(10_000_000)],
  ['gzip', 415, new Uint8Array(gzipSync(ok)), { 'content-encoding': 'gzip' }],
  ['gzip that calls itself JSON', 400, new Uint8Array(gzipSync(ok))],
  ['bad UTF-8', 400, Uint8Array.of(0x7b, 0x22, 0xa0, 0x22)],
  ['UTF-16', 400, new Uint8Array(Buffer.from(ok, 'utf16le'))],
  ['a byte order mark', 400, `\ufeff${ok}`],
  ['NUL behind it', 400, `${ok}\u0000`],
  ['a name twice', 400, with_('"project":"globex"')],
  ['a name twice, once escaped', 400, with_('"pro\\u006aect":"globex"')],
  ['__proto__', 400, with_('"__proto__":{"force":true}')],
  ['constructor', 400, with_('"constructor":{"prototype":{}}')],
  ['an unknown member', 400, with_('"dryRun":true')],
  ['units of -1', 400, with_('"maxUnits":-1')],
  ['units of 1.5', 400, with_('"maxUnits":1.5')],
  ['units of "0x10"', 400, with_('"maxUnits":"0x10"')],
  ['units of 1e400', 400, with_('"maxUnits":1e400')],
  ['units of 2^53 + 1', 400, with_('"maxUnits":9007199254740993')],
  ['text/plain', 415, ok, { 'content-type': 'text/plain' }],
  ['a form', 415, 'kind=ranking&project=acme', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['two content types', 415, ok, { 'content-type': 'application/json, text/plain' }],
  ['51 projects', 400, JSON.stringify({ kind: 'ranking', projects: Array.from({ length: 51 }, (_, n) => `p${n}`) })],
  ['a project of 10 kB', 400, of('x'.repeat(10_000))],
  ['a project with NUL', 400, of('a\u0000b')],
  ['a project with a line break', 400, of('a\r\nHost: evil')],
  ['a project that is ..', 400, of('..')],
  ['a project with half a character', 400, '{"kind":"ranking","project":"a\\ud800"}'],
  ['a budget that leads elsewhere', 400, with_('"budget":"../account"')],
]

const claims = { sub: 'eve', aud: 'unit-guard', exp: now + 3600, scope: 'read run write admin', budgets: '*' }
const encode = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')
function craft(payload: unknown = claims, header: object = { alg: 'HS256' }, key = callerKey): string {
  const text = `${encode(header)}.${encode(payload)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}
const good = craft()
const [head = '', payload = '', signature = ''] = good.split('.')
const { exp: _exp, ...forEver } = claims
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const tokens: readonly (readonly [name: string, headers: Record<string, string>])[] = [
  ['none', {}],
  ['a scheme alone', { authorization: 'Bearer' }],
  ['Basic', { authorization: `Basic ${Buffer.from(`eve:${good}`).toString('base64')}` }],
  ['without a scheme', { authorization: good }],
  ['in a cookie', { cookie: `session=${good}` }],
  ['alg none', bearer(`${encode({ alg: 'none' })}.${payload}.`)],
  ['alg none, signed', bearer(craft(claims, { alg: 'none' }))],
  ['alg RS256, signed with our key', bearer(craft(claims, { alg: 'RS256' }))],
  ['a key of its own', bearer(craft(claims, { alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }, 'a'))],
  ['a kid that is a path, and an empty key', bearer(craft(claims, { alg: 'HS256', kid: '../../dev/null' }, ''))],
  ['a critical extension', bearer(craft(claims, { alg: 'HS256', crit: ['exp'] }))],
  ['no exp', bearer(craft(forEver))],
  ['exp 1e308', bearer(craft(JSON.stringify(forEver).replace('{', '{"exp":1e308,')))],
  ['exp as a text', bearer(craft({ ...claims, exp: '4102444800' }))],
  ['expired by a second', bearer(craft({ ...claims, exp: now - 1 }))],
  ['good from tomorrow', bearer(craft({ ...claims, nbf: now + 86_400 }))],
  ['another aud', bearer(craft({ ...claims, aud: 'other' }))],
  ['aud as a list', bearer(craft({ ...claims, aud: ['unit-guard'] }))],
  ['sub with #', bearer(craft({ ...claims, sub: 'eve#1' }))],
  ['sub of Slack', bearer(craft({ ...claims, sub: 'slack:U1ADA' }))],
  ['sub of a schedule', bearer(craft({ ...claims, sub: 'schedule:night' }))],
  ['claims that are null', bearer(craft('null'))],
  ['65 kB', bearer(craft({ ...claims, more: 'x'.repeat(65_536) }))],
  ['another spelling of the signature', bearer(`${good}=`)],
  ['the signature of another token', bearer(`${head}.${encode({ ...claims, sub: 'ada' })}.${signature}`)],
  ['four segments', bearer(`${good}.${signature}`)],
  ['two of them in one header', { authorization: `Bearer ${good}, Bearer ${good}` }],
  ['the token of the service', bearer(serviceToken)],
]

const run = '/v3/on-demand/acme/run'
type Path = [method: string, target: string, status: number, headers?: Record<string, string>]
const paths: Path[] = [
  ['GET', '/v3/../v3/on-demand/acme/run', 404],
  ['GET', '/v3/./on-demand/acme/run', 404],
  ['GET', '/v3/on-demand/x/../acme/run', 404],
  ['GET', '/v3/on-demand/..%2facme/run', 404],
  ['GET', '/v3/on-demand/%2e%2e/run', 404],
  ['GET', '/v3/on-demand/%252e%252e/run', 404],
  ['GET', '//evil.example/v3/on-demand/acme/run', 404],
  ['GET', '/v3//on-demand/acme/run', 404],
  ['GET', '/v3/on-demand//acme/run', 404],
  ['GET', '/v3/on-demand/acme\\run', 400],
  ['GET', '/v3/on-demand/acme/run;x', 404],
  ['GET', '/v3/on-demand/acme;/run;', 404],
  ['GET', '/v3/on-demand/a%00b/run', 404],
  ['GET', '/v3/on-demand/a%0d%0ab/run', 404],
  ['GET', '/v3/on-demand/%ff/run', 400],
  ['GET', '/v3/on-demand/%/run', 404],
  ['GET', '/v3/on-demand/acme/r%75n', 404],
  ['GET', '/v3/on-demand/acme%2frun', 404],
  ['GET', '/v3/on-demand/acme/run/', 404],
  ['GET', '/v3/on-demand/acme/RUN', 404],
  ['GET', '/V3/on-demand/acme/run', 404],
  ['GET', '/v3/on-demand/acme/run%20', 404],
  ['GET', '/v3/on-demand/acme/run%3fx', 404],
  ['GET', '/v3/on-demand/run', 404],
  ['GET', '/v3/on-demand/.../run/../run', 404],
  ['GET', 'http://evil.example/v3/nothing', 404],
  ['HEAD', run, 405],
  ['POST', run, 405],
  ['PUT', run, 405],
  ['DELETE', run, 405],
  ['OPTIONS', run, 405],
  ['PATCH', run, 405],
  ['POST', run, 405, { 'x-http-method-override': 'GET' }],
  ['GET', run, 401, { authorization: 'Bearer x', cookie: 'session=1' }],
  ['GET', run, 400, { 'unit-guard-budget': '../account' }],
  ['GET', run, 400, { 'unit-guard-budget': 'there-is-none' }],
  ['GET', run, 400, { 'idempotency-key': 'x'.repeat(256) }],
  ['GET', run, 400, { 'transfer-encoding': 'chunked', 'content-length': '5' }],
  ['GET', run, 431, { 'x-long': 'x'.repeat(20_000) }],
  [
    'GET',
    '/v3/projects',
    200,
    { range: 'bytes=0-0', 'if-none-match': '*', te: 'trailers', 'proxy-connection': 'close' },
  ],
]

const form = (changes: Record<string, string> = {}) =>
  new URLSearchParams({
    command: '/units',
    text: 'updates',
    user_id: 'U1ADA',
    trigger_id: '1.2.abc',
    response_url: 'https://hooks.slack.com/commands/T0/1/none',
    ...changes,
  }).toString()
const press = (changes: object = {}) =>
  new URLSearchParams({
    payload: JSON.stringify({
      type: 'block_actions',
      user: { id: 'U1ADA' },
      trigger_id: 'press-1',
      response_url: 'https://hooks.slack.com/actions/T0/1/none',
      container: { type: 'message', message_ts: '1.2' },
      actions: [{ type: 'button', action_id: 'approve', value: 'upd_1' }],
      ...changes,
    }),
  }).toString()
const at = (timestamp: number | string, body = form()) => [body, signedFor(body, timestamp)] as const
const commands = '/slack/commands'
const interactions = '/slack/interactions'

const slack: readonly (readonly [
  name: string,
  status: number,
  path: string,
  signed: readonly [body: string, headers: Record<string, string>],
])[] = [
  ['no signature', 401, commands, [form(), {}]],
  ['a short signature', 401, commands, [form(), { ...at(now)[1], 'x-slack-signature': 'v0=00' }]],
  ['an empty signature', 401, commands, [form(), { ...at(now)[1], 'x-slack-signature': '' }]],
  ['a signature of another version', 401, commands, [form(), { ...at(now)[1], 'x-slack-signature': 'v1=00' }]],
  ['the signature of another body', 401, commands, [form({ text: 'freeze account x' }), at(now)[1]]],
  ['a timestamp of NaN', 401, commands, at('NaN')],
  ['a timestamp of Infinity', 401, commands, at('Infinity')],
  ['a timestamp in hexadecimal', 401, commands, at('0x6a0f0000')],
  ['301 s old', 401, commands, at(now - 301)],
  ['301 s ahead', 401, commands, at(now + 301)],
  ['in milliseconds', 401, commands, at(now * 1000)],
  ['an empty body', 400, commands, at(now, '')],
  ['JSON', 400, commands, at(now, '{"text":"updates"}')],
  ['no user', 400, commands, at(now, form({ user_id: '' }))],
  ['a user that is a caller', 400, commands, at(now, form({ user_id: 'slack:U1ADA' }))],
  ['no trigger', 400, commands, at(now, form({ trigger_id: '' }))],
  ['a trigger of 10 kB', 400, commands, at(now, form({ trigger_id: 'x'.repeat(10_000) }))],
  ['no response_url', 400, commands, at(now, form({ response_url: '' }))],
  ['more than 40,000 characters', 400, commands, at(now, form({ text: 'x'.repeat(40_001) }))],
  ['40,000 characters', 200, commands, at(now, form({ text: '<'.repeat(40_000) }))],
  ['more than 256 KiB', 413, commands, at(now, form({ text: 'x'.repeat(300_000) }))],
  ['<!channel>', 200, commands, at(now, form({ text: '<!channel> <@U1> run' }))],
  ['a run by a user who is not listed', 200, commands, at(now, form({ text: 'run ranking acme' }))],
  ['a response_url to another host', 200, commands, at(now, form({ response_url: 'https://evil.example/' }))],
  ['a payload that is no JSON', 400, interactions, at(now, 'payload={')],
  ['a payload of null', 400, interactions, at(now, 'payload=null')],
  ['a payload of a list', 400, interactions, at(now, 'payload=[]')],
  ['a forged value', 200, interactions, at(now, press({ actions: [{ action_id: 'approve', value: "'; drop" }] }))],
  ['an unknown button', 200, interactions, at(now, press({ actions: [{ action_id: 'delete', value: 'upd_1' }] }))],
  [
    'a hundred buttons',
    200,
    interactions,
    at(now, press({ actions: Array(100).fill({ action_id: 'approve', value: 'upd_1' }) })),
  ],
  ['no button', 200, interactions, at(now, press({ actions: [] }))],
  ['a press by a user who is not listed', 200, interactions, at(now, press())],
  ['no event', 400, '/slack/events', at(now)],
  ['another address', 404, '/slack/other', at(now)],
]

const time = '2026-11-20T10:00:00Z'
const schedules: readonly (readonly [name: string, event: unknown])[] = [
  [
    'a request of HTTP',
    { version: '2.0', rawPath: '/updates', headers: {}, requestContext: { http: { method: 'POST' } } },
  ],
  ['a request of HTTP that names a plan', { version: '2.0', rawPath: '/', plan: 'night', time }],
  ['a record of the stream', { Records: [{ eventSource: 'aws:dynamodb', eventName: 'INSERT', dynamodb: {} }] }],
  ['nothing', undefined],
  ['null', null],
  ['a text', 'sweep'],
  ['a list', [{ plan: 'night', time }]],
  ['no members', {}],
  ['no time', { plan: 'night' }],
  ['no plan', { time }],
  ['a plan of __proto__', { plan: { __proto__: null }, time }],
  ['a plan of 10 kB', { plan: 'n'.repeat(10_000), time }],
  ['a time that is a placeholder', { plan: 'night', time: '<time>' }],
  ['a time in milliseconds', { plan: 'night', time: now * 1000 }],
  ['a time without a zone', { plan: 'night', time: '2026-11-20T10:00:00' }],
  ['a time of another zone', { plan: 'night', time: '2026-11-20T10:00:00+01:00' }],
  ['30 February', { plan: 'night', time: '2026-02-30T10:00:00Z' }],
  ['the year 10000', { plan: 'night', time: '+010000-01-01T00:00:00Z' }],
  ['a day', { plan: 'night', time: '2026-11-20' }],
  ['an empty time', { plan: 'night', time: '' }],
  ['another task', { task: 'delete' }],
  ['a task and a plan', { plan: 'night', time, task: 'sweep' }],
  ['a member too many', { task: 'sweep', at: time }],
  ['the event of EventBridge as it is', { source: 'aws.events', 'detail-type': 'Scheduled Event', time }],
]

const html: Answer = { headers: { 'content-type': 'text/html' }, body: '<script>alert(1)</script>' }
const endlessly: Answer = { kind: 'endless' }
const slowly: Answer = { kind: 'byte-by-byte', body: '{"units":40}', everyMs: 5_000 }
const rude: Answer = { status: 429, headers: { 'retry-after': '1000000000' } }
const elsewhere: Answer = { status: 302, headers: { location: 'http://127.0.0.1:9/v3' } }
const echoing = (status: number): Answer => json({ error: `Bearer ${serviceToken}`, token: serviceToken }, status)

/** What the service answers to one operation, and what that makes of an update: whether it is sent, and how it ends. */
const service: readonly (readonly [
  operation: 'estimate' | 'dates' | 'run',
  name: string,
  status: number,
  runs: 0 | 1,
  spent: number,
  answer: Answer,
])[] = [
  ['estimate', '302 to elsewhere', 502, 0, 0, elsewhere],
  ['estimate', '302 to itself', 502, 0, 0, { status: 302, headers: { location: '/v3/on-demand/acme/estimate' } }],
  ['estimate', 'HTML on 200', 502, 0, 0, html],
  ['estimate', 'an endless body', 502, 0, 0, endlessly],
  ['estimate', '100 MB', 502, 0, 0, { kind: 'endless', headers: { 'content-length': '100000000' } }],
  ['estimate', 'a byte a second', 502, 0, 0, slowly],
  ['estimate', 'a reset in mid-body', 502, 0, 0, { kind: 'reset-in-body' }],
  ['estimate', 'our token', 502, 0, 0, echoing(200)],
  ['estimate', 'our token in an error', 502, 0, 0, echoing(500)],
  ['estimate', '429 for thirty years', 502, 0, 0, rude],
  ['estimate', 'units of -1', 502, 0, 0, json({ units: -1 })],
  ['estimate', 'units of 1e9', 402, 0, 0, json({ units: 1e9 })],
  ['estimate', 'units of 1e308', 502, 0, 0, json({ units: 1e308 })],
  ['estimate', 'units twice', 502, 0, 0, { body: '{"units":1,"units":2}' }],
  ['estimate', 'no HTTP at all', 502, 0, 0, { kind: 'raw', bytes: 'SSH-2.0-OpenSSH_9.6\r\n' }],
  ['estimate', 'a header that is split', 502, 0, 0, { kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nx: a\rb\r\n\r\n{}' }],
  ['dates', 'HTML on 200', 201, 1, 40, html],
  ['dates', 'a million dates', 201, 1, 40, json(Array(200_000).fill('2026-11-01'))],
  ['dates', 'a reset', 201, 1, 40, { kind: 'reset' }],
  ['run', '302 to elsewhere', 202, 1, 0, elsewhere],
  ['run', '302 to itself', 202, 1, 0, { status: 302, headers: { location: '/v3/on-demand/acme/run' } }],
  ['run', '421, which some clients send again', 202, 1, 0, { status: 421 }],
  ['run', 'HTML on 200', 202, 1, 0, html],
  ['run', 'an endless body', 202, 1, 0, endlessly],
  ['run', 'a byte a second', 202, 1, 0, slowly],
  ['run', 'a reset in mid-body', 202, 1, 0, { kind: 'reset-in-body' }],
  ['run', 'our token', 201, 1, 40, json({ echo: serviceToken })],
  ['run', '429 for thirty years', 502, 1, 0, rude],
  ['run', 'units of -1', 201, 1, 40, json({ units: -1 })],
  ['run', 'units as text', 201, 1, 55, json({ units: '55' })],
  ['run', 'units of 1e9', 201, 1, 1e9, json({ units: 1e9 })],
  ['run', 'units twice', 201, 1, 40, { body: '{"units":50,"units":60}' }],
]

test('there are at least 150 hostile inputs', () => {
  const counts = { bodies, tokens, paths, slack, schedules, service }
  const each = Object.entries(counts).map(([name, rows]) => [name, rows.length])
  expect(Object.fromEntries(each)).toEqual({ bodies: 40, tokens: 28, paths: 40, slack: 34, schedules: 24, service: 32 })
})

describe('hostile bodies', () => {
  test.each<Body>(bodies)('%s: %i', async (_name, status, body, headers = {}) => {
    const product = await start()
    const token = await product.signed({ sub: 'ada', scope: 'run', budgets: '*' })
    const sent = { authorization: `Bearer ${token}`, ...isJson, ...headers }
    const answer = await product.api.request('/updates', { method: 'POST', body, headers: sent })
    expect(answer.status).toBe(status)
    expect((await answer.text()).length).toBeLessThan(4_096)
    expect(product.service.requests).toEqual([])
    await expectUntouched(product)
  })
})

describe('hostile tokens', () => {
  test.each(tokens)('a hostile token is answered with 401: %s', async (_name, headers) => {
    const product = await start()
    for (const [method, path] of [
      ['POST', '/updates'],
      ['GET', run],
      ['GET', '/budgets'],
      ['GET', `/updates?token=${good}`],
    ] as const) {
      const how = { token: null, headers, ...(method === 'POST' && { body: ok }) }
      expect((await product.call(method, path, how)).status).toBe(401)
    }
    expect(product.service.requests).toEqual([])
    await expectUntouched(product)
  })
})

describe('hostile paths and headers at the gateway', () => {
  test.each<Path>(paths)('%s %s: %i', async (method, target, status, headers = {}) => {
    const product = await start({ service: ({ url }) => (url === '/v3/projects' ? json([]) : undefined) })
    expect(await statusOf(product, method, target, headers)).toBe(status)
    expect(product.service.requests).toHaveLength(status === 200 ? 1 : 0)
    await expectUntouched(product)
  })

  /** Over a socket, where nothing is tidied on the way. */
  async function statusOf(product: Product, method: string, target: string, headers: Record<string, string>) {
    const server = createAdaptorServer({ fetch: product.api.fetch })
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const token = await product.signed({ sub: 'tool', scope: 'read run', budgets: '*' })
    const all = { host: 'guard', authorization: `Bearer ${token}`, connection: 'close', ...headers }
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    return Number(answer.split(' ')[1])
  }
})

describe('hostile forms at Slack’s addresses', () => {
  test.each(slack)('%s: %i', async (_name, status, path, [body, headers]) => {
    const product = await start({ slack: true })
    const { slackApp } = product.startProcess()
    const type = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(body.length) }
    const answer = await slackApp.request(path, { method: 'POST', body, headers: { ...type, ...headers } })
    expect(answer.status).toBe(status)
    await product.deliver()
    expect(product.service.requests).toEqual([])
    await expectUntouched(product)
  })
})

describe('hostile events at the schedule’s handler', () => {
  test.each(schedules)('a hostile event is thrown by its name: %s', async (_name, event) => {
    const product = await start({ plans })
    await expect(product.triggers.handle(event, product.endsAt())).rejects.toThrow(WrongTrigger)
    expect(product.service.requests).toEqual([])
    await expectUntouched(product)
  })

  test('one occurrence sent three times runs each project once', async () => {
    const product = await start({ plans })
    for (let times = 0; times < 3; times++) await product.triggers.handle({ plan: 'night', time }, product.endsAt())
    expect(product.seen('run')).toHaveLength(1)
  })
})

describe('a hostile service', () => {
  test.each(service)('%s: %s: %i, %i sent', async (operation, _name, status, runs, spent, answer) => {
    const product = await start({
      service: ({ url }) => (url.endsWith(`/${operation}`) ? answer : undefined),
    })
    const act = () => product.update({ kind: 'ranking', project: 'acme' })
    const isThere = () => product.seen(operation).length > 0
    const called = await (isSlow(answer) ? pastDeadline(act, { deadlineMs: serviceTimeoutMs, isThere }) : act())
    expect(called.status).toBe(status)
    expect(called.text.length).toBeLessThan(32_768)
    expect(product.seen('run')).toHaveLength(runs)
    expect(await product.figures()).toMatchObject({ held: 0, spent, inDoubt: status === 202 ? 40 : 0 })
    expect(await product.audit()).toBe(true)
  })
})
