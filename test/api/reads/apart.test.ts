import { describe, expect, test } from 'vitest'
import { allOperations } from '../../../infra/openapi/document.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { days, hours } from '../../support/clock.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { listPeople } from '../../support/slack/slack.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { createAskedOnce } from './asked-once.ts'
import { everythingOf, readOf } from './clients.ts'
import { pageProbesOf } from './page-probes.ts'
import { slackProbesOf } from './slack-probes.ts'

type Step = readonly [who: 'ada' | 'max' | 'zoe', method: string, path: string, body?: object]

const limits = (units: number) => ({ limits: [{ window: 'month', units }] })
const named = (...names: string[]) => ({ projects: names.map((name) => ({ name })) })
const ask = (project: string, more: object = {}) => ({ kind: 'ranking', project, ...more })

const own: readonly Step[] = [
  [
    'ada',
    'PUT',
    '/budgets/acme',
    { parent: 'overco', ...limits(3_000), approvalAbove: 90, ...named('shop', 'spare', 'dear') },
  ],
  ['ada', 'PUT', '/budgets/acme-eu', { parent: 'acme', ...limits(500), ...named('outlet') }],
  ['ada', 'PUT', '/callers/mia', { readsBudgets: ['acme'] }],
  ['max', 'POST', '/updates', ask('shop')],
  ['max', 'POST', '/updates', ask('outlet', { reason: 'for the report' })],
  ['max', 'POST', '/updates', ask('dear')],
  ['max', 'POST', '/updates', ask('shop')],
  ['ada', 'POST', '/budgets/acme/entries', { type: 'grant', units: 50, reason: 'acme pays' }],
  ['ada', 'POST', '/budgets/acme/entries', { type: 'transfer', to: 'acme-eu', units: 20, reason: 'acme moves' }],
  ['max', 'POST', '/v3/projects/shop/update', { keywords: [{ name: 'shoes' }] }],
  ['ada', 'POST', '/plans/both/run', { time: '2026-11-20T09:55:00Z' }],
]
const others: readonly Step[] = [
  ['ada', 'PUT', '/budgets/zenith', { parent: 'overco', ...limits(40_000), ...named('zed-store', 'zed-wait') }],
  ['ada', 'PUT', '/callers/zoe', { person: 'zara', ...limits(9_000) }],
  ['zoe', 'POST', '/updates', ask('zed-store', { reason: 'zeta' })],
  ['zoe', 'POST', '/updates', ask('zed-wait', { maxUnits: 1 })],
  ['zoe', 'POST', '/updates', ask('zed-store')],
  ['ada', 'POST', '/budgets/zenith/entries', { type: 'grant', units: 11, reason: 'zeta' }],
  ['ada', 'POST', '/budgets/zenith/entries', { type: 'external-spend', units: 12, reason: 'zeta' }],
  ['ada', 'POST', '/budgets/zenith/freeze', { reason: 'zeta' }],
  ['zoe', 'POST', '/updates', ask('zed-wait')],
  ['ada', 'PUT', '/budgets/overco', { ...limits(60_000), perUpdate: 9_000 }],
  ['zoe', 'POST', '/v3/projects/zed-store/update', { keywords: [{ name: 'zeta' }] }],
]
const plans = [{ name: 'both', kind: 'ranking', projects: ['outlet', 'zed-store'], schedule: 'cron(0 5 * * ? *)' }]

const user = 'U2MIA'
const ask100 = Array.from({ length: 110 }, () => ask('zed-wait', { maxUnits: 1 }))

/** The answers that a reader of one client gets everywhere, while the other client is busy or idle. */
async function answersWhere(isOtherBusy: boolean) {
  const product = await startProduct({
    store: createMemoryStore(),
    plans,
    units: { dear: 100 },
    slack: true,
    bot: true,
    service: ({ url }) => readOf(url),
  })
  const { call, clock, signed } = product
  const exp = product.inDays(90)
  const tokens = {
    ada: signed({ sub: 'ada', scope: 'read run write approve admin', budgets: '*', exp }),
    max: signed({ sub: 'max', scope: 'read run write', budgets: ['acme'], exp }),
    zoe: signed({ sub: 'zoe', scope: 'read run write', budgets: ['zenith'], exp }),
  }
  const reader = { scopes: ['read', 'run', 'approve'], budgets: ['acme'], readsBudgets: ['acme'] }
  const mia = signed({ sub: 'mia', scope: 'read run approve', budgets: ['acme'], exp })
  const take = async ([who, method, path, body]: Step) =>
    call(method, path, { token: tokens[who], ...(body && { body }) })
  const busily = async (...steps: readonly Step[]) => {
    for (const step of isOtherBusy ? steps : []) await take(step)
  }
  await take(['ada', 'PUT', '/budgets/overco', limits(60_000)])
  for (let at = 0; at < Math.max(own.length, others.length); at++) {
    clock.advance(1_000)
    await busily(...others.slice(at, at + 1))
    clock.advance(1_000)
    for (const step of own.slice(at, at + 1)) await take(step)
  }
  for (const wanted of ask100) await busily(['zoe', 'POST', '/updates', wanted])
  await listPeople(product, { [user]: reader })
  await product.deliver()
  const doors = await doorsOf(product, await mia)
  const answers: Record<string, string> = {}
  const look = async (stage: string, stated: readonly Door[] = doors) => {
    for (const [what, send] of stated) {
      clock.advance(20_000)
      answers[`${stage}: ${what}`] = withoutIds(await send())
    }
  }
  const reads = doors.filter(([what]) => /^(GET|tool)/.test(what))
  await look('at once', reads)
  await product.triggers.sweep(product.endsAt())
  clock.advance(hours(1))
  await product.triggers.sweep(product.endsAt())
  await look(
    'an hour later',
    doors.filter(([what]) => /^(GET|page)/.test(what)),
  )
  for (const wait of [hours(14), hours(1), days(1)]) {
    clock.advance(wait)
    await product.triggers.sweep(product.endsAt())
  }
  await look('two days later')
  clock.advance(days(30))
  await busily(['zoe', 'POST', '/updates', ask('zed-store')])
  clock.advance(days(30))
  await product.triggers.sweep(product.endsAt())
  await look(
    'two months later',
    doors.filter(([what]) => /^(GET|page)/.test(what)),
  )
  // The other client, if idle, gets a budget above it that is equally short.
  const above = await call('GET', '/budgets/overco', { token: tokens.ada })
  const { limit, available } = above.body.windows[0]
  await take(['ada', 'PUT', '/budgets/overco', limits(limit - available + 10)])
  await look('with too little above', await requestsOf(product, await mia))
  return answers
}

type Door = readonly [what: string, send: () => Promise<string>]
type Running = Awaited<ReturnType<typeof startProduct>>

const names = {
  budget: 'acme',
  project: 'shop',
  caller: 'max',
  plan: 'both',
  id: '5001',
  kind: 'ranking',
  update: '',
  entry: 'ent_0',
  cursor: 'none',
}

async function doorsOf(product: Running, mia: string): Promise<readonly Door[]> {
  const { body } = await product.call('GET', '/updates', { token: mia })
  const ids = body.updates as { id: string; state: string }[]
  const update = ids.find(({ state }) => state === 'awaiting-approval')?.id ?? ''
  const called = async (...of: Parameters<typeof product.call>) => everythingOf(await product.call(...of))
  const gets = paths.map(
    (path): Door => [
      `GET ${path}`,
      () =>
        called('GET', path.replace(/ csv$/, '').replace('{id}', update), {
          token: mia,
          headers: { accept: path.endsWith(' csv') ? 'text/csv' : 'application/json' },
        }),
    ],
  )
  const browser = openBrowser(product)
  await browser.logIn(mia)
  const known = { ...names, update }
  const probes = await pageProbesOf(product, browser, known)
  const once = createAskedOnce()
  const pages = probes.map(({ what, route, members, send }): Door => {
    return [
      `page ${what}`,
      async () => {
        if (once.isAnswered(route, members)) return ''
        const shown = await send(browser, { ...known, update: what.startsWith('POST') ? 'upd_none' : update })
        once.note(route, members, shown)
        const headers = [...shown.headers].filter(([name]) => !['set-cookie', 'content-length'].includes(name))
        return JSON.stringify([shown.status, headers, shown.html.replace(/name="form" value="[^"]*"/g, '')])
      },
    ]
  })
  const slack = slackProbesOf(product, user, known).map(([what, send]): Door => {
    return [
      `slack ${what}`,
      async () => {
        const text = await (await send({ ...known, update: 'upd_none' })).text()
        await product.deliver()
        const told = product.slack
          .news()
          .filter(({ to }) => to === 'asker')
          .map(({ body }) => body)
        return JSON.stringify([text, told, product.slack.recorder?.homes.get(user)])
      },
    ]
  })
  return [...gets, ...(await toolsOf(product, mia, update)), ...pages, ...slack, ...(await requestsOf(product, mia))]
}

/** Each tool with its arguments; a new tool needs a line here. */
async function toolsOf(product: Running, mia: string, update: string): Promise<readonly Door[]> {
  const inputs: Readonly<Record<string, readonly object[]>> = {
    list_budgets: [{}, { sort: 'risk' }],
    get_budget: ['acme', 'acme-eu', 'overco', 'zenith'].map((name) => ({ name })),
    list_updates: [{}, { limit: 1 }, ...['acme', 'overco', 'zenith'].map((budget) => ({ budget }))],
    forecast: [{}],
    get_update: [{ id: update }],
    estimate_update: ['shop', 'spare', 'zed-store'].map((project) => ({ kind: 'ranking', project })),
    request_update: [{ quote: 'none', reason: 'mine' }],
    cancel_update: [{ id: 'upd_none' }],
  }
  const agent = await (await listenForAgents(product)).connect({ token: mia })
  const { tools } = await agent.client.listTools()
  return tools.flatMap(({ name }) => {
    const given = inputs[name]
    if (!given) throw new Error(`the probe has no input for ${name}`)
    return given.map(
      (input): Door => [
        `tool ${name} ${JSON.stringify(input).replace(update, 'its')}`,
        async () => JSON.stringify(await agent.call(name, input)),
      ],
    )
  })
}

async function requestsOf(product: Running, mia: string): Promise<readonly Door[]> {
  const posted = ['spare', 'shop', 'dear', 'zed-store', 'no-store'].map(
    (project): Door => [
      `POST /updates of ${project}`,
      async () =>
        everythingOf(await product.call('POST', '/updates', { token: mia, body: ask(project, { maxUnits: 500 }) })),
    ],
  )
  const explained = ['spare', 'outlet', 'dear', 'zed-store', 'no-store'].map((project) => `${project}&explain=true`)
  const estimated = ['spare', 'outlet', ...explained, 'spare&explain=true&as=zoe'].map(
    (project): Door => [
      `GET /estimates of ${project}`,
      async () => everythingOf(await product.call('GET', `/estimates?kind=ranking&project=${project}`, { token: mia })),
    ],
  )
  return [...estimated, ...posted]
}

const plain = allOperations
  .filter(({ method, path, scopes }) => method === 'GET' && scopes !== null && !path.startsWith('/v3'))
  .map(({ path }) => path.replace(/\{name\}/, path.startsWith('/plans') ? 'both' : 'acme'))
const paths = [
  ...plain,
  '/updates?limit=1',
  '/updates?limit=2&since=2026-11-01T00:00:00Z',
  '/updates?state=awaiting-approval',
  '/updates?since=2026-11-01T00:00:00Z&budget=acme',
  '/updates csv',
  ...['acme', 'overco', 'zenith'].flatMap((budget) => [`/updates?budget=${budget}`, `/updates?budget=${budget} csv`]),
  ...['budget', 'project', 'caller'].flatMap((by) => [`/statements?by=${by}`, `/statements?by=${by} csv`]),
  ...['2026-11-12', '2026-12-12', '2027-01-12'].flatMap((month) => [
    `/statements?by=project&window=month:${month}`,
    `/budgets?window=month:${month}`,
  ]),
  '/budgets?sort=risk',
  '/budgets/acme-eu',
  '/budgets/zenith',
  '/budgets/acme/entries?limit=1',
  '/budgets/acme/entries csv',
  '/v3/projects/shop/details',
  '/v3/projects/zed-store/details',
]

const withoutIds = (text: string): string =>
  text
    .replace(/(?<![0-9a-z])[0-9a-z]{26}(?![0-9a-z])/g, 'id')
    .replace(/next\\*":\\*"[\w-]+/g, 'next')
    .replace(/cursor=[\w-]+/g, 'cursor')
    .replace(/"date\\*",\\*"[^"]*"/g, '')
    .replace(/"quote":"[^"]*"|login\?code=[\w-]+/g, '')

function apart(one: string, other: string): readonly string[] {
  const at = Math.max(0, [...one].findIndex((each, index) => each !== other[index]) - 100)
  return [one, other].map((text) => text.slice(at, at + 250))
}

describe('a caller who reads one client', () => {
  test('a caller who reads one client gets the same answers everywhere, whatever the other client does', async () => {
    const [busy, silent] = [await answersWhere(true), await answersWhere(false)]
    const different = Object.entries(busy).filter(([what, text]) => text !== silent[what])
    expect(different.slice(0, 5).map(([what, text]) => [what, ...apart(text, silent[what] ?? '')])).toEqual([])
    expect(Object.keys(busy)).toEqual(Object.keys(silent))
    const all = Object.values(busy).join()
    expect(all).toContain('outlet')
    expect(all).not.toMatch(/"etag"/)
    expect(all).toMatch(/a budget above is 30 units short/)
  }, 480_000)
})
