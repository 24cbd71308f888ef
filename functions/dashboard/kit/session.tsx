import type { Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { FaceEnv } from '../../../shared/api/accept-requests.ts'
import { mustBeAmong, mustReadAll } from '../../../shared/api/permissions.ts'
import { createRequestRates } from '../../../shared/api/rate-limits.ts'
import { problemOf, Refusal } from '../../../shared/api/refusal.ts'
import type { Caller } from '../../../shared/auth/tokens.ts'
import type { Guard } from '../../../shared/guard/guard.ts'
import type { Permissions } from '../../../shared/guard/people/permissions.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import type { Log } from '../../../shared/platform/log.ts'
import { once } from '../../../shared/platform/parallel.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import type { Services } from '../../../shared/services/services.ts'
import { createCookies, createOrigins, createSessions, type Session } from '../cookies.ts'
import { createFlash, type Flash } from '../flash.ts'
import { readForm } from '../forms.ts'
import { setHeaders, show, showProblem } from './answer.tsx'
import { type Frame, maxWaiting } from './layout.tsx'
import { findPath } from './parts.tsx'

type Method = 'GET' | 'POST'
type Handlers<Input> = Partial<Record<Method, (input: Input) => Promise<Response>>>

export interface Visit {
  readonly c: Context<FaceEnv>
  readonly session: Session
  readonly permissions: Permissions
  /** Shows only what this user may read. */
  readonly guard: Guard
  readonly query: URLSearchParams
  /** The posted fields. Empty for GET. */
  readonly form: URLSearchParams
  readonly frame: Frame
  /** @throws Refusal when the user has none of these scopes. */
  mustHave(...scopes: readonly Scope[]): void
  /** @throws Refusal when the user reads only some budgets. */
  mustReadAll(): void
  /** @param waiting the count for the badge, if the page has read it. */
  show(title: string, content: Child, waiting?: number): Promise<Response>
  redirect(flash: Flash, to: string): Promise<Response>
}

export type PageRoutes = ReturnType<typeof createPageRoutes>

/** A page takes the guard from its visit, so that it shows only what the user may read. */
export type PageServices = Omit<Services, 'guard'>

const yearSeconds = 365 * 24 * 3600

/** With `ended`, the login page says that the form was not processed. */
const sessionEndedPath = '/login?ended'

/** For all pages: checks sessions and the origin of forms, sets headers and shows failures. */
export function createPageRoutes(app: Hono<FaceEnv>, services: Services) {
  const parts = partsOf(services)
  const { log, issuers, origins, cookies, sessions } = parts

  app.use((c, next) => {
    setHeaders(c)
    if (origins.isSecure(c)) c.header('Strict-Transport-Security', `max-age=${yearSeconds}`)
    return next()
  })

  const showFailure = (c: Context<FaceEnv>, error: unknown) => answerFailure(log, c, error)
  const publicPage = (path: string, handlers: Handlers<Context<FaceEnv>>) => addPublicPage(app, log, path, handlers)

  async function showNotFound(c: Context<FaceEnv>): Promise<Response> {
    const session = await sessionOf(c)
    if (!session) return showFailure(c, noAddress)
    const fail = () => Promise.reject(noAddress)
    return showPage(parts, { c, session, form: new URLSearchParams() }, fail)
  }

  function page(path: string, handlers: Handlers<Visit>): void {
    const withSession = (handler: (visit: Visit) => Promise<Response>) => async (c: Context<FaceEnv>) => {
      const isForm = c.req.method === 'POST'
      if (isForm) mustBeSameOrigin(c)
      const session = await sessionOf(c)
      if (!session) return isForm ? c.redirect(sessionEndedPath, 303) : redirectToLogin(c)
      c.set('sub', session.sub)
      const form = isForm ? await readForm(c) : new URLSearchParams()
      if (isForm && !(await sessions.isSigned(form.get('form') ?? '', session, 'form'))) throw new Refusal(otherSession)
      form.delete('form')
      return showPage(parts, { c, session, form }, handler)
    }
    const sessionHandlers = Object.entries(handlers).map(([method, handler]) => [method, withSession(handler)])
    publicPage(path, Object.fromEntries(sessionHandlers))
  }

  const sessionOf = async (c: Context<FaceEnv>): Promise<Session | null> => {
    const cookie = cookies.read(c, 'unit-guard')
    const session = cookie === undefined ? null : await sessions.read(cookie)
    const issuer = session?.token?.issuer
    return !issuer || (await issuers()).some(({ name }) => name === issuer.name) ? session : null
  }

  function mustBeSameOrigin(c: Context<FaceEnv>): void {
    if (!origins.isSameOrigin(c)) throw new Refusal(otherSite)
  }

  /** `false`: the user's permissions do not fit into a cookie. */
  async function openSession(c: Context<FaceEnv>, user: Caller | string): Promise<boolean> {
    const session = await sessions.create(user)
    if (session) cookies.write(c, 'unit-guard', session.cookie, session.lastsMs)
    return session !== null
  }

  return { publicPage, page, showFailure, showNotFound, sessionOf, mustBeSameOrigin, openSession, cookies }
}

type Parts = ReturnType<typeof partsOf>

function partsOf(services: Services) {
  const { callerKey: key, clock, dashboardUrl, eventSettings } = services
  const origins = createOrigins(dashboardUrl)
  const cookies = createCookies(origins)
  const sessions = createSessions({ key, clock, ids: systemIds })
  return {
    ...services,
    origins,
    cookies,
    sessions,
    flashes: createFlash({ sessions, cookies }),
    rates: createRequestRates(services),
    hasEvents: eventSettings.EVENT_TARGETS !== undefined,
  }
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

/** The overview counts waiting updates by itself, and the other pages usually redirect. */
const withoutBadge: ReadonlySet<string> = new Set(['/', '/dashboard', findPath])

/** `undefined` if the count fails, because the page is useful without its badge. */
async function countWaiting({ ledger }: Guard): Promise<number | undefined> {
  const counts = (['awaiting-approval', 'in-doubt'] as const).map((state) => ledger.countOpen(state, maxWaiting + 1))
  return Promise.all(counts).then(
    ([approvals = 0, doubts = 0]) => approvals + doubts,
    () => undefined,
  )
}

/** Returns the claim from which the issuer's tokens get their scopes. */
async function scopesFromOf({ token }: Session, issuers: Services['issuers']): Promise<Caller['scopesFrom']> {
  if (!token?.issuer) return undefined
  const { name } = token.issuer
  const scopes = (await issuers()).find((issuer) => issuer.name === name)?.scopes
  return scopes && 'claim' in scopes ? scopes : undefined
}

async function showPage(
  { guard, troubles, log, issuers, sessions, flashes, rates, cookies, hasEvents }: Parts,
  { c, session, form }: Pick<Visit, 'c' | 'session' | 'form'>,
  handler: (visit: Visit) => Promise<Response>,
): Promise<Response> {
  let waiting = once(() => countWaiting(guard))
  const found = once(troubles.read)
  // These run in parallel to the reads of the page. Downloads and most forms show neither.
  const { path } = c.req
  const isShown = c.req.method !== 'POST' && !path.endsWith('.csv') && path !== findPath
  if (isShown) void found()
  if (isShown && !withoutBadge.has(path)) void waiting()
  const limit = rates.take(session.sub)
  let frame: Frame = {
    sub: session.sub,
    formToken: await sessions.sign(session, 'form'),
    flash: c.req.method === 'POST' ? null : await flashes.take(c, session),
    path: c.req.path,
  }
  try {
    if (limit) throw new Refusal(limit.problem, { 'Retry-After': String(limit.retryAfter) })
    const identity = { caller: session.sub, ...(session.token && { token: session.token }) }
    const permissions = await guard.permissions(identity, { atOnce: c.req.method === 'POST' })
    if (permissions.isDisabled) {
      cookies.remove(c, 'unit-guard')
      throw new Refusal(problem('forbidden', `${session.sub} is disabled; ask an administrator.`))
    }
    const { scopes, isAdmin, guard: seen } = permissions
    const scopesFrom = await scopesFromOf(session, issuers)
    const readsAll = scopes.has('read') && permissions.readsBudgets === '*'
    frame = { ...frame, isAdmin, hasEvents: hasEvents && readsAll }
    // The first count began before the permissions were known, so a reader of only some budgets needs a new count.
    if (seen !== guard) waiting = once(() => countWaiting(seen))
    const withBadge = async (counted?: number) => ({
      ...frame,
      troubles: (await found()).filter(({ isForAllReaders }) => readsAll || isForAllReaders),
      ...(scopes.has('read') && { waiting: counted ?? (await waiting()) }),
    })
    return await handler({
      c,
      session,
      permissions,
      guard: seen,
      form,
      frame,
      query: new URL(c.req.url).searchParams,
      mustHave: (...anyOf) => {
        // The refusal names helpful groups only if the token itself lacks the scope.
        if (session.token && scopesFrom) mustBeAmong(session.sub, session.token.scopes, anyOf, scopesFrom)
        mustBeAmong(session.sub, scopes, anyOf)
      },
      mustReadAll: () => mustReadAll(permissions),
      show: async (title, content, counted) =>
        show(c, { title, frame: await withBadge(counted), children: content }, 200),
      redirect: async (flash, to) => {
        await flashes.write(c, session, flash)
        // A browser that scrolls to a fragment does not focus the faulty field.
        return c.redirect(flash.faults ? to.replace(/#.*/, '') : to, 303)
      },
    })
  } catch (error) {
    return answerFailure(log, c, error, frame)
  }
}

/** After a link on another site, browsers send the strict cookie only if a page of the dashboard loads the address. */
export function showOneMoment(c: Context<FaceEnv>, to: string): Response | Promise<Response> {
  const content = (
    <p>
      <a href={to}>Continue to the dashboard</a>
    </p>
  )
  return show(c, { title: 'One moment', refreshTo: to, children: content }, 200)
}

function redirectToLogin(c: Context<FaceEnv>): Response | Promise<Response> {
  const { pathname, search } = new URL(c.req.url)
  const to = `${pathname}${search}`
  if (c.req.header('sec-fetch-site') === 'cross-site') return showOneMoment(c, to)
  return c.redirect(to === '/' ? '/login' : `/login?to=${encodeURIComponent(to)}`, 303)
}

const otherSite = problem('forbidden', 'This form was sent by another site, so nothing was done.')
const otherSession = problem(
  'forbidden',
  'This form belongs to another session, so nothing was done. Go back, load the page again, and send it once more.',
)
