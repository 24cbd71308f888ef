import * as z from 'zod/mini'
import { dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import { allFaults, type Fault, textFaults } from '../platform/faults.ts'
import { isLoopback } from '../platform/http.ts'
import { isObject, type Json, parseStrictJson, placeIn } from '../platform/json.ts'
import { readSettingsFile } from '../platform/settings-file.ts'
import { type Scope, scopes, shortName } from '../platform/words.ts'

/** A list from the file, or from a claim of the token. */
export type Mapped<T> = readonly T[] | { readonly claim: string }

/** An identity provider whose tokens are accepted. */
export interface Issuer {
  /** The first part of its callers' names. */
  readonly name: string
  /** Equal to the claim `iss`, byte by byte. */
  readonly issuer: string
  readonly audience: string
  readonly algorithms: readonly string[]
  /** The claim that names the caller. */
  readonly subject: string
  /** The claim that names the person behind the caller. Absent: the caller is a person of its own. */
  readonly person?: string
  readonly trustUnverifiedEmail: boolean
  readonly maxLifetimeMs: number
  readonly scopes:
    | readonly Scope[]
    | { readonly claim: string; readonly map: Readonly<Record<string, readonly Scope[]>> }
  /** Absent: as in a token of Unit Guard. With a claim, `*` counts only with `mayBeAll`. */
  readonly budgets?: '*' | readonly string[] | { readonly claim: string; readonly mayBeAll: boolean }
  /** Absent: all. A token without the claim may read no budget. */
  readonly readsBudgets?: Mapped<string>
}

/** The message names every fault by issuer and field. */
export class WrongIssuers extends Error {
  override readonly name = 'WrongIssuers'
}

const maxIssuers = 20

/** Callers' names begin with one of these where no issuer named them. */
const reservedNames = ['slack', 'schedule', 'caller', 'guard', 'sweep', 'service', 'setup', 'mcp']

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const

const takesName = 'must have 1 to 31 of a-z, 0-9 and -, beginning with a letter'
const name = z.string(takesName).check(
  z.regex(/^[a-z][a-z0-9-]{0,30}$/, takesName),
  z.refine((text) => !reservedNames.includes(text), `must be none of ${reservedNames.join(', ')}`),
)

const takesAddress = 'must be an https address without a query, or http to this machine'
const address = z.string(takesAddress).check(z.refine(isIssuer, takesAddress))

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, search, hash, username, password } = new URL(text)
  const isPlain = search === '' && hash === '' && username === '' && password === '' && !/[?#\s]/.test(text)
  return isPlain && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
}

const takesClaim = 'must be the name of a claim, of 1 to 128 visible characters'
const claim = z.string(takesClaim).check(z.regex(/^(?!__proto__$)[\x21-\x7e]{1,128}$/, takesClaim))

const takesScopes = `must be a list of scopes: ${scopes.join(', ')}`
const scopeList = z.array(z.enum(scopes, takesScopes), takesScopes).check(z.maxLength(scopes.length, takesScopes))

const takesLifetime = 'must be a time such as 15m, 12h or 7d, at most 31d'
const lifetime = z.pipe(
  z.string(takesLifetime).check(z.refine((text) => !Number.isNaN(lifetimeMs(text)), takesLifetime)),
  z.transform(lifetimeMs),
)

function lifetimeMs(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * (unit === 'm' ? minuteMs : unit === 'h' ? hourMs : dayMs)
  return ms <= 31 * dayMs ? ms : Number.NaN
}

const takesBudgets = 'must be a list of budgets, or {"claim": …}'
const budgets = z
  .array(z.string(takesBudgets).check(z.regex(shortName, 'must be the name of a budget')))
  .check(z.maxLength(200, 'must have at most 200 budgets'))

const issuer = z.strictObject({
  name,
  issuer: address,
  audience: z.string('must be a string').check(z.minLength(1, 'must not be empty'), z.maxLength(500, 'is too long')),
  algorithms: z
    .array(z.enum(algorithms, `must be of ${algorithms.join(', ')}`), 'must be a list of algorithms')
    .check(z.minLength(1, 'must name an algorithm')),
  subject: z._default(claim, 'sub'),
  person: z.exactOptional(claim),
  trustUnverifiedEmail: z._default(z.boolean('must be true or false'), false),
  maxLifetime: z._default(lifetime, 12 * hourMs),
  scopes: z.union(
    [
      scopeList,
      z.strictObject({
        claim,
        map: z
          .record(z.string().check(z.minLength(1), z.maxLength(256)), scopeList)
          .check(z.refine((map) => Object.keys(map).length <= 200, 'must have at most 200 values')),
      }),
    ],
    'must be a list of scopes, or {"claim": …, "map": {…}}',
  ),
  budgets: z.exactOptional(
    z.union(
      [
        z.literal('*'),
        budgets,
        z.strictObject({ claim, mayBeAll: z._default(z.boolean('must be true or false'), false) }),
      ],
      `${takesBudgets}, or "*"`,
    ),
  ),
  readsBudgets: z.exactOptional(z.union([budgets, z.strictObject({ claim })], takesBudgets)),
})

const issuersFile = z
  .array(issuer, 'must be a list of issuers')
  .check(z.maxLength(maxIssuers, `must have at most ${maxIssuers} issuers`))

/**
 * Parses the file of trusted issuers, a JSON list.
 *
 * @throws WrongIssuers with all faults.
 */
export function parseIssuers(text: string): readonly Issuer[] {
  const read = parseStrictJson(text)
  if (!read.ok) throw new WrongIssuers(`it is not valid, unambiguous JSON: ${read.reason}${placeIn(text)}`)
  const parsed = issuersFile.safeParse(read.value)
  const faults = allFaults([...textFaults(read.value), ...repeated(read.value)], parsed.error?.issues)
  if (parsed.success && faults.length === 0) {
    return parsed.data.map(({ maxLifetime, ...rest }) => ({ ...rest, maxLifetimeMs: maxLifetime }))
  }
  throw new WrongIssuers(faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '))
}

/** Finds two entries with one name, or with one issuer and audience. */
function repeated(file: Json): Fault[] {
  const rows = Array.isArray(file) ? file : []
  return [
    ...repeatedIn(rows, ['name'], 'is the name'),
    ...repeatedIn(rows, ['issuer', 'audience'], 'is, with its issuer, the audience'),
  ]
}

function repeatedIn(rows: readonly Json[], fields: readonly string[], is: string): Fault[] {
  const keys = rows.map((row) => {
    const values = fields.map((field) => (isObject(row) ? row[field] : undefined))
    return values.every((value) => typeof value === 'string') ? values.join(' ') : null
  })
  return keys.flatMap((key, index) => {
    const first = keys.indexOf(key)
    return key === null || first === index
      ? []
      : [{ path: `${index}.${fields.at(-1)}`, message: `${is} of entry ${first} too` }]
  })
}

interface IdentitySettings {
  readonly MINTED_TOKENS?: string | undefined
  readonly TRUSTED_ISSUERS?: string | undefined
  readonly LOGIN_ISSUER?: string | undefined
  readonly LOGIN_CLIENT_ID?: string | undefined
}

/**
 * Reads the file, and checks the other settings of identity against it.
 *
 * @throws WrongIssuers
 */
export function readTrustedIssuers(settings: IdentitySettings): readonly Issuer[] {
  const issuers = readIssuers(settings.TRUSTED_ISSUERS)
  const fault = loginFault(issuers, settings) ?? mintedFault(issuers, settings)
  if (fault !== null) throw new WrongIssuers(fault)
  return issuers
}

function loginFault(
  issuers: readonly Issuer[],
  { LOGIN_ISSUER: name, LOGIN_CLIENT_ID: clientId }: IdentitySettings,
): string | null {
  if (name === undefined) return clientId === undefined ? null : 'LOGIN_CLIENT_ID: needs LOGIN_ISSUER too'
  const entry = issuers.find((issuer) => issuer.name === name)
  if (!entry) return 'LOGIN_ISSUER: must be the name of an issuer in the file that TRUSTED_ISSUERS names'
  if (clientId === undefined) return 'LOGIN_CLIENT_ID: is needed with LOGIN_ISSUER'
  // Else every ID token of the login would be a bearer token.
  const same = issuers.findIndex(({ issuer, audience }) => issuer === entry.issuer && audience === clientId)
  return same < 0 ? null : `LOGIN_CLIENT_ID: must not be the audience of ${issuers[same]?.name} in the issuers file`
}

const mintedFault = (issuers: readonly Issuer[], { MINTED_TOKENS: minted }: IdentitySettings): string | null =>
  minted === 'off' && issuers.length === 0
    ? 'MINTED_TOKENS: off needs an issuer in the file that TRUSTED_ISSUERS names, because no other token is accepted'
    : null

/** @throws WrongIssuers also if the file cannot be read. Messages show only the file's base name. */
export function readIssuers(path: string | undefined): readonly Issuer[] {
  if (path === undefined) return []
  const wrong = (message: string, options?: ErrorOptions) => new WrongIssuers(message, options)
  const { text, file } = readSettingsFile(path, 'issuers file', wrong)
  try {
    return parseIssuers(text)
  } catch (error) {
    throw error instanceof WrongIssuers ? wrong(`the issuers file ${file}: ${error.message}`) : error
  }
}
