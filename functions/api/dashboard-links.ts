import type { Context, Hono } from 'hono'
import { problem } from '../../shared/guard/problems.ts'
import { type ApiEnv, rawTarget } from './context.ts'
import { answerProblem, route } from './route.ts'

/**
 * Leads browsers to the same path of the dashboard, which is a function of its own: links in Slack and the `type` of problems
 * name this host. The host that it leads to is the configured one, whatever the path says.
 */
export function addDashboardLinks(app: Hono<ApiEnv>, dashboardUrl: string | null): void {
  function lead(c: Context<ApiEnv>): Response {
    if (dashboardUrl === null) return answerProblem(c, problem('not-found', 'There is no dashboard.'))
    const { path, search } = rawTarget(c)
    return c.redirect(`${dashboardUrl}${path}${search === '' ? '' : `?${search}`}`, 308)
  }

  for (const path of ['/docs', '/problems/*']) route(app, path, { GET: lead })
  for (const path of ['/', '/login', '/dashboard', '/dashboard/*']) app.all(path, lead)
}
