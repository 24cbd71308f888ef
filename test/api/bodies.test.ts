import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { allOperations } from '../../infra/openapi/document.ts'
import { keyOf, type Store, type Write } from '../../shared/ledger/store/store.ts'
import { type Called, json, type Product, startProduct } from '../support/product.ts'
import type { Recorded } from '../support/scripted-service.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Hostile bodies, names, keys and queries: each is refused with the stated status before anything happens.

const titles = {
  400: ['/problems/invalid-request', 'The request is not valid'],
  413: ['/problems/too-large', 'The body is too large'],
  415: ['/problems/unsupported-media-type', 'The body is not JSON'],
} as const

type Body = NonNullable<RequestInit['body']>
type Fault = readonly [path: string, message: string]

const takesKind = 'must be ranking or keyword-difficulty'
const takesProject = 'must have 1 to 512 characters, no control characters, and neither "." nor ".."'
const takesUnits = 'must be a whole number of units from 0 to 1000000000000'
const takesSomeUnits = 'must be a whole number of units from 1 to 1000000000000'
const takesEither = 'needs either project or projects'
const takesTime = 'must be an RFC 3339 time such as 2026-11-20T09:00:00Z'
const unknown = 'is not a known member'
const unreadable = (why: string) => `the body is not valid, unambiguous JSON (${why})`
const manyNames = (count: number) => Array.from({ length: count }, (_, index) => `project-${index}`)

/** Every project costs 40, whatever its name is. */
const anyProject = ({ url }: Recorded) =>
  /\/(estimate|run)(\?|$)/.test(url) ? json({ keyword_units: 40 }) : json({ dates: ['2026-11-13'] })

/** One table for all: what is refused must leave nothing behind for the next row either. */
let store: Store
const written: Write[] = []
beforeAll(() => {
  const real = createMemoryStore()
  const isFirst = (write: Write) =>
    keyOf(write).pk === 'definitions' && write.when.some(({ kind }) => kind === 'absent-item')
  const transact: Store['transact'] = (writes, token) => {
    written.push(...writes.filter((write) => !isFirst(write)))
    return real.transact(writes, token)
  }
  store = { ...real, transact }
})
const start = () => startProduct({ store, service: anyProject })

/** Like `call`, for what is no JSON text: bytes and streams, with exactly these headers. */
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

function expectRefused(product: Product, called: Called, status: 400 | 413 | 415, faults?: readonly Fault[]) {
  const [type, title] = titles[status]
  if (faults) expect(called.body.errors).toEqual(faults.map(([path, message]) => ({ path, message })))
  expect(called.body).toMatchObject({ type, title, status, detail: expect.stringMatching(/^\S.*\.$/s) })
  expect(called.status).toBe(status)
  expect(called.headers.get('content-type')).toBe('application/problem+json')
  expect(called.body.requestId).toMatch(/^[0-9a-z]{26}$/)
  expect(called.headers.get('x-request-id')).toBe(called.body.requestId)
  expect(called.text.length).toBeLessThan(4_096)
  expect(product.service.requests).toEqual([])
  expect(written).toEqual([])
}

describe('bodies that are no JSON object', () => {
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
    const product = await start()
    for (const [method, path] of routes) {
      expectRefused(product, await product.call(method, path, { body }), 400, [['', message]])
    }
  })

  test.each<[string, Buffer]>([
    ['a lone continuation byte', Buffer.from('7b22a022', 'hex')],
    ['an overlong slash', Buffer.concat([Buffer.from('{"project":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
    ['UTF-16', Buffer.from('\ufeff{"kind":"ranking","project":"acme"}', 'utf16le')],
    ['gzip that calls itself JSON', gzipSync('{"kind":"ranking","project":"acme"}')],
  ])('a body that is not UTF-8 JSON is answered with 400: %s', async (_name, bytes) => {
    const product = await start()
    const called = await send(product, new Uint8Array(bytes), { 'content-type': 'application/json' })
    expectRefused(product, called, 400, [['', 'the body is not UTF-8']])
  })

  test.each(['approve', 'reject', 'cancel'])('%s accepts a missing body but not half of one', async (action) => {
    const product = await start()
    expect(await product.call('POST', `/updates/upd_none/${action}`)).toMatchObject({ status: 404 })
    const path = `/updates/upd_none/${action}`
    expectRefused(product, await product.call('POST', path, { body: '{' }), 400, [['', unreadable('not JSON')]])
    expectRefused(product, await product.call('POST', path, { body: 'null' }), 400, [['', 'must be a JSON object']])
    expectRefused(product, await product.call('POST', path, { body: { why: 'x' } }), 400, [['why', unknown]])
  })
})

describe('bodies that say they are something else: 415', () => {
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
  ])('%s', async (_name, body, headers) => {
    const product = await start()
    expectRefused(product, await send(product, body, headers), 415)
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
  ])('%s', async (_name, body, headers) => {
    const product = await start()
    expectRefused(product, await send(product, body(), headers), 413)
  })

  test('a body of exactly 256 KiB is read', async () => {
    const product = await startProduct({ store: createMemoryStore(), service: anyProject })
    expect(await product.call('POST', '/updates', { body: padded(262_144) })).toMatchObject({ status: 201 })
  })
})

describe('members of POST /updates that are wrong: 400', () => {
  const ok = { kind: 'ranking', project: 'acme' }
  const { project: _acme, ...noProject } = ok
  const lone = '\ud800'
  const rows: [name: string, body: unknown, ...faults: Fault[]][] = [
    ['nothing', {}, ['kind', takesKind], ['project', takesEither]],
    ['an unknown kind', { ...ok, kind: 'Ranking' }, ['kind', takesKind]],
    ['kind as a list', { ...ok, kind: ['ranking'] }, ['kind', takesKind]],
    ['kind of the prototype', { ...ok, kind: 'constructor' }, ['kind', takesKind]],
    ['neither project nor projects', noProject, ['project', takesEither]],
    ['both project and projects', { ...ok, projects: ['globex'] }, ['project', takesEither]],
    ['project as a number', { ...ok, project: 7 }, ['project', 'must be the name of a project']],
    ['project as null', { ...ok, project: null }, ['project', 'must be the name of a project']],
    ['projects as a text', { ...noProject, projects: 'acme' }, ['projects', 'must be a list of project names']],
    ['no projects', { ...noProject, projects: [] }, ['projects', 'must have 1 to 20 projects']],
    ['21 projects', { ...noProject, projects: manyNames(21) }, ['projects', 'must have 1 to 20 projects']],
    ['51 projects', { ...noProject, projects: manyNames(51) }, ['projects', 'must have 1 to 20 projects']],
    ['50,000 projects', { ...noProject, projects: Array(50_000).fill('') }, ['projects', 'must have 1 to 20 projects']],
    ['a project twice', { ...noProject, projects: ['acme', 'b', 'acme'] }, ['projects', 'names a project twice']],
    ['a project in a list', { ...noProject, projects: [['acme']] }, ['projects.0', 'must be the name of a project']],
    [
      'budget in capitals',
      { ...ok, budget: 'SEO' },
      ['budget', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      'budget __proto__',
      { ...ok, budget: '__proto__' },
      ['budget', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    ['an unknown budget', { ...ok, budget: 'seo' }, ['budget', 'There is no budget seo.']],
    ['a budget of the prototype', { ...ok, budget: 'constructor' }, ['budget', 'There is no budget constructor.']],
    ['an empty reason', { ...ok, reason: '' }, ['reason', 'must not be empty']],
    ['a reason of 501 characters', { ...ok, reason: 'x'.repeat(501) }, ['reason', 'must have at most 500 characters']],
    ['a reason with half a character', { ...ok, reason: `a${lone}` }, ['reason', 'is not Unicode']],
    ['force without a reason', { ...ok, force: true }, ['reason', 'is needed with force']],
    ['force as a text', { ...ok, force: 'true' }, ['force', 'must be true or false']],
    ['maxUnits -1', { ...ok, maxUnits: -1 }, ['maxUnits', takesUnits]],
    ['maxUnits 1.5', { ...ok, maxUnits: 1.5 }, ['maxUnits', takesUnits]],
    ['maxUnits "0x10"', { ...ok, maxUnits: '0x10' }, ['maxUnits', takesUnits]],
    ['maxUnits "40"', { ...ok, maxUnits: '40' }, ['maxUnits', takesUnits]],
    ['maxUnits 1e400', '{"kind":"ranking","project":"acme","maxUnits":1e400}', ['maxUnits', takesUnits]],
    ['maxUnits 2^53+1', '{"kind":"ranking","project":"acme","maxUnits":9007199254740993}', ['maxUnits', takesUnits]],
    ['maxUnits null', { ...ok, maxUnits: null }, ['maxUnits', takesUnits]],
    ['query as a list', { ...ok, query: [] }, ['query', 'must be a JSON object']],
    ['query as null', { ...ok, query: null }, ['query', 'must be a JSON object']],
    ['an object in the query', { ...ok, query: { a: {} } }, ['query.a', 'must be a string, a number, true or false']],
    [
      '1e400 in the query',
      '{"kind":"ranking","project":"acme","query":{"a":1e400}}',
      ['query.a', 'must be a string, a number, true or false'],
    ],
    ['half a character in the query', { ...ok, query: { a: lone } }, ['query.a', 'is not Unicode']],
    ['half a character in a name', { ...ok, query: { [`a${lone}`]: '1' } }, ['query.a\ufffd', 'is not Unicode']],
    [
      '21 names in the query',
      { ...ok, query: Object.fromEntries(manyNames(21).map((name) => [name, '1'])) },
      ['query', 'must have at most 20 names'],
    ],
    [
      '__proto__ in the query',
      '{"kind":"ranking","project":"acme","query":{"__proto__":"1"}}',
      ['query.__proto__', unknown],
    ],
    ['__proto__', '{"kind":"ranking","project":"acme","__proto__":{"force":true}}', ['__proto__', unknown]],
    ['constructor', { ...ok, constructor: { prototype: {} } }, ['constructor', unknown]],
    ['an unknown member', { ...ok, dryRun: true }, ['dryRun', unknown]],
    ['a known member in capitals', { ...ok, Force: true }, ['Force', unknown]],
    ['an unknown member with a long name', { ...ok, ['x'.repeat(10_000)]: 1 }, [`${'x'.repeat(60)}…`, unknown]],
    ['an unknown member that clears the screen', { ...ok, '\u001b[2J': 1 }, ['\ufffd[2J', unknown]],
    ['a project named ""', { ...ok, project: '' }, ['project', takesProject]],
    ['a project named .', { ...ok, project: '.' }, ['project', takesProject]],
    ['a project named ..', { ...ok, project: '..' }, ['project', takesProject]],
    ['a project with NUL', { ...ok, project: 'ac\u0000me' }, ['project', takesProject]],
    ['a project with a line break', { ...ok, project: 'acme\r\nHost: evil' }, ['project', takesProject]],
    ['a project with DEL', { ...ok, project: 'acme\u007f' }, ['project', takesProject]],
    ['a project with a C1 control', { ...ok, project: 'acme\u0085' }, ['project', takesProject]],
    ['a project of 513 characters', { ...ok, project: 'x'.repeat(513) }, ['project', takesProject]],
    ['a project of 10 kB', { ...ok, project: 'x'.repeat(10_000) }, ['project', takesProject]],
    ['a project with half a character', { ...ok, project: `acme${lone}` }, ['project', 'is not Unicode']],
    ['a project that begins with the other half', { ...ok, project: '\udc00acme' }, ['project', 'is not Unicode']],
    ['one bad name of three', { ...noProject, projects: ['acme', '..', 'b'] }, ['projects.1', takesProject]],
    [
      'everything at once',
      {
        kind: 'x',
        projects: ['.', 'acme', '..'],
        budget: 'A',
        reason: '',
        maxUnits: -1,
        force: 1,
        query: { a: null },
        b: 2,
      },
      ['kind', takesKind],
      ['projects.0', takesProject],
      ['projects.2', takesProject],
      ['budget', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
      ['reason', 'must not be empty'],
      ['maxUnits', takesUnits],
      ['force', 'must be true or false'],
      ['query.a', 'must be a string, a number, true or false'],
      ['b', unknown],
    ],
  ]

  test.each(rows)('%s', async (_name, body, ...faults) => {
    const product = await start()
    expectRefused(product, await product.update(body as object), 400, faults)
  })

  test('an answer does not repeat a long name of the query', async () => {
    const product = await start()
    const called = await product.update({ ...ok, query: { ['x'.repeat(10_000)]: '1' } })
    expectRefused(product, called, 400)
    expect(called.body.errors).toHaveLength(1)
    expect(called.body.errors[0].path).toBe(`query.${'x'.repeat(60)}…`)
  })

  test('an answer lists the first 25 of 20,000 faults and names five in its sentence', async () => {
    const product = await start()
    const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]))
    const called = await product.update({ ...ok, ...members })
    expectRefused(product, called, 400)
    expect(called.body.detail).toBe(
      'The request is not valid: k0: is not a known member; k1: is not a known member; k2: is not a known member; k3: is not a known member; k4: is not a known member; and 19995 more.',
    )
    expect(called.body.errors).toHaveLength(26)
    expect(called.body.errors[24]).toEqual({ path: 'k24', message: unknown })
    expect(called.body.errors[25]).toEqual({ path: '', message: 'and 19975 more' })
  })
})

describe('members of other bodies that are wrong: 400', () => {
  const month = (units: unknown) => ({ limits: [{ window: 'month', units }] })
  const takesLimit = 'must be a whole number of units, or unlimited'
  const budget = 'PUT /budgets/acme'
  const entry = 'POST /budgets/account/entries'
  const resolve = 'POST /updates/upd_none/resolve'
  const many = 'POST /updates/resolve'
  const caller = 'PUT /callers/bob'
  const grant = { type: 'grant', units: 5, reason: 'more' }
  const ran = { outcome: 'ran', reason: 'seen' }
  const raw = (units: string) => `{"limits":[{"window":"month","units":${units}}]}`
  const hexUnits = ['-1', '1.5', '"0x10"', '1e400', '9007199254740993', 'null', 'true', '[5]', '"5"'] as const

  const rows: [route: string, name: string, body: unknown, ...faults: Fault[]][] = [
    ...hexUnits.map((units): [string, string, string, Fault] => [
      budget,
      units,
      raw(units),
      ['limits.0.units', takesLimit],
    ]),
    [budget, 'Unlimited', month('Unlimited'), ['limits.0.units', takesLimit]],
    [budget, 'no limits', { limits: [] }, ['limits', 'must have 1 or 2 limits']],
    [budget, 'limits as an object', { limits: {} }, ['limits', 'must be a list of limits']],
    [budget, 'limits missing', {}, ['limits', 'must be a list of limits']],
    [
      budget,
      'a window twice',
      {
        limits: [
          { window: 'day', units: 1 },
          { window: 'day', units: 2 },
        ],
      },
      ['limits', 'names a window twice'],
    ],
    [
      budget,
      'a window of a year',
      { limits: [{ window: 'year', units: 1 }] },
      ['limits.0.window', 'must be month or day'],
    ],
    [
      budget,
      'unknown members, also inside',
      { limits: [{ window: 'month', units: 1, unit: 2 }], projects: [{ name: 'a', ID: 'b' }], freeze: true },
      ['limits.0.unit', unknown],
      ['projects.0.ID', unknown],
      ['freeze', unknown],
    ],
    [
      budget,
      '__proto__ inside',
      '{"limits":[{"window":"month","units":1,"__proto__":{}}]}',
      ['limits.0.__proto__', unknown],
    ],
    [budget, 'perUpdate 1.5', { ...month(1), perUpdate: 1.5 }, ['perUpdate', takesUnits]],
    [budget, 'approvalAbove -1', { ...month(1), approvalAbove: -1 }, ['approvalAbove', takesUnits]],
    [budget, 'a kind twice', { ...month(1), kinds: ['ranking', 'ranking'] }, ['kinds', 'names a kind twice']],
    [
      budget,
      'a project twice',
      { ...month(1), projects: [{ name: 'a' }, { name: 'a' }] },
      ['projects', 'names a project twice'],
    ],
    [
      budget,
      'names of projects',
      { ...month(1), projects: [{ name: '..' }, { name: 'a', id: '\u0000' }, { name: '\ud800' }] },
      ['projects.2.name', 'is not Unicode'],
      ['projects.0.name', takesProject],
      ['projects.1.id', takesProject],
    ],
    [
      budget,
      '501 projects',
      { ...month(1), projects: manyNames(501).map((name) => ({ name })) },
      ['projects', 'must have at most 500 projects'],
    ],
    [
      budget,
      'a parent in capitals',
      { ...month(1), parent: 'SEO' },
      ['parent', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      budget,
      'an unknown parent',
      { ...month(1), parent: 'seo' },
      ['parent', 'there is no budget seo; create it first'],
    ],
    [
      budget,
      'itself as a parent',
      { ...month(1), parent: 'acme' },
      ['parent', 'budgets are at most 8 deep, and no budget is its own ancestor'],
    ],
    ['PUT /budgets/Acme', 'capitals', month(1), ['name', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -']],
    [
      'PUT /budgets/-a',
      'a name that begins with -',
      month(1),
      ['name', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      'PUT /budgets/a%2Fentries',
      'an encoded slash',
      month(1),
      ['name', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      'PUT /budgets/__proto__',
      '__proto__',
      month(1),
      ['name', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      `PUT /budgets/${'x'.repeat(64)}`,
      '64 characters',
      month(1),
      ['name', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    [
      `PUT /budgets/${'x'.repeat(10_000)}`,
      '10 kB',
      month(1),
      ['name', 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'],
    ],
    ...[0, -1, 1.5, '0x10', 2 ** 53, null].map((units): [string, string, object, Fault] => [
      entry,
      `units ${units}`,
      { ...grant, units },
      ['units', takesSomeUnits],
    ]),
    [entry, 'units 1e400', '{"type":"grant","units":1e400,"reason":"more"}', ['units', takesSomeUnits]],
    [entry, 'no reason', { type: 'grant', units: 5 }, ['reason', 'is needed: say why']],
    [entry, 'a window of next year', { ...grant, window: 'next-year' }, ['window', 'must be month, day or next-month']],
    [entry, 'an unknown member', { ...grant, budget: 'acme' }, ['budget', unknown]],
    ...[-1, 1.5, '0x10', 2 ** 53, null].map((units): [string, string, object, Fault] => [
      resolve,
      `units ${units}`,
      { ...ran, units },
      ['units', takesUnits],
    ]),
    [resolve, 'no reason', { outcome: 'ran' }, ['reason', 'is needed: say why']],
    [resolve, 'an outcome of its own', { ...ran, outcome: 'maybe' }, ['outcome', 'must be ran or did-not-run']],
    [
      resolve,
      'units that were not spent',
      { ...ran, outcome: 'did-not-run', units: 5 },
      ['units', 'goes with ran only'],
    ],
    [resolve, 'an unknown member', { ...ran, by: 'another person' }, ['by', unknown]],
    [many, 'an update twice', { ...ran, ids: ['upd_a', 'upd_a'] }, ['ids', 'names an update twice']],
    [many, 'ids as a text', { ...ran, ids: 'upd_a' }, ['ids', 'must be a list of ids']],
    [many, 'no ids', { ...ran, ids: [] }, ['ids', 'must have 1 to 100 ids']],
    [many, '101 ids', { ...ran, ids: manyNames(101) }, ['ids', 'must have 1 to 100 ids']],
    [many, 'an empty id', { ...ran, ids: [''] }, ['ids.0', 'must have 1 to 100 characters']],
    [
      budget,
      'policies that are no lists',
      { ...month(1), kinds: 'ranking', approvers: 'bob', thresholds: 80 },
      ['kinds', 'must be a list of kinds'],
      ['approvers', 'must be a list of callers'],
      ['thresholds', 'must be a list of percentages'],
    ],
    ...['okta:ada#1', '__proto__'].map((name): [string, string, object, Fault] => [
      budget,
      `the approver ${name}, who can be no caller`,
      { ...month(1), approvers: [name] },
      ['approvers.0', 'must have 1 to 256 visible characters without #'],
    ]),
    ...['false', 0, null].map((enforce): [string, string, object, Fault] => [
      budget,
      `enforce ${enforce}`,
      { ...month(1), enforce },
      ['enforce', 'must be true or false'],
    ]),
    ...[-1, 10_001, 1.5, '10', null].map((approvalIfGrown): [string, string, object, Fault] => [
      budget,
      `approvalIfGrown ${approvalIfGrown}`,
      { ...month(1), approvalIfGrown },
      ['approvalIfGrown', 'must be a whole percentage from 0 to 10000'],
    ]),
    ...[0, 1_001, 1.5, '80', null].map((threshold): [string, string, object, Fault] => [
      budget,
      `a threshold of ${threshold}`,
      { ...month(1), thresholds: [threshold] },
      ['thresholds.0', 'must be a whole percentage from 1 to 1000'],
    ]),
    [
      budget,
      '11 thresholds',
      { ...month(1), thresholds: manyNames(11).map((_, index) => index + 1) },
      ['thresholds', 'must have at most 10 thresholds'],
    ],
    ...[0, 100_001, 1.5, '10', null].map((ratePerMinute): [string, string, object, Fault] => [
      caller,
      `ratePerMinute ${ratePerMinute}`,
      { ratePerMinute },
      ['ratePerMinute', 'must be a whole number of requests from 1 to 100000'],
    ]),
    [
      caller,
      'values that are not lists',
      { scopes: 'read', budgets: 5 },
      ['scopes', 'must be a list of scopes'],
      ['budgets', 'must be "*", or a list of at most 200 budgets'],
    ],
    [caller, '201 budgets', { budgets: manyNames(201) }, ['budgets', 'must be "*", or a list of at most 200 budgets']],
    [caller, 'a scope too many', { scopes: Array(7).fill('read') }, ['scopes', 'names a scope twice']],
  ]

  test.each(rows.map(titled))('%s with %s is answered with 400', async (_title, _name, route, body, faults) => {
    const product = await start()
    const [method = '', path = ''] = route.split(' ')
    expectRefused(product, await product.call(method, path, { body }), 400, faults)
  })
})

describe('headers and queries that are wrong: 400', () => {
  test.each([
    ['empty', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a space inside', 'a b'],
    ['two keys in one header', 'a, b'],
    ['Latin-1', 'caf\u00e9'],
    ['a control character', 'a\u0001b'],
  ])('an Idempotency-Key that is wrong is answered with 400: %s', async (_name, key) => {
    const product = await start()
    const headers = { 'idempotency-key': key }
    const message = 'must be 1 to 255 visible ASCII characters'
    const asked = await product.update({ kind: 'ranking', project: 'acme' }, { headers })
    expectRefused(product, asked, 400, [['Idempotency-Key', message]])
    const body = { type: 'grant', units: 5, reason: 'more' }
    const entered = await product.call('POST', '/budgets/account/entries', { body, headers })
    expectRefused(product, entered, 400, [['Idempotency-Key', message]])
  })

  const takesKey: Fault = ['Idempotency-Key', 'must be 1 to 255 visible ASCII characters']
  test.each<[what: string, path: string, body: object | string, ...faults: Fault[]]>([
    ['an update', '/updates', { kind: 'rank', project: 'acme' }, ['kind', takesKind]],
    ['an entry', '/budgets/account/entries', { type: 'grant', units: 0, reason: 'more' }, ['units', takesSomeUnits]],
    ['a reconciliation', '/budgets/account/reconcile', { reason: 'seen' }, ['unitsLeft', takesUnits]],
    ['an unreadable body', '/updates', '{', ['', unreadable('not JSON')]],
  ])('a wrong key and %s with a fault are reported together', async (_what, path, body, ...faults) => {
    const product = await start()
    const headers = { 'idempotency-key': 'a b' }
    expectRefused(product, await product.call('POST', path, { body, headers }), 400, [takesKey, ...faults])
  })

  const entries = '/budgets/account/entries'
  const takesLimit = 'must be a whole number from 1 to 200'
  const rows: [path: string, ...faults: Fault[]][] = [
    ['/estimates', ['kind', takesKind], ['project', 'must be the name of a project; repeat it for more']],
    ['/estimates?kind=ranking&project=', ['project.0', takesProject]],
    ['/estimates?kind=ranking&project=..', ['project.0', takesProject]],
    ['/estimates?kind=ranking&project=%2e%2e', ['project.0', takesProject]],
    ['/estimates?kind=ranking&project=a%00', ['project.0', takesProject]],
    ['/estimates?kind=ranking&project=%ff', ['project', 'must be percent-encoded UTF-8']],
    ['/estimates?kind=ranking&project=%ed%a0%80', ['project', 'must be percent-encoded UTF-8']],
    ['/estimates?kind=ranking&project=100%', ['project', 'must be percent-encoded UTF-8']],
    ['/estimates?kind=ranking&project=a&project=a', ['project', 'names a project twice']],
    ['/estimates?kind=ranking&project=a&pr%6fject=a', ['project', 'names a project twice']],
    [
      `/estimates?kind=ranking${manyNames(21)
        .map((name) => `&project=${name}`)
        .join('')}`,
      ['project', 'must have 1 to 20 projects'],
    ],
    [`/estimates?kind=ranking&project=${'x'.repeat(10_000)}`, ['project.0', takesProject]],
    ['/estimates?kind=ranking&kind=ranking&project=a', ['kind', 'was given more than once']],
    ['/estimates?kind=ranking&project=a&projects=b', ['projects', unknown]],
    ['/estimates?kind=ranking&project=a&budget=seo', ['budget', 'There is no budget seo.']],
    ['/estimates?kind=ranking&project=a&__proto__=b', ['__proto__', unknown]],
    ['/estimates?kind=ranking&project=a&constructor', ['constructor', unknown]],
    ['/estimates?kind=ranking&project=a&%ff=b', ['', 'must be percent-encoded UTF-8']],
    [`/estimates?kind=ranking&project=a&${'x'.repeat(10_000)}=b`, [`${'x'.repeat(60)}…`, unknown]],
    [
      '/updates?limit=1&limit=2&state=done&since=yesterday&until=&Kind=ranking',
      ['limit', 'was given more than once'],
      ['state', expect.stringMatching(/^must be one of awaiting-approval, .*, expired$/) as unknown as string],
      ['since', takesTime],
      ['until', takesTime],
      ['Kind', unknown],
    ],
    ...['0', '-1', '201', '1.5', '1e2', '0x10', '050', '+5', '', 'all'].map((limit): [string, Fault] => [
      `/updates?limit=${encodeURIComponent(limit)}`,
      ['limit', takesLimit],
    ]),
    ...['2026-11-20', '2026-11-20T10:00:00', '2026-02-30T00:00:00Z', '2026-11-20T24:00:00Z', '1795219200', 'NaN'].map(
      (since): [string, Fault] => [`/updates?since=${since}`, ['since', takesTime]],
    ),
    ['/updates?since=2026-11-20T10:00:00+01:00', ['since', takesTime]], // an unencoded + is a space
    [`/updates?cursor=${'x'.repeat(2_001)}`, ['cursor', 'must have 1 to 2000 characters']],
    ['/updates?cursor=nonsense', ['cursor', 'not a cursor of this list']],
    [`/updates?cursor=${base64('null')}`, ['cursor', 'not a cursor of this list']],
    [`/updates?cursor=${base64('{"partition":"definitions#x"}')}`, ['cursor', 'not a cursor of this list']],
    [`/updates?cursor=${base64('{"partition":["updates#2026-11"]}')}`, ['cursor', 'not a cursor of this list']],
    [`${entries}?limit=0&cursor=x&cursor=y`, ['cursor', 'was given more than once'], ['limit', takesLimit]],
    [`${entries}?cursor=nonsense`, ['cursor', 'not a cursor of this list']],
    [`${entries}?window=november`, ['window', 'must be a month such as month:2026-11-12']],
    [`${entries}?window=month:2026-11-12`, ['window', 'there is no window month:2026-11-12']],
    [`${entries}?since=2026-13-01T00:00:00Z&budget=acme`, ['since', takesTime], ['budget', unknown]],
  ]

  test.each(rows.map(([path, ...faults]) => [shortened(path), path, faults] as const))(
    'a wrong query is answered with 400: GET %s',
    async (_title, path, faults) => {
      const product = await start()
      expectRefused(product, await product.call('GET', path), 400, faults)
    },
  )

  const writes = allOperations.filter(({ method, path }) => method !== 'GET' && !path.startsWith('/v3/'))
  test.each(
    writes.map(
      ({ method, path, body }) => [`${method} ${path.replaceAll(/\{\w+\}/g, 'acme')}`, body?.example] as const,
    ),
  )('a misspelt dry run is answered with 400: %s', async (route, body) => {
    const product = await start()
    const [method = '', path = ''] = route.split(' ')
    expectRefused(product, await product.call(method, `${path}?dryrun=true`, { body }), 400, [['dryrun', unknown]])
  })

  test('a leap day, a fraction of a second and an offset are valid in times', async () => {
    const product = await start()
    const path = '/updates?since=2024-02-29T23:59:59.123456789-05:30&until=2026-11-20T10:00Z'
    expect(await product.call('GET', path)).toMatchObject({ status: 200, body: { updates: [] } })
  })
})

test('request: malformed: no request of this file is recorded', async () => {
  const product = await start()
  expect((await product.call('GET', '/updates?since=2026-11-01T00:00:00Z')).body).toEqual({
    updates: [],
    count: 0,
    sum: 0,
  })
  expect((await product.call('GET', '/budgets/account/entries')).body).toEqual({ entries: [] })
  const { budgets } = (await product.call('GET', '/budgets')).body
  expect(budgets.map(({ name }: { name: string }) => name)).toEqual(['account'])
  expect(await product.figures()).toMatchObject({ available: 50000, held: 0, inDoubt: 0, spent: 0 })
})

describe('names that are legal but odd reach the service as one segment', () => {
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

  test('odd project names work in GET /estimates, twenty at once, and as projects of a budget', async () => {
    const product = await startProduct({ service: anyProject })
    // Another Unicode form of café is the same project, and no budget may list one twice.
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
  ])('an ordinary request with %s passes', async (_name, headers) => {
    const product = await startProduct({ store: createMemoryStore(), service: anyProject })
    expect(await product.update({ kind: 'ranking', project: 'acme' }, { headers })).toMatchObject({ status: 201 })
  })
})

/** For the name of a test. */
function shortened(text: string): string {
  return text.length > 70 ? `${text.slice(0, 60)}… (${text.length})` : text
}

function titled([route, name, body, ...faults]: [string, string, unknown, ...Fault[]]) {
  return [shortened(route), name, route, body, faults] as const
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}
