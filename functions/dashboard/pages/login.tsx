import type { Context } from 'hono'
import type { FaceEnv } from '../../../shared/api/accept-requests.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { type Login, logins } from '../../../shared/auth/logins.ts'
import { type Caller, createTokens } from '../../../shared/auth/tokens.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { dayMs, minuteMs } from '../../../shared/platform/clock.ts'
import type { LoginClient, Services } from '../../../shared/services/services.ts'
import { startCookie } from '../cookies.ts'
import { readForm } from '../forms.ts'
import { Buttons } from '../kit/action.tsx'
import { show } from '../kit/answer.tsx'
import { HiddenFields } from '../kit/fields.tsx'
import { Sign } from '../kit/parts.tsx'
import { type PageRoutes, showOneMoment } from '../kit/session.tsx'
import type { LoginRefused } from './provider-login.ts'

/** Only POST redeems the code of a link, because a link preview sends GET and would use up the code. */
export function addLogin(routes: PageRoutes, services: Services): void {
  const { publicPage, page, openSession, cookies, sessionOf, mustBeSameOrigin } = routes
  const { guard, clock, isLocal, login } = services
  const tokens = createTokens(services)
  const showLogin = createLoginPage(services)

  publicPage('/login', {
    GET: async (c) => {
      const code = c.req.query('code')
      if (code !== undefined)
        return (await guard.ledger.item(logins).isOpen(code, clock.now())) ? showCode(c, code) : refuseCode(c)
      const to = dashboardPath(c.req.query('to'))
      if (await sessionOf(c)) return c.redirect(to, 303)
      if (c.req.query('out') !== undefined) return showLogin(c, { to, isLoggedOut: true })
      return showLogin(c, { to, ...(c.req.query('ended') !== undefined && { fault: sessionEnded }) })
    },

    POST: async (c) => {
      mustBeSameOrigin(c)
      const form = await readForm(c)
      const code = form.get('code')
      return code === null ? logInByToken(c, form) : logInByCode(c, code)
    },
  })

  page('/logout', {
    POST: async ({ c, session }) => {
      cookies.remove(c, 'unit-guard')
      const isOfProvider = login !== null && session.token?.issuer?.name === login.issuer
      return c.redirect(isOfProvider ? '/login?out' : '/login', 303)
    },
  })

  if (login) addProviderLogin(routes, { ...services, login }, showLogin)

  async function logInByToken(c: Context<FaceEnv>, form: URLSearchParams): Promise<Response> {
    const to = dashboardPath(form.get('to') ?? undefined)
    const checked = await tokens.verify(`Bearer ${(form.get('token') ?? '').trim()}`)
    if (checked.kind === 'accepted') return logIn(c, checked.caller, to)
    c.set('refusedToken', checked)
    const fault = 'Not a valid token: it may have expired, be cut off, or be signed with another key.'
    return showLogin(c, { to, fault, status: 401 })
  }

  async function logInByCode(c: Context<FaceEnv>, code: string): Promise<Response> {
    const now = clock.now()
    const redeemed = await guard.ledger.item(logins).redeem(code, now)
    return redeemed ? logIn(c, userOf(redeemed, now), '/') : refuseCode(c)
  }

  function refuseCode(c: Context<FaceEnv>): Promise<Response> {
    const fault = `This link was already used, or is older than five minutes. ${isLocal ? 'Run npm run login' : 'Type /units login in Slack'} for a new one.`
    return showLogin(c, { to: '/', fault, status: 401 })
  }

  async function logIn(c: Context<FaceEnv>, user: Caller | string, to: string): Promise<Response> {
    return (await openSession(c, user)) ? c.redirect(to, 303) : showLogin(c, { to, fault: tooLarge, status: 403 })
  }
}

/** An unfinished login ends after this time. */
const startLastsMs = 10 * minuteMs

/** The first login through the provider loads `provider-login.ts`. */
function addProviderLogin(
  { publicPage, openSession, cookies }: PageRoutes,
  services: Services & { readonly login: LoginClient },
  showLogin: ReturnType<typeof createLoginPage>,
): void {
  const { dashboardUrl, login, log, clock } = services

  /** Uses the configured address, because a caller can send any Host header. */
  const partsOf = () => {
    if (dashboardUrl === null) throw new Refusal(noAddress)
    return { ...services, callback: `${dashboardUrl}/login/callback` }
  }

  publicPage('/login/start', {
    GET: async (c) => {
      const to = dashboardPath(c.req.query('to'))
      const { startLogin, LoginRefused } = await import('./provider-login.ts')
      try {
        const { address, state, cookie } = await startLogin(partsOf(), to, startLastsMs)
        cookies.removeManyStarts(c)
        cookies.write(c, startCookie(state), cookie, startLastsMs)
        return c.redirect(address, 303)
      } catch (error) {
        if (error instanceof LoginRefused) return refuse(c, error, to)
        throw error
      }
    },
  })

  publicPage('/login/callback', {
    GET: async (c) => {
      const query = new URL(c.req.url).searchParams
      const state = query.get('state') ?? ''
      const cookie = cookies.read(c, startCookie(state))
      if (cookie !== undefined) cookies.remove(c, startCookie(state))
      const parts = partsOf()
      const { finishLogin, LoginRefused, readStart } = await import('./provider-login.ts')
      const start = cookie === undefined ? null : await readStart(parts, cookie)
      const to = start?.to ?? '/'
      try {
        const caller = await finishLogin(parts, query, start)
        c.set('sub', caller.sub)
        // The session does not end with the ID token, which often lasts only minutes.
        const isOpen = await openSession(c, { ...caller, until: clock.now() + dayMs })
        return isOpen ? showOneMoment(c, to) : showLogin(c, { to, fault: tooLarge, status: 403 })
      } catch (error) {
        if (error instanceof LoginRefused) return refuse(c, error, to)
        throw error
      }
    },
  })

  function refuse(c: Context<FaceEnv>, refused: LoginRefused, to: string) {
    const { status, sentence, reason } = refused
    log.info('login-refused', { issuer: login.issuer, status, reason })
    return showLogin(c, { to, fault: sentence, status })
  }
}

/** `until` is later than any session may end, so the maximum of sessions decides. */
const userOf = ({ caller, token }: Login, now: number): Caller | string =>
  token ? { sub: caller, scopes: new Set(token.scopes), budgets: token.budgets, until: now + dayMs } : caller

const noAddress = problem(
  'identity-unavailable',
  'No one can log in this way until an operator sets DASHBOARD_URL. The identity provider sends people back to that address.',
)

const tooLarge =
  'Your groups and budgets do not fit into a session of the dashboard. Ask an administrator to map fewer of them for you.'

const sessionEnded = 'Your session ended, so nothing was done. Log in, then send the form again.'

/** The cookie of a started login holds the path. */
const maxPathLength = 1_024

/** Accepts only dashboard paths, so no link can redirect users to another site. */
function dashboardPath(path = '/'): string {
  return path.length <= maxPathLength && /^\/dashboard\/[\w./-]*(\?[\w.~%&=+:-]*)?$/.test(path) && !path.includes('..')
    ? path
    : '/'
}

function showCode(c: Context<FaceEnv>, code: string) {
  const content = (
    <form method="post" action="/login" class="login">
      <p>This link lets you in once.</p>
      <HiddenFields values={{ code }} />
      <Buttons of={[{ text: 'Open the dashboard', tone: 'primary' }]} />
    </form>
  )
  return show(c, { title: 'Log in', children: content }, 200)
}

interface LoginPage {
  readonly to: string
  readonly fault?: string
  readonly status?: 200 | LoginRefused['status']
  readonly isLoggedOut?: true
}

function createLoginPage({ acceptsMinted, dashboardUrl, issuers, login }: Services) {
  return async (c: Context<FaceEnv>, { to, fault, status = 200, isLoggedOut }: LoginPage): Promise<Response> => {
    const names = acceptsMinted ? [] : (await issuers()).map(({ name }) => name)
    const start = `${dashboardUrl ?? ''}/login/start${to === '/' ? '' : `?to=${encodeURIComponent(to)}`}`
    const tokens = acceptsMinted
      ? 'The same token as for the API.'
      : `A token of ${names.join(' or ')}, as for the API. Tokens of npm run token are switched off here.`
    const alert =
      fault === undefined ? null : (
        <p role="alert" class="failed">
          <Sign name="cross" /> {fault}
        </p>
      )
    const content = (
      <>
        {login ? (
          <div class="login">
            {isLoggedOut ? (
              <p role="status">
                You are logged out of Unit Guard. {login.issuer} may still know you: on a shared computer, log out there
                too.
              </p>
            ) : null}
            {alert}
            <a class="button primary" href={start}>
              Log in with {login.issuer}
            </a>
          </div>
        ) : null}
        <form method="post" action="/login" class="login">
          {login ? null : alert}
          <label for="token">Your token</label>
          <input
            id="token"
            name="token"
            type="password"
            required
            autocomplete="off"
            spellcheck={false}
            aria-describedby="token-note"
          />
          <p class="note" id="token-note">
            {tokens} The session lasts eight hours, or until the token expires.
          </p>
          <HiddenFields values={{ to }} />
          <Buttons of={[login ? { text: 'Log in with a token' } : { text: 'Log in', tone: 'primary' }]} />
        </form>
        <OtherWays acceptsMinted={acceptsMinted} />
      </>
    )
    return show(c, { title: 'Log in', children: content }, status)
  }
}

const OtherWays = ({ acceptsMinted }: { acceptsMinted: boolean }) => (
  <section class="ways">
    <h2>No token?</h2>
    <p>
      In Slack, type <code>/units login</code>. The link works once, within five minutes.
    </p>
    {acceptsMinted ? (
      <>
        <p>An operator makes tokens, for example to read and approve:</p>
        <pre>
          <code>npm run --silent token -- --sub alice --scope "read approve" --expires 8h</code>
        </pre>
      </>
    ) : null}
    <p>
      On your own machine, <code>npm start</code> prints a link that logs you in; this prints another:
    </p>
    <pre>
      <code>npm run login</code>
    </pre>
  </section>
)
