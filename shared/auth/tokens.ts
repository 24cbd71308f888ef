import { jwtVerify } from 'jose/jwt/verify'
import * as z from 'zod/mini'
import { type Clock, dayMs, minuteMs } from '../platform/clock.ts'
import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import type { Secret } from '../platform/secrets.ts'
import { issuerForm, reservedNames, type Scope, scopes, type TokenFault } from '../platform/words.ts'
import { withAnyKey } from './caller-key.ts'

export interface Caller {
  readonly sub: string
  readonly scopes: ReadonlySet<Scope>
  /** Includes the budgets below these. */
  readonly budgets: '*' | readonly string[]
  readonly until: number
  /** The person from a claim. A person in the list of callers overrides it. */
  readonly person?: string
  /** Includes the budgets below these. Absent: all budgets. */
  readonly readsBudgets?: readonly string[]
  /** Absent: a token of Unit Guard itself. */
  readonly issuer?: IssuerClaims
  /** The claim that gives scopes, and the scopes for each of its values. */
  readonly scopesFrom?: { readonly claim: string; readonly map: Readonly<Record<string, readonly Scope[]>> }
}

/** The claims of a token that the issuers file maps to scopes and budgets. */
interface IssuerClaims {
  readonly name: string
  readonly claims: Readonly<Record<string, readonly string[]>>
}

export interface RefusedToken {
  readonly kind: 'refused'
  /** Absent: the request has no token. */
  readonly reason?: TokenFault
  /** The name of the issuer, if it is in the issuers file. */
  readonly issuer?: string
}

export type TokenCheck = { readonly kind: 'accepted'; readonly caller: Caller } | RefusedToken

export const refusedFor = (reason: TokenFault, issuer?: string): RefusedToken => ({
  kind: 'refused',
  reason,
  ...(issuer !== undefined && { issuer }),
})

export const audience = 'unit-guard'
const algorithm = 'HS256'
export const longestLifeSeconds = (366 * dayMs) / 1000
const maxTokenLength = 8_192
const verifiedForMs = minuteMs
const maxVerified = 1_000

/**
 * 1–256 visible characters without `#`. Not `__proto__`, because a stored map cannot have this name. Not `okta:*`, which
 * would look like all callers of an issuer.
 */
export const callerName = /^(?!__proto__$)[\x21\x22\x24-\x7e]{1,256}(?<!\*)$/

/** A minted token must not name a caller of an issuer, such as `okta:ada`. */
export const subject = z.string().check(
  z.regex(callerName),
  z.maxLength(128),
  z.refine((sub) => !issuerForm.test(sub) && !reservedNames.includes(sub.toLowerCase())),
)

const claims = z.object({
  sub: subject,
  aud: z.literal(audience),
  exp: z.number().check(z.int()),
  scope: z._default(z.string(), ''),
  budgets: z.optional(z.union([z.literal('*'), z.array(z.string())])),
})

/** Only the keys of a trusted issuer verify a token that names this issuer. */
interface TrustedIssuers {
  trusts(iss: string): boolean
  verify(token: string): Promise<TokenCheck>
}

interface VerifiedToken {
  readonly caller: Caller
  /** Our key that verified the token. `null`: an issuer's key did. */
  readonly key: string | null
  readonly until: number
}

/**
 * Verifies JWTs (RFC 7519) of trusted issuers, and our own JWTs, which the current or previous key signed (HS256). Stricter
 * than jose: `exp` is required and at most 366 days away, and each segment has only one spelling.
 *
 * @param options.identity loads with the first token that names an issuer. `null`: none is trusted.
 * @param options.acceptsMinted false: our own tokens are refused.
 * @throws SecretUnavailable, IdentityUnavailable, LedgerUnavailable
 */
export function createTokens(options: {
  callerKey: Secret
  clock: Clock
  identity?: () => Promise<TrustedIssuers | null>
  acceptsMinted?: boolean
}) {
  const { callerKey: key, clock, identity, acceptsMinted = true } = options
  // Cached, because tools send one token a thousand times, and verifying it costs as much as a small answer.
  const verified = new Map<string, VerifiedToken>()

  async function verify(header: string | undefined): Promise<TokenCheck> {
    if (header === undefined) return { kind: 'refused' }
    const token = /^bearer +([^\s,]+)$/i.exec(header)?.[1]
    if (token === undefined || token.length > maxTokenLength) return refusedFor('form')
    const earlier = verified.get(token)
    const isGood = earlier !== undefined && clock.now() < earlier.until
    if (isGood && earlier.key === null) return { kind: 'accepted', caller: earlier.caller }
    const read = earlier ? null : readToken(token)
    if (!earlier && !read) return refusedFor('form')
    if (await isOfIssuer(read, earlier)) return verifyByIssuer(token)
    const checked = await verifyMinted(token, read, isGood ? earlier : undefined)
    return read?.claims.iss !== undefined && isOfOtherKey(checked) ? refusedFor('issuer-unknown') : checked
  }

  async function isOfIssuer(read: ReadToken | null, earlier: VerifiedToken | undefined): Promise<boolean> {
    if (earlier) return earlier.key === null
    const iss = read?.claims.iss
    return identity !== undefined && typeof iss === 'string' && (await identity())?.trusts(iss) === true
  }

  async function verifyByIssuer(token: string): Promise<TokenCheck> {
    const checked = (await (await identity?.())?.verify(token)) ?? refusedFor('issuer-unknown')
    if (checked.kind === 'accepted') remember(token, checked.caller, null)
    return checked
  }

  async function verifyMinted(token: string, read: ReadToken | null, earlier?: VerifiedToken): Promise<TokenCheck> {
    if (!acceptsMinted) return refusedFor('minted-off')
    if (read && read.header.alg !== algorithm) return refusedFor('algorithm')
    const known = await key.read()
    if (earlier?.key === known.current) return { kind: 'accepted', caller: earlier.caller }
    return (await withAnyKey(key, known, (secret) => verifyWith(token, secret))) ?? refusedFor('signature')
  }

  /** `null`: another key signed it. */
  async function verifyWith(token: string, secret: string): Promise<TokenCheck | null> {
    const now = clock.now()
    try {
      const options = { algorithms: [algorithm], audience, currentDate: new Date(now) }
      const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), options)
      const parsed = claims.safeParse(payload)
      if (!parsed.success) return refusedFor(faultOfClaim(parsed.error.issues[0]?.path[0]))
      if (parsed.data.exp > now / 1000 + longestLifeSeconds) return refusedFor('lifetime')
      const caller = toCaller(parsed.data)
      remember(token, caller, secret)
      return { kind: 'accepted', caller }
    } catch (error) {
      const reason = reasonOf(error)
      return reason === 'signature' ? null : refusedFor(reason)
    }
  }

  function remember(token: string, caller: Caller, secret: string | null): void {
    if (verified.size >= maxVerified) verified.clear()
    verified.set(token, { caller, key: secret, until: Math.min(caller.until, clock.now() + verifiedForMs) })
  }

  return { verify }
}

const isOfOtherKey = (checked: TokenCheck): boolean =>
  checked.kind === 'refused' && ['algorithm', 'signature', 'minted-off'].includes(checked.reason ?? '')

const faultsOfClaims: Readonly<Record<string, TokenFault>> = { sub: 'subject', aud: 'audience', exp: 'lifetime' }

const faultOfClaim = (claim: PropertyKey | undefined): TokenFault => faultsOfClaims[String(claim)] ?? 'claims'

/** The fault that jose found. */
function reasonOf(error: unknown): TokenFault {
  const { code, claim, reason } = (error instanceof Error ? error : {}) as Record<string, unknown>
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'expired'
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      if (claim === 'nbf') return reason === 'check_failed' ? 'not-yet' : 'lifetime'
      return claim === 'iat' ? 'lifetime' : faultOfClaim(String(claim))
    case 'ERR_JWS_INVALID':
    case 'ERR_JWT_INVALID':
    case 'ERR_JOSE_NOT_SUPPORTED':
      return 'form'
    default:
      return 'signature'
  }
}

interface ReadToken {
  readonly header: { readonly [name: string]: Json }
  readonly claims: { readonly [name: string]: Json }
}

/** Reads a token without verifying it. `null`: another reader could read it in another way. */
export function readToken(token: string): ReadToken | null {
  if (!isCanonical(token)) return null
  const [header, claims] = token.split('.').slice(0, 2).map(parseSegment)
  return isObject(header) && isObject(claims) ? { header, claims } : null
}

/** Other spellings of the same bytes would count as other tokens. */
const isCanonical = (token: string): boolean =>
  token.split('.').every((segment) => Buffer.from(segment, 'base64url').toString('base64url') === segment)

/** Refuses repeated members, because other readers may take the first one. */
export const isReadOneWay = (token: string): boolean =>
  token
    .split('.')
    .slice(0, 2)
    .every((segment) => parseSegment(segment) !== undefined)

function parseSegment(segment: string): Json | undefined {
  const read = parseStrictJson(Buffer.from(segment, 'base64url').toString())
  return read.ok ? read.value : undefined
}

function toCaller({ sub, scope, budgets, exp }: z.output<typeof claims>): Caller {
  const held = toScopes(scope)
  return { sub, scopes: held, budgets: budgets ?? (held.has('admin') ? '*' : []), until: exp * 1000 }
}

/** Unknown words allow nothing. */
export const toScopes = (text: string): ReadonlySet<Scope> =>
  new Set(scopes.filter((known) => text.split(' ').includes(known)))
