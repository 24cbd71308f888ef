import { expect, test } from 'vitest'
import { openApiDocument } from '../../infra/openapi/document.ts'
import { startRefusing } from '../support/inputs/refusals.ts'
import { bodyWith, type Parameter, type Schema, wrongBodies, wrongQueries } from '../support/inputs/wrong-inputs.ts'

// Sends each member and parameter of the OpenAPI document missing, with a wrong type, too long and in two spellings. The golden file has
// the answers. `more` has the cases that a schema cannot describe.

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: { $ref: string } } } }
}

const { paths, components } = openApiDocument()
const operations = Object.entries(paths)
  .filter(([path]) => !path.startsWith('/v3/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, of]) => [`${method.toUpperCase()} ${path}`, of as Operation] as const),
  )

const ok = { kind: 'ranking', project: 'acme' }
const month = (units: unknown) => [{ window: 'month', units }]
const limits = month(1)
const names = (count: number) => Array.from({ length: count }, (_, at) => `project-${at}`)

/** Inputs that no schema describes clearly. */
// biome-ignore format: a list
const more: Readonly<Record<string, readonly unknown[]>> = {
  'POST /updates': [
    { ...ok, kind: 'Ranking' }, { ...ok, kind: ['ranking'] }, { kind: 'ranking' }, { ...ok, projects: ['globex'] },
    ...[names(51), Array(50_000).fill('')].map((projects) => ({ kind: 'ranking', projects })),
    ...[['acme', 'b', 'acme'], [['acme']], ['acme', '..', 'b']].map((projects) => ({ kind: 'ranking', projects })),
    ...['.', '..', 'ac\u0000me', 'acme\r\nHost: evil', 'acme\u007f', 'x'.repeat(10_000), 'acme\ud800', '\udc00acme'].map((project) => ({ kind: 'ranking', project })),
    ...['SEO', '__proto__', 'seo', 'constructor'].map((budget) => ({ ...ok, budget })),
    { ...ok, force: true }, { ...ok, reason: 'a\ud800' }, { ...ok, dryRun: true }, { ...ok, Force: true },
    ...[{ 'a\ud800': '1' }, { ['x'.repeat(10_000)]: '1' }, JSON.parse('{"__proto__":"1"}')].map((query) => ({ ...ok, query })),
    ...[{ Client: 'x' }, { ['k'.repeat(33)]: 'x' }, { client: 'a\nb' }, JSON.parse('{"__proto__":"x"}')].map((tags) => ({ ...ok, tags })),
    ...['{"force":true}', '1'].map((value) => `{"kind":"ranking","project":"acme","__proto__":${value}}`),
    { ...ok, ['x'.repeat(10_000)]: 1 }, { ...ok, '\u001b[2J': 1 },
    { kind: 'x', force: true, project: 'a', projects: ['b'] }, { kind: 'ranking', projects: ['a', 'b', 'c'], budget: 'seo' },
    { kind: 'x', projects: ['.', 'acme', '..'], budget: 'A', reason: '', maxUnits: -1, force: 1, query: { a: null }, b: 2 },
  ],
  'PUT /budgets/acme': [
    ...[[...limits, ...month(2)], month('Unlimited'), month(['5'])].map((each) => ({ limits: each })),
    { limits: [{ window: 'month', units: 1, unit: 2 }], projects: [{ name: 'a', ID: 'b' }], freeze: true },
    ...[['ranking', 'ranking'], ['audit']].map((kinds) => ({ limits, kinds })),
    ...[
      [{ name: 'a' }, { name: 'a' }],
      [{ name: 'a' }, { name: 'a', id: '1' }],
      [{ name: '..' }, { name: 'a', id: '\u0000' }, { name: '\ud800' }],
    ].map((projects) => ({ limits, projects })),
    ...['SEO', 'seo', 'acme'].map((parent) => ({ limits, parent })),
    { limits, frozen: true }, { limits, owner: 'ada' }, { limits, unowned: 'refuse' },
    { limits, kinds: 'ranking', approvers: 'bob', thresholds: 80 },
    ...['okta:ada#1', '__proto__'].map((name) => ({ limits, approvers: [name] })),
  ],
  'PUT /budgets/account': [
    ...[{ unowned: 'approve' }, { unowned: 'approve', approvers: [] }, { unowned: 'ask' }].map((own) => ({ limits, ...own })),
  ],
  'PUT /budgets': [
    ...[
      [{ name: 'a', limits }, { name: 'a' }],
      [
        { name: 'A', limits },
        { name: 'b', limits: month(-1), owner: 'x' },
      ],
      [{ name: 'a' }, { name: 'b' }],
      [{ name: 'account', parent: 'a' }],
      [{ name: 'b' }, { name: 'account', parent: 'b' }],
      [{ name: 'a', limits, frozen: true }],
      [{ name: 'a', parent: 'b', limits }],
      [
        { name: 'a', parent: 'b', limits },
        { name: 'b', parent: 'a', limits },
      ],
      [
        { name: 'a', limits, enforce: false },
        { name: 'account', enforce: false },
      ],
      [{ name: 'client', limits, unowned: 'pay' }],
      [
        { name: 'a', limits, projects: [{ name: '7' }] },
        { name: 'b', limits, projects: [{ name: 'y', id: '7' }] },
      ],
    ].map((budgets) => ({ budgets })),
    { budgets: [{ name: 'A' }], why: 'r' },
  ],
  'POST /budgets/account/entries': [
    { type: 'grant', units: 5 },
    ...[{ units: 5, window: 'next-year' }, { units: 5, budget: 'acme' }, { units: 5, to: 'acme' }].map((own) => ({ type: 'grant', reason: 'r', ...own })),
    ...[
      { to: 'missing' },
      { to: 'A b' },
      { to: 'account', window: 'next-month' },
      { to: 'account', wholeChain: true },
    ].map((own) => ({ type: 'transfer', units: 1, reason: 'r', ...own })),
    ...[{ window: 'day' }, { window: 'month' }, { units: -5 }].map((own) => ({ type: 'external-spend', units: 1, reason: 'r', ...own })),
    ...[{}, { corrects: 'occ_1' }, { corrects: 'ent_1', units: -1 }, { corrects: 'ent_1', window: 'day' }].map(
      (own) => ({ type: 'correction', units: 1, reason: 'r', ...own }),
    ),
    ...['gift', 'reconcile'].map((type) => ({ type, units: 1, reason: 'r' })),
  ],
  'POST /budgets/account/reconcile': [{ unitsLeft: 1, budget: 'acme' }],
  'POST /updates/upd_none/resolve': [
    { outcome: 'did-not-run', reason: 'seen', units: 5 },
    { outcome: 'ran', reason: 'seen', by: 'another person' },
  ],
  'POST /updates/resolve': [
    { outcome: 'ran', reason: 'seen', ids: ['upd_a', 'upd_a'] },
    { outcome: 'did-not-run', reason: 'seen', ids: ['upd_a'], units: 5 },
  ],
  'PUT /callers/bob': [
    { scopes: ['all'] }, { scopes: Array(7).fill('read') }, { budgets: ['none'] }, { limits: [...limits, ...month(2)] },
    { scopes: 'read', budgets: 5 }, { admin: true }, { person: 'two words' },
  ],
  'PUT /callers/*': [
    { limits }, { scopes: ['read'] }, { budgets: '*' }, { readsBudgets: ['acme'] }, { person: 'ada' },
    ...[{ disabled: true }, { mayForce: true }, { mayChargeAncestors: true }].map((own) => ({ perUpdate: 40, ...own })),
  ],
  'POST /plans/night/run': [
    ...['now', '2026-02-30T10:00:00Z', '2026-11-20T10:00:00'].map((time) => ({ time })),
    ...[{ only: 'all' }, { force: true }].map((own) => ({ time: '2026-11-20T10:00:00Z', ...own })),
  ],
  'PUT /callers/__proto__': [{ disabled: true }],
  ...Object.fromEntries(
    ['Acme', '-a', 'a_b', 'seo.', 'a%2Fentries', '%C3%A9', '__proto__', 'x'.repeat(64), 'x'.repeat(10_000)].map((name) => [`PUT /budgets/${name}`, [{ limits }]]),
  ),
}

const base64 = (text: string) => Buffer.from(text).toString('base64url')
const estimate = '/estimates?kind=ranking&project='
const entries = '/budgets/account/entries?'
// biome-ignore format: a list
const addresses: readonly string[] = [
  `${entries}cursor=${base64('{"partition":"updates#2026-11"}')}`,
  ...['', '..', '%2e%2e', 'a%00', '%ff', '%ed%a0%80', '100%', 'a&project=a', 'a&pr%6fject=a', 'x'.repeat(10_000)].map((project) => `${estimate}${project}`),
  ...['projects=b', 'budget=seo', '__proto__=b', 'constructor', '%ff=b', `${'x'.repeat(10_000)}=b`, 'kind=ranking'].map((query) => `${estimate}a&${query}`),
  `${estimate}${names(21).join('&project=')}`, '/estimates', '/updates?limit=1&limit=2&state=done&since=yesterday&until=&Kind=ranking',
  ...['null', '{"partition":"definitions#x"}', '{"partition":["updates#2026-11"]}'].flatMap((cursor) => [
    `/updates?cursor=${base64(cursor)}`,
    `${entries}cursor=${base64(cursor)}`,
  ]),
  ...['since=1795219200', 'since=NaN', 'since=2026-11-20T10:00:00+01:00', 'tag=client', 'tag=Client:a', 'tag=client:'].map((query) => `/updates?${query}`),
  ...[
    'limit=0&cursor=x&cursor=y',
    'window=november',
    'until=2026-11-20T00:00:00Z',
    'window=month:2026-11-12',
    'since=2026-13-01T00:00:00Z&budget=acme',
  ].map((query) => `${entries}${query}`),
  ...['window=month:2026-12-01', 'by=kind', 'by=tag:A', 'price=0.0000001', 'price=1e3', 'month=11'].map((query) => `/statements?${query}`),
  ...['month:2026-10-01', 'today'].map((window) => `/budgets?window=${window}`),
]

/** The schema with what it refers to in place of each reference. */
function schemaAt(ref = ''): Schema {
  const found = Object(components.schemas)[ref.split('/').at(-1) ?? ''] ?? {}
  return JSON.parse(JSON.stringify(found, (_name, value) => (value?.$ref ? schemaAt(value.$ref) : value)))
}
const own: Readonly<Record<string, string>> = { '{id}': 'upd_none', '{sub}': 'bob', '{slug}': 'forbidden' }
const named = (path: string) => path.replace(/\{\w+\}/, (name) => own[name] ?? 'acme')
const shortened = (text: string) => (text.length > 120 ? `${text.slice(0, 110)}… (${text.length})` : text)
const hint =
  'The answer to a wrong input has changed. If that is meant, run `npx vitest run --config test/vitest.config.ts inputs -u`.'

/** The answers to the wrong inputs of one heading, one line for each different answer. */
class Answers {
  readonly #wrong = new Map<string, string[]>()
  add(at: string, wrong: string, faults: readonly { path: string; message: string }[]) {
    const messages = faults.map(({ path, message }) => (path === at ? message : `${path}: ${message}`)).join('; ')
    const key = `→ ${messages}\n${at}`
    this.#wrong.set(key, [...(this.#wrong.get(key) ?? []), wrong])
  }
  lines() {
    return [...this.#wrong].map(([key, wrong]) => {
      const [answer = '', at] = key.split('\n')
      return `${at}: ${wrong.join(', ')}\n${answer}`
    })
  }
}

test('request: malformed: each wrong member and parameter is refused as the reviewed list says, and leaves nothing behind', async () => {
  const { product, expectRefused, forget } = await startRefusing()
  const faultsOf = async (route: string, body?: unknown) => {
    const [method = '', path = ''] = route.split(' ')
    const called = await product.call(method, path, body === undefined ? {} : { body: body as object })
    expectRefused(called, 400)
    return called.body.errors
  }
  const parts: string[] = []
  for (const [route, { parameters = [], requestBody }] of operations) {
    const answers = new Answers()
    const at = named(route)
    const schema = requestBody ? schemaAt(requestBody.content['application/json'].schema.$ref) : {}
    const variants = schema.oneOf ?? [schema]
    for (const variant of variants)
      for (const [member, wrong, body] of wrongBodies(variant)) answers.add(member, wrong, await faultsOf(at, body))
    const body = requestBody && bodyWith(variants[0] ?? schema, [''])
    const queries = parameters.filter(({ in: place }) => place === 'query')
    for (const [name, wrong, query] of wrongQueries(queries)) {
      const [method = '', path = ''] = at.split(' ')
      const { status } = await product.call(method, `${path}?${query}`, body === undefined ? {} : { body })
      if (status === 400) answers.add(name, wrong, await faultsOf(`${at}?${query}`, body))
      else expect([200, 404]).toContain(status)
      forget()
    }
    if (!at.startsWith('GET')) answers.add('dryrun', 'unknown', await faultsOf(`${at}?dryrun=true`, body))
    parts.push(...(answers.lines().length > 0 ? [[`## ${route}`, ...answers.lines()].join('\n')] : []))
  }
  for (const [route, bodies] of [
    ...Object.entries(more),
    ...addresses.map((path) => [`GET ${path}`, [undefined]] as const),
  ]) {
    const answers = new Answers()
    for (const body of bodies)
      answers.add(
        '',
        shortened(typeof body === 'string' ? body : (JSON.stringify(body) ?? 'so')),
        await faultsOf(route, body),
      )
    parts.push([`## ${shortened(route)}, more`, ...answers.lines().map((line) => line.replace(/^: /, ''))].join('\n'))
  }
  await expect(`${parts.join('\n\n')}\n`, hint).toMatchFileSnapshot('inputs.golden.txt')
})
