import { type Context, Hono } from 'hono'
import { matchedRoutes } from 'hono/route'
import { acceptRequests, refuseTwoHosts } from '../../shared/api/accept-requests.ts'
import { createRequestRates } from '../../shared/api/rate-limits.ts'
import type { Reference } from '../../shared/api/reference.ts'
import { problemOf, Refusal } from '../../shared/api/refusal.ts'
import { createTokens } from '../../shared/auth/tokens.ts'
import { problem } from '../../shared/guard/problems.ts'
import { rawPathOf } from '../../shared/platform/http.ts'
import type { Services } from '../../shared/services/services.ts'
import { type ApiEnv, gatewayPath, rawTarget } from './context.ts'
import { answerProblem } from './route.ts'
import { addAudit } from './routes/audit.ts'
import { addBudgets } from './routes/budgets.ts'
import { addCallers } from './routes/callers.ts'
import { addDecisions } from './routes/decisions.ts'
import { addEntries } from './routes/entries.ts'
import { addEstimates } from './routes/estimates.ts'
import { addLateData } from './routes/late-data.ts'
import { addPlans } from './routes/plans.ts'
import { addReference, unknownAddress } from './routes/reference.ts'
import { addReports } from './routes/reports/reports.ts'
import { addHealth, addStatus } from './routes/status.ts'
import { addUpdates } from './routes/updates.ts'

/** @param reference Without it, no document is served. */
export function createApi(services: Services, reference: Reference = async () => null): Hono<ApiEnv> {
  const { guard, log } = services
  const tokens = createTokens(services)
  const rates = createRequestRates(services)
  const app = new Hono<ApiEnv>({ getPath: rawPathOf })

  app.use(acceptRequests('api', services))
  app.use(refuseTwoHosts)

  addReference(app, reference, services.dashboardUrl)
  addHealth(app, services)

  app.use(async (c, next) => {
    const checked = await tokens.verify(c.req.header('authorization'))
    if (checked.kind === 'refused') {
      const { dashboardUrl } = services
      if (dashboardUrl !== null && isStray(c)) return c.redirect(`${dashboardUrl}/dashboard${rawTarget(c).path}`, 303)
      c.set('refusedToken', checked)
      c.header('WWW-Authenticate', 'Bearer')
      return answerProblem(c, problem('unauthorized', 'This address needs a valid bearer token of Unit Guard.'))
    }
    const { caller } = checked
    c.set('caller', caller)
    c.set('sub', caller.sub)
    // A change must see the latest list of callers.
    const atOnce = c.req.method !== 'GET'
    c.set('permissions', () => guard.permissions({ caller: caller.sub, token: caller }, { atOnce }))
    const limit = rates.take(caller.sub)
    if (limit) throw new Refusal(limit.problem, { 'Retry-After': String(limit.retryAfter) })
    return next()
  })

  app.use(async (c, next) => {
    const { path } = rawTarget(c)
    if (path.startsWith(`${gatewayPath}/`)) {
      // Loaded by the first request to the gateway, because other requests do not need it.
      const { answerGateway } = await import('./gateway/gateway.ts')
      return answerGateway(c, services)
    }
    // A path that URL parsing rewrites, such as /a/../b, is not found.
    return path === new URL(c.req.url).pathname ? next() : c.notFound()
  })

  addEstimates(app, services)
  addAudit(app, services)
  addDecisions(app, services)
  addLateData(app)
  addUpdates(app, services)
  addBudgets(app, services)
  addEntries(app, services)
  addCallers(app, services)
  addPlans(app, services)
  addReports(app)
  addStatus(app, services)
  app.notFound((c) => answerProblem(c, unknownAddress))

  app.onError((error, c) => {
    if (error instanceof Refusal) for (const [name, value] of Object.entries(error.headers)) c.header(name, value)
    return answerProblem(c, problemOf(error, log))
  })

  return app
}

/** Whether a browser opens an address without a route. The dashboard shows a page for such an address. */
function isStray(c: Context<ApiEnv>): boolean {
  const { authorization, accept = '' } = c.req.header()
  const isPage = c.req.method === 'GET' && authorization === undefined && accept.includes('text/html')
  const isRoute = rawTarget(c).path.startsWith(`${gatewayPath}/`) || matchedRoutes(c).some(({ path }) => path !== '/*')
  return isPage && !isRoute
}
