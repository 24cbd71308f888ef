import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { errors, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod/mini'
import type { FaceEnv } from '../../shared/api/accept-requests.ts'
import { withAnyKey } from '../../shared/auth/caller-key.ts'
import { type Caller, isReadOneWay, subject, toScopes } from '../../shared/auth/tokens.ts'
import { type Clock, hourMs } from '../../shared/platform/clock.ts'
import { digest, type Ids } from '../../shared/platform/ids.ts'
import type { Secret } from '../../shared/platform/secrets.ts'

export function createOrigins(dashboardUrl: string | null) {
  const configured = dashboardUrl === null ? null : new URL(dashboardUrl)

  /** Behind a proxy that ends TLS, only the configured address shows https. */
  function isSecure({ req }: Context<FaceEnv>): boolean {
    const url = new URL(req.url)
    return url.protocol === 'https:' || (configured?.protocol === 'https:' && configured.host === url.host)
  }

  /**
   * Checks that a page of the dashboard sent the form. The pages send no referrer, so browsers write `Origin: null`
   * even for the dashboard's own forms. In that case `Sec-Fetch-Site` decides.
   *
   * @see https://www.w3.org/TR/fetch-metadata/
   * @see https://fetch.spec.whatwg.org/#append-a-request-origin-header
   */
  function isSameOrigin({ req }: Context<FaceEnv>): boolean {
    const [site, origin] = [req.header('sec-fetch-site'), req.header('origin')]
    if (site !== undefined && site !== 'same-origin') return false
    if (origin === undefined || (origin === 'null' && site === 'same-origin')) return true
    return origin === new URL(req.url).origin || origin === configured?.origin
  }

  return { isSecure, isSameOrigin }
}

export type Origins = ReturnType<typeof createOrigins>

const startPrefix = 'unit-guard-login-'
/** Servers refuse a header with too many cookies. */
const maxStarts = 8

/** Each started login has its own cookie. */
export const startCookie = (state: string) => `${startPrefix}${digest('start', state).slice(0, 10)}` as const

type CookieName = 'unit-guard' | 'unit-guard-said' | ReturnType<typeof startCookie>

/** The cookie of a started login is lax, because browsers send no strict cookie after the provider's redirect. */
const kindOf = (name: CookieName) =>
  name.startsWith(startPrefix)
    ? ({ prefix: 'secure', path: '/login', sameSite: 'Lax' } as const)
    : ({ prefix: 'host', path: '/', sameSite: 'Strict' } as const)

/** Scripts cannot read these cookies, and other sites cannot send them. With https, other hosts cannot set them. */
export function createCookies({ isSecure }: Pick<Origins, 'isSecure'>) {
  function write(c: Context<FaceEnv>, name: CookieName, value: string, lastsMs: number): void {
    const { prefix, ...kind } = kindOf(name)
    const secure = isSecure(c)
    const maxAge = Math.floor(lastsMs / 1000)
    setCookie(c, name, value, { ...kind, ...(secure && { prefix }), secure, httpOnly: true, maxAge })
  }

  return {
    write,

    remove: (c: Context<FaceEnv>, name: CookieName): void => write(c, name, '', 0),

    read: (c: Context<FaceEnv>, name: CookieName): string | undefined =>
      isSecure(c) ? getCookie(c, name, kindOf(name).prefix) : getCookie(c, name),

    /** Removes the cookies of unfinished logins if there are too many. */
    removeManyStarts(c: Context<FaceEnv>): void {
      const earlier = Object.keys(getCookie(c)).filter((name) => name.includes(startPrefix))
      if (earlier.length < maxStarts) return
      for (const name of earlier) deleteCookie(c, name, { path: '/login', secure: name.startsWith('__Secure-') })
    },
  }
}

export type Cookies = ReturnType<typeof createCookies>

export interface Session {
  readonly id: string
  readonly sub: string
  readonly until: number
  /** Absent for a user from Slack, because the list of callers holds their permissions. */
  readonly token?: Pick<Caller, 'scopes' | 'budgets' | 'person' | 'readsBudgets' | 'issuer'>
}

/** Differs from the audience of bearer tokens, so that a bearer token cannot serve as a session. */
const audience = 'unit-guard-pages'
const maxSessionMs = 8 * hourMs
/** Browsers drop a cookie if its name and value together exceed this length. */
const maxCookieLength = 4_096
const maxSessionLength = maxCookieLength - '__Host-unit-guard'.length

const claimsSchema = z.object({
  aud: z.literal(audience),
  jti: z.string().check(z.minLength(1)),
  exp: z.number().check(z.int()),
  sub: z.string(),
  scope: z.exactOptional(z.string()),
  budgets: z.exactOptional(z.union([z.literal('*'), z.array(z.string())])),
  person: z.exactOptional(z.string()),
  readsBudgets: z.exactOptional(z.array(z.string())),
  issuer: z.exactOptional(z.object({ name: z.string(), claims: z.record(z.string(), z.array(z.string())) })),
})

export function createSessions({ key, clock, ids }: { key: Secret; clock: Clock; ids: Ids }) {
  /** `null`: browsers would drop the cookie. @param user is a string if the user comes from Slack. */
  async function create(user: Caller | string): Promise<{ readonly cookie: string; readonly lastsMs: number } | null> {
    const isListed = typeof user === 'string'
    const lastsMs = Math.min(maxSessionMs, isListed ? maxSessionMs : user.until - clock.now())
    const cookie = await new SignJWT(isListed ? {} : claimsOf(user))
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setAudience(audience)
      .setSubject(isListed ? user : user.sub)
      .setJti(ids.random())
      .setExpirationTime(Math.floor((clock.now() + lastsMs) / 1000))
      .sign(new TextEncoder().encode((await key.read()).current))
    return cookie.length > maxSessionLength ? null : { cookie, lastsMs }
  }

  async function read(cookie: string): Promise<Session | null> {
    if (cookie.length > maxCookieLength || !isReadOneWay(cookie)) return null
    return withAnyKey(key, await key.read(), (secret) => readWith(cookie, secret))
  }

  async function readWith(cookie: string, secret: string): Promise<Session | null> {
    const options = { algorithms: ['HS256'], audience, currentDate: new Date(clock.now()) }
    try {
      const { payload } = await jwtVerify(cookie, new TextEncoder().encode(secret), options)
      const parsed = claimsSchema.safeParse(payload)
      return parsed.success ? toSession(parsed.data) : null
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof RangeError) return null
      throw error
    }
  }

  const sign = async (session: Session, purpose: Purpose, text = ''): Promise<string> =>
    signature((await key.read()).current, session, purpose, text)

  async function isSigned(candidate: string, session: Session, purpose: Purpose, text = ''): Promise<boolean> {
    const matches = async (secret: string) =>
      isEqual(candidate, signature(secret, session, purpose, text)) ? true : null
    return (await withAnyKey(key, await key.read(), matches)) ?? false
  }

  return { create, read, sign, isSigned }
}

export type Sessions = ReturnType<typeof createSessions>

type Purpose = 'form' | 'said'

/** The signed text contains spaces, so the signature is never valid for a JWT. */
const signature = (secret: string, { id }: Session, purpose: Purpose, text: string): string =>
  createHmac('sha256', secret).update(`${audience} ${purpose} ${id} ${text}`).digest('base64url')

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const claimsOf = ({ scopes, budgets, person, readsBudgets, issuer }: NonNullable<Session['token']>) => ({
  scope: [...scopes].join(' '),
  budgets,
  ...(person !== undefined && { person }),
  ...(readsBudgets && { readsBudgets }),
  ...(issuer && { issuer }),
})

function toSession(claims: z.output<typeof claimsSchema>): Session | null {
  const { aud: _audience, jti, sub, exp, scope, budgets = [], ...others } = claims
  const session = { id: jti, sub, until: exp * 1000 }
  if (sub.startsWith('slack:')) return session
  const isCaller = others.issuer ? sub.startsWith(`${others.issuer.name}:`) : subject.safeParse(sub).success
  if (scope === undefined || !isCaller) return null
  return { ...session, token: { scopes: toScopes(scope), budgets, ...others } }
}
