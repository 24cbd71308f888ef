import type { Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { Allowed } from '../../../shared/guard/callers.ts'
import { problem } from '../../../shared/guard/problems.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import { type ApiEnv, mustBeAmong } from '../context.ts'
import { problemOf } from '../problem-of.ts'
import { Refusal } from '../refusal.ts'
import { dress, show, showProblem } from './answering.tsx'
import { createCookies } from './cookies.ts'
import { readForm } from './forms.ts'
import type { Frame } from './layout.tsx'
import { createOrigins } from './origin.ts'
import { createSaid, type Said } from './said.ts'
import { createSessions, type Session } from './sessions.ts'

type Method = 'GET' | 'POST'
type Handlers<Asked> = Partial<Record<Method, (asked: Asked) => Promise<Response>>>

/** A page that somebody has asked for who has logged in. */
export interface Visit {
  readonly c: Context<ApiEnv>
  readonly session: Session
  readonly allowed: Allowed
  /** What was filled in; empty with GET. */
  readonly form: URLSearchParams
  readonly frame: Frame
  /** @throws Refusal when they hold none of these. */
  mustHave(...any: readonly Scope[]): void
  show(title: string, content: Child): Response | Promise<Response>
  /** Goes on to another page, which tells what came of a form. */
  tell(said: Said, to: string): Promise<Response>
}

export type Visiting = ReturnType<typeof createVisiting>

const yearSeconds = 365 * 24 * 3600

/** Where a form leads whose session is over: the login says that nothing was done. */
const sessionEnded = '/login?ended'

/** Sees to what is the same for all pages: who is looking, where forms come from, headers, and what goes wrong. */
export function createVisiting(app: Hono<ApiEnv>, services: Services) {
  const { guard, callerKey, clock, log } = services
  const origins = createOrigins(services.dashboardUrl)
  const cookies = createCookies(origins)
  const sessions = createSessions({ key: callerKey, clock, ids: systemIds })
  const outcomes = createSaid({ sessions, cookies })

  /** A page for everybody. */
  function open(path: string, handlers: Handlers<Context<ApiEnv>>): void {
    const methods = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    app.all(path, async (c) => {
      dress(c)
      if (origins.isSecure(c)) c.header('Strict-Transport-Security', `max-age=${yearSeconds}`)
      try {
        const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
        const handler = Object.hasOwn(handlers, method) ? handlers[method as Method] : undefined
        if (handler) return await handler(c)
        c.header('Allow', methods.join(', '))
        throw new Refusal(problem('method-not-allowed', `This page takes ${methods.join(', ')}, not ${c.req.method}.`))
      } catch (error) {
        return showFailure(c, error)
      }
    })
  }

  function showFailure(c: Context<ApiEnv>, error: unknown, frame?: Frame): Response | Promise<Response> {
    if (error instanceof Refusal) for (const [name, value] of Object.entries(error.headers)) c.header(name, value)
    return showProblem(c, problemOf(error, log), frame)
  }

  /** A page for those who have logged in. */
  function page(path: string, handlers: Handlers<Visit>): void {
    const inside = (handler: (visit: Visit) => Promise<Response>) => async (c: Context<ApiEnv>) => {
      const isForm = c.req.method === 'POST'
      if (isForm) mustBeOurs(c)
      const session = await sessionOf(c)
      if (!session) return isForm ? c.redirect(sessionEnded, 303) : letIn(c)
      c.set('visitor', session.sub)
      const form = isForm ? await readForm(c) : new URLSearchParams()
      if (isForm && !(await sessions.isSigned(form.get('form') ?? '', session, 'form')))
        throw new Refusal(notThisSession)
      return visited(c, session, form, handler)
    }
    open(path, Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [method, inside(handler)])))
  }

  async function visited(
    c: Context<ApiEnv>,
    session: Session,
    form: URLSearchParams,
    handler: (visit: Visit) => Promise<Response>,
  ): Promise<Response> {
    let frame: Frame = {
      sub: session.sub,
      formToken: await sessions.sign(session, 'form'),
      said: c.req.method === 'POST' ? null : await outcomes.take(c, session),
      here: c.req.path,
    }
    try {
      const named = { caller: session.sub, ...(session.token && { token: session.token }) }
      const allowed = await guard.allowed(named, { atOnce: c.req.method === 'POST' })
      if (allowed.isDisabled)
        throw new Refusal(problem('forbidden', `${session.sub} is disabled; ask an administrator.`))
      frame = { ...frame, isAdmin: allowed.scopes.has('admin') }
      return await handler({
        ...{ c, session, allowed, form, frame },
        mustHave: (...any) => mustBeAmong(session.sub, allowed.scopes, any),
        show: (title, content) => show(c, { title, frame, children: content }, 200),
        tell: async (said, to) => {
          await outcomes.keep(c, session, said)
          return c.redirect(to, 303)
        },
      })
    } catch (error) {
      return showFailure(c, error, frame)
    }
  }

  const sessionOf = async (c: Context<ApiEnv>): Promise<Session | null> => {
    const cookie = cookies.read(c, 'unit-guard')
    return cookie === undefined ? null : sessions.read(cookie)
  }

  /**
   * A link on another site brings no cookie of ours along, not even that of somebody who has logged in. Asking once more,
   * from a page of our own, does.
   */
  function letIn(c: Context<ApiEnv>): Response | Promise<Response> {
    const { pathname, search } = new URL(c.req.url)
    const to = `${pathname}${search}`
    if (c.req.header('sec-fetch-site') === 'cross-site') {
      const content = (
        <p>
          <a href={to}>Go on to the dashboard</a>
        </p>
      )
      return show(c, { title: 'One moment', goOnTo: to, children: content }, 200)
    }
    return c.redirect(to === '/' ? '/login' : `/login?to=${encodeURIComponent(to)}`, 303)
  }

  /** @throws Refusal when another site has sent this form, or nobody knows who. */
  function mustBeOurs(c: Context<ApiEnv>): void {
    if (!origins.isOurs(c)) throw new Refusal(notOurs)
  }

  async function logIn(c: Context<ApiEnv>, who: Parameters<typeof sessions.open>[0], to: string): Promise<Response> {
    const { cookie, lastsMs } = await sessions.open(who)
    cookies.write(c, 'unit-guard', cookie, lastsMs)
    return c.redirect(to, 303)
  }

  function logOut(c: Context<ApiEnv>): Response {
    cookies.remove(c, 'unit-guard')
    return c.redirect('/login', 303)
  }

  return { open, page, show, sessionOf, mustBeOurs, logIn, logOut }
}

const notOurs = problem('forbidden', 'This form was sent by another site, so nothing was done.')
const notThisSession = problem(
  'forbidden',
  'This form belongs to another session, so nothing was done. Go back, load the page again, and send it once more.',
)
