import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import type { TestClock } from './clock.ts'

interface Key {
  readonly kid: string
  readonly alg: string
  readonly jwk: JWK
  readonly signer: CryptoKey
  readonly verifier: CryptoKey
}

interface Authorized {
  readonly query: URLSearchParams
  readonly claims: Readonly<Record<string, unknown>>
}

interface Answered {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A text is sent unchanged, everything else as JSON. */
  readonly body?: unknown
}

/** `reset` closes the connection, `hang` never answers. */
type Way = 'answer' | 'error' | 'reset' | 'hang'

interface State {
  way: Way
  keys: readonly Key[]
  /** Answers of these paths in place of the usual ones. */
  answers: Record<string, Answered>
  /** The claims in the ID token of the user who logs in. `null`: they decline. */
  user: Readonly<Record<string, unknown>> | null
  client: { readonly id: string; readonly secret?: string }
  /** Additional members of the discovery document. */
  metadata: Readonly<Record<string, unknown>>
  /** The forms that the token endpoint received. */
  readonly forms: URLSearchParams[]
}

interface Parts {
  readonly issuer: string
  readonly alg: string
  readonly clock: TestClock
  readonly state: State
  readonly codes: Map<string, Authorized>
}

export type Provider = Awaited<ReturnType<typeof startProvider>>

/** An identity provider over real HTTP: discovery, keys, and a login without questions (RFC 6749 with PKCE). */
export async function startProvider({ clock, alg = 'ES256' }: { clock: TestClock; alg?: string }) {
  const state: State = {
    way: 'answer',
    keys: [await newKey('k1', alg)],
    answers: {},
    user: { sub: 'ada' },
    client: { id: 'unit-guard-login' },
    metadata: {},
    forms: [],
  }
  const requests: string[] = []
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const parts: Parts = { issuer, alg, clock, state, codes: new Map() }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', issuer)
    requests.push(`${request.method} ${url.pathname}`)
    if (state.way === 'hang') return
    if (state.way === 'reset') return void request.socket.destroy()
    const { status = 200, headers = {}, body } = await answerOf(parts, url, request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  onTestFinished(close)
  return {
    issuer,
    state,
    requests,
    close,
    /** Signs with the latest key. A claim or a header that is `undefined` is left out. */
    sign: (...how: SignOptions) => sign(parts, ...how),
    newKey: (kid: string, of = alg) => newKey(kid, of),
    latest: () => latest(parts),
    /** Publishes a new key and signs with it. @param keeps whether the earlier keys stay published. */
    async rotate({ keeps = true } = {}): Promise<void> {
      const key = await newKey(`k-${randomBytes(6).toString('hex')}`, alg)
      state.keys = keeps ? [...state.keys, key] : [key]
    },
    /** An entry of the file of trusted issuers. */
    entry: (own: object = {}) => ({
      name: 'okta',
      issuer,
      audience: 'unit-guard',
      algorithms: [alg],
      scopes: { claim: 'groups', map: { seo: ['read', 'run'], leads: ['read', 'run', 'approve', 'admin'] } },
      ...own,
    }),
    asked: (path: string) => requests.filter((each) => each === `GET ${path}`).length,
  }
}

async function answerOf(parts: Parts, url: URL, request: IncomingMessage): Promise<Answered> {
  const { state } = parts
  if (state.way === 'error') return { status: 500, body: { error: 'server_error' } }
  const own = state.answers[url.pathname]
  if (own) return own
  switch (url.pathname) {
    case '/.well-known/openid-configuration':
      return { body: metadataOf(parts) }
    case '/keys':
      return { body: { keys: state.keys.map(({ jwk }) => jwk) } }
    case '/authorize':
      return authorize(parts, url.searchParams)
    case '/token':
      return giveTokens(parts, new URLSearchParams(await textOf(request)), request.headers.authorization)
    default:
      return { status: 404, body: {} }
  }
}

const metadataOf = ({ issuer, alg, state }: Parts) => ({
  issuer,
  jwks_uri: `${issuer}/keys`,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [alg],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  authorization_response_iss_parameter_supported: true,
  ...state.metadata,
})

function authorize({ issuer, state, codes }: Parts, query: URLSearchParams): Answered {
  const back = query.get('redirect_uri')
  const isKnown = query.get('client_id') === state.client.id && query.get('response_type') === 'code'
  const isGuarded = query.get('code_challenge_method') === 'S256' && query.has('code_challenge')
  if (back === null || !isKnown || !isGuarded) return { status: 400, body: { error: 'invalid_request' } }
  const to = new URL(back)
  to.searchParams.set('state', query.get('state') ?? '')
  to.searchParams.set('iss', issuer)
  if (state.user === null) to.searchParams.set('error', 'access_denied')
  else {
    const code = `canary-login-code-${randomBytes(16).toString('base64url')}`
    codes.set(code, { query, claims: state.user })
    to.searchParams.set('code', code)
  }
  return { status: 302, headers: { location: to.href } }
}

async function giveTokens(parts: Parts, form: URLSearchParams, authorization: string | undefined): Promise<Answered> {
  const { state, codes } = parts
  state.forms.push(form)
  const code = form.get('code') ?? ''
  const authorized = codes.get(code)
  codes.delete(code)
  const challenge = createHash('sha256').update(form.get('code_verifier') ?? '')
  const isGuarded = authorized?.query.get('code_challenge') === challenge.digest('base64url')
  const isSame = authorized?.query.get('redirect_uri') === form.get('redirect_uri')
  if (!isClient(state.client, form, authorization)) return { status: 401, body: { error: 'invalid_client' } }
  if (!authorized || !isGuarded || !isSame) return { status: 400, body: { error: 'invalid_grant' } }
  const nonce = authorized.query.get('nonce')
  const own = { aud: state.client.id, ...(nonce !== null && { nonce }), ...authorized.claims }
  const [access, id] = [await sign(parts, {}), await sign(parts, own)]
  return { body: { token_type: 'Bearer', expires_in: 300, access_token: access, id_token: id } }
}

function isClient({ id, secret }: State['client'], form: URLSearchParams, authorization: string | undefined): boolean {
  if (secret === undefined) return form.get('client_id') === id
  const basic = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64').toString()
  return (
    decodeURIComponent(basic) === `${id}:${secret}` ||
    (form.get('client_id') === id && form.get('client_secret') === secret)
  )
}

type SignOptions = [claims?: Record<string, unknown>, header?: Record<string, unknown>, key?: Key]

function sign(parts: Parts, ...[claims = {}, header = {}, key = latest(parts)]: SignOptions): Promise<string> {
  const now = Math.floor(parts.clock.now() / 1000)
  const usual = { iss: parts.issuer, aud: 'unit-guard', sub: 'ada', iat: now, exp: now + 3600 }
  return new SignJWT(withoutAbsent({ ...usual, ...claims }))
    .setProtectedHeader({ alg: key.alg, ...withoutAbsent({ kid: key.kid, ...header }) })
    .sign(key.signer)
}

function latest({ state }: Pick<Parts, 'state'>): Key {
  const key = state.keys.at(-1)
  if (!key) throw new Error('the provider has no key')
  return key
}

async function newKey(kid: string, alg: string): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return {
    kid,
    alg,
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    signer: privateKey,
    verifier: publicKey,
  }
}

const withoutAbsent = (given: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
