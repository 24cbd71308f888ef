import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { IdentityUnavailable } from '../../../../shared/auth/identity-unavailable.ts'
import { createIssuers } from '../../../../shared/auth/issuers.ts'
import { type Issuer, readTrustedIssuers } from '../../../../shared/auth/issuers-file.ts'
import type { IssuerKeys } from '../../../../shared/auth/stored-keys.ts'
import { type Caller, createTokens, type RefusedToken, readToken } from '../../../../shared/auth/tokens.ts'
import { requestLine } from '../../../../shared/guard/log-lines.ts'
import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { count, countOf, list } from '../../../../shared/guard/sentences.ts'
import { type Clock, hourMs, systemClock, toRfc3339 } from '../../../../shared/platform/clock.ts'
import { lineOf, parseLenientJson } from '../../../../shared/platform/json.ts'
import { createLog } from '../../../../shared/platform/log.ts'
import { SecretUnavailable } from '../../../../shared/platform/secrets.ts'
import { readTextFile } from '../../../../shared/platform/settings-file.ts'
import type { TokenFault } from '../../../../shared/platform/words.ts'
import { createServices } from '../../../../shared/services/services.ts'
import { CannotContinue, readGiven, reasonOf } from '../../failures.ts'
import { type Findings, found } from '../findings.ts'

/** @param file is `null` if the log is in CloudWatch. */
export async function examineRefused(file: string | null, clock: Clock): Promise<Findings> {
  if (file === null) return found(`tokens refused in the last hour: ${inCloudWatch}`)
  const counts = new Map<string, number>()
  for (const { reason, issuer } of await refusedSince(file, clock.now() - hourMs)) {
    const key = issuer === undefined ? reason : `${reason} (${issuer})`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const sum = [...counts.values()].reduce((total, each) => total + each, 0)
  const each = [...counts].toSorted(([, a], [, b]) => b - a).map(([key, times]) => `${count(times)} ${key}`)
  const refused = countOf(sum, 'token was refused', 'tokens were refused')
  return found(
    sum === 0 ? null : `in the last hour ${refused}: ${list(each)} (docs/identity.md, "My token is refused")`,
  )
}

const inCloudWatch =
  'aws logs filter-log-events --log-group-name "$LOG_GROUP" --start-time $(($(date +%s) - 3600))000 --filter-pattern \'{ $.event = "request" && $.status = 401 && $.reason = * }\''

async function refusedSince(file: string, since: number) {
  const refused: { readonly reason: TokenFault; readonly issuer: string | undefined }[] = []
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  try {
    for await (const line of lines) {
      if (!line.includes('"status":401') || !line.includes('"reason":')) continue
      // The last line may be half written.
      const { data } = requestLine.safeParse(parseLenientJson(line))
      if (data?.reason && Date.parse(data.at) >= since) refused.push({ reason: data.reason, issuer: data.issuer })
    }
  } catch (error) {
    // Without a log file, no token was refused.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  return refused
}

/** Says what is wrong with one token. @throws CannotContinue, WrongFile */
export async function tellToken(
  path: string,
  settings: GuardSettings,
  { keys, clock = systemClock }: { keys: IssuerKeys | null; clock?: Clock },
): Promise<{ readonly isAccepted: boolean; readonly lines: readonly string[] }> {
  const token = String(await readGiven(path))
    .trim()
    .replace(/^bearer\s+/i, '')
  const log = createLog({ write: () => {}, now: clock.now })
  const services = createServices(settings, { clock, log })
  const issuers = readTrustedIssuers(settings)
  const { LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: clientId } = settings
  const login = issuer === undefined || clientId === undefined ? undefined : { issuer, clientId }
  const identity = createIssuers({ issuers, keys: onlyRead(keys), clock, log, login })
  const tokens = createTokens({ ...services, identity: async () => identity })
  const checked = await tokens.verify(`Bearer ${token}`).catch((error) => {
    if (error instanceof IdentityUnavailable)
      throw new CannotContinue(`The issuer ${error.issuer} does not give its keys: ${reasonOf(error)}.`)
    throw error instanceof SecretUnavailable ? new CannotContinue(`${error.message}: ${reasonOf(error)}.`) : error
  })
  if (checked.kind === 'accepted') return { isAccepted: true, lines: acceptedLines(checked.caller) }
  return { isAccepted: false, lines: refusedLines(token, checked, { settings, issuers }) }
}

/** The doctor writes nothing, and works without the ledger. */
const onlyRead = (keys: IssuerKeys | null): IssuerKeys => ({
  read: async (name) => (await keys?.read(name).catch(() => null)) ?? null,
  keep: async () => 'kept',
})

function acceptedLines({ sub, scopes, until, scopesFrom }: Caller): string[] {
  const held = scopes.size === 0 ? 'no scope' : `the scopes ${list([...scopes])}`
  const helps = scopes.size === 0 && scopesFrom ? `; the claim ${scopesFrom.claim} has no value of the file's map` : ''
  return [`it is accepted until ${toRfc3339(until)}: its caller is ${sub}, with ${held}${helps}`]
}

interface File {
  readonly settings: GuardSettings
  readonly issuers: readonly Issuer[]
}

interface Reason {
  /** docs/identity.md says more. */
  readonly says: string
  /** The members of the issuer's entry to compare with the token. */
  readonly by?: readonly (keyof Issuer | 'maxLifetime')[]
  /** The claims of the token that are shown: never names, addresses, groups or the signature. */
  readonly claims?: readonly string[]
  readonly header?: string
}

const reasons: Readonly<Record<TokenFault, Reason>> = {
  form: {
    says: 'it is not a valid JWT: it is cut off or too long, has a claim twice, or its header has rules of its own',
  },
  algorithm: { says: 'it is signed with an algorithm that is not listed', by: ['algorithms'], header: 'alg' },
  'issuer-unknown': { says: 'its iss is not an issuer of the file, byte by byte', by: ['issuer'], claims: ['iss'] },
  audience: { says: 'its aud does not contain the audience', by: ['audience'], claims: ['aud'] },
  'id-token': {
    says: 'it is an ID token, or for the client of the login: send the access token',
    claims: ['aud'],
  },
  expired: { says: 'its exp is over: get a new one', claims: ['exp'] },
  'not-yet': { says: 'its nbf or iat is more than a minute ahead: set the clocks', claims: ['iat', 'nbf'] },
  lifetime: {
    says: 'it lasts too long, or exp, iat or nbf is missing or is not a whole number of seconds',
    by: ['maxLifetime'],
    claims: ['iat', 'exp', 'nbf'],
  },
  subject: { says: 'the claim that names the caller is missing, or does not give a valid name', by: ['subject'] },
  'email-unverified': {
    says: 'an e-mail address names its caller or person, but email_verified is not true',
    by: ['subject', 'person'],
  },
  claims: {
    says: 'a claim that the file maps is neither a string nor a list of strings, or the person is missing',
    by: ['person', 'scopes', 'budgets', 'readsBudgets'],
  },
  'key-unknown': { says: 'the issuer has no key that fits its header', by: ['issuer'], header: 'kid' },
  signature: { says: 'another key signed it', by: ['issuer'] },
  'minted-off': { says: 'npm run token made it, but MINTED_TOKENS is off' },
}

function refusedLines(token: string, { reason = 'form', issuer }: RefusedToken, { settings, issuers }: File): string[] {
  const { says, by = [] } = reasons[reason]
  const shown = shownOf(token, reasons[reason])
  const first = `it is refused (${reason}): ${says}${shown === '' ? '' : `; the token has ${shown}`}`
  const path = settings.TRUSTED_ISSUERS
  if (path === undefined || (issuer === undefined && reason !== 'issuer-unknown')) return [first]
  const { text, file } = readTextFile(path, 'issuers file')
  const iss = issuers.find(({ name }) => name === issuer)?.issuer
  const places = issuers.flatMap(({ name, issuer: other }, index) => {
    const isConcerned = issuer === undefined || name === issuer || (reason === 'audience' && other === iss)
    return isConcerned ? by.flatMap((member) => placeOf(text, [index, member], { file, name }) ?? []) : []
  })
  return [first, ...places]
}

/** The default values of members that the file may leave out. */
const usual: Readonly<Record<string, string>> = { maxLifetime: '12h', subject: 'sub' }
const maxShown = 200

function placeOf(
  text: string,
  [index, member]: readonly [number, string],
  { file, name }: { file: string; name: string },
): string | null {
  const line = lineOf(text, [index, member])
  const at = (where: number, said: string) => `${file}, line ${where} (${name}): ${said}`
  if (line !== null) return at(line, (text.split('\n')[line - 1]?.trim() ?? '').slice(0, maxShown))
  if (!Object.hasOwn(usual, member)) return null
  return at(lineOf(text, [index]) ?? 1, `no "${member}", so ${usual[member]}`)
}

function shownOf(token: string, { header, claims = [] }: Reason): string {
  const read = readToken(token)
  return [
    ...(header === undefined ? [] : [[header, read?.header[header]]]),
    ...claims.map((claim) => [claim, read?.claims[claim]]),
  ]
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${JSON.stringify(value).slice(0, maxShown)}${inWords(value)}`)
    .join(', ')
}

const inWords = (value: unknown): string =>
  Number.isSafeInteger(value) && Math.abs(Number(value)) < 8_640_000_000_000
    ? ` (${toRfc3339(Number(value) * 1000)})`
    : ''
