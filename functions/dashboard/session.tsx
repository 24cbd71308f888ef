import type { Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { FaceEnv } from '../../shared/api/face.ts'
import { mustBeAmong } from '../../shared/api/permissions.ts'
import { problemOf, Refusal } from '../../shared/api/refusal.ts'
import type { Caller } from '../../shared/auth/tokens.ts'
import type { Permissions } from '../../shared/guard/people/permissions.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { Services } from '../../shared/guard/services.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import type { Log } from '../../shared/platform/log.ts'
import { once } from '../../shared/platform/parallel.ts'
import type { Scope } from '../../shared/platform/words.ts'
import { setHeaders, show, showProblem } from './answer.tsx'
import { type Frame, maxWaiting } from './components/layout.tsx'
import { findPath } from './components/parts.tsx'
import { createCookies, createOrigins, createSessions, type Session, type Sessions } from './cookies.ts'
import { createFlash, type Flash, type FlashCookie } from './flash.ts'
import { readForm } from './forms.ts'

type Method = 'GET' | 'POST'
type Handlers<Input> = Partial<Record<Method, (input: Input) => Promise<Response>>>

export interface Visit {
  readonly c: Context<FaceEnv>
  readonly session: Session
  readonly permissions: Permissions
  readonly query: URLSearchParams
  /** Empty with GET. */
  readonly form: URLSearchParams
  readonly frame: Frame
  /** @throws Refusal when the user has none of these scopes. */
  mustHave(...scopes: readonly Scope[]): void
  show(title: string, content: Child): Promise<Response>
  /** Redirects to a page that shows the outcome of a form. */
  redirect(flash: Flash, to: string): Promise<Response>
}

export type PageRoutes = ReturnType<typeof createPageRoutes>

const yearSeconds = 365 * 24 * 3600

/** With `ended`, the login page says that the form was not processed. */
const sessionEndedPath = '/login?ended'

/** Gives all pages their session, headers, failures and the check of the origin of forms. */
export function createPageRoutes(app: Hono<FaceEnv>, services: Services) {
  const { guard, callerKey, clock, log } = services
  const origins = createOrigins(services.dashboardUrl)
  const cookies = createCookies(origins)
  const sessions = createSessions({ key: callerKey, clock, ids: systemIds })
  const flashes = createFlash({ sessions, cookies })

  app.use((c, next) => {
    setHeaders(c)
    if (origins.isSecure(c)) c.header('Strict-Transport-Security', `max-age=${yearSeconds}`)
    return next()
  })

  const showFailure = (c: Context<FaceEnv>, error: unknown) => answerFailure(log, c, error)
  const publicPage = (path: string, handlers: Handlers<Context<FaceEnv>>) => addPublicPage(app, log, path, handlers)

  /** Users with a session get the navigation, too. */
  async function showNotFound(c: Context<FaceEnv>): Promise<Response> {
    const session = await sessionOf(c)
    if (!session) return showFailure(c, noAddress)
    const fail = () => Promise.reject(noAddress)
    return showPage({ guard, log, sessions, flashes }, { c, session, form: new URLSearchParams() }, fail)
  }

  /** Adds a page that needs a session. */
  function page(path: string, handlers: Handlers<Visit>): void {
    const withSession = (handler: (visit: Visit) => Promise<Response>) => async (c: Context<FaceEnv>) => {
      const isForm = c.req.method === 'POST'
      if (isForm) mustBeSameOrigin(c)
      const session = await sessionOf(c)
      if (!session) return isForm ? c.redirect(sessionEndedPath, 303) : redirectToLogin(c)
      c.set('sub', session.sub)
      const form = isForm ? await readForm(c) : new URLSearchParams()
      if (isForm && !(await sessions.isSigned(form.get('form') ?? '', session, 'form'))) throw new Refusal(otherSession)
      return showPage({ guard, log, sessions, flashes }, { c, session, form }, handler)
    }
    const sessionHandlers = Object.entries(handlers).map(([method, handler]) => [method, withSession(handler)])
    publicPage(path, Object.fromEntries(sessionHandlers))
  }

  const sessionOf = async (c: Context<FaceEnv>): Promise<Session | null> => {
    const cookie = cookies.read(c, 'unit-guard')
    return cookie === undefined ? null : sessions.read(cookie)
  }

  /** @throws Refusal when another site sent the form. */
  function mustBeSameOrigin(c: Context<FaceEnv>): void {
    if (!origins.isSameOrigin(c)) throw new Refusal(otherSite)
  }

  async function logIn(c: Context<FaceEnv>, user: Caller | string, to: string): Promise<Response> {
    const { cookie, lastsMs } = await sessions.create(user)
    cookies.write(c, 'unit-guard', cookie, lastsMs)
    return c.redirect(to, 303)
  }

  function logOut(c: Context<FaceEnv>): Response {
    cookies.remove(c, 'unit-guard')
    return c.redirect('/login', 303)
  }

  return { publicPage, page, showFailure, showNotFound, sessionOf, mustBeSameOrigin, logIn, logOut }
}

function addPublicPage(app: Hono<FaceEnv>, log: Log, path: string, handlers: Handlers<Context<FaceEnv>>): void {
  const methods = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  app.all(path, async (c) => {
    try {
      const handler = handlerFor(c, handlers)
      if (handler) return await handler(c)
      c.header('Allow', methods.join(', '))
      throw new Refusal(problem('method-not-allowed', `This page allows ${methods.join(', ')}, not ${c.req.method}.`))
    } catch (error) {
      return answerFailure(log, c, error)
    }
  })
}

function handlerFor<Input>({ req }: Context<FaceEnv>, handlers: Handlers<Input>) {
  const method = req.method === 'HEAD' ? 'GET' : req.method
  return Object.hasOwn(handlers, method) ? handlers[method as Method] : undefined
}

const noAddress = new Refusal(problem('not-found', 'There is nothing at this address.'))

function answerFailure(log: Log, c: Context<FaceEnv>, error: unknown, frame?: Frame): Response | Promise<Response> {
  if (error instanceof Refusal) for (const [name, value] of Object.entries(error.headers)) c.header(name, value)
  return showProblem(c, problemOf(error, log), frame)
}

/** The page is worth showing without its badge. */
async function countWaiting({ ledger }: Services['guard']): Promise<number | undefined> {
  const counts = (['awaiting-approval', 'in-doubt'] as const).map((state) => ledger.countOpen(state, maxWaiting + 1))
  return Promise.all(counts).then(
    ([approvals = 0, doubts = 0]) => approvals + doubts,
    () => undefined,
  )
}

/** Runs the handler of a page with the user's current permissions. */
async function showPage(
  { guard, log, sessions, flashes }: Pick<Services, 'guard' | 'log'> & { sessions: Sessions; flashes: FlashCookie },
  { c, session, form }: Pick<Visit, 'c' | 'session' | 'form'>,
  handler: (visit: Visit) => Promise<Response>,
): Promise<Response> {
  const waiting = once(() => countWaiting(guard))
  // Read beside what the page reads. Downloads, searches and most forms show no badge.
  if (c.req.method !== 'POST' && !c.req.path.endsWith('.csv') && c.req.path !== findPath) void waiting()
  let frame: Frame = {
    sub: session.sub,
    formToken: await sessions.sign(session, 'form'),
    flash: c.req.method === 'POST' ? null : await flashes.take(c, session),
    path: c.req.path,
  }
  try {
    const identity = { caller: session.sub, ...(session.token && { token: session.token }) }
    const permissions = await guard.permissions(identity, { atOnce: c.req.method === 'POST' })
    if (permissions.isDisabled)
      throw new Refusal(problem('forbidden', `${session.sub} is disabled; ask an administrator.`))
    const { scopes } = permissions
    frame = { ...frame, isAdmin: scopes.has('admin') }
    const withBadge = async () => ({ ...frame, ...(scopes.has('read') && { waiting: await waiting() }) })
    return await handler({
      ...{ c, session, permissions, form, frame },
      query: new URL(c.req.url).searchParams,
      mustHave: (...anyOf) => mustBeAmong(session.sub, scopes, anyOf),
      show: async (title, content) => show(c, { title, frame: await withBadge(), children: content }, 200),
      redirect: async (flash, to) => {
        await flashes.write(c, session, flash)
        return c.redirect(to, 303)
      },
    })
  } catch (error) {
    return answerFailure(log, c, error, frame)
  }
}

/** After a link on another site, browsers send no strict cookie. They send it when this page reloads itself. */
function redirectToLogin(c: Context<FaceEnv>): Response | Promise<Response> {
  const { pathname, search } = new URL(c.req.url)
  const to = `${pathname}${search}`
  if (c.req.header('sec-fetch-site') === 'cross-site') {
    const content = (
      <p>
        <a href={to}>Continue to the dashboard</a>
      </p>
    )
    return show(c, { title: 'One moment', refreshTo: to, children: content }, 200)
  }
  return c.redirect(to === '/' ? '/login' : `/login?to=${encodeURIComponent(to)}`, 303)
}

const otherSite = problem('forbidden', 'This form was sent by another site, so nothing was done.')
const otherSession = problem(
  'forbidden',
  'This form belongs to another session, so nothing was done. Go back, load the page again, and send it once more.',
)
