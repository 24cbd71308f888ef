import type { Actors } from './actors.ts'
import { demonstration } from './demonstration.ts'
import { setUp } from './seed.ts'

type Action = (actors: Actors) => Promise<unknown>

/** Once in the month: on the day that is counted from its first, or so long before its end. Times are UTC. */
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

/** Every week, by the day of the week: Sunday is 0. */
export const weekly: readonly { readonly weekday: number; readonly time: string; readonly act: Action }[] = [
  {
    weekday: 1,
    time: '09:05',
    act: ({ ask }) => ask('report-tool', { project: garden, reason: 'weekly report' }, 'settled'),
  },
  {
    weekday: 1,
    time: '10:30',
    act: ({ askInSlack }) => askInSlack('U02DORA', { project: spa, reason: 'weekly call with the client' }, 'settled'),
  },
  {
    weekday: 2,
    time: '11:15',
    act: ({ ask }) => ask('tomas', { project: 'café & co/paris', reason: 'new menu pages' }, 'settled'),
  },
  {
    weekday: 3,
    time: '09:05',
    act: ({ ask }) => ask('report-tool', { project: garden, reason: 'weekly report' }, 'settled'),
  },
  // Refused, and answered with the update of the morning.
  {
    weekday: 3,
    time: '15:40',
    act: ({ ask }) => ask('tomas', { project: garden, reason: 'after the release' }, 'settled'),
  },
  {
    weekday: 4,
    time: '14:20',
    act: ({ ask }) => ask('tomas', { project: 'daily.example', reason: 'is it fresh?' }, 'refused'),
  },
  {
    weekday: 5,
    time: '09:05',
    act: ({ ask }) => ask('report-tool', { project: spa, reason: 'weekly report' }, 'settled'),
  },
]

export const scenes: readonly Scene[] = [
  // What npm start will ask for again: under the same keys it is answered from these records.
  on(1, '08:00', async ({ call, ask }) => {
    const { budget, unitsPerMonth, reason, asks } = demonstration
    const [runs, refused] = asks
    const limits = [{ window: 'month', units: unitsPerMonth }]
    await call('local-admin', 'PUT', `/budgets/${budget}`, { limits, reason: 'for the demonstration' })
    await ask('local-admin', { project: runs.project, budget, reason }, 'settled', runs.key)
    await ask('local-admin', { project: refused.project, budget, reason }, 'refused', refused.key)
  }),
  on(1, '08:20', setUp),
  on(2, '10:05', approved('kick-off report', 35)),
  on(3, '11:00', ({ ask }) => ask('tomas', { project: bikes, reason: 'prices of the season' }, 'settled')),
  on(4, '09:40', async ({ ask, wait, call }) => {
    const id = await ask(
      'reporting-agent',
      { project: travel, reason: 'rankings older than 30 days' },
      'awaiting-approval',
    )
    wait(50)
    await call('mira', 'POST', `/updates/${id}/reject`, { reason: 'the site is relaunched next week; ask again then' })
  }),
  on(5, '13:00', async ({ askInSlack, wait, call }) => {
    const asked = { kind: 'keyword-difficulty', project: travel, reason: 'plan of the autumn campaign' } as const
    const id = await askInSlack('U03INES', asked, 'awaiting-approval')
    wait(75)
    await call('mira', 'POST', `/updates/${id}/approve`, { reason: 'agreed in the planning' })
  }),
  on(5, '16:20', ({ ask }) => ask('tomas', { project: bikes, reason: 'new landing pages' }, 'settled')),
  on(6, '10:10', async (actors) => {
    await actors.injectFault({ operation: 'run', project: hotels, fault: 'run-units', units: 230 })
    await approved('a competitor has launched', 20)(actors)
  }),
  on(6, '15:30', ({ ask }) => ask('tomas', { project: books, reason: 'trial: is it worth it?' }, 'settled')),
  on(7, '09:30', ({ call }) =>
    call('mira', 'POST', '/budgets/lakeside-hotels/entries', {
      type: 'grant',
      units: 600,
      reason: 'order 1182: four more reports',
    }),
  ),
  // The answer is lost, and the service has the data: evidence settles it.
  on(8, '13:10', async ({ ask, injectFault, wait, sweep }) => {
    await injectFault({ operation: 'run', project: bikes, fault: 'reset', consumes: true })
    await ask('dora', { project: bikes, reason: 'call with the client' }, 'in-doubt')
    wait(20)
    await sweep()
  }),
  // It never arrived, and a person says so.
  on(9, '10:00', async ({ ask, injectFault, wait, call }) => {
    await injectFault({ operation: 'run', project: 'initech', fault: 'status', status: 502, consumes: false })
    const id = await ask(
      'ines',
      { kind: 'keyword-difficulty', project: 'initech', reason: 'offer for next year' },
      'in-doubt',
    )
    wait(30)
    await call('mira', 'POST', `/updates/${id}/resolve`, {
      outcome: 'did-not-run',
      reason: 'the vendor’s screen shows no run of it',
    })
  }),
  on(10, '09:15', ({ call }) =>
    call('mira', 'POST', '/budgets/shop/entries', {
      type: 'external-spend',
      units: 420,
      reason: 'run by hand in the vendor’s screen',
    }),
  ),
  on(11, '16:00', async ({ call, wait, ask }) => {
    await call('mira', 'POST', '/budgets/trial/freeze', { reason: 'the trial is over' })
    wait(45)
    await ask('tomas', { project: books, reason: 'one last look' }, 'refused')
  }),
  on(12, '11:30', ({ ask }) => ask('tomas', { project: bikes, reason: 'after the sale' }, 'settled')),
  // 429 says that it did not run, so nothing is lost, and it may be asked for again.
  on(13, '09:50', async ({ ask, injectFault, wait }) => {
    const asked = { kind: 'keyword-difficulty', project: 'globex', reason: 'quarterly review' } as const
    await injectFault({ operation: 'run', project: 'globex', fault: 'status', status: 429, consumes: false })
    await ask('dora', asked, 'released')
    wait(10)
    await ask('dora', asked, 'settled')
  }),
  on(14, '10:15', ({ ask }) => ask('dora', { project: bikes, reason: 'monthly report' }, 'settled')),
  on(15, '10:00', async ({ ask, wait, call }) => {
    await ask('tomas', { project: bikes, reason: 'new landing pages' }, 'refused')
    wait(15)
    await ask('dora', { project: bikes, reason: 'new landing pages' }, 'refused')
    wait(90)
    await call('mira', 'POST', '/budgets/lakeside-hotels/entries', {
      ...{ type: 'transfer', to: 'harbour-bikes', units: 200 },
      reason: 'the bikes need it more this month',
    })
    wait(5)
    await ask('dora', { project: bikes, reason: 'new landing pages' }, 'settled')
  }),
  on(16, '08:45', async ({ call, unitsLeft }) => {
    const asUsedElsewhere = 137
    const seen = (await unitsLeft()) - asUsedElsewhere
    await call('mira', 'POST', '/budgets/account/reconcile', {
      unitsLeft: seen,
      reason: 'the vendor’s screen, this morning',
    })
  }),
  on(17, '15:10', async ({ ask, wait, call }) => {
    const id = await ask('dora', { project: hotels, reason: 'for the newsletter' }, 'awaiting-approval')
    wait(12)
    await call('dora', 'POST', `/updates/${id}/cancel`, { reason: 'the spa was meant' })
  }),
  // No one decides, so it expires a day later.
  on(17, '18:00', ({ ask }) =>
    ask('reporting-agent', { project: travel, reason: 'rankings older than 30 days' }, 'awaiting-approval'),
  ),
  on(18, '09:20', ({ call }) => call('report-tool', 'GET', '/v3/keyword-difficulty/1001/run')),
  on(19, '14:00', ({ ask }) =>
    ask(
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

  // What is left for the reader: two doubts, and three updates that wait for a decision.
  before(9, ({ ask }) =>
    ask('reporting-agent', { project: travel, reason: 'the relaunch was a week ago' }, 'awaiting-approval'),
  ),
  before(6, async ({ ask, injectFault }) => {
    await injectFault({ operation: 'run', project: 'initech', fault: 'status', status: 502, consumes: false })
    await ask('ines', { kind: 'keyword-difficulty', project: 'initech', reason: 'offer for next year' }, 'in-doubt')
  }),
  before(4, async ({ ask, injectFault, wait }) => {
    await injectFault({ operation: 'run', project: garden, fault: 'reset', consumes: false })
    await ask('report-tool', { project: garden, reason: 'the front page has changed' }, 'in-doubt')
    wait(30)
    // Who does not know of it is refused: it may have run.
    await ask('tomas', { project: garden, reason: 'after the release' }, 'refused')
  }),
  before(3, ({ ask }) =>
    ask('dora', { project: hotels, reason: 'review with the client tomorrow' }, 'awaiting-approval'),
  ),
  before(2, ({ ask }) =>
    ask('tomas', { project: press, whenShort: 'ask', reason: 'the catalogue is out today' }, 'awaiting-approval'),
  ),
]

/** An update of the hotels, which is too dear to go without. */
function approved(reason: string, afterMinutes: number): Action {
  return async ({ ask, wait, call }) => {
    const id = await ask('dora', { project: hotels, reason }, 'awaiting-approval')
    wait(afterMinutes)
    await call('mira', 'POST', `/updates/${id}/approve`, { reason: 'within the plan' })
  }
}
