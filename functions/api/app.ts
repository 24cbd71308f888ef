import { type Context, Hono, type Next } from 'hono'
import { problem } from '../../shared/guard/problems.ts'
import type { Services } from '../../shared/guard/services.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { inLogContext, notedUpdates } from '../../shared/platform/log-context.ts'
import { once } from '../../shared/platform/once.ts'
import { rawPathOf } from '../../shared/platform/raw-path.ts'
import type { ApiEnv } from './context.ts'
import { createExpensiveReads } from './expensive-reads.ts'
import { lazily } from './lazily.ts'
import { tellPeople } from './people.ts'
import { answerProblem } from './problem-answers.ts'
import { problemOf } from './problem-of.ts'
import { addQuestions } from './questions.ts'
import { createRates } from './rates.ts'
import { gatewayPath, rawTarget } from './raw-target.ts'
import { addReference, type Reference } from './reference/reference.ts'
import { Refusal } from './refusal.ts'
import { route } from './routing.ts'
import { createTokens } from './tokens.ts'
import { addUpdates } from './updates.ts'

/** How long a request may take where no platform says so. */
const requestLastsMs = 120_000

/** Of two, Node takes the first, and whatever stands before it may have taken the other. @throws Refusal 400 */
function mustHaveOneHost(c: Context<ApiEnv>): void {
  const { rawHeaders = [] } = c.env?.incoming ?? {}
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1)
    throw new Refusal(problem('invalid-request', 'A request has one Host header, and this one has more.'))
}

/** The HTTP API for internal tools. @param reference what is to be read about it; nothing, where nobody reads. */
export function createApi(services: Services, reference: Reference = async () => null): Hono<ApiEnv> {
  const { callerKey, guard, clock, log } = services
  const tokens = createTokens({ key: callerKey, clock })
  const rates = createRates({ rateOf: guard.rateOf, clock, what: { one: 'request', many: 'requests' } })
  const expensiveReads = createExpensiveReads({ clock })
  const app = new Hono<ApiEnv>({ getPath: rawPathOf })

  app.use((c, next) => {
    const requestId = systemIds.random()
    c.set('requestId', requestId)
    c.set('expensiveReads', expensiveReads)
    return inLogContext({ requestId, lambdaRequestId: c.env?.context?.awsRequestId }, () => answerAndLog(c, next))
  })

  async function answerAndLog(c: Context<ApiEnv>, next: Next): Promise<void> {
    const from = clock.now()
    c.set('endsAt', from + (c.env?.context?.getRemainingTimeInMillis() ?? requestLastsMs))
    await next()
    const requestId = c.get('requestId') // c.var would build an object of all variables, each time
    const passedOn = c.get('passedOn')
    if (passedOn === undefined) {
      c.res.headers.set('X-Request-Id', requestId)
      if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store')
    }
    const { method, routePath } = c.req
    const status = passedOn ?? c.res.status
    const caller = c.get('caller')?.sub ?? c.get('visitor')
    const route = c.get('route') ?? routePath
    log.info('request', { caller, method, route, status, ms: clock.now() - from, ...notedUpdates() })
  }

  app.use((c, next) => {
    mustHaveOneHost(c)
    return next()
  })
  app.use(tellPeople)

  route(app, '/health', { GET: (c) => c.json({ status: 'ok' }) })
  addReference(app, reference)
  lazily(app, ['/', '/login', '/logout', '/dashboard', '/dashboard/*'], async () => {
    const { addPages } = await import('./pages/pages.ts')
    return (inner) => addPages(inner, { ...services, tokens })
  })

  app.use(async (c, next) => {
    const caller = await tokens.verify(c.req.header('authorization'))
    if (!caller) {
      c.header('WWW-Authenticate', 'Bearer')
      return answerProblem(c, problem('unauthorized', 'This address takes a valid bearer token of Unit Guard.'))
    }
    c.set('caller', caller)
    // What changes something is decided on the list as it is now.
    const atOnce = c.req.method !== 'GET'
    c.set('allowed', () => guard.allowed({ caller: caller.sub, token: caller }, { atOnce }))
    const limit = rates.take(caller.sub)
    if (limit) throw new Refusal(limit.problem, { 'Retry-After': String(limit.retryAfter) })
    return next()
  })

  const gateway = once(async () => (await import('./gateway.ts')).createGateway(services))
  app.use(async (c, next) => {
    const { path } = rawTarget(c)
    if (path.startsWith(`${gatewayPath}/`)) return (await gateway())(c)
    // A path that has to be tidied first is none of ours.
    return path === new URL(c.req.url).pathname ? next() : c.notFound()
  })

  addQuestions(app, services)
  addUpdates(app, services)
  const managed = ['/budgets', '/budgets/*', '/callers', '/callers/*', '/plans', '/plans/*', '/forecast', '/statements']
  lazily(app, managed, async () => {
    const { addManaging } = await import('./managing.ts')
    return (inner) => addManaging(inner, services)
  })
  app.notFound((c) => answerProblem(c, problem('not-found', 'There is nothing at this address.')))

  app.onError((error, c) => {
    if (error instanceof Refusal) for (const [name, value] of Object.entries(error.headers)) c.header(name, value)
    return answerProblem(c, problemOf(error, log))
  })

  return app
}
