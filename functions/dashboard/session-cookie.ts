import { createHmac, timingSafeEqual } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod/mini'
import { withAnyKey } from '../../shared/auth/caller-key.ts'
import { type Caller, isReadOneWay, subject, toScopes } from '../../shared/auth/tokens.ts'
import { type Clock, hourMs } from '../../shared/platform/clock.ts'
import type { Ids } from '../../shared/platform/ids.ts'
import type { Secret } from '../../shared/platform/secrets.ts'

/** A user who has logged in, as their cookie says. */
export interface Session {
  readonly id: string
  readonly sub: string
  readonly until: number
  /** What their token said. A user from Slack brought none: what they may do is listed, and looked up each time. */
  readonly token?: Pick<Caller, 'scopes' | 'budgets'>
}

/** Not the audience of bearer tokens: neither passes for the other. */
const audience = 'unit-guard-pages'
const maxSessionMs = 8 * hourMs
const maxCookieLength = 4_096

const claims = z.object({
  aud: z.literal(audience),
  jti: z.string().check(z.minLength(1)),
  exp: z.number().check(z.int()),
  sub: z.union([subject, z.string().check(z.startsWith('slack:'))]),
  scope: z.optional(z.string()),
  budgets: z.optional(z.union([z.literal('*'), z.array(z.string())])),
})

/** Cookies of our own making, and what is bound to them; all signed with the callers' key. @throws SecretUnavailable */
export function createSessions({ key, clock, ids }: { key: Secret; clock: Clock; ids: Ids }) {
  /** @param who a token's caller, or the name of one from Slack. */
  async function open(who: Caller | string): Promise<{ readonly cookie: string; readonly lastsMs: number }> {
    const isListed = typeof who === 'string'
    const lastsMs = Math.min(maxSessionMs, isListed ? maxSessionMs : who.until - clock.now())
    const brought = isListed ? {} : { scope: [...who.scopes].join(' '), budgets: who.budgets }
    const cookie = await new SignJWT(brought)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setAudience(audience)
      .setSubject(isListed ? who : who.sub)
      .setJti(ids.random())
      .setExpirationTime(Math.floor((clock.now() + lastsMs) / 1000))
      .sign(new TextEncoder().encode((await key.read()).current))
    return { cookie, lastsMs }
  }

  async function read(cookie: string): Promise<Session | null> {
    if (cookie.length > maxCookieLength || !isReadOneWay(cookie)) return null
    return withAnyKey(key, await key.read(), (secret) => readWith(cookie, secret))
  }

  async function readWith(cookie: string, secret: string): Promise<Session | null> {
    const options = { algorithms: ['HS256'], audience, currentDate: new Date(clock.now()) }
    try {
      const { payload } = await jwtVerify(cookie, new TextEncoder().encode(secret), options)
      const parsed = claims.safeParse(payload)
      return parsed.success ? toSession(parsed.data) : null
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof RangeError) return null
      throw error
    }
  }

  /** Shows that a text comes from us, for this session and this purpose. */
  const sign = async (session: Session, purpose: Purpose, text = ''): Promise<string> =>
    signature((await key.read()).current, session, purpose, text)

  async function isSigned(given: string, session: Session, purpose: Purpose, text = ''): Promise<boolean> {
    const matches = async (secret: string) => (isSame(given, signature(secret, session, purpose, text)) ? true : null)
    return (await withAnyKey(key, await key.read(), matches)) ?? false
  }

  return { open, read, sign, isSigned }
}

export type Sessions = ReturnType<typeof createSessions>

type Purpose = 'form' | 'said'

/** No JWT is signed over a text with blanks, so a signature of the one kind is not valid for the other. */
const signature = (secret: string, { id }: Session, purpose: Purpose, text: string): string =>
  createHmac('sha256', secret).update(`${audience} ${purpose} ${id} ${text}`).digest('base64url')

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function toSession({ jti, sub, exp, scope, budgets }: z.output<typeof claims>): Session | null {
  const session = { id: jti, sub, until: exp * 1000 }
  if (sub.startsWith('slack:')) return session
  return scope === undefined ? null : { ...session, token: { scopes: toScopes(scope), budgets: budgets ?? [] } }
}
