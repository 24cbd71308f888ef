import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type TokenFault, tokenFaults } from '../../../shared/platform/words.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { createTestClock } from '../../support/clock.ts'
import { linesOf } from '../../support/log-lines.ts'
import { callerKey, startProduct } from '../../support/product.ts'
import { type Provider, startProvider } from '../../support/provider.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const now = Date.parse('2026-11-20T10:00:00Z') / 1000
const clientId = 'unit-guard-login'
/** The canary is in every claim that a caller may choose. */
const canary = 'canary-claim-7f31'

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function byHmac(claims: object): string {
  const text = `${encode({ alg: 'HS256' })}.${encode({ aud: 'unit-guard', sub: canary, exp: now + 3600, ...claims })}`
  return `${text}.${createHmac('sha256', callerKey).update(text).digest('base64url')}`
}

const byIssuer =
  (claims: Record<string, unknown>, header: Record<string, unknown> = {}) =>
  (provider: Provider) =>
    provider.sign({ sub: canary, groups: ['leads'], ...claims }, header)

const foreignKey = async (provider: Provider) =>
  provider.sign({ sub: canary, groups: ['leads'] }, {}, await provider.newKey('k1'))

interface Forged {
  readonly name: string
  readonly token: (provider: Provider) => string | Promise<string>
  readonly reason: TokenFault
  /** The issuer that the line names: `okta` of the file, or none. */
  readonly issuer?: 'okta'
  readonly entry?: object
  readonly env?: Record<string, string>
}

const ofIssuer = (reason: TokenFault, name: string, token: Forged['token'], entry: object = {}): Forged => ({
  name,
  token,
  reason,
  entry,
  issuer: 'okta',
})
const mintedOff = { MINTED_TOKENS: 'off' }
const email = { subject: 'email' }

const forged: readonly Forged[] = [
  ofIssuer('algorithm', 'the callers’ key', (provider) => byHmac({ iss: provider.issuer })),
  ofIssuer('audience', 'of another audience', byIssuer({ aud: canary })),
  ofIssuer('id-token', 'an ID token', byIssuer({ nonce: canary })),
  ofIssuer('id-token', 'an ID token of the login', byIssuer({ aud: clientId })),
  ofIssuer('expired', 'that is over', byIssuer({ iat: now - 60, exp: now })),
  ofIssuer('lifetime', 'that lasts too long', byIssuer({ exp: now + 43_201 })),
  ofIssuer('not-yet', 'with nbf ahead', byIssuer({ nbf: now + 61 })),
  ofIssuer('subject', 'with a blank in its name', byIssuer({ sub: `${canary} x` })),
  ofIssuer('email-unverified', 'with an e-mail that no one verified', byIssuer({ email: canary }), email),
  ofIssuer('claims', 'with groups that are no list', byIssuer({ groups: { [canary]: true } })),
  ofIssuer('form', 'with a key of its own', byIssuer({}, { jku: 'https://evil.example/keys' })),
  ofIssuer('key-unknown', 'with an unknown key', byIssuer({}, { kid: canary })),
  ofIssuer('signature', 'signed by another key', foreignKey),
  { name: 'of an issuer that is not listed', reason: 'issuer-unknown', token: byIssuer({ iss: `https://${canary}` }) },
  {
    name: 'of an issuer that is not listed, minted tokens off',
    reason: 'issuer-unknown',
    env: mintedOff,
    token: byIssuer({ iss: `https://${canary}` }),
  },
  { name: 'minted, where these are off', reason: 'minted-off', env: mintedOff, token: () => byHmac({}) },
  { name: 'that is nonsense', reason: 'form', token: () => canary },
  { name: 'minted for another product', reason: 'audience', token: () => byHmac({ aud: canary }) },
]

describe('the reason for a refused token is in the log and not in the answer:', () => {
  test('the table of refused tokens has every reason of the list', () => {
    expect(new Set(forged.map(({ reason }) => reason))).toEqual(new Set(tokenFaults))
  })

  test.each(forged)('$reason: a token $name', async ({ token: tokenOf, reason, issuer, entry = {}, env = {} }) => {
    const clock = createTestClock()
    const provider = await startProvider({ clock })
    const product = await startProduct({
      store: createMemoryStore(),
      clock,
      issuers: [provider.entry(entry)],
      env: { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: clientId, ...env },
    })
    const token = await tokenOf(provider)
    for (const path of ['/budgets', '/v3/on-demand/acme/estimate', '/nothing']) {
      const { status, text, headers } = await product.call('GET', path, { token })
      const id = headers.get('x-request-id') ?? ''
      expect([status, text.replace(id, '…'), headers.get('www-authenticate')]).toEqual([401, constant, 'Bearer'])
    }
    const headers = { authorization: `Bearer ${token}` }
    expect((await product.mcp.request('/mcp', { method: 'POST', headers })).status).toBe(401)
    expect((await openBrowser(product).post('/login', { token })).status).toBe(401)
    const lines = linesOf(product.logged, 'request')
    expect(lines.map((line) => [line.status, line.reason, line.issuer])).toEqual(Array(5).fill([401, reason, issuer]))
    expect(product.logged.join()).not.toContain(canary)
  })

  const constant =
    '{"type":"/problems/unauthorized","title":"A valid token is needed","status":401,"detail":"This address needs a valid bearer token of Unit Guard.","requestId":"…"}'

  test('a request without a token logs no reason', async () => {
    const product = await startProduct({ store: createMemoryStore() })
    await product.call('GET', '/budgets', { token: null })
    await product.call('GET', '/budgets')
    expect(linesOf(product.logged, 'request').map(({ status, reason }) => [status, reason])).toEqual([
      [401, undefined],
      [200, undefined],
    ])
  })
})
