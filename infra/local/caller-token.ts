import { SignJWT } from 'jose'
import { audience } from '../../functions/api/tokens.ts'
import { dayMs } from '../../shared/platform/clock.ts'
import { type Scope, scopes } from '../../shared/platform/words.ts'

/** A bearer token as the contract's "Authentication" describes it. */
export function signCallerToken(claims: {
  key: string
  sub: string
  scopes: readonly Scope[]
  /** Absent: it may charge none, but with `admin`. */
  budgets?: '*' | readonly string[]
  now: number
  lastsMs: number
}): Promise<string> {
  const { key, sub, budgets, now, lastsMs } = claims
  const issuedAt = Math.floor(now / 1000)
  return new SignJWT({ scope: claims.scopes.join(' '), ...(budgets !== undefined && { budgets }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + Math.floor(lastsMs / 1000))
    .sign(new TextEncoder().encode(key))
}

/** For whoever started it: everything is allowed, for a month. */
export const signAdminToken = (key: string, now: number): Promise<string> =>
  signCallerToken({ key, sub: 'local-admin', scopes, budgets: '*', now, lastsMs: 30 * dayMs })
