import { SignJWT } from 'jose'
import { audience, type Scope } from '../../functions/api/tokens.ts'

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
  const { key, sub, scopes, budgets, now, lastsMs } = claims
  const issuedAt = Math.floor(now / 1000)
  return new SignJWT({ scope: scopes.join(' '), ...(budgets !== undefined && { budgets }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + Math.floor(lastsMs / 1000))
    .sign(new TextEncoder().encode(key))
}
