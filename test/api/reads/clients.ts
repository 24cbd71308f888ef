import { summaryDays } from '../../../shared/ledger/updates/summary-days.ts'
import { daySummaries } from '../../../shared/reports/stored-summary.ts'
import { hours } from '../../support/clock.ts'
import { type Called, json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]
const named = (...names: string[]) => names.map((name) => ({ name }))

const units = {
  shop: 40,
  outlet: 60,
  dear: 4_000,
  shared: 55,
  'zed-store': 7_311,
  'zed-doubt': 7_313,
  'zed-wait': 7_321,
}
/** Names, words and figures of the other client and of the budgets above, as whole words because ids and cursors are random. */
export const telling =
  /zenith|overco|\b(zed-(store|doubt|wait)|zoe\b|zara\b|zeta\b|zulu\b)|\b(7777|7[,.]?3[12]1|7[,.]?313|7[,.]?919|7[,.]?907|61[,.]?3\d\d|98[,.]?710)\b/i

const plans = [
  {
    name: 'both',
    kind: 'ranking',
    projects: ['shop', 'zed-store'],
    schedule: 'cron(0 5 * * ? *)',
    leave: { zenith: 5 },
  },
  {
    name: 'own',
    kind: 'ranking',
    projects: ['outlet'],
    schedule: 'cron(0 6 * * ? *)',
    tags: { client: 'zenith', report: 'weekly' },
  },
  { name: 'zulu', kind: 'ranking', projects: ['zed-store'], budget: 'zenith', schedule: 'cron(0 7 * * ? *)' },
]

const zenith = {
  parent: 'overco',
  limits: month(40_000),
  approvalAbove: 7_320,
  projects: [{ name: 'zed-store', id: '7777' }, ...named('zed-doubt', 'zed-wait')],
  reason: 'zeta opens',
}
const acme = {
  parent: 'overco',
  limits: month(3_000),
  projects: [{ name: 'shop', id: '5001' }, ...named('dear', 'spare')],
}

export type Clients = Awaited<ReturnType<typeof startClients>>

/** Two clients of one agency. `mia` reads only acme. */
export async function startClients(options: Parameters<typeof startProduct>[0] = {}) {
  const state = { fails: false }
  const product = await startProduct({
    store: createMemoryStore(),
    plans,
    units,
    service: ({ url }) => (state.fails && url.endsWith('/run') ? { status: 500 } : readOf(url)),
    ...options,
  })
  const { call, signed } = product
  const tokenOf = (sub: string, claims: object = {}) =>
    signed({ sub, scope: 'read run write approve', budgets: '*', ...claims })
  const zoe = tokenOf('zoe')
  const max = tokenOf('max', { budgets: ['overco'] })
  const world: World = {
    state,
    must: async (method, path, body, token) => {
      const answer = await call(method, path, { ...(body && { body }), ...(token && { token }) })
      if (answer.status >= 400 && !answer.body.updates) throw new Error(`${method} ${path}: ${answer.text}`)
      return answer
    },
    zoe,
    max,
  }
  await defineBudgets(world)
  const others = await askForOther(world)
  const ids = await askForOwn(world, others.doubtOfOwn)
  const entries = await book(world)
  product.clock.advance(hours(1))
  const mia = tokenOf('mia', {
    scope: 'read run propose write approve admin',
    budgets: ['acme'],
    exp: product.inDays(30),
  })
  const as: typeof call = (method, path, how = {}) => call(method, path, { token: mia, ...how })
  const summaries = async () => {
    const { ledger } = product.guard
    const { definitions } = await ledger.view()
    const days = summaryDays(definitions.calendar, { since: definitions.createdAt, until: product.clock.now() })
    return (await ledger.item(daySummaries).read(days)).filter(({ mark }) => mark !== null)
  }
  return { ...product, as, mia, ids, summaries, other: { ...others, entries } }
}

/** The service answers a read with its own path, so that a forwarded read is visible. */
export const readOf = (url: string) =>
  /\/(estimate|run|dates)(\?|$)/.test(url) ? undefined : json({ response_code: 0, of: url })

interface World {
  readonly state: { fails: boolean }
  readonly zoe: Promise<string>
  readonly max: Promise<string>
  must(method: string, path: string, body?: object, token?: Promise<string>): Promise<Called>
}

async function defineBudgets({ must }: World) {
  await must('PUT', '/budgets/overco', { limits: month(61_301), reason: 'zeta opens overco' })
  await must('PUT', '/budgets/zenith?asWritten=true', { ...zenith, projects: [...zenith.projects, { name: 'shared' }] })
  await must('PUT', '/budgets/acme?asWritten=true', acme)
  await must('PUT', '/budgets/acme-eu', { parent: 'acme', limits: month(500), projects: named('outlet') })
  await must('PUT', '/callers/zoe', {
    person: 'zara',
    mayForce: true,
    mayChargeAncestors: true,
    limits: month(98_710),
  })
  await must('PUT', '/callers/max', { mayChargeAncestors: true })
  await must('PUT', '/callers/mia', { readsBudgets: ['acme'] })
}

/** The other client's updates: settled, in doubt, awaiting approval, rejected, cancelled, refused; one project moves. */
async function askForOther({ must, state, zoe, max }: World) {
  const updates: string[] = []
  const ask = async (body: object): Promise<string> => {
    const asked = { kind: 'ranking', reason: 'zeta asks', tags: { client: 'zenith', zeta: 'zulu' }, ...body }
    const { id } = (await must('POST', '/updates', asked, zoe)).body.updates[0]
    updates.push(id)
    return id
  }
  await ask({ project: 'zed-store' })
  await ask({ project: 'shared' })
  state.fails = true
  await ask({ project: 'zed-doubt' })
  const ours = await must('POST', '/updates', { kind: 'ranking', project: 'outlet' }, max)
  state.fails = false
  await must('PUT', '/budgets/zenith?release=true', zenith)
  await must('PUT', '/budgets/acme', { ...acme, projects: [...acme.projects, { name: 'shared' }] })
  const waiting = await ask({ project: 'zed-wait' })
  const rejected = await ask({ kind: 'keyword-difficulty', project: 'zed-wait' })
  await must('POST', `/updates/${rejected}/reject`, { reason: 'zeta says no' })
  const cancelled = await ask({ kind: 'keyword-difficulty', project: 'zed-wait', maxUnits: 8_000 })
  await must('POST', `/updates/${cancelled}/cancel`, { reason: 'zeta took it back' }, zoe)
  await ask({ project: 'zed-store', force: true, maxUnits: 1 })
  return { updates, waiting, doubtOfOwn: ours.body.updates[0].id as string }
}

/** The reader's updates, which budgets above decide. */
async function askForOwn({ must, max }: World, doubt: string) {
  const ask = async (project: string, more: object = {}): Promise<string> =>
    (await must('POST', '/updates', { kind: 'ranking', project, ...more }, max)).body.updates[0].id
  const difficulty = { kind: 'keyword-difficulty' }
  const overco = { limits: month(61_301) }
  const ids = {
    doubt,
    settled: await ask('shop', { tags: { client: 'acme', before: 'of zenith' } }),
    paidAbove: await ask('shop', { ...difficulty, budget: 'overco' }),
    overBudget: await ask('dear'),
  }
  await ask('shared')
  await must('PUT', '/budgets/overco', { ...overco, approvalAbove: 30 })
  const awaiting = await ask('spare')
  await must('PUT', '/budgets/overco', { ...overco, kinds: ['ranking'] })
  const kind = await ask('spare', difficulty)
  await must('PUT', '/budgets/overco', { ...overco, perUpdate: 31 })
  const perUpdate = await ask('spare', difficulty)
  await must('PUT', '/budgets/overco', { limits: month(14_850) })
  const shortAbove = await ask('shared', difficulty)
  const asked = await ask('shared', { ...difficulty, whenShort: 'ask' })
  await must('PUT', '/budgets/overco', overco)
  await must('POST', '/budgets/overco/freeze', { reason: 'zeta is wild' })
  const frozenAbove = await ask('spare', difficulty)
  await must('POST', '/budgets/overco/unfreeze', { reason: 'zeta is calm' })
  return { ...ids, awaiting, kind, perUpdate, shortAbove, asked, frozenAbove }
}

async function book({ must, zoe, max }: World) {
  const entry = (budget: string, body: object) => must('POST', `/budgets/${budget}/entries`, body)
  const { body: grant } = await entry('zenith', { type: 'grant', units: 7_919, reason: 'zeta pays' })
  await entry('zenith', { type: 'external-spend', units: 7_907, reason: 'zeta outside' })
  await entry('zenith', { type: 'transfer', units: 100, to: 'acme', reason: 'zeta gives' })
  await entry('acme', { type: 'grant', units: 50, wholeChain: true, reason: 'acme pays' })
  await must('PUT', '/budgets', {
    budgets: [
      { name: 'zenith', perUpdate: 61_399 },
      { name: 'acme', perUpdate: 3_500 },
    ],
    reason: 'zeta changes both',
  })
  await must('POST', '/v3/projects/zed-store/update', { keywords: [{ name: 'zeta' }] }, zoe)
  await must('POST', '/v3/projects/shop/update', { keywords: [{ name: 'shoes' }] }, max)
  await must('POST', '/plans/both/run', { time: '2026-11-20T09:55:00Z' })
  await must('POST', '/plans/zulu/pause', { reason: 'zeta paused it' })
  await must('POST', '/plans/own/pause', { reason: 'like zenith' })
  return [grant.id as string]
}

/** The status, the headers, the body and the decoded cursors. */
export function everythingOf({ status, headers, text }: Called): string {
  const cursors = [...text.matchAll(/"next":"([\w-]+)"/g)].map(([, cursor = '']) =>
    Buffer.from(cursor, 'base64url').toString(),
  )
  return JSON.stringify([status, [...headers], text, cursors])
}
