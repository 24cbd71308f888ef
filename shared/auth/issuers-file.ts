import * as z from 'zod/mini'
import { dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import { isLoopback } from '../platform/http.ts'
import { parseList, readSettingsFile, WrongFile } from '../platform/settings-file.ts'
import { scopes, shortName } from '../platform/words.ts'

const maxIssuers = 20

/** Callers without an issuer have names that begin with one of these. */
const reservedNames = ['slack', 'schedule', 'caller', 'guard', 'sweep', 'service', 'setup', 'mcp']

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const

const nameFault = 'must have 1 to 31 of a-z, 0-9 and -, beginning with a letter'
const name = z.string(nameFault).check(
  z.regex(/^[a-z][a-z0-9-]{0,30}$/, nameFault),
  z.refine((text) => !reservedNames.includes(text), `must not be one of ${reservedNames.join(', ')}`),
)

const addressFault = 'must be an https address without a query, or http to this machine'
const address = z.string(addressFault).check(z.refine(isIssuer, addressFault))

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, search, hash, username, password } = new URL(text)
  const isPlain = search === '' && hash === '' && username === '' && password === '' && !/[?#\s]/.test(text)
  return isPlain && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
}

const claimFault = 'must be the name of a claim, of 1 to 128 visible characters'
const claim = z.string(claimFault).check(z.regex(/^(?!__proto__$)[\x21-\x7e]{1,128}$/, claimFault))

const scopesFault = `must be a list of scopes: ${scopes.join(', ')}`
const scopeList = z.array(z.enum(scopes, scopesFault), scopesFault).check(z.maxLength(scopes.length, scopesFault))

const lifetimeFault = 'must be a time such as 15m, 12h or 7d, at most 31d'
const lifetime = z.pipe(
  z.string(lifetimeFault).check(z.refine((text) => !Number.isNaN(lifetimeMs(text)), lifetimeFault)),
  z.transform(lifetimeMs),
)

function lifetimeMs(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * (unit === 'm' ? minuteMs : unit === 'h' ? hourMs : dayMs)
  return ms <= 31 * dayMs ? ms : Number.NaN
}

const budgetsFault = 'must be a list of budgets, or {"claim": …}'
const budgets = z
  .array(z.string(budgetsFault).check(z.regex(shortName, 'must be the name of a budget')))
  .check(z.maxLength(200, 'must have at most 200 budgets'))

/** An identity provider whose tokens are accepted. */
const issuer = z.strictObject({
  /** The first part of its callers' names. */
  name,
  /** Equal to the claim `iss`, byte by byte. */
  issuer: address,
  audience: z.string('must be a string').check(z.minLength(1, 'must not be empty'), z.maxLength(500, 'is too long')),
  algorithms: z
    .array(z.enum(algorithms, `must be of ${algorithms.join(', ')}`), 'must be a list of algorithms')
    .check(z.minLength(1, 'must name an algorithm')),
  /** The claim that names the caller. */
  subject: z._default(claim, 'sub'),
  /** The claim that names the person behind the caller. Absent: each caller counts as one person. */
  person: z.exactOptional(claim),
  trustUnverifiedEmail: z._default(z.boolean('must be true or false'), false),
  /** In milliseconds. */
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
  /** Absent: all budgets for an admin, else no budget. With a claim, `*` counts only with `mayBeAll`. */
  budgets: z.exactOptional(
    z.union(
      [
        z.literal('*'),
        budgets,
        z.strictObject({ claim, mayBeAll: z._default(z.boolean('must be true or false'), false) }),
      ],
      `${budgetsFault}, or "*"`,
    ),
  ),
  /** Absent: all budgets. A token without the claim may read no budget. */
  readsBudgets: z.exactOptional(z.union([budgets, z.strictObject({ claim })], budgetsFault)),
})
export type Issuer = Readonly<z.output<typeof issuer>>

const issuersFile = z
  .array(issuer, 'must be a list of issuers')
  .check(z.maxLength(maxIssuers, `must have at most ${maxIssuers} issuers`))

/**
 * Parses the file of trusted issuers, a JSON list.
 *
 * @throws WrongFile with all faults.
 */
export const parseIssuers = (text: string): readonly Issuer[] => parseList(text, { schema: issuersFile, keys })

const keys = [
  [['name'], 'is the name'],
  [['issuer', 'audience'], 'is, with its issuer, the audience'],
] as const

interface IdentitySettings {
  readonly MINTED_TOKENS?: string | undefined
  readonly TRUSTED_ISSUERS?: string | undefined
  readonly LOGIN_ISSUER?: string | undefined
  readonly LOGIN_CLIENT_ID?: string | undefined
}

/**
 * Reads the file, and checks the other settings of identity against it.
 *
 * @throws WrongFile
 */
export function readTrustedIssuers(settings: IdentitySettings): readonly Issuer[] {
  const issuers = readIssuers(settings.TRUSTED_ISSUERS)
  const fault = loginFault(issuers, settings) ?? mintedFault(issuers, settings)
  if (fault !== null) throw new WrongFile(fault)
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
  // Otherwise every ID token of the login would be accepted as a bearer token.
  const same = issuers.findIndex(({ issuer, audience }) => issuer === entry.issuer && audience === clientId)
  return same < 0 ? null : `LOGIN_CLIENT_ID: must not be the audience of ${issuers[same]?.name} in the issuers file`
}

const mintedFault = (issuers: readonly Issuer[], { MINTED_TOKENS: minted }: IdentitySettings): string | null =>
  minted === 'off' && issuers.length === 0
    ? 'MINTED_TOKENS: off needs an issuer in the file that TRUSTED_ISSUERS names, because no other token is accepted'
    : null

/** @throws WrongFile also if the file cannot be read. Messages show only the file's base name. */
export const readIssuers = (path: string | undefined): readonly Issuer[] =>
  path === undefined ? [] : readSettingsFile(path, 'issuers file', parseIssuers)
