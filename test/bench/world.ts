import { next } from '../../shared/ledger/updates/update.ts'
import type { Guarded } from './product.ts'

/** A prepared request. */
export type Ask = () => Promise<unknown>

export type World = Awaited<ReturnType<typeof createWorld>>

export const reason = 'counted'
export const month = (units: number) => [{ window: 'month', units }]

/** Ten budgets, a caller, and a few updates in each state that needs a decision. */
export async function createWorld(guarded: Guarded) {
  const requests = requestsOf(guarded)
  const seeds = await seed(requests)
  const pages = pagesOf(guarded, await logIn(guarded))
  const time = new Date(guarded.clock.now()).toISOString()
  return { guarded, ...requests, ...seeds, ...pages, time }
}

export function requestsOf({ call, services }: Guarded) {
  /** Another person requests the update, because no one may approve their own. */
  const asked = async (project: string, more: object = {}, headers = {}): Promise<string> => {
    const body = { kind: 'ranking', project, ...more }
    const answer = await call('POST', '/updates', { body, as: 'bob', headers })
    return JSON.parse(answer).updates[0].id
  }
  return {
    call,
    get: (path: string, headers = {}) => call('GET', path, { headers }),
    post: (path: string, body: object, headers = {}) => call('POST', path, { body, headers }),
    asked,
    awaiting: (project: string) => asked(project, { budget: 'asking' }),
    queued: (project: string) => asked(project, {}, { prefer: 'respond-async' }),
    doubted: (project: string) => asked(`lost-${project}`),
    /** An update that was paid and whose data did not come. */
    undelivered: async (project: string) => {
      const { ledger } = services.guard
      const update = await ledger.update(await asked(project, { budget: 'team-1' }))
      if (!update) throw new Error(`${project} has no update`)
      const line = { at: update.createdAt, by: 'sweep' }
      await ledger.record(next(update, 'settled', { delivery: { state: 'late' } }, line), update)
      return update.id
    },
  }
}

async function seed({ call, post, asked, awaiting, doubted }: ReturnType<typeof requestsOf>) {
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
  return { settled, spent }
}

/** The dashboard's pages and forms, in the session of a cookie. */
function pagesOf({ call, dashboard }: Guarded, cookie: string) {
  const headers = { cookie }
  const send = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams(fields)
    return taken(await dashboard.request(path, { method: 'POST', headers: { ...formHeaders, ...headers }, body }), path)
  }
  return {
    look: (path: string) => () => () => call('GET', path, { headers }),
    press: async (
      page: string,
      path: string,
      fields: Record<string, string>,
      also?: 'revision' | 'seen',
    ): Promise<Ask> => {
      const html = await call('GET', page, { headers })
      const seen = also === undefined ? {} : { [also]: hiddenIn(html, also) }
      return () => send(path, { form: hiddenIn(html, 'form'), ...seen, ...fields })
    },
  }
}

/** @throws Error if the request is refused. */
export function taken(response: Response, path: string): Response {
  if (response.status >= 400) throw new Error(`${path}: ${response.status}`)
  return response
}

const hiddenIn = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? ''

const formHeaders = { origin: 'null', 'sec-fetch-site': 'same-origin' }

/** @returns the cookie of the session. */
export async function logIn({ dashboard, tokens }: Guarded, token = tokens.ada): Promise<string> {
  const body = new URLSearchParams({ token })
  const { headers } = await dashboard.request('/login', { method: 'POST', headers: formHeaders, body })
  return headers.getSetCookie()[0]?.split(';')[0] ?? ''
}
