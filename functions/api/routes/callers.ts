import type { Context, Hono } from 'hono'
import { callerAs, callerRequest, showCaller, showUnlisted } from '../../../shared/api/callers.ts'
import { invalid, Refusal } from '../../../shared/api/refusal.ts'
import type { Shown } from '../../../shared/api/shown.ts'
import { listedAs } from '../../../shared/guard/people/callers.ts'
import { problem } from '../../../shared/guard/problems.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { type Definitions, unlistedCallers } from '../../../shared/ledger/definitions/definitions.ts'
import { callerMembers } from '../../../shared/records/caller.ts'
import { subject } from '../../../shared/records/common-fields.ts'
import type { Services } from '../../../shared/services/services.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { callerStopsOf } from '../extras.ts'
import { readBody } from '../input.ts'
import type { Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'
import { revisionOf } from './budgets.ts'

export function addCallers(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/callers', {
    GET: async (c) => {
      const permitted = await mustHave(c, 'admin')
      const view = await permitted.view()
      const { definitions } = view
      const stops = await callerStopsOf(guard, view)
      c.header('ETag', `"${definitions.revision}"`)
      const callers = Object.entries(definitions.callers ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
      const listed = callers.map(([sub, caller]) => showCaller(view, sub, caller, stops.get(sub)))
      if (definitions.unlisted) listed.unshift(showUnlisted(definitions.unlisted, stops.get(unlistedCallers)))
      return c.json<Shown<'CallerList'>>({ callers: listed })
    },
  })

  route(app, '/callers/:sub', {
    GET: async (c) => {
      const { view } = await mustHave(c, 'admin')
      return answerCaller(c, 200, { read: await view() })
    },

    PUT: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const { reason, ...definition } = await readBody(c, callerRequest)
      const caller = callerAs(definition)
      const by = { caller: sub, ...(reason !== undefined && { reason }), ...revisionOf(c) }
      const result = await guard.putCaller(callerNameOf(c), caller, by)
      return result.kind === 'changed' ? answerCaller(c, result.created ? 201 : 200) : answerProblem(c, result.problem)
    },

    DELETE: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const result = await guard.deleteCaller(callerNameOf(c), { caller: sub, ...revisionOf(c) })
      return result.kind === 'changed' ? c.body(null, 204) : answerProblem(c, result.problem)
    },
  })

  async function answerCaller(
    c: Context<ApiEnv>,
    status: 200 | 201,
    { read }: { read?: View } = {},
  ): Promise<Response> {
    const view = read ?? (await guard.ledger.view())
    const { definitions } = view
    const sub = callerNameOf(c)
    const caller = listedAs(definitions, sub)
    if (!caller) throw notListed(sub, definitions)
    const next = read ? (await callerStopsOf(guard, read)).get(sub) : undefined
    c.header('ETag', `"${definitions.revision}"`)
    return c.json(sub === unlistedCallers ? showUnlisted(caller, next) : showCaller(view, sub, caller, next), status)
  }
}

export const callerOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/callers',
    id: 'listCallers',
    scopes: ['admin'],
    summary: 'Lists the callers with their rights and limits',
    answers: { 200: { description: 'All listed callers', body: 'CallerList', headers: ['ETag'] } },
    problems: [],
  },
  {
    method: 'GET',
    path: '/callers/{sub}',
    id: 'getCaller',
    scopes: ['admin'],
    summary: 'Returns one caller',
    answers: { 200: { description: 'The caller', body: 'Caller', headers: ['ETag'] } },
    problems: ['not-found'],
  },
  {
    method: 'PUT',
    path: '/callers/{sub}',
    id: 'putCaller',
    scopes: ['admin'],
    summary: 'Sets what a Slack user may do, or limits a token; `*` stands for all callers without an entry',
    headers: ['If-Match'],
    example: '/callers/slack:U02ADA',
    body: {
      input: { name: 'CallerRequest', schema: callerRequest, texts: callerMembers },
      example: { scopes: ['read', 'run', 'approve'], budgets: '*', person: 'ada', reason: 'runs the reports' },
    },
    answers: {
      200: { description: 'Replaced', body: 'Caller', headers: ['ETag'] },
      201: { description: 'Listed', body: 'Caller', headers: ['ETag'] },
    },
    problems: ['precondition-failed', 'wrong-state'],
  },
  {
    method: 'DELETE',
    path: '/callers/{sub}',
    id: 'deleteCaller',
    scopes: ['admin'],
    summary:
      'Removes a caller’s entry. Then a token has its own scopes and budgets, a Slack user has no rights, and the rules of `*` apply',
    headers: ['If-Match'],
    answers: { 204: { description: 'The caller is not listed any more', body: null } },
    problems: ['precondition-failed', 'not-found'],
  },
]

/** @throws Refusal 404, or 400 for PUT. */
function callerNameOf(c: Context<ApiEnv>): string {
  const parsed = subject.safeParse(c.req.param('sub'))
  if (parsed.success) return parsed.data
  if (c.req.method === 'PUT') throw invalid([{ path: 'sub', message: parsed.error.issues[0]?.message ?? '' }])
  throw new Refusal(problem('not-found', 'There is no such caller.'))
}

const notListed = (name: string, { unlisted }: Definitions) => {
  const others = unlisted ? ', and so do the rules of * for callers that are not listed' : ''
  const detail =
    name === unlistedCallers
      ? 'No rules are set for callers that are not listed.'
      : `${name} is not listed; a token's own scopes and budgets hold for them${others}.`
  return new Refusal(problem('not-found', detail))
}
