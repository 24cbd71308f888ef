import type { KeptToken } from '../ledger/updates/update.ts'
import type { Json } from '../platform/json.ts'
import { scopes as allScopes, type Scope, shortName, type TokenFault } from '../platform/words.ts'
import type { Issuer } from './issuers-file.ts'
import { type Caller, callerName } from './tokens.ts'

export type Claims = { readonly [name: string]: Json }

/** How far clocks may differ. */
const leewaySeconds = 60

/** Times are whole seconds (RFC 7519, NumericDate). Only `nbf` may be missing. `null`: the token is valid now. */
export function timeFault({ exp, iat, nbf }: Claims, { maxLifetime }: Issuer, nowMs: number): TokenFault | null {
  const now = nowMs / 1000
  if (!isTime(exp) || !isTime(iat) || (nbf !== undefined && !isTime(nbf))) return 'lifetime'
  if (exp <= now) return 'expired'
  if (iat > now + leewaySeconds || (nbf !== undefined && nbf > now + leewaySeconds)) return 'not-yet'
  const lifetime = exp - iat
  return lifetime > 0 && lifetime * 1000 <= maxLifetime ? null : 'lifetime'
}

const isTime = (value: Json | undefined): value is number => Number.isSafeInteger(value) && Number(value) > 0

/** `null`: neither a string nor a list of strings. A missing claim is an empty list. */
export function textsIn(claims: Claims, claim: string): readonly string[] | null {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : []
  const list = typeof value === 'string' ? [value] : value
  return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : null
}

/** The values of a mapped claim. In OAuth's `scope`, blanks separate them (RFC 8693, section 4.2). */
function valuesOf(claims: Claims, claim: string): readonly string[] | null {
  const value = claims[claim]
  const isOfOAuth = (claim === 'scope' || claim === 'scp') && typeof value === 'string'
  return isOfOAuth ? value.split(' ').filter((each) => each !== '') : textsIn(claims, claim)
}

/** Maps the claims to a caller, as the issuers file says. Returns a fault if a needed claim is wrong. */
export function callerOf(issuer: Issuer, claims: Claims): Caller | TokenFault {
  const subject = nameIn(claims, issuer.subject, issuer)
  const sub = `${issuer.name}:${subject}`
  if (subject === null || !callerName.test(sub)) return nameFault(claims, issuer.subject, issuer) ?? 'subject'
  const person = issuer.person === undefined ? undefined : nameIn(claims, issuer.person, issuer)
  if (issuer.person !== undefined && (typeof person !== 'string' || !callerName.test(person)))
    return nameFault(claims, issuer.person, issuer) ?? 'claims'
  const values = mappedValues(issuer, claims)
  if (values === null) return 'claims'
  return {
    sub,
    ...mapValues(issuer, values),
    until: Number(claims.exp) * 1000,
    ...(typeof person === 'string' && { person }),
    issuer: { name: issuer.name, claims: values },
    ...(isClaim(issuer.scopes) && { scopesFrom: issuer.scopes }),
  }
}

const isTrustedEmail = ({ email_verified }: Claims, { trustUnverifiedEmail }: Issuer): boolean =>
  email_verified === true || trustUnverifiedEmail

/** `null`: the fault is not an unverified e-mail address. */
const nameFault = (claims: Claims, claim: string, issuer: Issuer): TokenFault | null =>
  claim === 'email' && typeof claims.email === 'string' && claims.email !== '' && !isTrustedEmail(claims, issuer)
    ? 'email-unverified'
    : null

function nameIn(claims: Claims, claim: string, issuer: Issuer): string | null {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : null
  if (typeof value !== 'string' || value === '') return null
  if (claim !== 'email') return value
  return isTrustedEmail(claims, issuer) ? value.toLowerCase() : null
}

/** Keeps only values that the issuers file maps, so that records hold no other groups of a person. `null`: a claim is malformed. */
function mappedValues(issuer: Issuer, claims: Claims): Readonly<Record<string, readonly string[]>> | null {
  const { scopes, budgets, readsBudgets } = issuer
  const map = isClaim(scopes) ? scopes.map : {}
  const mapped = [scopes, budgets, readsBudgets].filter((of) => isClaim(of)).map((of) => of.claim)
  const isBudget = (claim: string, value: string) =>
    [budgets, readsBudgets].some((of) => isClaim(of) && of.claim === claim) && (value === '*' || shortName.test(value))
  const isScope = (claim: string, value: string) =>
    isClaim(scopes) && scopes.claim === claim && Object.hasOwn(map, value)
  const found = mapped.map((claim) => [claim, valuesOf(claims, claim)] as const)
  if (found.some(([, values]) => values === null)) return null
  return Object.fromEntries(
    found.map(([claim, values]) => [
      claim,
      [...new Set(values)].filter((value) => isScope(claim, value) || isBudget(claim, value)),
    ]),
  )
}

const isClaim = <T>(of: T): of is Extract<T, { readonly claim: string }> =>
  typeof of === 'object' && of !== null && 'claim' in of

function mapValues(
  { scopes, budgets, readsBudgets }: Issuer,
  values: Readonly<Record<string, readonly string[]>>,
): Pick<Caller, 'scopes' | 'budgets' | 'readsBudgets'> {
  const valuesAt = (claim: string) => (Object.hasOwn(values, claim) ? (values[claim] ?? []) : [])
  const granted: readonly Scope[] = isClaim(scopes)
    ? valuesAt(scopes.claim).flatMap((value) => (Object.hasOwn(scopes.map, value) ? (scopes.map[value] ?? []) : []))
    : scopes
  const held = new Set(allScopes.filter((scope) => granted.includes(scope)))
  const budgetsAt = (claim: string) => valuesAt(claim).filter((value) => shortName.test(value))
  const named = () => {
    if (budgets === undefined) return held.has('admin') ? '*' : []
    if (!isClaim(budgets)) return budgets
    return budgets.mayBeAll && valuesAt(budgets.claim).includes('*') ? '*' : budgetsAt(budgets.claim)
  }
  return {
    scopes: held,
    budgets: named(),
    ...(readsBudgets && { readsBudgets: isClaim(readsBudgets) ? budgetsAt(readsBudgets.claim) : readsBudgets }),
  }
}

/** Maps the kept claims again, with the issuers file of today. `null`: the file no longer has their issuer. */
export function mapKept(issuers: readonly Issuer[], kept: KeptToken): KeptToken | null {
  if (!kept.issuer) return kept
  const { name, claims } = kept.issuer
  const issuer = issuers.find((each) => each.name === name)
  if (!issuer) return null
  const { scopes, budgets } = mapValues(issuer, claims)
  return { ...kept, scopes: [...scopes], budgets }
}
