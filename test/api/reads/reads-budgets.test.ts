import { describe, expect, test } from 'vitest'
import type { Operation } from '../../../functions/api/operation.ts'
import { allOperations } from '../../../infra/openapi/document.ts'
import { hours, minutes } from '../../support/clock.ts'
import type { Called } from '../../support/product.ts'
import { createAskedOnce, membersOfQuery } from './asked-once.ts'
import { type Clients, everythingOf, startClients, telling } from './clients.ts'

type Named = Readonly<Record<'budget' | 'project' | 'caller' | 'plan' | 'update' | 'entry' | 'id', string>>

const namesOf = ({ other }: Clients): readonly [other: Named, unknown: Named] => [
  {
    budget: 'zenith',
    project: 'zed-store',
    caller: 'zoe',
    plan: 'zulu',
    id: '7777',
    update: other.waiting,
    entry: other.entries[0] ?? '',
  },
  {
    budget: 'other-s',
    project: 'no-store',
    caller: 'nix',
    plan: 'none',
    id: '4040',
    update: 'upd_0000000000000000000000000a',
    entry: 'ent_0000000000000000000000000a',
  },
]

/** The operations with a name in their path, each with the path for these names. */
const parameters: Readonly<Record<string, keyof Named>> = {
  '/budgets': 'budget',
  '/plans': 'plan',
  '/updates': 'update',
  '/callers': 'caller',
  '/v3': 'project',
}

const operations: readonly Operation[] = allOperations.filter(({ scopes }) => scopes !== null)

function pathOf(path: string, names: Named): string {
  const [, first = ''] = path.split('/')
  return path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const named = parameters[`/${first}`]
    if (!named) throw new Error(`the probe has no name for ${path}`)
    return names[first === 'v3' && parameter !== 'name' ? 'id' : named]
  })
}

/** Each query parameter that the API knows, for these names. */
const queriesOf = ({ budget, project, caller, plan }: Named): readonly string[] => [
  '',
  `budget=${budget}`,
  `project=${project}`,
  `caller=${caller}`,
  `plan=${plan}`,
  `tag=client:${budget}`,
  `tag=before:of%20${budget}`,
  `kind=ranking&project=${project}`,
  `kind=ranking&project=shop&budget=${budget}`,
  'kind=ranking&project=shop&project=outlet&project=shared',
  'since=2026-10-01T00:00:00Z&limit=200',
  'state=awaiting-approval',
  'state=in-doubt',
  'limit=1',
  ...['budget', 'project', 'caller'].map((by) => `by=${by}&price=0.01`),
  'sort=risk',
  'by=tag:client',
  'by=tag:before',
]

const eachQuery = queriesOf({} as Named).map((_, index) => (names: Named) => queriesOf(names)[index] ?? '')

/** The body for an operation that should read no query. */
const everyMember = (names: Named): string =>
  new URLSearchParams(Object.fromEntries(new URLSearchParams(queriesOf(names).join('&')))).toString()

const bodiesOf = ({ budget, project, update, entry }: Named): readonly (object | undefined)[] => [
  undefined,
  {},
  { reason: 'mine' },
  { kind: 'ranking', project },
  { kind: 'ranking', projects: ['shop', project] },
  { kind: 'ranking', project: 'shop', budget },
  { outcome: 'ran', reason: 'mine' },
  { ids: [update], reason: 'mine' },
  { ids: [update], outcome: 'ran', reason: 'mine' },
  { type: 'transfer', units: 1, to: budget, reason: 'mine' },
  { type: 'correction', units: 1, corrects: entry, reason: 'mine' },
  { type: 'correction', units: 1, corrects: update, reason: 'mine' },
  { time: '2026-11-20T05:00:00Z', only: 'unsent' },
  { budgets: [{ name: budget, limits: [{ window: 'month', units: 5 }] }] },
  { parent: budget, limits: [{ window: 'month', units: 5 }], projects: [{ name: project }] },
]

interface Probe {
  readonly what: string
  readonly route: string
  readonly members: readonly string[]
  send(names: Named): Promise<Called>
}

const noNames: Named = { budget: '', project: '', caller: '', plan: '', update: '', entry: '', id: '' }

const probesOf = ({ as }: Clients, asked: readonly Operation[]): readonly Probe[] =>
  asked.flatMap(({ method, path, answers, query: read }): Probe[] => {
    const isOfService = path.startsWith('/v3/')
    if (method !== 'GET') {
      const bodies = isOfService ? [{}] : bodiesOf(noNames)
      return bodies.map((body, index) => ({
        what: `${method} ${path} ${index}`,
        route: `${method} ${path}`,
        members: Object.keys(body ?? {}),
        send: (names) => as(method, pathOf(path, names), { body: bodiesOf(names)[index] }),
      }))
    }
    const queries = isOfService ? [() => ''] : read ? eachQuery : [() => '', everyMember]
    const types = answers[200]?.csv ? ['application/json', 'text/csv'] : ['application/json']
    return queries.flatMap((query) =>
      types.map((accept) => ({
        what: `${method} ${path}?${query(noNames)} ${accept}`,
        route: `${method} ${path} ${accept}`,
        members: membersOfQuery(query(noNames)),
        send: (names) => as('GET', `${pathOf(path, names)}?${query(names)}`, { headers: { accept } }),
      })),
    )
  })

/** Replaces the other client's names with the unknown ones, because an answer repeats the request. */
function asUnknown(text: string, [other, unknown]: readonly [Named, Named]): string {
  const renamed = Object.entries(other).reduce(
    (all, [name, value]) => all.replaceAll(value, unknown[name as keyof Named]),
    text,
  )
  return renamed.replace(/"x-request-id","\w+"|\\"requestId\\":\\"\w+\\"/g, '')
}

/** Fails if the reader's answers differ for the other client's names, or name the other client. */
async function probe(clients: Clients, asked = operations): Promise<readonly object[]> {
  const names = namesOf(clients)
  const wrong: object[] = []
  const once = createAskedOnce()
  for (const { what, route, members, send } of probesOf(clients, asked)) {
    if (once.isAnswered(route, members)) continue
    // The minute passes because exports are limited.
    clients.clock.advance(minutes(1))
    const [other, unknown] = [await send(names[0]), await send(names[1])]
    once.note(route, members, unknown)
    const [seen = '', none = ''] = [other, unknown].map((answer) => asUnknown(everythingOf(answer), names))
    const told = telling.exec(none)?.[0] ?? clients.other.updates.find((id) => none.includes(id))
    if (seen !== none || told || other.status >= 500) wrong.push({ what, told, seen, none })
  }
  return wrong
}

describe('a caller who reads one client', () => {
  test('a caller who reads one client cannot distinguish the other client from an unknown one', async () => {
    const clients = await startClients()
    const before = clients.service.requests.length
    expect((await probe(clients)).slice(0, 3)).toEqual([])
    expect(clients.service.requests.slice(before).filter(({ url }) => /zed|7777/.test(url))).toEqual([])
  }, 60_000)

  test('a caller sees tags of their own updates and plans, but no tag that names the other client', async () => {
    const { as, ids } = await startClients()
    expect((await as('GET', `/updates/${ids.settled}`)).body.tags).toEqual({ client: 'acme' })
    expect((await as('GET', '/updates?tag=client:acme')).body.updates).toMatchObject([{ id: ids.settled }])
    expect((await as('GET', '/statements?by=tag:client')).body).toMatchObject({
      tagKeys: ['client'],
      rows: [{ tag: 'acme', charged: 40 }, { tag: null }],
    })
    const { plans } = (await as('GET', '/plans')).body
    expect(plans.map(({ tags }: { tags?: object }) => tags)).toEqual([undefined, { report: 'weekly' }])
  })

  test('a caller who reads one client cannot distinguish the other client from an unknown client in summarized days', async () => {
    const clients = await startClients()
    for (const wait of [hours(16), hours(1)]) {
      clients.clock.advance(wait)
      await clients.triggers.sweep(clients.endsAt())
    }
    expect((await clients.summaries()).length).toBeGreaterThan(0)
    expect(
      (
        await probe(
          clients,
          operations.filter(({ method, path }) => method === 'GET' && !path.startsWith('/v3/')),
        )
      ).slice(0, 3),
    ).toEqual([])
  }, 60_000)
})

test('a caller who reads one client sees its budgets, and only the missing units of budgets above', async () => {
  const { as, ids } = await startClients()
  const get = async (path: string) => (await as('GET', path)).body
  const { budgets } = await get('/budgets')
  expect(budgets.map(({ name, parent }: Record<string, unknown>) => [name, parent])).toEqual([
    ['acme', null],
    ['acme-eu', 'acme'],
  ])
  const { updates } = await get('/updates?limit=200')
  expect(updates.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(Object.values(ids)))
  expect(await get(`/updates/${ids.paidAbove}`)).toMatchObject({
    project: 'shop',
    budget: null,
    units: { charged: 40 },
  })
  const problemOf = async (id: string) => (await get(`/updates/${id}`)).problem
  expect(await problemOf(ids.shortAbove)).toMatchObject({
    detail: 'There are not enough units for this: a budget above is 24 units short. Ask an administrator for more.',
    units: 55,
    short: 24,
    budgets: [{ budget: null, short: 24 }],
  })
  expect(await problemOf(ids.overBudget)).toMatchObject({
    budgets: [{ budget: 'acme', available: 2_900, short: 1_100 }],
  })
  expect(await problemOf(ids.frozenAbove)).toMatchObject({
    detail: 'A budget above decides this: the budget is frozen. Ask an administrator.',
    budget: null,
  })
  expect((await problemOf(ids.perUpdate)).perUpdate).toBeUndefined()
  expect((await get(`/updates/${ids.awaiting}`)).history[0].note).toBe('a budget above wants approval')
  const { rows, total, book } = await get('/statements?by=budget')
  expect(rows[0]).toMatchObject({ budget: 'acme', charged: 40, granted: 150, paidElsewhere: 40 })
  expect([total.charged, book]).toEqual([40, { spent: 40, addsUp: true }])
  const { entries } = await get('/budgets/acme/entries')
  expect(entries.find(({ type }: { type: string }) => type === 'transfer')).toMatchObject({
    budget: null,
    to: 'acme',
    units: 100,
    reason: '(not shown to you)',
  })
  const { plans } = await get('/plans')
  expect(plans.map(({ name, projects }: Record<string, unknown>) => [name, projects])).toEqual([
    ['both', ['shop']],
    ['own', ['outlet']],
  ])
})

test('a caller who reads one client decides only about updates of that client and runs only its projects', async () => {
  const { as, ids, other, service } = await startClients()
  const statusOf = async (...of: Parameters<typeof as>) => (await as(...of)).status
  expect(await statusOf('POST', `/updates/${ids.awaiting}/approve`)).toBe(200)
  expect(await statusOf('POST', `/updates/${other.waiting}/approve`)).toBe(404)
  expect(await statusOf('POST', '/updates', { body: { kind: 'ranking', project: 'dear', maxUnits: 1 } })).toBe(402)
  // The other client's update causes the refusal, and is not shown.
  const again = await as('POST', '/updates', { body: { kind: 'ranking', project: 'shared' } })
  expect([again.status, again.body.updates[0].state, again.body.updates[0].problem.update]).toEqual([
    200,
    'refused',
    undefined,
  ])
  expect(await statusOf('GET', '/v3/on-demand/shared/run')).toBe(200)
  const both = await as('POST', '/plans/both/run', { body: { time: '2026-11-20T10:55:00Z' } })
  expect([both.status, both.body.detail]).toEqual([403, expect.stringContaining('you read only some')])
  expect(await statusOf('GET', '/v3/projects/shop/details')).toBe(200)
  expect(await statusOf('GET', '/v3/projects/5001/keywords')).toBe(200)
  const before = service.requests.length
  for (const path of [
    '/v3/projects',
    '/v3/projects/SHOP/details',
    '/v3/projects/shop%2Czed-store/details',
    '/v3/projects/%E0/details',
  ])
    expect([403, 404]).toContain(await statusOf('GET', path))
  expect(service.requests).toHaveLength(before)
})
