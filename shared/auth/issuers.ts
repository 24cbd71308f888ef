import type { CryptoKey, JWTHeaderParameters } from 'jose'
import { compactVerify } from 'jose/jws/compact/verify'
import type { KeptToken } from '../ledger/updates/update.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Claims, callerOf, mapKept, textsIn, timeFault } from './issuer-claims.ts'
import { createIssuerKeys, type Keys, type Metadata } from './issuer-keys.ts'
import type { Issuer } from './issuers-file.ts'
import type { IssuerKeys } from './stored-keys.ts'
import { readToken, refusedFor, type TokenCheck } from './tokens.ts'

interface Entry {
  readonly issuer: Issuer
  readonly keys: Keys
}

interface IdTokenUse {
  /** The name of the issuer. */
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
}

export type Issuers = ReturnType<typeof createIssuers>

export interface IssuersParts {
  readonly issuers: readonly Issuer[]
  readonly keys: IssuerKeys
  readonly clock: Clock
  readonly log: Log
  /** Tokens for this client are valid only for the login. */
  readonly login?: { readonly issuer: string; readonly clientId: string } | undefined
  readonly withinMs?: number | undefined
}

/** Verifies the tokens of identity providers. */
export function createIssuers(parts: IssuersParts) {
  const { issuers, keys: stored, clock, log, login, withinMs } = parts
  const trusted = issuers.map(
    (issuer): Entry => ({ issuer, keys: createIssuerKeys({ issuer, stored, clock, log, withinMs }) }),
  )
  const named = (name: string) => trusted.find(({ issuer }) => issuer.name === name)
  const loginIssuer = login && named(login.issuer)?.issuer.issuer

  /** @throws IdentityUnavailable, LedgerUnavailable */
  async function verify(token: string): Promise<TokenCheck> {
    const read = readToken(token)
    if (!read) return refusedFor('form')
    const entries = trusted.filter(({ issuer }) => issuer.issuer === read.claims.iss)
    const first = entries[0]?.issuer.name
    if (first === undefined) return refusedFor('issuer-unknown')
    if (isIdToken(read)) return refusedFor('id-token', first)
    const audiences = textsIn(read.claims, 'aud') ?? []
    if (read.claims.iss === loginIssuer && login && audiences.includes(login.clientId))
      return refusedFor('id-token', login.issuer)
    const entry = entries.find(({ issuer }) => audiences.includes(issuer.audience))
    return entry ? verifyWith(entry, token, read) : refusedFor('audience', first)
  }

  /**
   * Only the callback of the login calls this, because such a token is never a bearer token.
   *
   * @throws IdentityUnavailable, LedgerUnavailable
   */
  async function verifyLogin(idToken: string, { issuer: name, clientId, nonce }: IdTokenUse): Promise<TokenCheck> {
    const read = readToken(idToken)
    const entry = named(name)
    if (!read) return refusedFor('form', name)
    if (!entry || read.claims.iss !== entry.issuer.issuer) return refusedFor('issuer-unknown', name)
    if (isAccessToken(read) || nonce === '' || read.claims.nonce !== nonce) return refusedFor('id-token', name)
    const audiences = textsIn(read.claims, 'aud') ?? []
    const { azp } = read.claims
    const isForClient = audiences.includes(clientId) && (azp === undefined ? audiences.length === 1 : azp === clientId)
    return isForClient ? verifyWith(entry, idToken, read) : refusedFor('audience', name)
  }

  async function verifyWith({ issuer, keys }: Entry, token: string, { header, claims }: Read): Promise<TokenCheck> {
    const { name } = issuer
    if (!issuer.algorithms.some((each) => each === header.alg)) return refusedFor('algorithm', name)
    if (!isPlainHeader(header)) return refusedFor('form', name)
    const untimely = timeFault(claims, issuer, clock.now())
    if (untimely) return refusedFor(untimely, name)
    const caller = callerOf(issuer, claims)
    if (typeof caller === 'string') return refusedFor(caller, name)
    // All checks without a key come first, because a forged token must not make us ask the issuer.
    const key = await keys.keyFor(header)
    if (!key) return refusedFor('key-unknown', name)
    if (!(await isSigned(token, key, header.alg))) return refusedFor('signature', name)
    return (await keys.keep()) ? { kind: 'accepted', caller } : refusedFor('issuer-unknown', name)
  }

  return {
    /** True if the functions here verify tokens of this issuer. */
    trusts: (iss: string): boolean => issuers.some(({ issuer }) => issuer === iss),
    verify,
    verifyLogin,
    /** The discovery document. @throws IdentityUnavailable, LedgerUnavailable */
    async metadata(name: string): Promise<Metadata> {
      const entry = named(name)
      if (!entry) throw new Error(`there is no issuer ${name}`)
      return entry.keys.metadata()
    },
    /** Maps the kept claims again, with the issuers file of today. `null`: the file no longer has their issuer. */
    map: (kept: KeptToken): KeptToken | null => mapKept(issuers, kept),
  }
}

interface Read {
  readonly header: Claims
  readonly claims: Claims
}

/** These headers change how a token is read, or contain a key (RFC 7515, section 4.1). */
const refusedHeaders = ['crit', 'b64', 'jku', 'jwk', 'x5u', 'x5c']
const types = ['jwt', 'at+jwt', 'application/at+jwt']

function isPlainHeader(header: Claims): header is Claims & JWTHeaderParameters & { readonly alg: string } {
  const { alg, kid, typ = 'JWT' } = header
  const isOfType = typeof typ === 'string' && types.includes(typ.toLowerCase())
  const isNamed = kid === undefined || typeof kid === 'string'
  return typeof alg === 'string' && isNamed && isOfType && refusedHeaders.every((name) => !Object.hasOwn(header, name))
}

/** RFC 9068 marks access tokens by their type. */
const isAccessToken = ({ header: { typ } }: Read): boolean =>
  typeof typ === 'string' && /^(application\/)?at\+jwt$/i.test(typ)

/** Claims that OpenID Connect defines only for ID tokens. */
const idTokenMarks = ['nonce', 'at_hash', 'c_hash', 's_hash']

const isIdToken = (read: Read): boolean =>
  !isAccessToken(read) && idTokenMarks.some((claim) => Object.hasOwn(read.claims, claim))

async function isSigned(token: string, key: CryptoKey, alg: string): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [alg] })
    return true
  } catch {
    return false
  }
}
