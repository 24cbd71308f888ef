import type { State } from '../../../shared/ledger/updates/update.ts'
import { demonstration } from './demonstration.ts'
import type { Actors, CallerScopes } from './scenario.ts'

export const callerScopes: CallerScopes = {
  'local-admin': ['read', 'run', 'write', 'approve', 'admin'],
  mira: ['read', 'run', 'write', 'approve', 'admin'],
  dora: ['read', 'run'],
  tomas: ['read', 'run'],
  ines: ['read', 'run'],
  'report-tool': ['read', 'run'],
  'reporting-agent': ['read', 'propose'],
}

const budget = (month: number, more: object = {}) => ({ limits: [{ window: 'month', units: month }], ...more })
const owns = (...projects: (string | readonly [name: string, id: string])[]) => ({
  projects: projects.map((each) => (typeof each === 'string' ? { name: each } : { name: each[0], id: each[1] })),
})

const budgets = {
  clients: budget(30_000),
  globex: {
    parent: 'clients',
    limits: [
      { window: 'month', units: 17_000 },
      { window: 'day', units: 1_400 },
    ],
    approvalAbove: 700,
    ...owns(['globex', '1002']),
  },
  initech: { parent: 'clients', ...budget(3_600, owns(['initech', '1003'])) },
  'lakeside-hotels': {
    parent: 'clients',
    ...budget(2_500, { approvalAbove: 150, ...owns('lakeside-hotels.example', 'lakeside-spa.example') }),
  },
  'harbour-bikes': { parent: 'clients', ...budget(700, owns('harbour-bikes.example')) },
  shop: budget(6_000, owns(['acme.example', '1001'], 'café & co/paris', 'daily.example', 'fernway-garden.example')),
  research: budget(3_000, { approvalAbove: 250, ...owns('juniper-travel.example') }),
  press: budget(100, owns('opal-press.example')),
  trial: budget(500, { kinds: ['ranking'], ...owns('willow-books.example') }),
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

/** A ranking update costs keywords × search engines. */
const projects = [
  { name: 'lakeside-hotels.example', keywords: 45, countries: ['US', 'UK', 'DE', 'FR'] },
  { name: 'lakeside-spa.example', keywords: 24, countries: ['US', 'DE'] },
  { name: 'harbour-bikes.example', keywords: 70, countries: ['US', 'CA'] },
  { name: 'fernway-garden.example', keywords: 90, countries: ['UK'] },
  { name: 'opal-press.example', keywords: 90, countries: ['US', 'UK'] },
  { name: 'willow-books.example', keywords: 60, countries: ['US'] },
  { name: 'juniper-travel.example', keywords: 150, countries: ['US', 'UK'] },
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

/** `day` counts from 1, hours before the end of the month; times are UTC. */
export type Scene = { readonly act: Action } & (
  | { readonly day: number; readonly time: string }
  | { readonly hoursBeforeEnd: number }
)

const on = (day: number, time: string, act: Action): Scene => ({ day, time, act })
const before = (hoursBeforeEnd: number, act: Action): Scene => ({ hoursBeforeEnd, act })

const hotels = 'lakeside-hotels.example'
const spa = 'lakeside-spa.example'
const bikes = 'harbour-bikes.example'
const garden = 'fernway-garden.example'
const books = 'willow-books.example'
const press = 'opal-press.example'
const travel = 'juniper-travel.example'

const ranking =
  (who: string, project: string, reason: string, expected: State = 'settled') =>
  ({ submit }: Actors) =>
    submit(who, { project, reason }, expected)

/** Decides about what was asked, some minutes later. */
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
    const limits = [{ window: 'month', units: unitsPerMonth }]
    await call('local-admin', 'PUT', `/budgets/${budget}`, { limits, reason: 'for the demonstration' })
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
  on(7, '09:30', ({ call }) =>
    call('mira', 'POST', '/budgets/lakeside-hotels/entries', {
      type: 'grant',
      units: 600,
      reason: 'order 1182: four more reports',
    }),
  ),
  // The answer is lost, and evidence settles the update.
  on(8, '13:10', async ({ submit, injectFault, wait, sweep }) => {
    await injectFault({ operation: 'run', project: bikes, fault: 'reset', consumes: true })
    await submit('dora', { project: bikes, reason: 'call with the client' }, 'in-doubt')
    wait(20)
    await sweep()
  }),
  // The request never arrived, and an operator resolves it.
  on(9, '10:00', decided(offer, 30, 'resolve', notRun)),
  on(10, '09:15', ({ call }) =>
    call('mira', 'POST', '/budgets/shop/entries', {
      type: 'external-spend',
      units: 420,
      reason: 'run by hand in the vendor’s screen',
    }),
  ),
  on(11, '16:00', async ({ call, wait, submit }) => {
    await call('mira', 'POST', '/budgets/trial/freeze', { reason: 'the trial is over' })
    wait(45)
    await submit('tomas', { project: books, reason: 'one last look' }, 'refused')
  }),
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
  on(15, '10:00', async ({ submit, wait, call }) => {
    await submit('tomas', { project: bikes, reason: 'new landing pages' }, 'refused')
    wait(15)
    await submit('dora', { project: bikes, reason: 'new landing pages' }, 'refused')
    wait(90)
    await call('mira', 'POST', '/budgets/lakeside-hotels/entries', {
      ...{ type: 'transfer', to: 'harbour-bikes', units: 200 },
      reason: 'the bikes need it more this month',
    })
    wait(5)
    await submit('dora', { project: bikes, reason: 'new landing pages' }, 'settled')
  }),
  on(16, '08:45', async ({ call, unitsLeft }) => {
    const usedElsewhere = 137
    const reading = (await unitsLeft()) - usedElsewhere
    const figure = { unitsLeft: reading, reason: 'the vendor’s screen, this morning' }
    const preview = await call('mira', 'POST', '/budgets/account/reconcile?dry-run=true', figure)
    const { units: difference } = preview as { readonly units: number }
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
  on(20, '09:00', ({ call }) =>
    call('mira', 'PUT', '/budgets/initech', {
      parent: 'clients',
      limits: [{ window: 'month', units: 4_200 }],
      projects: [{ name: 'initech', id: '1003' }],
      reason: 'initech has bought the larger contract',
    }),
  ),

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
