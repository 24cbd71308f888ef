import { iconPath, stylesheetPath } from '../../functions/dashboard/assets.ts'
import { operationNames, operations } from '../../shared/tracking/operations.ts'
import { signedFor } from '../support/slack/slack.ts'
import type { Guarded } from './product.ts'

type Ask = () => Promise<unknown>

/** Prepares a request; only what it returns is counted. */
export type Route = readonly [name: string, ready: () => Ask | Promise<Ask>]

export const plans = [
  { name: 'weekly', kind: 'ranking', projects: ['p-weekly-1', 'p-weekly-2'], schedule: 'cron(0 6 ? * MON *)' },
  { name: 'daily', kind: 'ranking', projects: ['p-daily'], schedule: 'cron(0 5 * * ? *)' },
]

/**
 * One successful request for each route, in a small world: ten budgets, a caller, two plans, and a few updates in each
 * state that waits for a decision.
 */
export async function routesOf(guarded: Guarded): Promise<readonly Route[]> {
  const { call, clock } = guarded
  const get = (path: string, headers = {}) => call('GET', path, { headers })
  const post = (path: string, body: object, headers = {}) => call('POST', path, { body, headers })
  const month = (units: number) => [{ window: 'month', units }]
  const reason = 'counted'

  /** By another person than the one who decides. */
  const asked = async (project: string, more: object = {}, headers = {}): Promise<string> => {
    const body = { kind: 'ranking', project, ...more }
    const answer = await call('POST', '/updates', { body, as: 'bob', headers })
    return JSON.parse(answer).updates[0].id
  }
  const awaiting = (project: string) => asked(project, { budget: 'asking' })
  const queued = (project: string) => asked(project, {}, { prefer: 'respond-async' })
  const doubted = (project: string) => asked(`lost-${project}`)

  const teams = Array.from({ length: 7 }, (_, index) => ({ name: `team-${index + 1}`, limits: month(9_000) }))
  const asking = { name: 'asking', limits: month(9_000), approvalAbove: 10 }
  const listing = { name: 'team-8', limits: month(9_000), projects: [{ name: 'listed', id: '7001' }] }
  await call('PUT', '/budgets', { body: { budgets: [...teams, listing, asking] } })
  for (const caller of ['carol', 'slack:U1ADA']) await call('PUT', `/callers/${caller}`, { body: { scopes: ['read'] } })
  const settled = await asked('settled', { budget: 'team-1' })
  await Promise.all([awaiting('waiting'), doubted('doubted')])
  await post('/budgets/team-1/entries', { type: 'grant', units: 5, reason })
  const spent: string = JSON.parse(
    await post('/budgets/team-1/entries', { type: 'external-spend', units: 5, reason }),
  ).id

  const cookie = await logIn(guarded)
  const look = (path: string) => () => () => call('GET', path, { headers: { cookie } })
  const send = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams(fields)
    return taken(
      await guarded.dashboard.request(path, { method: 'POST', headers: { ...formHeaders, cookie }, body }),
      path,
    )
  }

  const press = async (page: string, path: string, fields: Record<string, string>, also?: 'revision'): Promise<Ask> => {
    const html = await call('GET', page, { headers: { cookie } })
    const seen = also === undefined ? {} : { [also]: hiddenIn(html, also) }
    return () => send(path, { form: hiddenIn(html, 'form'), ...seen, ...fields })
  }
  const onBudget = (name: string, what: string, fields: Record<string, string>, also?: 'revision') => () =>
    press(`/dashboard/budgets/${name}`, `/dashboard/budgets/${name}/${what}`, fields, also)
  const onCaller = (what: string, fields: Record<string, string>) => () =>
    press('/dashboard/callers/edit?sub=carol', `/dashboard/callers/${what}`, { sub: 'carol', ...fields }, 'revision')
  const onPlan = (what: string, fields: Record<string, string>) => () =>
    press('/dashboard/plans/daily', `/dashboard/plans/daily/${what}`, fields)
  const time = new Date(clock.now()).toISOString()

  return [
    ['GET /health', () => () => get('/health')],
    ['GET /openapi.json', () => () => get('/openapi.json')],
    ['GET /docs', () => () => get('/docs')],
    ['GET /docs.css', () => () => get('/docs.css')],
    ['GET /problems/*', () => () => get('/problems/over-budget')],
    ['GET /estimates', () => () => get('/estimates?kind=ranking&project=estimated&budget=team-1')],
    ['GET /changes', () => () => get('/changes')],
    ['GET /audit', () => () => get('/audit')],

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
    ['POST /budgets/account/reconcile', () => () => post('/budgets/account/reconcile', { unitsLeft: 999_000, reason })],

    ['GET /callers', () => () => get('/callers')],
    ['GET /callers/:sub', () => () => get('/callers/carol')],
    ['PUT /callers/:sub', () => () => call('PUT', '/callers/carol', { body: { scopes: ['read', 'run'] } })],
    ['DELETE /callers/:sub', () => () => call('DELETE', '/callers/carol')],

    ['GET /plans', () => () => get('/plans')],
    ['POST /plans/:name/pause', () => () => post('/plans/weekly/pause', { reason })],
    ['POST /plans/:name/resume', () => () => post('/plans/weekly/resume', { reason })],
    ['POST /plans/:name/run', () => () => post('/plans/daily/run', { time })],
    ['GET /forecast', () => () => get('/forecast')],
    ['GET /statements', () => () => get('/statements')],

    ['GET /', look('/')],
    ['GET /dashboard/*.css', look(stylesheetPath)],
    ['GET /dashboard/*.svg', look(iconPath)],
    ['GET /login', () => () => get('/login')],
    ['POST /login', () => () => logIn(guarded)],
    ['GET /dashboard/updates', look('/dashboard/updates')],
    ['GET /dashboard/updates.csv', look('/dashboard/updates.csv')],
    ['GET /dashboard/*', look('/dashboard')],
    ['GET /dashboard/updates/:id', look(`/dashboard/updates/${settled}`)],
    ['GET /dashboard/needs-you', look('/dashboard/needs-you')],
    [
      'POST /dashboard/decide',
      async () => {
        const id = await awaiting('decided')
        return press('/dashboard/needs-you', '/dashboard/decide', { from: 'needs-you', do: 'approve', id })
      },
    ],
    ['GET /dashboard/plans', look('/dashboard/plans')],
    ['GET /dashboard/plans/:name', look('/dashboard/plans/daily')],
    ['POST /dashboard/plans/:name/pause', onPlan('pause', { reason })],
    ['POST /dashboard/plans/:name/resume', onPlan('resume', { reason })],
    ['POST /dashboard/plans/:name/unsent', onPlan('unsent', { time, confirm: 'yes' })],
    ['POST /dashboard/plans/:name/refused', onPlan('refused', { time, confirm: 'yes' })],
    ['GET /dashboard/statements', look('/dashboard/statements?by=budget')],
    ['GET /dashboard/statements.csv', look('/dashboard/statements.csv')],
    ['GET /dashboard/ledger', look('/dashboard/ledger')],
    ['GET /dashboard/ledger.csv', look('/dashboard/ledger.csv')],
    ['GET /dashboard/ledger/audit', look('/dashboard/ledger/audit')],
    ['POST /dashboard/ledger/audit', () => press('/dashboard/ledger', '/dashboard/ledger/audit', {})],
    ['GET /dashboard/callers', look('/dashboard/callers')],
    ['GET /dashboard/callers/edit', look('/dashboard/callers/edit?sub=carol')],
    ['POST /dashboard/callers/edit', onCaller('edit', { step: 'confirm', person: 'carol.k' })],
    ['POST /dashboard/callers/delete', onCaller('delete', { reason })],
    ['GET /dashboard/budgets', look('/dashboard/budgets')],
    ['GET /dashboard/budgets/:name', look('/dashboard/budgets/team-1')],
    ['GET /dashboard/budgets/:name/edit', look('/dashboard/budgets/team-1/edit')],
    ['GET /dashboard/budgets/:name/book', look('/dashboard/budgets/team-1/book')],
    ['POST /dashboard/budgets/:name/projects', onBudget('team-6', 'projects', { do: 'add', name: 'added' })],
    ['POST /dashboard/budgets/:name/freeze', onBudget('team-6', 'freeze', { reason }, 'revision')],
    ['POST /dashboard/budgets/:name/unfreeze', onBudget('team-6', 'unfreeze', { reason }, 'revision')],
    ['POST /dashboard/budgets/:name/delete', onBudget('team-7', 'delete', { reason }, 'revision')],
    ['POST /logout', () => press('/', '/logout', {})],

    ...operationNames.map((name): Route => {
      const { method, path, body } = operations[name]
      const target = `/v3${path.replace(/\{\w+\}/, `p-${name}`)}`
      return [`${method} /v3${path}`, () => () => call(method, target, body === null ? {} : { body: bodies[body] })]
    }),

    ['GET /slack/commands', () => async () => guarded.slack.request('/slack/commands?ssl_check=1')],
    ['POST /slack/commands', () => () => slackSends(guarded, '/slack/commands', command)],
    ['POST /slack/interactions', () => () => slackSends(guarded, '/slack/interactions', pressed(settled))],
  ]
}

/** @throws Error when it is refused. */
function taken(response: Response, path: string): Response {
  if (response.status >= 400) throw new Error(`${path}: ${response.status}`)
  return response
}

async function ready<Made>(making: Promise<Made>, ask: (made: Made) => Promise<unknown>): Promise<Ask> {
  const made = await making
  return () => ask(made)
}

const hiddenIn = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? ''

const formHeaders = { origin: 'null', 'sec-fetch-site': 'same-origin' }

/** @returns the cookie of the session. */
export async function logIn({ dashboard, tokens }: Guarded): Promise<string> {
  const body = new URLSearchParams({ token: tokens.ada })
  const { headers } = await dashboard.request('/login', { method: 'POST', headers: formHeaders, body })
  return headers.getSetCookie()[0]?.split(';')[0] ?? ''
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
    ...{ ...whoAndWhere, type: 'block_actions', user: { id: 'U1ADA' } },
    actions: [{ action_id: 'approve', value }],
  }),
})

async function slackSends({ slack, clock }: Guarded, path: string, fields: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams(fields).toString()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...signedFor(body, Math.floor(clock.now() / 1000)),
  }
  return taken(await slack.request(path, { method: 'POST', headers, body }), path)
}
