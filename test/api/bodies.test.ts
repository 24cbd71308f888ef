import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { anyProject, type Fault, startRefusing } from '../support/inputs/refusals.ts'
import { type Called, type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Hostile bodies, keys and names. inputs.test.ts covers the members of bodies and queries.

type Body = NonNullable<RequestInit['body']>

const takesKind = 'must be ranking or keyword-difficulty'
const takesUnits = 'must be a whole number of units from 0 to 1000000000000'
const takesSomeUnits = 'must be a whole number of units from 1 to 1000000000000'
const unknown = 'is not a known member'
const unreadable = (why: string) => `the body is not valid, unambiguous JSON (${why})`

/** Like `call`, but sends bytes and streams that are not JSON, with exactly these headers. */
async function send(product: Product, body: Body, headers: Record<string, string>): Promise<Called> {
  const token = await product.signed({ sub: 'ada', scope: 'read run', budgets: '*' })
  const response = await product.api.request('/updates', {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: JSON.parse(text), text }
}

describe('bodies that are not a JSON object', () => {
  const deep = 100_000
  const bodies: readonly (readonly [name: string, body: string, message: string])[] = [
    ['empty', '', unreadable('not JSON')],
    ['only spaces', '   \n', unreadable('not JSON')],
    ['{', '{', unreadable('not JSON')],
    ['two values', '{}{}', unreadable('not JSON')],
    ['a trailing comma', '{"kind":"ranking","project":"acme",}', unreadable('not JSON')],
    ['NaN', '{"kind":"ranking","project":"acme","maxUnits":NaN}', unreadable('not JSON')],
    ['a bare 0x10', '{"kind":"ranking","project":"acme","maxUnits":0x10}', unreadable('not JSON')],
    ['a byte order mark', '\ufeff{"kind":"ranking","project":"acme"}', unreadable('not JSON')],
    ['null', 'null', 'must be a JSON object'],
    ['[]', '[]', 'must be a JSON object'],
    ['a list with a request', '[{"kind":"ranking","project":"acme"}]', 'must be a JSON object'],
    ['a text', '"ranking"', 'must be a JSON object'],
    ['a number', '7', 'must be a JSON object'],
    ['true', 'true', 'must be a JSON object'],
    ['a comment behind it', '{"kind":"ranking","project":"acme"}//', unreadable('not JSON')],
    ['single quotes', "{'kind':'ranking','project':'acme'}", unreadable('not JSON')],
    ['NUL behind it', '{"kind":"ranking","project":"acme"}\u0000', unreadable('not JSON')],
    ['nesting of lists', '['.repeat(deep), unreadable('nested deeper than 64 levels')],
    [
      'nesting of objects in a known member',
      `{"kind":"ranking","project":"acme","query":${'{"a":'.repeat(deep / 4)}1${'}'.repeat(deep / 4)}}`,
      unreadable('nested deeper than 64 levels'),
    ],
    [
      'the same name twice',
      '{"kind":"ranking","project":"acme","project":"globex"}',
      unreadable('the same name twice in one object'),
    ],
    [
      'the same name in two spellings',
      '{"kind":"ranking","project":"acme","pro\\u006aect":"globex"}',
      unreadable('the same name twice in one object'),
    ],
    [
      'the same name twice in an inner object',
      '{"kind":"ranking","project":"acme","query":{"a":"1","a":"2"}}',
      unreadable('the same name twice in one object'),
    ],
  ]
  const routes = [
    ['POST', '/updates'],
    ['PUT', '/budgets/acme'],
    ['POST', '/budgets/account/entries'],
    ['POST', '/updates/upd_none/resolve'],
  ] as const

  test.each(bodies)('a body that is not a JSON object is answered with 400: %s', async (_name, body, message) => {
    const { product, expectRefused } = await startRefusing()
    for (const [method, path] of routes) {
      expectRefused(await product.call(method, path, { body }), 400, [['', message]])
    }
  })

  test.each<[string, Buffer]>([
    ['a lone continuation byte', Buffer.from('7b22a022', 'hex')],
    ['an overlong slash', Buffer.concat([Buffer.from('{"project":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
    ['UTF-16', Buffer.from('\ufeff{"kind":"ranking","project":"acme"}', 'utf16le')],
    ['gzip that calls itself JSON', gzipSync('{"kind":"ranking","project":"acme"}')],
  ])('a body that is not UTF-8 JSON is answered with 400: %s', async (_name, bytes) => {
    const { product, expectRefused } = await startRefusing()
    const called = await send(product, new Uint8Array(bytes), { 'content-type': 'application/json' })
    expectRefused(called, 400, [['', 'the body is not UTF-8']])
  })

  test.each(['approve', 'reject', 'cancel'])('%s accepts a missing body, but no malformed one', async (action) => {
    const { product, expectRefused } = await startRefusing()
    expect(await product.call('POST', `/updates/upd_none/${action}`)).toMatchObject({ status: 404 })
    const path = `/updates/upd_none/${action}`
    expectRefused(await product.call('POST', path, { body: '{' }), 400, [['', unreadable('not JSON')]])
    expectRefused(await product.call('POST', path, { body: 'null' }), 400, [['', 'must be a JSON object']])
    expectRefused(await product.call('POST', path, { body: { why: 'x' } }), 400, [['why', unknown]])
  })
})

describe('bodies with another content type', () => {
  const valid = '{"kind":"ranking","project":"acme"}'
  test.each<[string, Body, Record<string, string>]>([
    ['text/plain', valid, { 'content-type': 'text/plain' }],
    ['no content type', new TextEncoder().encode(valid), {}],
    ['an empty body without a content type', new Uint8Array(), {}],
    ['a form', 'kind=ranking&project=acme', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text/json', valid, { 'content-type': 'text/json' }],
    ['application/jsonp', valid, { 'content-type': 'application/jsonp' }],
    ['application/json-patch+json', valid, { 'content-type': 'application/json-patch+json' }],
    ['two content types', valid, { 'content-type': 'application/json, text/plain' }],
    ['gzip', new Uint8Array(gzipSync(valid)), { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
    ['br', valid, { 'content-type': 'application/json', 'content-encoding': 'br' }],
    ['identity, gzip', valid, { 'content-type': 'application/json', 'content-encoding': 'identity, gzip' }],
  ])('a body with a content type other than JSON is answered with 415: %s', async (_name, body, headers) => {
    const { product, expectRefused } = await startRefusing()
    expectRefused(await send(product, body, headers), 415)
  })
})

describe('bodies over 256 KiB: 413', () => {
  const isJson = { 'content-type': 'application/json' }
  const padded = (bytes: number) => '{"kind":"ranking","project":"acme"}'.padEnd(bytes)
  const streamed = (chunks: number) => {
    let left = chunks
    return new ReadableStream<Uint8Array>({
      pull: (controller) => (left-- > 0 ? controller.enqueue(new Uint8Array(65_536).fill(32)) : controller.close()),
    })
  }
  test.each<[string, () => Body, Record<string, string>]>([
    ['one byte more', () => padded(262_145), isJson],
    ['10 MB', () => padded(10_000_000), isJson],
    ['10 MB in chunks of unknown number', () => streamed(160), isJson],
    ['10 MB that say they are 10 bytes', () => streamed(160), { ...isJson, 'content-length': '10' }],
    ['10 bytes that say they are 10 MB', () => '{"kind":1}', { ...isJson, 'content-length': '10000000' }],
    ['endless', () => streamed(Number.POSITIVE_INFINITY), isJson],
  ])('a body over 256 KiB is answered with 413: %s', async (_name, body, headers) => {
    const { product, expectRefused } = await startRefusing()
    expectRefused(await send(product, body(), headers), 413)
  })

  test('a body of exactly 256 KiB is read', async () => {
    const product = await startProduct({ store: createMemoryStore(), service: anyProject })
    expect(await product.call('POST', '/updates', { body: padded(262_144) })).toMatchObject({ status: 201 })
  })
})

test('an answer lists the first 25 of 20,000 faults and names five in its sentence', async () => {
  const { product, expectRefused } = await startRefusing()
  const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]))
  const called = await product.update({ kind: 'ranking', project: 'acme', ...members })
  expectRefused(called, 400)
  expect(called.body.detail).toBe(
    'The request is not valid: k0: is not a known member; k1: is not a known member; k2: is not a known member; k3: is not a known member; k4: is not a known member; and 19995 more.',
  )
  expect(called.body.errors).toHaveLength(26)
  expect(called.body.errors[24]).toEqual({ path: 'k24', message: unknown })
  expect(called.body.errors[25]).toEqual({ path: '', message: 'and 19975 more' })
})

describe('wrong headers and queries', () => {
  test.each([
    ['empty', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a space inside', 'a b'],
    ['two keys in one header', 'a, b'],
    ['Latin-1', 'caf\u00e9'],
    ['a control character', 'a\u0001b'],
  ])('a wrong Idempotency-Key is answered with 400: %s', async (_name, key) => {
    const { product, expectRefused } = await startRefusing()
    const headers = { 'idempotency-key': key }
    const message = 'must be 1 to 255 visible ASCII characters'
    const asked = await product.update({ kind: 'ranking', project: 'acme' }, { headers })
    expectRefused(asked, 400, [['Idempotency-Key', message]])
    const body = { type: 'grant', units: 5, reason: 'more' }
    const entered = await product.call('POST', '/budgets/account/entries', { body, headers })
    expectRefused(entered, 400, [['Idempotency-Key', message]])
  })

  const takesKey: Fault = ['Idempotency-Key', 'must be 1 to 255 visible ASCII characters']
  test.each<[what: string, path: string, body: object | string, ...faults: Fault[]]>([
    ['an update', '/updates', { kind: 'rank', project: 'acme' }, ['kind', takesKind]],
    ['an entry', '/budgets/account/entries', { type: 'grant', units: 0, reason: 'more' }, ['units', takesSomeUnits]],
    ['a reconciliation', '/budgets/account/reconcile', { reason: 'seen' }, ['unitsLeft', takesUnits]],
    ['an unreadable body', '/updates', '{', ['', unreadable('not JSON')]],
  ])('a wrong key and %s with a fault are reported together', async (_what, path, body, ...faults) => {
    const { product, expectRefused } = await startRefusing()
    const headers = { 'idempotency-key': 'a b' }
    expectRefused(await product.call('POST', path, { body, headers }), 400, [takesKey, ...faults])
  })

  test('times may have a leap day, a fraction of a second and an offset', async () => {
    const product = await startProduct({ store: createMemoryStore(), service: anyProject })
    const path = '/updates?since=2024-02-29T23:59:59.123456789-05:30&until=2026-11-20T10:00Z'
    expect(await product.call('GET', path)).toMatchObject({ status: 200, body: { updates: [] } })
  })
})

describe('an unusual but legal project name reaches the service as one path segment:', () => {
  const names: readonly (readonly [name: string, segment: string])[] = [
    ['a/b', 'a%2Fb'],
    ['100%', '100%25'],
    ['#', '%23'],
    ['?', '%3F'],
    ['run?force=1', 'run%3Fforce%3D1'],
    ['a;b', 'a%3Bb'],
    ['a&b=c', 'a%26b%3Dc'],
    ['a+b', 'a%2Bb'],
    ['two words', 'two%20words'],
    ["o'hara (old)!*", "o'hara%20(old)!*"],
    ['...', '...'],
    ['café', 'caf%C3%A9'],
    ['cafe\u0301', 'cafe%CC%81'],
    ['🙂', '%F0%9F%99%82'],
    ['\u202egro.live', '%E2%80%AEgro.live'],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ['toString', 'toString'],
    ['null', 'null'],
    ['x'.repeat(512), 'x'.repeat(512)],
    ['🙂'.repeat(512), '%F0%9F%99%82'.repeat(512)],
  ]

  test.each(names.map((row) => [shortened(row[0]), ...row] as const))('%s', async (_title, name, segment) => {
    const product = await startProduct({ store: createMemoryStore(), service: anyProject })
    const asked = await product.update({ kind: 'ranking', projects: [name] })
    expect(asked).toMatchObject({ status: 201, body: { updates: [{ project: name, state: 'settled' }] } })
    expect(product.service.requests.map(({ url }) => url).sort()).toEqual([
      `/v3/on-demand/${segment}/estimate`,
      `/v3/on-demand/${segment}/run`,
      `/v3/projects/${segment}/dates`,
    ])
    const { id } = asked.body.updates[0]
    expect((await product.call('GET', `/updates/${id}`)).body.project).toBe(name)
    const listed = await product.call('GET', `/updates?since=2026-11-01T00:00:00Z&project=${encodeURIComponent(name)}`)
    expect(listed.body.updates.map((update: { project: string }) => update.project)).toEqual([name])
  })

  test('unusual project names work in GET /estimates, twenty at once, and as projects of a budget', async () => {
    const product = await startProduct({ service: anyProject })
    // The other Unicode form of café is the same project, which a budget may list only once.
    const distinct = names.filter(([name]) => name !== 'cafe\u0301')
    const projects = distinct.slice(0, 20).map(([name]) => ({ name }))
    const limits = [{ window: 'month', units: 2_000 }]
    expect(await product.call('PUT', '/budgets/constructor', { body: { limits, projects } })).toMatchObject({
      status: 201,
    })
    const query = projects.map(({ name }) => `&project=${encodeURIComponent(name)}`).join('')
    const { status, body } = await product.call('GET', `/estimates?kind=ranking${query}`)
    expect([status, body.units, body.allowed]).toEqual([200, 800, true])
    expect(body.budgets.map(({ budget }: { budget: string }) => budget)).toEqual(['constructor', 'account'])
    expect(
      product
        .seen('estimate')
        .map(({ url }) => url)
        .sort(),
    ).toEqual(
      distinct
        .slice(0, 20)
        .map(([, segment]) => `/v3/on-demand/${segment}/estimate`)
        .sort(),
    )
    expect(product.seen('run')).toEqual([])
    const asked = await product.update({ kind: 'ranking', projects: projects.map(({ name }) => name) })
    expect([asked.status, asked.body.updates.length]).toEqual([201, 20])
    const listed = await product.call('GET', '/updates?since=2026-11-01T00:00:00Z&budget=constructor')
    const nameOf = ({ project }: { project: string }) => project
    expect(listed.body.updates.map(nameOf).sort()).toEqual(projects.map(({ name }) => name).sort())
    expect(await product.figures('constructor')).toMatchObject({ available: 1_200, spent: 800 })
  })

  test('estimate and run get the same encoded query in the same order', async () => {
    const product = await startProduct({ store: createMemoryStore(), service: anyProject })
    const query = { 'a b': 'c&d=e', constructor: '#?', n: 5, yes: true, '🙂': '\u0000' }
    const asked = await product.update({ kind: 'keyword-difficulty', project: '1;2', query })
    expect(asked).toMatchObject({ status: 201 })
    const search = 'a%20b=c%26d%3De&constructor=%23%3F&n=5&yes=true&%F0%9F%99%82=%00'
    expect(product.service.requests.map(({ url }) => url)).toEqual([
      `/v3/keyword-difficulty/1%3B2/estimate?${search}`,
      `/v3/keyword-difficulty/1%3B2/run?${search}`,
    ])
  })

  test.each([
    ['application/json; charset=utf-8', { 'content-type': 'application/json; charset=utf-8' }],
    ['Application/JSON', { 'content-type': 'Application/JSON' }],
    ['identity', { 'content-encoding': 'identity' }],
    ['a key of 255 characters', { 'idempotency-key': '~'.repeat(255) }],
  ])('an ordinary request with %s is accepted', async (_name, headers) => {
    const product = await startProduct({ store: createMemoryStore(), service: anyProject })
    expect(await product.update({ kind: 'ranking', project: 'acme' }, { headers })).toMatchObject({ status: 201 })
  })
})

/** Shortens a long name for the title of a test. */
function shortened(text: string): string {
  return text.length > 70 ? `${text.slice(0, 60)}… (${text.length})` : text
}
