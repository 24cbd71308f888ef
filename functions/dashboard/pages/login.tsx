import type { Context } from 'hono'
import type { FaceEnv } from '../../../shared/api/face.ts'
import { type Caller, createTokens } from '../../../shared/auth/tokens.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Login } from '../../../shared/ledger/login.ts'
import { dayMs } from '../../../shared/platform/clock.ts'
import { show } from '../answer.tsx'
import { readForm } from '../forms.ts'
import type { PageRoutes } from '../session.tsx'

/** Only POST redeems the code of a link, because link previews would use it up with GET. */
export function addLogin(routes: PageRoutes, { guard, clock, callerKey, isLocal }: Services): void {
  const tokens = createTokens({ key: callerKey, clock })
  const { publicPage, page, logIn, logOut, sessionOf, mustBeSameOrigin } = routes

  publicPage('/login', {
    GET: async (c) => {
      const code = c.req.query('code')
      if (code !== undefined) return show(c, { title: 'Log in', children: <CodeForm code={code} /> }, 200)
      const to = dashboardPath(c.req.query('to'))
      if (await sessionOf(c)) return c.redirect(to, 303)
      const fault = c.req.query('ended') === undefined ? {} : { fault: sessionEnded }
      return show(c, { title: 'Log in', children: <TokenForm to={to} {...fault} /> }, 200)
    },

    POST: async (c) => {
      mustBeSameOrigin(c)
      const form = await readForm(c)
      const code = form.get('code')
      return code === null ? logInByToken(c, form) : logInByCode(c, code)
    },
  })

  page('/logout', { POST: async ({ c }) => logOut(c) })

  async function logInByToken(c: Context<FaceEnv>, form: URLSearchParams): Promise<Response> {
    const to = dashboardPath(form.get('to') ?? undefined)
    const caller = await tokens.verify(`Bearer ${(form.get('token') ?? '').trim()}`)
    if (caller) return logIn(c, caller, to)
    const fault = 'Not a valid token: it may have expired, be cut off, or be signed with another key.'
    return show(c, { title: 'Log in', children: <TokenForm to={to} fault={fault} /> }, 401)
  }

  async function logInByCode(c: Context<FaceEnv>, code: string): Promise<Response> {
    const now = clock.now()
    const login = await guard.ledger.logins.redeem(code, now)
    if (login) return logIn(c, userOf(login, now), '/')
    const fault = `This link was used before, or is older than five minutes. ${isLocal ? 'Run npm run login' : 'Type /units login in Slack'} for a new one.`
    return show(c, { title: 'Log in', children: <TokenForm to="/" fault={fault} /> }, 401)
  }
}

/** A session ends by itself before such a token does. */
const userOf = ({ caller, token }: Login, now: number): Caller | string =>
  token ? { sub: caller, scopes: new Set(token.scopes), budgets: token.budgets, until: now + dayMs } : caller

const sessionEnded = 'Your session ended, so nothing was done. Log in, then send the form again.'

/** Returns `/` for a path outside the dashboard, so that no link can redirect users to another site. */
function dashboardPath(path = '/'): string {
  return /^\/dashboard\/[\w./-]*(\?[\w.~%&=+:-]*)?$/.test(path) && !path.includes('..') ? path : '/'
}

const CodeForm = ({ code }: { code: string }) => (
  <form method="post" action="/login" class="login">
    <p>This link lets you in once.</p>
    <input type="hidden" name="code" value={code} />
    <button type="submit" class="primary">
      Open the dashboard
    </button>
  </form>
)

const TokenForm = ({ to, fault }: { to: string; fault?: string }) => (
  <>
    <form method="post" action="/login" class="login">
      {fault === undefined ? null : (
        <p role="alert" class="failed">
          <span aria-hidden="true">✕</span> {fault}
        </p>
      )}
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
        The same token as for the API. The session lasts eight hours, or until the token expires.
      </p>
      <input type="hidden" name="to" value={to} />
      <button type="submit" class="primary">
        Log in
      </button>
    </form>
    <section class="ways">
      <h2>No token?</h2>
      <p>
        In Slack, type <code>/units login</code>. The link works once, within five minutes.
      </p>
      <p>An operator makes tokens, for example to read and approve:</p>
      <pre>
        <code>npm run --silent token -- --sub alice --scope "read approve" --expires 8h</code>
      </pre>
      <p>
        On your own machine, <code>npm start</code> prints a link that logs you in; this prints another:
      </p>
      <pre>
        <code>npm run login</code>
      </pre>
    </section>
  </>
)
