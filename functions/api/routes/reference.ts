import type { Context, Hono } from 'hono'
import { documentHeaders, type Reference } from '../../../shared/api/reference.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { type ApiEnv, rawTarget } from '../context.ts'
import type { Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'

export const unknownAddress = problem('not-found', 'There is nothing at this address.')

export function addReference(app: Hono<ApiEnv>, reference: Reference, dashboardUrl: string | null): void {
  route(app, '/openapi.json', {
    GET: async (c) => {
      const text = await reference('openapi.json')
      return text === null ? answerProblem(c, unknownAddress) : c.body(text, 200, documentHeaders)
    },
  })

  /** Links in Slack and the `type` of problems lead to the API's host. No path can change the host of the redirect. */
  function toDashboard(c: Context<ApiEnv>): Response {
    if (dashboardUrl === null) return answerProblem(c, problem('not-found', 'There is no dashboard.'))
    const { path, search } = rawTarget(c)
    return c.redirect(`${dashboardUrl}${path}${search === '' ? '' : `?${search}`}`, 308)
  }
  for (const path of ['/docs', '/problems/*']) route(app, path, { GET: toDashboard })
  for (const path of ['/', '/login', '/dashboard', '/dashboard/*']) app.all(path, toDashboard)
}

const pageAnswers: Operation['answers'] = {
  200: { description: 'A page, if the API and the dashboard share an address', body: { type: 'text/html' } },
  308: { description: 'A redirect to the page on the dashboard', body: null, headers: ['Location'] },
}

export const referenceOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/openapi.json',
    id: 'openapi',
    scopes: null,
    summary: 'Returns this OpenAPI document',
    answers: { 200: { description: 'OpenAPI 3.1', body: { type: 'application/json' } } },
    problems: [],
  },
  {
    method: 'GET',
    path: '/docs',
    id: 'docs',
    scopes: null,
    summary: 'Shows this API as a page to read',
    answers: pageAnswers,
    problems: ['not-found'],
  },
  {
    method: 'GET',
    path: '/problems/{slug}',
    id: 'problemPage',
    scopes: null,
    summary: 'Explains one type of problem: what it means, what was counted, and what to do',
    example: '/problems/over-budget',
    answers: pageAnswers,
    problems: ['not-found'],
  },
]
