import { fetchJson, type JsonObject } from '../../../../shared/auth/fetch-json.ts'
import { mayFetch } from '../../../../shared/auth/issuer-keys.ts'
import { type Issuer, readTrustedIssuers } from '../../../../shared/auth/issuers-file.ts'
import type { IssuerKeys } from '../../../../shared/auth/stored-keys.ts'
import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { count, countOf, few, list } from '../../../../shared/guard/sentences.ts'
import type { Clock } from '../../../../shared/platform/clock.ts'
import { isObject } from '../../../../shared/platform/json.ts'
import { reasonOf } from '../../failures.ts'
import { readSecret } from '../../secrets.ts'
import { type Findings, found, joined } from '../findings.ts'

interface Seen {
  /** Absent: the ledger cannot be read. */
  readonly budgets?: Readonly<Record<string, unknown>> | undefined
  /** `null`: the ledger cannot be read. */
  readonly keys: IssuerKeys | null
  /** The names of callers that are listed or were seen. */
  readonly names: readonly string[]
  readonly clock: Clock
}

const withinMs = 5_000
const maxClockSeconds = 60

/** @throws WrongFile */
export async function examineIdentity(
  settings: GuardSettings,
  { budgets, keys, names, clock }: Seen,
): Promise<Findings> {
  const issuers = readTrustedIssuers(settings)
  const each = issuers.map(async (issuer) =>
    joined([
      await examineIssuer(issuer, { clock, isForLogin: issuer.name === settings.LOGIN_ISSUER }),
      await examineName(issuer, { keys, names }),
      found([], [...openToAll(issuer), ...(budgets ? missingBudgets(issuer, budgets) : [])]),
    ]),
  )
  const colliding = await examineOthers(issuers, { keys, names })
  return joined([...(await Promise.all(each)), colliding, minted(settings), await loginOf(settings)])
}

async function examineIssuer(
  issuer: Issuer,
  { clock, isForLogin }: { clock: Clock; isForLogin: boolean },
): Promise<Findings> {
  const { name, algorithms } = issuer
  try {
    const { metadata, date } = await discover(issuer)
    const wrong = discoveryFault(issuer, metadata) ?? (isForLogin ? loginFault(issuer, metadata) : null)
    if (wrong !== null) return found(`${name}: ${wrong.line}`, wrong.toDo)
    const { keys } = await fetchJson(String(metadata.jwks_uri), AbortSignal.timeout(withinMs))
    const all = Array.isArray(keys) ? keys.filter(isObject) : []
    const fitting = all.filter((key) => algorithms.some((algorithm) => fits(key, algorithm)))
    const seconds = date === null ? 0 : Math.round((clock.now() - date) / 1000)
    const line = `${name}: ${issuer.issuer} gives ${countOf(all.length, 'key')}, ${count(fitting.length)} for ${list(algorithms)}`
    return found(line, [...noKey(issuer, all, fitting), ...clockFault(name, seconds)])
  } catch (error) {
    const reason = reasonOf(error)
    const toDo = `see why ${name} does not give its keys: ${reason}; its callers get 503 once the known keys are a day old`
    return found(`${name}: ${issuer.issuer} does not answer as it should: ${reason}`, toDo)
  }
}

const discoveryOf = ({ issuer }: Issuer): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

async function discover(issuer: Issuer): Promise<{ metadata: JsonObject; date: number | null }> {
  const at = discoveryOf(issuer)
  const metadata = await fetchJson(at, AbortSignal.timeout(withinMs))
  // Only the time in the headers is needed now.
  const { headers } = await fetch(at, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(withinMs) })
  const date = Date.parse(headers.get('date') ?? '')
  return { metadata, date: Number.isNaN(date) ? null : date }
}

function discoveryFault(issuer: Issuer, { issuer: named, jwks_uri: at }: JsonObject) {
  const { name } = issuer
  if (named !== issuer.issuer) {
    const line = `${discoveryOf(issuer)} is of the issuer ${JSON.stringify(named)}`
    const toDo = `correct ${name} in the issuers file: if ${JSON.stringify(named)} is your issuer, write exactly that`
    return { line, toDo }
  }
  if (typeof at === 'string' && mayFetch(at, issuer)) return null
  return {
    line: 'its discovery names no https address of keys',
    toDo: `ask the operators of ${name} for keys by https (jwks_uri of ${discoveryOf(issuer)})`,
  }
}

function loginFault({ name }: Issuer, metadata: JsonObject) {
  const missing = ['authorization_endpoint', 'token_endpoint'].filter((member) => typeof metadata[member] !== 'string')
  if (missing.length === 0) return null
  const line = `its discovery has no ${missing.join(' and no ')}`
  return { line, toDo: `name another issuer in LOGIN_ISSUER: people cannot log in at ${name} (${line})` }
}

const keyTypes: Readonly<Record<string, string>> = { RS: 'RSA', PS: 'RSA', ES: 'EC', Ed: 'OKP' }
const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

function fits({ kty, alg, crv, use }: JsonObject, algorithm: string): boolean {
  if (use !== undefined && use !== 'sig') return false
  if (alg !== undefined) return alg === algorithm
  return kty === keyTypes[algorithm.slice(0, 2)] && (curves[algorithm] === undefined || crv === curves[algorithm])
}

function noKey({ name, algorithms }: Issuer, all: readonly JsonObject[], fitting: readonly JsonObject[]): string[] {
  if (fitting.length > 0) return []
  const kinds = [...new Set(all.map(({ alg, kty, crv }) => String(alg ?? [kty, crv].filter(Boolean).join(' '))))]
  const has = kinds.length === 0 ? 'it has none' : `it has keys for ${list(kinds)}`
  return [`correct the algorithms of ${name} in the issuers file: no key is for ${list(algorithms)}; ${has}`]
}

function clockFault(name: string, seconds: number): string[] {
  if (Math.abs(seconds) <= maxClockSeconds) return []
  const apart = `${count(Math.abs(seconds))} seconds ${seconds > 0 ? 'ahead of' : 'behind'}`
  return [
    `set the clocks: this machine's is ${apart} that of ${name}, and tokens are refused from ${maxClockSeconds} seconds on`,
  ]
}

async function examineName({ name, issuer }: Issuer, { keys, names }: Pick<Seen, 'keys' | 'names'>): Promise<Findings> {
  const kept = await keys?.read(name)
  if (kept && kept.issuer !== issuer) {
    const toDo = `give ${name} another name in the issuers file: this name belongs to ${kept.issuer}, so tokens of ${issuer} are refused`
    return found([], toDo)
  }
  const own = names.filter((each) => each.startsWith(`${name}:`))
  if (kept || own.length === 0) return found([])
  return found(
    `${name}: ${few(own)} ${own.length === 1 ? 'is' : 'are'} known, but no token of this issuer has come yet; if npm run token made their tokens, give the issuer another name`,
  )
}

/** Finds callers whose tokens are refused, because their names have the form of an issuer's callers. */
async function examineOthers(
  issuers: readonly Issuer[],
  { keys, names }: Pick<Seen, 'keys' | 'names'>,
): Promise<Findings> {
  const known = ['slack', 'schedule', ...issuers.map(({ name }) => name)]
  const prefixes = new Set(names.flatMap((each) => prefixOf(each) ?? []).filter((each) => !known.includes(each)))
  const unknown = await Promise.all([...prefixes].map(async (each) => ((await keys?.read(each)) ? [] : [each])))
  const others = names.filter((each) => unknown.flat().includes(prefixOf(each) ?? ''))
  const toDo = `give these callers names without a colon, and new tokens: ${few(others)}; such names belong to trusted issuers, so their tokens are refused`
  return found([], others.length === 0 ? null : toDo)
}

const prefixOf = (name: string): string | undefined => /^([a-z][a-z0-9-]*):/.exec(name)?.[1]

/** All users of these providers get tokens of the same issuer, for any audience. */
const shared = ['token.actions.githubusercontent.com', 'accounts.google.com', 'gitlab.com']

export const openToAll = ({ name, issuer, scopes }: Pick<Issuer, 'name' | 'issuer' | 'scopes'>): string[] =>
  Array.isArray(scopes) && scopes.length > 0 && shared.includes(new URL(issuer).hostname)
    ? [
        `take scopes from a claim in the entry ${name} of the issuers file: now every user of ${issuer} has all scopes of its list`,
      ]
    : []

/** Finds budgets that do not exist, because of a typing error or because they were deleted. */
function missingBudgets(issuer: Issuer, budgets: Readonly<Record<string, unknown>>): string[] {
  const named = [issuer.budgets, issuer.readsBudgets].flatMap((of) => (Array.isArray(of) ? of : []))
  const missing = [...new Set(named)].filter((name) => !Object.hasOwn(budgets, name))
  if (missing.length === 0) return []
  const does = missing.length === 1 ? 'does' : 'do'
  return [
    `correct the entry ${issuer.name} of the issuers file, or create its budgets: ${list(missing)} ${does} not exist`,
  ]
}

/** One line for the output of `npm start`. */
export function describeIssuers(
  issuers: readonly Issuer[],
  { LOGIN_ISSUER: login, MINTED_TOKENS: minted }: GuardSettings,
  budgets: Readonly<Record<string, unknown>> | undefined,
): string {
  return [
    issuers.map(({ name, issuer }) => `${name} (${issuer})`).join(', '),
    login === undefined ? 'people do not log in there (LOGIN_ISSUER)' : `people log in to the dashboard at ${login}`,
    ...(minted === 'off' ? ['tokens of npm run token are refused'] : []),
    ...(budgets ? issuers.flatMap((issuer) => missingBudgets(issuer, budgets)) : []),
  ].join('; ')
}

const minted = ({ MINTED_TOKENS: state }: GuardSettings): Findings =>
  found(state === 'off' ? 'tokens of npm run token are refused (MINTED_TOKENS=off)' : null)

async function loginOf(settings: GuardSettings): Promise<Findings> {
  const { LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: client, LOGIN_CLIENT_SECRET: secret, DASHBOARD_URL: url } = settings
  if (issuer === undefined) return found([])
  const hasSecret = await readSecret(secret, settings).then(
    () => true,
    () => false,
  )
  const kind = hasSecret ? 'with a secret' : `public, because the secret ${secret} cannot be read or is empty`
  const back = url === undefined ? '' : `; its redirect URI is ${new URL('/login/callback', url).href}`
  return found(
    `people log in to the dashboard at ${issuer} as the client ${client} (${kind})${back}`,
    url === undefined ? `set DASHBOARD_URL: ${issuer} leads people back to <DASHBOARD_URL>/login/callback` : null,
  )
}
