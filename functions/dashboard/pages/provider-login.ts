import * as oauth from 'oauth4webapi'
import { withAnyKey } from '../../../shared/auth/caller-key.ts'
import { readBounded } from '../../../shared/auth/fetch-json.ts'
import { IdentityUnavailable } from '../../../shared/auth/identity-unavailable.ts'
import { mayFetch } from '../../../shared/auth/issuer-keys.ts'
import type { Issuer } from '../../../shared/auth/issuers-file.ts'
import { logins } from '../../../shared/auth/logins.ts'
import type { Caller } from '../../../shared/auth/tokens.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import type { LoginClient, Services } from '../../../shared/services/services.ts'
import { type Start, seal, unseal } from '../sealed-start.ts'

/** Logs people in at an identity provider: the authorization code flow with PKCE (OpenID Connect Core, RFC 7636). */

type Parts = Pick<Services, 'guard' | 'identity' | 'issuers' | 'callerKey' | 'clock'> & {
  readonly login: LoginClient
  /** The provider sends people back to this address. */
  readonly callback: string
}

/** Shown on the login page. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
  constructor(
    readonly status: 401 | 403 | 503,
    readonly sentence: string,
    /** For the log, without anything secret. */
    readonly reason: string,
  ) {
    super(sentence)
  }
}

/** @throws LoginRefused, SecretUnavailable, LedgerUnavailable */
export async function startLogin(parts: Parts, to: string, lastsMs: number) {
  const { login, callback, callerKey, clock } = parts
  const { issuer, server } = await providerOf(parts)
  const start: Start = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    to,
    until: clock.now() + lastsMs,
  }
  const address = new URL(server.authorization_endpoint)
  const query = {
    response_type: 'code',
    client_id: login.clientId,
    redirect_uri: callback,
    scope: scopesFor(issuer, server).join(' '),
    state: start.state,
    nonce: start.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(start.verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  const cookie = seal(start, (await callerKey.read()).current, systemIds.random())
  return { address: address.href, state: start.state, cookie }
}

/** `null`: the cookie is not from this dashboard, or too old. @throws SecretUnavailable */
export async function readStart({ callerKey, clock }: Parts, cookie: string): Promise<Start | null> {
  const start = await withAnyKey(callerKey, await callerKey.read(), async (secret) => unseal(cookie, secret))
  return start && clock.now() < start.until ? start : null
}

/** @throws LoginRefused, SecretUnavailable, LedgerUnavailable */
export async function finishLogin(parts: Parts, query: URLSearchParams, start: Start | null): Promise<Caller> {
  const { guard, login, clock } = parts
  if (!start || start.state !== query.get('state')) throw otherLogin('state')
  const { issuer, server } = await providerOf(parts)
  const client: oauth.Client = {
    client_id: login.clientId,
    // The library reads the system's clock, so it needs the difference to ours.
    [oauth.clockSkew]: Math.round((clock.now() - systemClock.now()) / 1000),
    [oauth.clockTolerance]: toleranceSeconds,
  }
  const answer = readAnswer(login, () => oauth.validateAuthResponse(server, client, query, start.state))
  const idToken = await exchange(parts, { issuer, server, client, answer, start })
  const caller = await verify(parts, idToken, start.nonce)
  if (caller.scopes.size === 0) throw withoutScope(caller)
  if (!(await guard.ledger.item(logins).use(start.state, clock.now()))) throw otherLogin('used')
  return caller
}

const toleranceSeconds = 60

const otherLogin = (reason: string) =>
  new LoginRefused(
    401,
    'This login was started in another browser, was finished before, or is older than ten minutes. Log in again.',
    reason,
  )

type Server = oauth.AuthorizationServer & { readonly authorization_endpoint: string; readonly token_endpoint: string }

/** @throws LoginRefused 503 */
async function providerOf({ identity, issuers, login }: Parts): Promise<{ issuer: Issuer; server: Server }> {
  const [known, list] = await Promise.all([identity(), issuers()])
  const issuer = list.find(({ name }) => name === login.issuer)
  if (!known || !issuer) throw new Error(`there is no issuer ${login.issuer}`)
  const metadata = await known.metadata(issuer.name).catch((error) => {
    throw error instanceof IdentityUnavailable ? noAnswer(login, 'discovery') : error
  })
  const { authorization_endpoint, token_endpoint } = metadata
  if (!isEndpoint(authorization_endpoint, issuer) || !isEndpoint(token_endpoint, issuer))
    throw noAnswer(login, 'endpoints')
  // The issuer's entry says which algorithms it may use.
  const server = { ...metadata, id_token_signing_alg_values_supported: [...issuer.algorithms] }
  return { issuer, server: { ...server, authorization_endpoint, token_endpoint } }
}

const isEndpoint = (value: unknown, issuer: Issuer): value is string =>
  typeof value === 'string' && mayFetch(value, issuer)

const noAnswer = ({ issuer }: LoginClient, reason: string) =>
  new LoginRefused(
    503,
    `${issuer} does not answer as it should, so no one can log in with it now. Try again in a minute, or log in with a token.`,
    reason,
  )

/** Providers send some claims only if the scope of the same name is requested. */
function scopesFor({ subject, person, scopes, budgets, readsBudgets }: Issuer, server: Server): string[] {
  const claims = [scopes, budgets, readsBudgets]
    .filter((of) => typeof of === 'object' && 'claim' in of)
    .map((of) => of.claim)
  const needsEmail = subject === 'email' || person === 'email'
  const supported: unknown = server.scopes_supported
  const useful = ['profile', 'email', ...claims]
  const given = Array.isArray(supported) ? useful.filter((scope) => supported.includes(scope)) : []
  return [...new Set(['openid', ...given, ...(needsEmail ? ['email'] : [])])]
}

const maxShown = 200

/** @throws LoginRefused */
function readAnswer({ issuer }: LoginClient, read: () => URLSearchParams): URLSearchParams {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw otherLogin(reasonOf(error))
    const { error: code, error_description: description } = error
    const shown = [code, description].flatMap((text) => (text ? [plain(text)] : [])).join(': ')
    const isBusy = code === 'server_error' || code === 'temporarily_unavailable'
    const advice = isBusy ? 'Try again in a minute.' : `Log in again, or ask an administrator of ${issuer}.`
    throw new LoginRefused(isBusy ? 503 : 403, `${issuer} did not log you in (${shown}). ${advice}`, plain(code))
  }
}

const plain = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, maxShown)

interface Exchange {
  readonly issuer: Issuer
  readonly server: Server
  readonly client: oauth.Client
  /** The query of the callback, with the code. */
  readonly answer: URLSearchParams
  readonly start: Start
}

/** Exchanges the code for the ID token. @throws LoginRefused */
async function exchange({ login, callback }: Parts, { issuer, server, client, answer, start }: Exchange) {
  const { current: secret } = await login.secret.read()
  try {
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authenticationOf(secret, server),
      answer,
      callback,
      start.verifier,
      {
        [oauth.customFetch]: fetchBounded,
        [oauth.allowInsecureRequests]: issuer.issuer.startsWith('http:'),
        signal: AbortSignal.timeout(login.withinMs),
      },
    )
    const checks = { expectedNonce: start.nonce, requireIdToken: true }
    const { id_token: idToken } = await oauth.processAuthorizationCodeResponse(server, client, response, checks)
    if (idToken === undefined) throw badIdToken(login, 'missing')
    return idToken
  } catch (error) {
    throw await refusalOf(error, login)
  }
}

/** Sends the secret in the body if possible, because not every provider decodes basic authentication correctly. */
function authenticationOf(secret: string, { token_endpoint_auth_methods_supported: methods }: Server) {
  if (secret === '') return oauth.None()
  const isInBody = Array.isArray(methods) && methods.includes('client_secret_post')
  return isInBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
}

async function fetchBounded(
  url: string,
  options: oauth.CustomFetchOptions<'POST', URLSearchParams>,
): Promise<Response> {
  const { method, headers, body, signal } = options
  const kept = { ...headers, connection: 'close' }
  const answer = await fetch(url, { method, headers: kept, body, redirect: 'manual', ...(signal && { signal }) })
  const { status, headers: answered } = answer
  return new Response(await readBounded(answer, url), { status, headers: answered })
}

async function refusalOf(error: unknown, login: LoginClient): Promise<LoginRefused> {
  if (error instanceof LoginRefused) return error
  const { issuer } = login
  if (isClientFault(error)) {
    // The client's secret may have been rotated a moment ago.
    await login.secret.reread()
    const sentence = `${issuer} refused Unit Guard itself. Try again. If this repeats, an operator has to check LOGIN_CLIENT_ID and the client's secret.`
    return new LoginRefused(503, sentence, 'client')
  }
  if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') return otherLogin('code')
  const isOfIdToken =
    error instanceof oauth.OperationProcessingError &&
    [oauth.JWT_TIMESTAMP_CHECK, oauth.JWT_CLAIM_COMPARISON, oauth.INVALID_RESPONSE].some((code) => code === error.code)
  return isOfIdToken ? badIdToken(login, reasonOf(error)) : noAnswer(login, reasonOf(error))
}

const isClientFault = (error: unknown): boolean =>
  error instanceof oauth.WWWAuthenticateChallengeError ||
  (error instanceof oauth.ResponseBodyError && ['invalid_client', 'unauthorized_client'].includes(error.error))

const badIdToken = ({ issuer }: LoginClient, reason: string) =>
  new LoginRefused(
    401,
    `${issuer} sent no ID token that Unit Guard accepts. Log in again. If this repeats, an operator has to check the client, its signing algorithm, a verified e-mail address, and the clocks.`,
    reason,
  )

/** Causes and messages may hold tokens, so only codes and names are logged. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** @throws LoginRefused */
async function verify({ identity, login }: Parts, idToken: string, nonce: string): Promise<Caller> {
  const known = await identity()
  const { issuer, clientId } = login
  const checked = await known?.verifyLogin(idToken, { issuer, clientId, nonce }).catch((error) => {
    throw error instanceof IdentityUnavailable ? noAnswer(login, 'keys') : error
  })
  if (checked?.kind === 'accepted') return checked.caller
  throw badIdToken(login, checked?.reason ?? 'issuer-unknown')
}

const maxNamed = 10

function withoutScope({ sub, scopesFrom }: Caller): LoginRefused {
  const values = Object.keys(scopesFrom?.map ?? {})
  const more = values.length > maxNamed ? ` and ${values.length - maxNamed} more` : ''
  const help =
    values.length === 0
      ? 'An operator has to give scopes to this issuer.'
      : `One of these values of the claim ${scopesFrom?.claim} gives access: ${values.slice(0, maxNamed).join(', ')}${more}. Ask an administrator for one.`
  return new LoginRefused(403, `${sub} may do nothing here. ${help}`, 'no-scope')
}
