import type { CryptoKey, JWK, JWTHeaderParameters } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import { type Clock, hourMs, minuteMs, toRfc3339 } from '../platform/clock.ts'
import { isLoopback } from '../platform/http.ts'
import { isObject } from '../platform/json.ts'
import type { Log } from '../platform/log.ts'
import { fetchJson, type JsonObject } from './fetch-json.ts'
import { IdentityUnavailable } from './identity-unavailable.ts'
import type { Issuer } from './issuers-file.ts'
import type { IssuerKeys, StoredIssuerKeys } from './stored-keys.ts'

/** The discovery document (OpenID Connect Discovery 1.0), as the issuer answered it. */
export type Metadata = JsonObject & { readonly issuer: string }

const refreshedAfterMs = 10 * minuteMs
/** Old keys are used only while fetching fails. */
const usedForMs = 24 * hourMs
const unknownAfterMs = minuteMs / 2
const retriedAfterMs = minuteMs / 2
/** Shorter than `retriedAfterMs`, because nothing works before the first keys. */
const retriedWithoutKeysAfterMs = 5_000
const keptAgainAfterMs = 5 * minuteMs
/** Only keys older than this are logged as an outage, because a single failed fetch is no outage. */
const outageAfterMs = hourMs
const loggedAfterMs = 10 * minuteMs
const withinMsByDefault = 3_000

export interface IssuerParts {
  readonly issuer: Issuer
  readonly stored: IssuerKeys
  readonly clock: Clock
  readonly log: Log
  /** The limit for discovery and keys together. */
  readonly withinMs?: number | undefined
}

interface KeySet {
  readonly fetchedAt: number
  readonly jwks: string
  /** `null`: the keys were read from the table. */
  readonly metadata: Metadata | null
  /** `null`: no key or several keys fit. */
  find(header: JWTHeaderParameters): Promise<CryptoKey | null>
  /** Resolves when the table has these keys, or keys that are a little older. `true`: the name belongs to this issuer. */
  kept: Promise<boolean> | null
}

/** What one process knows of an issuer's keys. */
interface Memory extends IssuerParts {
  known: KeySet | undefined
  /** True if the table has this issuer under this name. */
  isNamed: boolean
  pending: Promise<void> | undefined
  /** The times of the last fetch, and of the last fetch for an unknown key. */
  triedAt: number
  unknownAt: number
  failure: unknown
  loggedAt: number
}

export type Keys = ReturnType<typeof createIssuerKeys>

/**
 * The keys of one issuer. One request at a time fetches them, and the table keeps them for outages.
 *
 * @throws IdentityUnavailable, LedgerUnavailable
 */
export function createIssuerKeys(parts: IssuerParts) {
  const never = Number.NEGATIVE_INFINITY
  const times = { triedAt: never, unknownAt: never, loggedAt: never }
  const memory: Memory = { ...parts, ...times, known: undefined, isNamed: false, pending: undefined, failure: null }
  return {
    /** `null`: no key of the issuer fits. */
    keyFor: (header: JWTHeaderParameters) => keyFor(memory, header),
    /** Called only after a token was verified, so that a mistyped issuer never gets a name. `true`: the issuer has the name. */
    keep: () => keep(memory),
    metadata: () => metadata(memory),
  }
}

const own = Promise.resolve(true)

const isWithin = ({ clock }: Memory, at: number, ms: number): boolean => clock.now() - at < ms

function usable(memory: Memory): KeySet | undefined {
  const { known } = memory
  return known && isWithin(memory, known.fetchedAt, usedForMs) ? known : undefined
}

function logOnce(memory: Memory, event: () => void): void {
  if (isWithin(memory, memory.loggedAt, loggedAfterMs)) return
  memory.loggedAt = memory.clock.now()
  event()
}

function refresh(memory: Memory): Promise<void> {
  memory.triedAt = memory.clock.now()
  memory.pending ??= renew(memory).finally(() => {
    memory.pending = undefined
  })
  return memory.pending
}

async function renew(memory: Memory): Promise<void> {
  const { issuer, stored, clock } = memory
  const [fetched, item] = await Promise.allSettled([fetchKeys(memory), stored.read(issuer.name)])
  const kept = item.status === 'fulfilled' ? item.value : null
  if (kept && kept.issuer !== issuer.issuer) return refuseName(memory, kept)
  memory.isNamed ||= kept !== null
  if (fetched.status === 'rejected') return useKept(memory, kept, fetched.reason)
  // Only the table knows which issuer has the name.
  if (item.status === 'rejected' && !memory.isNamed) {
    memory.triedAt = Number.NEGATIVE_INFINITY
    throw item.reason
  }
  const { jwks } = fetched.value
  const isKept = kept?.jwks === jwks && isWithin(memory, kept.fetchedAt, keptAgainAfterMs)
  memory.known = toKeySet({ ...fetched.value, fetchedAt: clock.now(), kept: isKept ? own : null })
}

function useKept(memory: Memory, kept: StoredIssuerKeys | null, failure: unknown): void {
  const { issuer, log } = memory
  memory.failure = failure
  // Another process may have fetched newer keys.
  if (kept && kept.fetchedAt > (memory.known?.fetchedAt ?? 0))
    memory.known = toKeySet({ jwks: kept.jwks, fetchedAt: kept.fetchedAt, metadata: null, kept: own })
  const { fetchedAt } = usable(memory) ?? {}
  if (fetchedAt !== undefined && isWithin(memory, fetchedAt, outageAfterMs)) return
  const keysOf = fetchedAt === undefined ? null : toRfc3339(fetchedAt)
  logOnce(memory, () => log.error('issuer-unavailable', { issuer: issuer.name, keysOf, cause: failure }))
}

/** Refuses a name of an earlier issuer, because records name that issuer's callers by it. */
function refuseName(memory: Memory, { issuer: earlierUrl }: StoredIssuerKeys): void {
  const { issuer, log, clock } = memory
  const { name, issuer: url } = issuer
  logOnce(memory, () => log.error('issuer-renamed', { issuer: name, url, earlierUrl }))
  memory.known = toKeySet({ jwks: '{"keys":[]}', metadata: null, fetchedAt: clock.now(), kept: Promise.resolve(false) })
}

async function current(memory: Memory): Promise<KeySet> {
  const now = usable(memory)
  if (now && isWithin(memory, now.fetchedAt, refreshedAfterMs)) return now
  if (now && isWithin(memory, memory.triedAt, retriedAfterMs)) return now
  if (now || memory.pending || !isWithin(memory, memory.triedAt, retriedWithoutKeysAfterMs)) await refresh(memory)
  const refreshed = usable(memory)
  if (refreshed) return refreshed
  throw new IdentityUnavailable(memory.issuer.name, memory.failure)
}

async function keyFor(memory: Memory, header: JWTHeaderParameters): Promise<CryptoKey | null> {
  const before = memory.known
  const keys = await current(memory)
  const key = await keys.find(header)
  const isFetchedNow = keys !== before
  const mayAskAgain = memory.pending !== undefined || !isWithin(memory, memory.unknownAt, unknownAfterMs)
  if (key || isFetchedNow || !mayAskAgain) return key
  memory.unknownAt = memory.clock.now()
  await refresh(memory)
  return (await usable(memory)?.find(header)) ?? null
}

function keep(memory: Memory): Promise<boolean> {
  const { known } = memory
  if (!known) return own
  known.kept ??= write(memory, known).catch((error) => {
    known.kept = null
    if (memory.isNamed) return true
    throw error
  })
  return known.kept
}

async function write(memory: Memory, { jwks, fetchedAt }: KeySet): Promise<boolean> {
  const { name, issuer } = memory.issuer
  const isOwn = (await memory.stored.keep({ name, issuer, jwks, fetchedAt })) === 'kept'
  memory.isNamed ||= isOwn
  return isOwn
}

async function metadata(memory: Memory): Promise<Metadata> {
  const keys = await current(memory)
  if (keys.metadata === null) await refresh(memory)
  const found = usable(memory)?.metadata
  if (found) return found
  throw new IdentityUnavailable(memory.issuer.name, memory.failure)
}

async function fetchKeys({
  issuer,
  withinMs = withinMsByDefault,
}: IssuerParts): Promise<{ jwks: string; metadata: Metadata }> {
  const signal = AbortSignal.timeout(withinMs)
  const at = `${issuer.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const found = await fetchJson(at, signal)
  if (found.issuer !== issuer.issuer) throw new Error(`${at} names another issuer`)
  const metadata = { ...found, issuer: issuer.issuer }
  const { jwks_uri: jwksUri } = found
  if (typeof jwksUri !== 'string' || !mayFetch(jwksUri, issuer)) throw new Error(`${at} has no https jwks_uri`)
  const { keys } = await fetchJson(jwksUri, signal)
  if (!Array.isArray(keys)) throw new Error(`${jwksUri} answered without a list of keys`)
  return { jwks: JSON.stringify({ keys: keys.flatMap((key) => (isObject(key) ? publicKey(key) : [])) }), metadata }
}

/** True for https. True for http on this machine if the issuer is on this machine, too. */
export function mayFetch(text: string, issuer: Pick<Issuer, 'issuer'>): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  const isOnThisMachine = protocol === 'http:' && isLoopback(hostname) && issuer.issuer.startsWith('http:')
  return username === '' && password === '' && (protocol === 'https:' || isOnThisMachine)
}

const publicMembers = ['kty', 'kid', 'use', 'alg', 'key_ops', 'crv', 'x', 'y', 'n', 'e']

/** Leaves out certificates, which may be long, and keys whose private part is in the answer. */
function publicKey(key: JsonObject): JsonObject[] {
  if ('d' in key || 'k' in key) return []
  return [Object.fromEntries(Object.entries(key).filter(([member]) => publicMembers.includes(member)))]
}

/** Throws if the text is not a key set. Keys in the table passed this check before they were written. */
function toKeySet({ jwks, ...rest }: Omit<KeySet, 'find'>): KeySet {
  const keys: { keys: JWK[] } = JSON.parse(jwks)
  const resolve = createLocalJWKSet(keys)
  return { ...rest, jwks, find: async (header) => resolve(header).catch(() => null) }
}
