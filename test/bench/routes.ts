import { iconPath, stylesheetPath } from '../../functions/dashboard/assets.ts'
import { minuteMs } from '../../shared/platform/clock.ts'
import { operationNames, operations } from '../../shared/tracking/operations.ts'
import { signedFor } from '../support/slack/slack.ts'
import type { Guarded } from './product.ts'
import { type Ask, createWorld, logIn, month, reason, taken, type World } from './world.ts'

/** Prepares a request and returns it; only the returned request is counted. */
export type Route = readonly [name: string, ready: () => Ask | Promise<Ask>]

export const plans = [
  { name: 'weekly', kind: 'ranking', projects: ['p-weekly-1', 'p-weekly-2'], schedule: 'cron(0 6 ? * MON *)' },
  { name: 'daily', kind: 'ranking', projects: ['p-daily'], schedule: 'cron(0 5 * * ? *)' },
]

/** One successful request for each route, in order: later requests find what earlier ones left. */
export async function routesOf(guarded: Guarded): Promise<readonly Route[]> {
  const world = await createWorld(guarded)
  const { guard, clock } = guarded.services
  // The nightly reading of prices.
  await (await guard.jobs()).readPrices(clock.now() + minuteMs)
  return [
    serviceRoutes,
    updateRoutes,
    budgetRoutes,
    callerRoutes,
    planRoutes,
    dashboardRoutes,
    dashboardAdminRoutes,
    gatewayRoutes,
    slackRoutes,
    readerRoutes,
    deliveryRoutes,
  ].flatMap((routes) => routes(world))
}

const serviceRoutes = ({ get }: World): readonly Route[] => [
  ['GET /health', () => () => get('/health')],
  ['GET /openapi.json', () => () => get('/openapi.json')],
  ['GET /docs', () => () => get('/docs')],
  ['GET /docs.css', () => () => get('/docs.css')],
  ['GET /problems/*', () => () => get('/problems/over-budget')],
  ['GET /estimates', () => () => get('/estimates?kind=ranking&project=estimated&budget=team-1')],
  ['GET /changes', () => () => get('/changes')],
  ['GET /audit', () => () => get('/audit')],
  ['GET /status', () => () => get('/status')],
  ['GET /ready', () => () => get('/ready')],
]

const updateRoutes = ({ get, post, asked, awaiting, queued, doubted, settled }: World): readonly Route[] => [
  ['POST /updates', () => () => asked('posted', { budget: 'team-1' })],
  ['POST /updates of a project with an id', () => () => asked('listed')],
  ['GET /updates', () => () => get('/updates')],
  ['GET /updates/:id', () => () => get(`/updates/${settled}`)],
  ['POST /updates/:id/approve', () => ready(awaiting('approved'), (id) => post(`/updates/${id}/approve`, {}))],
  ['POST /updates/:id/reject', () => ready(awaiting('rejected'), (id) => post(`/updates/${id}/reject`, { reason }))],
  ['POST /updates/:id/cancel', () => ready(queued('cancelled'), (id) => post(`/updates/${id}/cancel`, { reason }))],
  [
    'POST /updates/cancel',
    () => ready(queued('cancelled with others'), (id) => post('/updates/cancel', { ids: [id], reason })),
  ],
  [
    'POST /updates/:id/resolve',
    () => ready(doubted('one'), (id) => post(`/updates/${id}/resolve`, { outcome: 'ran', reason })),
  ],
  [
    'POST /updates/resolve',
    () => ready(doubted('many'), (id) => post('/updates/resolve', { ids: [id], outcome: 'ran', reason })),
  ],
]

const budgetRoutes = ({ call, get, post, spent }: World): readonly Route[] => [
  ['GET /budgets', () => () => get('/budgets')],
  [
    'PUT /budgets',
    () => () => call('PUT', '/budgets', { body: { budgets: [{ name: 'team-2', limits: month(8_000) }] } }),
  ],
  ['GET /budgets/:name', () => () => get('/budgets/team-1')],
  ['PUT /budgets/:name', () => () => call('PUT', '/budgets/team-3', { body: { limits: month(8_000) } })],
  ['POST /budgets/:name/freeze', () => () => post('/budgets/team-4/freeze', { reason })],
  ['POST /budgets/:name/unfreeze', () => () => post('/budgets/team-4/unfreeze', { reason })],
  ['DELETE /budgets/:name', () => () => call('DELETE', '/budgets/team-5')],
  ['GET /budgets/:name/entries', () => () => get('/budgets/team-1/entries')],
  [
    'POST /budgets/:name/entries',
    () => () => post('/budgets/team-1/entries', { type: 'correction', units: 3, corrects: spent, reason }),
  ],
  ['POST /budgets/account/reconcile', () => reconciliation(post)],
]

/** Last, because they make updates that other routes would count. */
const deliveryRoutes = ({ post, press, undelivered }: World): readonly Route[] => [
  [
    'POST /updates/:id/delivery',
    () => ready(undelivered('lacking'), (id) => post(`/updates/${id}/delivery`, { outcome: 'given-back', reason })),
  ],
  [
    'POST /dashboard/updates/:id/delivery',
    async () => {
      const page = `/dashboard/updates/${await undelivered('lacking on a page')}`
      return press(page, `${page}/delivery`, { outcome: 'came', reason })
    },
  ],
]

async function reconciliation(post: World['post']): Promise<Ask> {
  const figure = { unitsLeft: 999_000, reason }
  const { units: difference } = JSON.parse(await post('/budgets/account/reconcile?dry-run=true', figure))
  return () => post('/budgets/account/reconcile', { ...figure, difference })
}

const callerRoutes = ({ call, get }: World): readonly Route[] => [
  ['GET /callers', () => () => get('/callers')],
  ['GET /callers/:sub', () => () => get('/callers/carol')],
  ['PUT /callers/:sub', () => () => call('PUT', '/callers/carol', { body: { scopes: ['read', 'run'] } })],
  ['DELETE /callers/:sub', () => () => call('DELETE', '/callers/carol')],
]

const planRoutes = ({ get, post, time }: World): readonly Route[] => [
  ['GET /plans', () => () => get('/plans')],
  ['POST /plans/:name/pause', () => () => post('/plans/weekly/pause', { reason })],
  ['POST /plans/:name/resume', () => () => post('/plans/weekly/resume', { reason })],
  ['POST /plans/:name/run', () => () => post('/plans/daily/run', { time })],
  ['GET /forecast', () => () => get('/forecast')],
  ['GET /statements', () => () => get('/statements')],
]

function dashboardRoutes({ guarded, get, look, press, awaiting, settled, spent, time }: World): readonly Route[] {
  const onPlan = (what: string, fields: Record<string, string>) => () =>
    press('/dashboard/plans/daily', `/dashboard/plans/daily/${what}`, fields)

  return [
    ['GET /', look('/')],
    ['GET /dashboard/*.css', look(stylesheetPath)],
    ['GET /dashboard/*.svg', look(iconPath)],
    ['GET /login', () => () => get('/login')],
    ['POST /login', () => () => logIn(guarded)],
    ['GET /dashboard/updates', look('/dashboard/updates')],
    ['GET /dashboard/updates.csv', look('/dashboard/updates.csv')],
    ['GET /dashboard/*', look('/dashboard')],
    ['GET /dashboard/find', look('/dashboard/find?q=team-1')],
    ['GET /dashboard/ask', look('/dashboard/ask?kind=ranking&project=asked')],
    ['GET /dashboard/updates/:id', look(`/dashboard/updates/${settled}`)],
    ['GET /dashboard/updates/:id/charge', look(`/dashboard/updates/${settled}/charge`)],
    ['GET /dashboard/inbox', look('/dashboard/inbox')],
    [
      'POST /dashboard/decide',
      async () => {
        const id = await awaiting('decided')
        return press('/dashboard/inbox', '/dashboard/decide', { from: 'inbox', do: 'approve', id })
      },
    ],
    [
      'POST /dashboard/decide-by-answers',
      () => {
        const proposed = `${settled} ran 40`
        return press('/dashboard/inbox', '/dashboard/decide-by-answers', { proposed, because: reason })
      },
    ],
    ['GET /dashboard/plans', look('/dashboard/plans')],
    ['GET /dashboard/plans/:name', look('/dashboard/plans/daily')],
    ['POST /dashboard/plans/:name/pause', onPlan('pause', { reason })],
    ['POST /dashboard/plans/:name/resume', onPlan('resume', { reason })],
    ['POST /dashboard/plans/:name/unsent', onPlan('unsent', { time, version: '3', confirm: 'yes' })],
    ['POST /dashboard/plans/:name/refused', onPlan('refused', { time, version: '3', confirm: 'yes' })],
    ['GET /dashboard/statements', look('/dashboard/statements?by=budget')],
    ['GET /dashboard/close', look('/dashboard/close')],
    ['GET /dashboard/statements.csv', look('/dashboard/statements.csv')],
    ['GET /dashboard/activity', look('/dashboard/activity')],
    ['GET /dashboard/activity.csv', look('/dashboard/activity.csv')],
    ['GET /dashboard/activity/:id', look(`/dashboard/activity/${spent}`)],
    ['POST /dashboard/activity/audit', () => press('/dashboard/activity', '/dashboard/activity/audit', {})],
  ]
}

function dashboardAdminRoutes({ look, press }: World): readonly Route[] {
  const onCaller = (what: string, fields: Record<string, string>, also: 'revision' | 'seen') => () =>
    press('/dashboard/callers/edit?sub=carol', `/dashboard/callers/${what}`, { sub: 'carol', ...fields }, also)
  const onBudget = (name: string, what: string, fields: Record<string, string>) => () =>
    press(`/dashboard/budgets/${name}`, `/dashboard/budgets/${name}/${what}`, fields)
  const stop = (name: string, what: string) => () =>
    press(`/dashboard/budgets/${name}/${what}`, `/dashboard/budgets/${name}/${what}`, { reason }, 'revision')

  return [
    ['GET /dashboard/events', look('/dashboard/events')],
    ['GET /dashboard/people/:name', look('/dashboard/people/bob')],
    ['GET /dashboard/projects/:name', look('/dashboard/projects/settled')],
    ['GET /dashboard/callers', look('/dashboard/callers')],
    ['GET /dashboard/callers/edit', look('/dashboard/callers/edit?sub=carol')],
    ['POST /dashboard/callers/edit', onCaller('edit', { step: 'confirm', person: 'carol.k' }, 'seen')],
    ['POST /dashboard/callers/delete', onCaller('delete', { reason }, 'revision')],
    ['GET /dashboard/budgets', look('/dashboard/budgets')],
    ['GET /dashboard/budgets/:name', look('/dashboard/budgets/team-1')],
    ['GET /dashboard/budgets/:name/edit', look('/dashboard/budgets/team-1/edit')],
    ['GET /dashboard/budgets/:name/book', look('/dashboard/budgets/team-1/book')],
    ['POST /dashboard/budgets/:name/projects', onBudget('team-6', 'projects', { do: 'add', name: 'added' })],
    ['GET /dashboard/budgets/:name/freeze', look('/dashboard/budgets/team-6/freeze')],
    ['POST /dashboard/budgets/:name/freeze', stop('team-6', 'freeze')],
    ['POST /dashboard/budgets/:name/unfreeze', stop('team-6', 'unfreeze')],
    ['POST /dashboard/budgets/:name/delete', stop('team-7', 'delete')],
    ['POST /logout', () => press('/', '/logout', {})],
  ]
}

const gatewayRoutes = ({ call }: World): readonly Route[] =>
  operationNames.map((name): Route => {
    const { method, path, body } = operations[name]
    const target = `/v3${path.replace(/\{\w+\}/, `p-${name}`)}`
    return [`${method} /v3${path}`, () => () => call(method, target, body === null ? {} : { body: bodies[body] })]
  })

const slackRoutes = ({ guarded, settled }: World): readonly Route[] => [
  ['GET /slack/commands', () => async () => guarded.slack.request('/slack/commands?ssl_check=1')],
  ['POST /slack/commands', () => () => slackSends(guarded, '/slack/commands', command)],
  [
    'POST /slack/events',
    () => () => slackPosts(guarded, '/slack/events', 'application/json', JSON.stringify(homeOpened)),
  ],
  ['POST /slack/interactions', () => () => slackSends(guarded, '/slack/interactions', pressed(settled))],
]

/** These routes come last, because they narrow the rights of bob. */
function readerRoutes({ guarded, call }: World): readonly Route[] {
  const narrowed = () => call('PUT', '/callers/bob', { body: { readsBudgets: ['team-1'] } })
  const asReader = (path: string) => async () => {
    await narrowed()
    return () => call('GET', path, { as: 'bob' })
  }
  const onPage = (path: string) => async () => {
    await narrowed()
    const headers = { cookie: await logIn(guarded, guarded.tokens.bob) }
    return () => call('GET', path, { headers })
  }
  return [
    ['GET /updates as a reader of one budget', asReader('/updates')],
    ['GET /budgets as a reader of one budget', asReader('/budgets')],
    ['GET /statements as a reader of one budget', asReader('/statements')],
    ['GET / as a reader of one budget', onPage('/')],
    ['GET /dashboard/inbox as a reader of one budget', onPage('/dashboard/inbox')],
  ]
}

async function ready<Made>(making: Promise<Made>, ask: (made: Made) => Promise<unknown>): Promise<Ask> {
  const made = await making
  return () => ask(made)
}

const project = {
  keywords: [{ name: 'red shoes' }],
  searchengines: [{ name: 'example search' }],
  websites: [{ name: 'shoes.example' }],
}
const bodies = { CreateProjectInput: project, UpdateProjectInput: { keywords: [{ name: 'blue shoes' }] } }

const whoAndWhere = { trigger_id: '13345224609.738474920', response_url: 'https://hooks.slack.com/commands/T0/1/x' }
const command = { ...whoAndWhere, user_id: 'U1ADA', text: 'run ranking globex' }
const pressed = (value: string) => ({
  payload: JSON.stringify({
    ...whoAndWhere,
    type: 'block_actions',
    user: { id: 'U1ADA' },
    actions: [{ action_id: 'approve', value }],
  }),
})

const homeOpened = { type: 'event_callback', event_id: 'Ev1', event: { type: 'app_home_opened', user: 'U1ADA' } }

const slackSends = (guarded: Guarded, path: string, fields: Record<string, string>): Promise<Response> =>
  slackPosts(guarded, path, 'application/x-www-form-urlencoded', new URLSearchParams(fields).toString())

async function slackPosts({ slack, clock }: Guarded, path: string, type: string, body: string): Promise<Response> {
  const headers = { 'content-type': type, ...signedFor(body, Math.floor(clock.now() / 1000)) }
  return taken(await slack.request(path, { method: 'POST', headers, body }), path)
}
