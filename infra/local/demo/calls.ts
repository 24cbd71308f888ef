import type { Fault } from '../../../functions/sandbox/faults.ts'
import type { State } from '../../../shared/ledger/updates/update.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import { demonstration } from './demonstration.ts'

/**
 * One call of the month, at a time in UTC: `2 10:05` (a day of the month), `Mon 09:05`, `daily 23:00`, `-9h` (before the end)
 * or `+35` (minutes after the call above). `{update}` is the last update since the call above that has a time of its own.
 */
export type Call = readonly [at: string, caller: string, ...Made]

type Made =
  /** An update must get the expected state; any other call must succeed. */
  | readonly [call: `${'GET' | 'POST' | 'PUT'} /${string}`, body?: object, expected?: State, key?: string]
  | readonly [call: 'reconcile', figure: { readonly usedElsewhere: number; readonly reason: string }]
  | readonly [call: 'fault', fault: Fault]
  | readonly [call: 'sweep']

const asks: readonly Scope[] = ['read', 'run']
const decides: readonly Scope[] = ['read', 'run', 'write', 'approve', 'admin']

export const callerScopes: Readonly<Record<string, readonly Scope[]>> = {
  'local-admin': decides,
  mira: decides,
  dora: asks,
  tomas: asks,
  ines: asks,
  'report-tool': asks,
  'reporting-agent': ['read', 'propose'],
}

const hotels = 'lakeside-hotels.example'
const spa = 'lakeside-spa.example'
const bikes = 'harbour-bikes.example'
const garden = 'fernway-garden.example'
const books = 'willow-books.example'
const press = 'opal-press.example'
const travel = 'juniper-travel.example'

const limit = (window: 'month' | 'day', units: number) => ({ window, units })
const monthly = (units: number, why = 'budgets of this year') => ({ limits: [limit('month', units)], reason: why })
const budget = (name: string, units: number, more: object = {}): Call => [
  '+0',
  'local-admin',
  `PUT /budgets/${name}`,
  { ...monthly(units), ...more },
]
/** @param names a name, or a name and an id. */
const owns = (...names: readonly (string | readonly [name: string, id: string])[]) => ({
  projects: names.map((each) => (typeof each === 'string' ? { name: each } : { name: each[0], id: each[1] })),
})
const initech = { parent: 'clients', ...owns(['initech', '1003']) }
const globexLimits = { limits: [limit('month', 17_000), limit('day', 1_400)], approvalAbove: 700 }

/** A ranking update costs keywords × search engines. */
const project = (name: string, keywords: number, ...countries: readonly string[]): Call => [
  '+0',
  'mira',
  `POST /v3/projects/${name}/create?frequency=ondemand&country=${countries[0]}`,
  {
    keywords: Array.from({ length: keywords }, (_, index) => ({ name: `${name.split('.')[0]} ${index + 1}` })),
    searchengines: countries.map((country) => ({ name: 'example search', country })),
    websites: [{ name: `www.${name}` }],
  },
]

const agent = {
  scopes: ['read', 'propose'],
  budgets: ['research'],
  limits: [limit('day', 600)],
  reason: 'asks for what its reports lack; a person decides',
}
const dora = { scopes: ['read', 'run'], budgets: ['clients'], person: 'dora', reason: 'the clients team' }
const ines = { scopes: ['read', 'run'], budgets: ['research'], person: 'ines', reason: 'research' }

const review = { kind: 'keyword-difficulty', project: 'globex', reason: 'quarterly review' }
const campaign = { kind: 'keyword-difficulty', project: travel, reason: 'plan of the autumn campaign' }
const offer = { kind: 'keyword-difficulty', project: 'initech', reason: 'offer for next year' }
const oldRankings = { project: travel, reason: 'rankings older than 30 days' }
const forced = { project: 'acme.example', force: true, reason: 'the shop moved to its new address at noon' }
const catalogue = { project: press, whenShort: 'ask', reason: 'the catalogue is out today' }
const relaunched = { project: travel, reason: 'the relaunch was a week ago' }

const order = { type: 'grant', units: 600, reason: 'order 1182: four more reports' }
const byHand = { type: 'external-spend', units: 420, reason: 'run by hand in the vendor’s screen' }
const transfer = { type: 'transfer', units: 200, to: 'harbour-bikes', reason: 'the bikes need it more' }
const notRun = { outcome: 'did-not-run', reason: 'the vendor’s screen shows no run of it' }

const lost = { operation: 'run', fault: 'reset' } as const
const failed = { operation: 'run', fault: 'status', consumes: false } as const
const overrun = { operation: 'run', project: hotels, fault: 'run-units', units: 230 } as const

const { budget: demo, unitsPerMonth, reason } = demonstration
const [runs, refused] = demonstration.requests

export const calls: readonly Call[] = [
  ['daily 23:00', 'guard', 'sweep'],

  // npm start repeats these requests with the same keys, so the guard answers from its records.
  ['1 08:00', 'local-admin', `PUT /budgets/${demo}`, monthly(unitsPerMonth, 'for the demonstration')],
  ['+0', 'local-admin', 'POST /updates', { project: runs.project, budget: demo, reason }, 'settled', runs.key],
  ['+0', 'local-admin', 'POST /updates', { project: refused.project, budget: demo, reason }, 'refused', refused.key],

  ['1 08:20', 'local-admin', 'PUT /budgets/clients', monthly(30_000)],
  budget('globex', 17_000, { parent: 'clients', ...globexLimits, ...owns(['globex', '1002']) }),
  budget('initech', 3_600, initech),
  budget('lakeside-hotels', 2_500, { parent: 'clients', approvalAbove: 150, ...owns(hotels, spa) }),
  budget('harbour-bikes', 700, { parent: 'clients', ...owns(bikes) }),
  budget('shop', 6_000, owns(['acme.example', '1001'], 'café & co/paris', 'daily.example', garden)),
  budget('research', 3_000, { approvalAbove: 250, ...owns(travel) }),
  budget('press', 100, owns(press)),
  budget('trial', 500, { kinds: ['ranking'], ...owns(books) }),
  ['+0', 'mira', 'PUT /callers/reporting-agent', agent],
  ['+0', 'mira', 'PUT /callers/slack:U02DORA', dora],
  ['+0', 'mira', 'PUT /callers/slack:U03INES', ines],
  project(hotels, 45, 'US', 'UK', 'DE', 'FR'),
  project(spa, 24, 'US', 'DE'),
  project(bikes, 70, 'US', 'CA'),
  project(garden, 90, 'UK'),
  project(press, 90, 'US', 'UK'),
  project(books, 60, 'US'),
  project(travel, 150, 'US', 'UK'),

  ['2 10:05', 'dora', 'POST /updates', { project: hotels, reason: 'kick-off report' }, 'awaiting-approval'],
  ['+35', 'mira', 'POST /updates/{update}/approve', { reason: 'within the plan' }],
  ['3 11:00', 'tomas', 'POST /updates', { project: bikes, reason: 'prices of the season' }, 'settled'],
  ['4 09:40', 'reporting-agent', 'POST /updates', oldRankings, 'awaiting-approval'],
  ['+50', 'mira', 'POST /updates/{update}/reject', { reason: 'the site is relaunched next week; ask again then' }],
  ['5 13:00', 'slack:U03INES', 'POST /updates', campaign, 'awaiting-approval'],
  ['+75', 'mira', 'POST /updates/{update}/approve', { reason: 'agreed in the planning' }],
  ['5 16:20', 'tomas', 'POST /updates', { project: bikes, reason: 'new landing pages' }, 'settled'],
  ['6 10:10', 'vendor', 'fault', overrun],
  ['+0', 'dora', 'POST /updates', { project: hotels, reason: 'a competitor has launched' }, 'awaiting-approval'],
  ['+20', 'mira', 'POST /updates/{update}/approve', { reason: 'within the plan' }],
  ['6 15:30', 'tomas', 'POST /updates', { project: books, reason: 'trial: is it worth it?' }, 'settled'],
  ['7 09:30', 'mira', 'POST /budgets/lakeside-hotels/entries', order],
  // The answer is lost, and evidence settles the update.
  ['8 13:10', 'vendor', 'fault', { ...lost, project: bikes, consumes: true }],
  ['+0', 'dora', 'POST /updates', { project: bikes, reason: 'call with the client' }, 'in-doubt'],
  ['+20', 'guard', 'sweep'],
  // The request never arrived, and an operator resolves it.
  ['9 10:00', 'vendor', 'fault', { ...failed, project: 'initech', status: 502 }],
  ['+0', 'ines', 'POST /updates', offer, 'in-doubt'],
  ['+30', 'mira', 'POST /updates/{update}/resolve', notRun],
  ['10 09:15', 'mira', 'POST /budgets/shop/entries', byHand],
  ['11 16:00', 'mira', 'POST /budgets/trial/freeze', { reason: 'the trial is over' }],
  ['11 16:45', 'tomas', 'POST /updates', { project: books, reason: 'one last look' }, 'refused'],
  ['12 11:30', 'tomas', 'POST /updates', { project: bikes, reason: 'after the sale' }, 'settled'],
  // 429 proves that the update did not run, so a new request may run it.
  ['13 09:50', 'vendor', 'fault', { ...failed, project: 'globex', status: 429 }],
  ['+0', 'dora', 'POST /updates', review, 'released'],
  ['+10', 'dora', 'POST /updates', review, 'settled'],
  ['14 10:15', 'dora', 'POST /updates', { project: bikes, reason: 'monthly report' }, 'settled'],
  ['15 10:00', 'tomas', 'POST /updates', { project: bikes, reason: 'new landing pages' }, 'refused'],
  ['15 10:15', 'dora', 'POST /updates', { project: bikes, reason: 'new landing pages' }, 'refused'],
  ['15 11:45', 'mira', 'POST /budgets/lakeside-hotels/entries', transfer],
  ['15 11:50', 'dora', 'POST /updates', { project: bikes, reason: 'new landing pages' }, 'settled'],
  ['16 08:45', 'mira', 'reconcile', { usedElsewhere: 137, reason: 'the vendor’s screen, this morning' }],
  ['17 15:10', 'dora', 'POST /updates', { project: hotels, reason: 'for the newsletter' }, 'awaiting-approval'],
  ['+12', 'dora', 'POST /updates/{update}/cancel', { reason: 'the spa was meant' }],
  // This request expires a day later without a decision.
  ['17 18:00', 'reporting-agent', 'POST /updates', oldRankings, 'awaiting-approval'],
  ['18 09:20', 'report-tool', 'GET /v3/keyword-difficulty/1001/run'],
  ['19 14:00', 'mira', 'POST /updates', forced, 'settled'],
  ['19 16:30', 'dora', 'POST /updates', { project: hotels, reason: 'report for the board' }, 'awaiting-approval'],
  ['+25', 'mira', 'POST /updates/{update}/approve', { reason: 'within the plan' }],
  [
    '20 09:00',
    'mira',
    'PUT /budgets/initech',
    { ...monthly(4_200, 'initech has bought the larger contract'), ...initech },
  ],

  // Left for the reader: two doubts, and three updates that wait for a decision.
  ['-9h', 'reporting-agent', 'POST /updates', relaunched, 'awaiting-approval'],
  ['-6h', 'vendor', 'fault', { ...failed, project: 'initech', status: 502 }],
  ['+0', 'ines', 'POST /updates', offer, 'in-doubt'],
  ['-4h', 'vendor', 'fault', { ...lost, project: garden, consumes: false }],
  ['+0', 'report-tool', 'POST /updates', { project: garden, reason: 'the front page has changed' }, 'in-doubt'],
  // Refused, because the update in doubt may have run.
  ['+30', 'tomas', 'POST /updates', { project: garden, reason: 'after the release' }, 'refused'],
  ['-3h', 'dora', 'POST /updates', { project: hotels, reason: 'review with the client tomorrow' }, 'awaiting-approval'],
  ['-2h', 'tomas', 'POST /updates', catalogue, 'awaiting-approval'],

  ['Mon 09:05', 'report-tool', 'POST /updates', { project: garden, reason: 'weekly report' }, 'settled'],
  ['Mon 10:30', 'slack:U02DORA', 'POST /updates', { project: spa, reason: 'weekly call with the client' }, 'settled'],
  ['Tue 11:15', 'tomas', 'POST /updates', { project: 'café & co/paris', reason: 'new menu pages' }, 'settled'],
  ['Wed 09:05', 'report-tool', 'POST /updates', { project: garden, reason: 'weekly report' }, 'settled'],
  ['Wed 15:40', 'tomas', 'POST /updates', { project: garden, reason: 'after the release' }, 'settled'],
  ['Thu 14:20', 'tomas', 'POST /updates', { project: 'daily.example', reason: 'is it fresh?' }, 'refused'],
  ['Fri 09:05', 'report-tool', 'POST /updates', { project: spa, reason: 'weekly report' }, 'settled'],
]
