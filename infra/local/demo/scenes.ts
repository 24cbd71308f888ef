import type { State } from '../../../shared/ledger/updates/update.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import { demonstration } from './demonstration.ts'
import type { Actors, CallerScopes } from './scenario.ts'

const asks: readonly Scope[] = ['read', 'run']
const decides: readonly Scope[] = ['read', 'run', 'write', 'approve', 'admin']

export const callerScopes: CallerScopes = {
  'local-admin': decides,
  mira: decides,
  dora: asks,
  tomas: asks,
  ines: asks,
  'report-tool': asks,
  'reporting-agent': ['read', 'propose'],
}

const limits = (month: number, day?: number) => ({
  limits: [{ window: 'month', units: month }, ...(day === undefined ? [] : [{ window: 'day', units: day }])],
})
const owns = (...projects: readonly (readonly [name: string, id?: string])[]) => ({
  projects: projects.map(([name, id]) => ({ name, ...(id !== undefined && { id }) })),
})
const shopOwns = owns(['acme.example', '1001'], ['café & co/paris'], ['daily.example'], ['fernway-garden.example'])
const hotelsOwn = owns(['lakeside-hotels.example'], ['lakeside-spa.example'])

const budgets = {
  clients: limits(30_000),
  globex: { parent: 'clients', ...limits(17_000, 1_400), approvalAbove: 700, ...owns(['globex', '1002']) },
  initech: { parent: 'clients', ...limits(3_600), ...owns(['initech', '1003']) },
  'lakeside-hotels': { parent: 'clients', ...limits(2_500), approvalAbove: 150, ...hotelsOwn },
  'harbour-bikes': { parent: 'clients', ...limits(700), ...owns(['harbour-bikes.example']) },
  shop: { ...limits(6_000), ...shopOwns },
  research: { ...limits(3_000), approvalAbove: 250, ...owns(['juniper-travel.example']) },
  press: { ...limits(100), ...owns(['opal-press.example']) },
  trial: { ...limits(500), kinds: ['ranking'], ...owns(['willow-books.example']) },
}

const callers = {
  'reporting-agent': {
    scopes: ['read', 'propose'],
    budgets: ['research'],
    limits: [{ window: 'day', units: 600 }],
    reason: 'asks for what its reports lack; a person decides',
  },
  'slack:U02DORA': { scopes: ['read', 'run'], budgets: ['clients'], person: 'dora', reason: 'the clients team' },
  'slack:U03INES': { scopes: ['read', 'run'], budgets: ['research'], person: 'ines', reason: 'research' },
}

const hotels = 'lakeside-hotels.example'
const spa = 'lakeside-spa.example'
const bikes = 'harbour-bikes.example'
const garden = 'fernway-garden.example'
const books = 'willow-books.example'
const press = 'opal-press.example'
const travel = 'juniper-travel.example'

/** A ranking update costs keywords × search engines. */
const projects = [
  { name: hotels, keywords: 45, countries: ['US', 'UK', 'DE', 'FR'] },
  { name: spa, keywords: 24, countries: ['US', 'DE'] },
  { name: bikes, keywords: 70, countries: ['US', 'CA'] },
  { name: garden, keywords: 90, countries: ['UK'] },
  { name: press, keywords: 90, countries: ['US', 'UK'] },
  { name: books, keywords: 60, countries: ['US'] },
  { name: travel, keywords: 150, countries: ['US', 'UK'] },
]

async function setUp({ call }: Actors): Promise<void> {
  for (const [name, body] of Object.entries(budgets)) {
    await call('local-admin', 'PUT', `/budgets/${name}`, { reason: 'budgets of this year', ...body })
  }
  for (const [sub, body] of Object.entries(callers)) await call('mira', 'PUT', `/callers/${sub}`, body)
  for (const { name, keywords, countries } of projects) {
    await call('mira', 'POST', `/v3/projects/${name}/create?frequency=ondemand&country=${countries[0]}`, {
      keywords: Array.from({ length: keywords }, (_, index) => ({ name: `${name.split('.')[0]} ${index + 1}` })),
      searchengines: countries.map((country) => ({ name: 'example search', country })),
      websites: [{ name: `www.${name}` }],
    })
  }
}

type Action = (actors: Actors) => Promise<unknown>

/** `day` counts from 1, `hoursBeforeEnd` from the end of the month. Times are UTC. */
export type Scene = { readonly act: Action } & (
  | { readonly day: number; readonly time: string }
  | { readonly hoursBeforeEnd: number }
)

const on = (day: number, time: string, act: Action): Scene => ({ day, time, act })
const before = (hoursBeforeEnd: number, act: Action): Scene => ({ hoursBeforeEnd, act })

const ranking =
  (who: string, project: string, reason: string, expected: State = 'settled') =>
  ({ submit }: Actors) =>
    submit(who, { project, reason }, expected)

/** Asks for an update, and decides about it some minutes later. */
const decided =
  (
    ask: (actors: Actors) => Promise<string>,
    afterMinutes: number,
    decision: string,
    body: object,
    who = 'mira',
  ): Action =>
  async (actors) => {
    const id = await ask(actors)
    actors.wait(afterMinutes)
    await actors.call(who, 'POST', `/updates/${id}/${decision}`, body)
  }

const approved = (reason: string, afterMinutes: number): Action =>
  decided(ranking('dora', hotels, reason, 'awaiting-approval'), afterMinutes, 'approve', { reason: 'within the plan' })

interface WeeklyScene {
  /** Sunday is 0. */
  readonly weekday: number
  readonly time: string
  readonly act: Action
}

const every = (weekday: number, time: string, act: Action): WeeklyScene => ({ weekday, time, act })

export const weekly: readonly WeeklyScene[] = [
  every(1, '09:05', ranking('report-tool', garden, 'weekly report')),
  every(1, '10:30', ({ submitInSlack }) =>
    submitInSlack('U02DORA', { project: spa, reason: 'weekly call with the client' }, 'settled'),
  ),
  every(2, '11:15', ranking('tomas', 'café & co/paris', 'new menu pages')),
  every(3, '09:05', ranking('report-tool', garden, 'weekly report')),
  every(3, '15:40', ranking('tomas', garden, 'after the release')),
  every(4, '14:20', ranking('tomas', 'daily.example', 'is it fresh?', 'refused')),
  every(5, '09:05', ranking('report-tool', spa, 'weekly report')),
]

const entry =
  (budget: string, type: string, units: number, reason: string, more: object = {}): Action =>
  ({ call }) =>
    call('mira', 'POST', `/budgets/${budget}/entries`, { type, units, reason, ...more })

const oldRankings = ranking('reporting-agent', travel, 'rankings older than 30 days', 'awaiting-approval')
const newsletter = ranking('dora', hotels, 'for the newsletter', 'awaiting-approval')
const campaign = ({ submitInSlack }: Actors) =>
  submitInSlack(
    'U03INES',
    { kind: 'keyword-difficulty', project: travel, reason: 'plan of the autumn campaign' },
    'awaiting-approval',
  )
const offer = async ({ submit, injectFault }: Actors) => {
  await injectFault({ operation: 'run', project: 'initech', fault: 'status', status: 502, consumes: false })
  return submit('ines', { kind: 'keyword-difficulty', project: 'initech', reason: 'offer for next year' }, 'in-doubt')
}
const notRun = { outcome: 'did-not-run', reason: 'the vendor’s screen shows no run of it' }

export const scenes: readonly Scene[] = [
  // npm start repeats these requests with the same keys, so the guard answers from its records.
  on(1, '08:00', async ({ call, submit }) => {
    const { budget, unitsPerMonth, reason, requests } = demonstration
    const [runs, refused] = requests
    await call('local-admin', 'PUT', `/budgets/${budget}`, {
      ...limits(unitsPerMonth),
      reason: 'for the demonstration',
    })
    await submit('local-admin', { project: runs.project, budget, reason }, 'settled', runs.key)
    await submit('local-admin', { project: refused.project, budget, reason }, 'refused', refused.key)
  }),
  on(1, '08:20', setUp),
  on(2, '10:05', approved('kick-off report', 35)),
  on(3, '11:00', ranking('tomas', bikes, 'prices of the season')),
  on(4, '09:40', decided(oldRankings, 50, 'reject', { reason: 'the site is relaunched next week; ask again then' })),
  on(5, '13:00', decided(campaign, 75, 'approve', { reason: 'agreed in the planning' })),
  on(5, '16:20', ranking('tomas', bikes, 'new landing pages')),
  on(6, '10:10', async (actors) => {
    await actors.injectFault({ operation: 'run', project: hotels, fault: 'run-units', units: 230 })
    await approved('a competitor has launched', 20)(actors)
  }),
  on(6, '15:30', ranking('tomas', books, 'trial: is it worth it?')),
  on(7, '09:30', entry('lakeside-hotels', 'grant', 600, 'order 1182: four more reports')),
  // The answer is lost, and evidence settles the update.
  on(8, '13:10', async ({ submit, injectFault, wait, sweep }) => {
    await injectFault({ operation: 'run', project: bikes, fault: 'reset', consumes: true })
    await submit('dora', { project: bikes, reason: 'call with the client' }, 'in-doubt')
    wait(20)
    await sweep()
  }),
  // The request never arrived, and an operator resolves it.
  on(9, '10:00', decided(offer, 30, 'resolve', notRun)),
  on(10, '09:15', entry('shop', 'external-spend', 420, 'run by hand in the vendor’s screen')),
  on(11, '16:00', ({ call }) => call('mira', 'POST', '/budgets/trial/freeze', { reason: 'the trial is over' })),
  on(11, '16:45', ranking('tomas', books, 'one last look', 'refused')),
  on(12, '11:30', ranking('tomas', bikes, 'after the sale')),
  // 429 proves that the update did not run, so a new request may run it.
  on(13, '09:50', async ({ submit, injectFault, wait }) => {
    const request = { kind: 'keyword-difficulty', project: 'globex', reason: 'quarterly review' } as const
    await injectFault({ operation: 'run', project: 'globex', fault: 'status', status: 429, consumes: false })
    await submit('dora', request, 'released')
    wait(10)
    await submit('dora', request, 'settled')
  }),
  on(14, '10:15', ranking('dora', bikes, 'monthly report')),
  on(15, '10:00', ranking('tomas', bikes, 'new landing pages', 'refused')),
  on(15, '10:15', ranking('dora', bikes, 'new landing pages', 'refused')),
  on(15, '11:45', entry('lakeside-hotels', 'transfer', 200, 'the bikes need it more', { to: 'harbour-bikes' })),
  on(15, '11:50', ranking('dora', bikes, 'new landing pages')),
  on(16, '08:45', async ({ call, unitsLeft }) => {
    const usedElsewhere = 137
    const figure = { unitsLeft: (await unitsLeft()) - usedElsewhere, reason: 'the vendor’s screen, this morning' }
    const preview = '/budgets/account/reconcile?dry-run=true'
    const { units: difference } = await call<{ units: number }>('mira', 'POST', preview, figure)
    await call('mira', 'POST', '/budgets/account/reconcile', { ...figure, difference })
  }),
  on(17, '15:10', decided(newsletter, 12, 'cancel', { reason: 'the spa was meant' }, 'dora')),
  // This request expires a day later without a decision.
  on(17, '18:00', oldRankings),
  on(18, '09:20', ({ call }) => call('report-tool', 'GET', '/v3/keyword-difficulty/1001/run')),
  on(19, '14:00', ({ submit }) =>
    submit(
      'mira',
      { project: 'acme.example', force: true, reason: 'the shop moved to its new address at noon' },
      'settled',
    ),
  ),
  on(19, '16:30', approved('report for the board', 25)),
  on(20, '09:00', ({ call }) => {
    const larger = { ...budgets.initech, ...limits(4_200), reason: 'initech has bought the larger contract' }
    return call('mira', 'PUT', '/budgets/initech', larger)
  }),

  // Left for the reader: two doubts, and three updates that wait for a decision.
  before(9, ranking('reporting-agent', travel, 'the relaunch was a week ago', 'awaiting-approval')),
  before(6, offer),
  before(4, async ({ submit, injectFault, wait }) => {
    await injectFault({ operation: 'run', project: garden, fault: 'reset', consumes: false })
    await submit('report-tool', { project: garden, reason: 'the front page has changed' }, 'in-doubt')
    wait(30)
    // Refused, because the update in doubt may have run.
    await submit('tomas', { project: garden, reason: 'after the release' }, 'refused')
  }),
  before(3, ranking('dora', hotels, 'review with the client tomorrow', 'awaiting-approval')),
  before(2, ({ submit }) =>
    submit('tomas', { project: press, whenShort: 'ask', reason: 'the catalogue is out today' }, 'awaiting-approval'),
  ),
]
