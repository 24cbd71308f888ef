import { jwtVerify } from 'jose'
import * as z from 'zod/mini'
import { type Clock, dayMs, minuteMs } from '../platform/clock.ts'
import { parseStrictJson } from '../platform/json.ts'
import type { Secret } from '../platform/secrets.ts'
import { type Scope, scopes } from '../platform/words.ts'
import { withAnyKey } from './caller-key.ts'

export interface Caller {
  readonly sub: string
  readonly scopes: ReadonlySet<Scope>
  /** Their descendants included. */
  readonly budgets: '*' | readonly string[]
  readonly until: number
}

export const audience = 'unit-guard'
export const longestLifeSeconds = (366 * dayMs) / 1000
const maxTokenLength = 8_192
const verifiedForMs = minuteMs
const maxVerified = 1_000

/** These names stand in records and entries where no person acted; `*` means all callers. */
const reserved = ['guard', 'sweep', 'service', 'setup', '*']

/** 1–128 visible characters without `#`. A stored map could not have the name `__proto__`. */
export const subject = z.string().check(
  z.regex(/^(?!slack:|schedule:|__proto__$)[\x21\x22\x24-\x7e]{1,128}$/),
  z.refine((sub) => !reserved.includes(sub.toLowerCase())),
)

const claims = z.object({
  sub: subject,
  aud: z.literal(audience),
  exp: z.number().check(z.int()),
  scope: z._default(z.string(), ''),
  budgets: z.optional(z.union([z.literal('*'), z.array(z.string())])),
})

/**
 * Reads JWTs (RFC 7519) with HS256 and the current or the previous key. Beyond jose, `exp` is required and sane, and
 * each segment has one spelling. `null` for any fault.
 *
 * @throws SecretUnavailable
 */
export function createTokens({ key, clock }: { key: Secret; clock: Clock }) {
  // Tools send one token a thousand times, and verifying costs as much as a small answer.
  const verified = new Map<string, { readonly caller: Caller; readonly key: string; readonly until: number }>()

  async function verify(header: string | undefined): Promise<Caller | null> {
    const token = /^bearer ([^\s,]+)$/i.exec(header ?? '')?.[1]
    if (token === undefined || token.length > maxTokenLength) return null
    const earlier = verified.get(token)
    if (!earlier && !(isCanonical(token) && isReadOneWay(token))) return null
    const known = await key.read()
    if (earlier && earlier.key === known.current && clock.now() < earlier.until) return earlier.caller
    return withAnyKey(key, known, (secret) => verifyWith(token, secret))
  }

  async function verifyWith(token: string, secret: string): Promise<Caller | null> {
    const now = clock.now()
    try {
      const options = { algorithms: ['HS256'], audience, currentDate: new Date(now) }
      const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), options)
      const parsed = claims.safeParse(payload)
      if (!parsed.success || parsed.data.exp > now / 1000 + longestLifeSeconds) return null
      const caller = toCaller(parsed.data)
      if (verified.size >= maxVerified) verified.clear()
      const until = Math.min(caller.until, now + verifiedForMs)
      verified.set(token, { caller, key: secret, until })
      return caller
    } catch {
      return null
    }
  }

  return { verify }
}

/** Other spellings of the same bytes would be other tokens. */
const isCanonical = (token: string): boolean =>
  token.split('.').every((segment) => Buffer.from(segment, 'base64url').toString('base64url') === segment)

/** Refuses repeated members, because other readers may take the first one. */
export const isReadOneWay = (token: string): boolean =>
  token
    .split('.')
    .slice(0, 2)
    .every((segment) => parseStrictJson(Buffer.from(segment, 'base64url').toString()).ok)

function toCaller({ sub, scope, budgets, exp }: z.output<typeof claims>): Caller {
  const held = toScopes(scope)
  return { sub, scopes: held, budgets: budgets ?? (held.has('admin') ? '*' : []), until: exp * 1000 }
}

/** Unknown words allow nothing. */
export const toScopes = (text: string): ReadonlySet<Scope> =>
  new Set(scopes.filter((known) => text.split(' ').includes(known)))
