import { createHmac, KeyObject, sign } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { TokenCheck } from '../../../shared/auth/tokens.ts'
import type { TokenFault } from '../../../shared/platform/words.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { createTestClock } from '../../support/clock.ts'
import { linesOf } from '../../support/log-lines.ts'
import { callerKey, type Product, startProduct } from '../../support/product.ts'
import { type Provider, startProvider } from '../../support/provider.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const clientId = 'unit-guard-login'
const now = Date.parse('2026-11-20T10:00:00Z') / 1000

async function start(entry: object = {}, env: Record<string, string> = {}) {
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  const issuers = [provider.entry(entry)]
  const product = await startProduct({ store: createMemoryStore(), clock, issuers, env })
  return { clock, provider, product }
}

const callerIn = (checked: TokenCheck | undefined) => (checked?.kind === 'accepted' ? checked.caller : null)

const encode = (part: unknown): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

const usual = (provider: Provider) => ({ alg: 'ES256', kid: provider.latest().kid })
const claimsOf = (provider: Provider) => ({
  iss: provider.issuer,
  aud: 'unit-guard',
  sub: 'ada',
  iat: now,
  exp: now + 3600,
  groups: ['leads'],
})

/** Signs a token by hand, because a library would not write some of these tokens. */
function craft(
  provider: Provider,
  payload: unknown,
  header: unknown = usual(provider),
  of = provider.latest(),
): string {
  const text = `${encode(header)}.${encode(payload)}`
  const key = { key: KeyObject.from(of.signer as never), dsaEncoding: 'ieee-p1363' as const }
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

const withClaims =
  (own: object, header: object = {}) =>
  (provider: Provider): string =>
    craft(provider, { ...claimsOf(provider), ...own }, { ...usual(provider), ...header })

function byHmac(provider: Provider, key: string | Buffer, alg = 'HS256'): string {
  const text = `${encode({ alg, kid: provider.latest().kid })}.${encode(claimsOf(provider))}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

const spki = (provider: Provider): string =>
  KeyObject.from(provider.latest().verifier as never)
    .export({ type: 'spki', format: 'pem' })
    .toString()

type Token = (provider: Provider) => string | Promise<string>

/** Sends the token to the API and the gateway, and pastes it on the login page. */
async function statuses(product: Product, token: string) {
  const read = await product.call('GET', '/budgets', { token })
  const passed = await product.call('GET', '/v3/on-demand/acme/estimate', { token })
  const pasted = await openBrowser(product).post('/login', { token })
  return { answers: [read.status, passed.status, pasted.status], read }
}

describe('a token of a trusted issuer', () => {
  test.each<[string, Token, entry?: object]>([
    ['as issuers write it', withClaims({})],
    ['with an access token’s type', withClaims({}, { typ: 'at+jwt' })],
    ['with that type in full, and a nonce', withClaims({ nonce: 'n' }, { typ: 'application/AT+JWT' })],
    ['with a list of audiences that has ours', withClaims({ aud: ['other', 'unit-guard'] })],
    ['without a kid, where there is one key', withClaims({}, { kid: undefined })],
    ['with the longest lifetime', withClaims({ exp: now + 43_200 })],
    ['issued almost as long ago', withClaims({ iat: now - 43_199, exp: now + 1 })],
    ['with iat and nbf a minute ahead', withClaims({ iat: now + 60, nbf: now + 60 })],
    ['with a name of 256 characters', withClaims({ sub: 'x'.repeat(251) })],
    ['of an AWS role', withClaims({ sub: 'arn:aws:iam::123456789012:role/updates' })],
    ['with an e-mail that was verified', withClaims({ email: 'Ada@Acme.com', email_verified: true }), byEmail()],
    ['with an e-mail that the file trusts', withClaims({ email: 'ada@acme.com' }), byEmail(true)],
    ['with one group as a string', withClaims({ groups: 'leads' })],
    ['with a thumbprint of a certificate', withClaims({}, { x5t: 'abc' })],
  ])('the API, the gateway and the login accept a trusted issuer’s token: %s', async (_name, tokenOf, entry = {}) => {
    const { provider, product } = await start(entry)
    const { answers } = await statuses(product, await tokenOf(provider))
    expect(answers).toEqual([200, 200, 303])
  })
})

function byEmail(trustUnverifiedEmail = false) {
  return { subject: 'email', person: 'email', trustUnverifiedEmail }
}

const constant = {
  type: '/problems/unauthorized',
  title: 'A valid token is needed',
  status: 401,
  detail: 'This address needs a valid bearer token of Unit Guard.',
  requestId: expect.any(String),
}

type Wrong = [name: string, reason: TokenFault, token: Token, entry?: object]

/** Values that a claim must not have, with the reason in the log. */
const wrongClaims: readonly (readonly [reason: TokenFault, claim: string, values: readonly unknown[]])[] = [
  ['audience', 'aud', [undefined, 'unit-guard-staging', ['a', 'b'], ['unit-guard', 7]]],
  ['lifetime', 'exp', [undefined, `${now + 60}`, (now + 60) * 1000, now + 60.5, now + 43_201]],
  ['lifetime', 'nbf', [`${now}`]],
  ['not-yet', 'nbf', [now + 61]],
  ['lifetime', 'iat', [undefined]],
  ['not-yet', 'iat', [now + 61]],
  ['subject', 'sub', [undefined, '', 7, ['ada'], 'ada l', 'ada#1', 'ada*', 'àda', 'x'.repeat(252)]],
  ['claims', 'groups', [7, ['leads', 7], { leads: true }, null]],
  // An ID token, also one from the login.
  ['id-token', 'nonce', ['n']],
  ['id-token', 'at_hash', ['x']],
  ['id-token', 'c_hash', ['x']],
  ['id-token', 'aud', [clientId, ['unit-guard', clientId]]],
]
const wrongHeaders = Object.entries({
  kid: 7,
  jku: 'https://evil.example/keys',
  x5u: 'https://evil.example/cert',
  x5c: ['AAAA'],
  b64: true,
  typ: 'logout+jwt',
})

describe('a token with the name of a trusted issuer', () => {
  test.each<Wrong>([
    ['HS256 with the callers’ key', 'algorithm', (provider) => byHmac(provider, callerKey)],
    ['HS256 with the issuer’s public key', 'algorithm', (provider) => byHmac(provider, spki(provider))],
    ['ES256, signed by HMAC', 'signature', (provider) => byHmac(provider, callerKey, 'ES256')],
    ['none', 'algorithm', (provider) => `${encode({ alg: 'none' })}.${encode(claimsOf(provider))}.`],
    ['nOnE', 'algorithm', withClaims({}, { alg: 'nOnE' })],
    ['no alg', 'algorithm', withClaims({}, { alg: undefined })],
    ['a good algorithm that is not listed', 'algorithm', otherAlgorithm],
    [
      'a foreign kid',
      'key-unknown',
      async (provider) => craft(provider, claimsOf(provider), { alg: 'ES256', kid: 'k9' }),
    ],
    ['a foreign key under a known kid', 'signature', foreignKey],
    ['its own key in the header', 'form', embeddedKey],
    ...wrongHeaders.map(
      ([name, value]): Wrong => [`${name} ${inspect(value)} in the header`, 'form', withClaims({}, { [name]: value })],
    ),
    ['crit', 'form', withClaims({}, { crit: ['exp'], exp: 1 })],
    ['an unencoded payload', 'form', withClaims({}, { crit: ['b64'], b64: false })],
    ['iss with a slash more', 'issuer-unknown', (provider) => withClaims({ iss: `${provider.issuer}/` })(provider)],
    ['iss in capitals', 'issuer-unknown', (provider) => withClaims({ iss: provider.issuer.toUpperCase() })(provider)],
    ['iss as a list', 'issuer-unknown', (provider) => withClaims({ iss: [provider.issuer] })(provider)],
    ...wrongClaims.flatMap(([reason, claim, values]) =>
      values.map((value): Wrong => [`${claim} ${inspect(value)}`, reason, withClaims({ [claim]: value })]),
    ),
    ['exp now', 'expired', withClaims({ iat: now - 60, exp: now })],
    ['exp a second ago', 'expired', withClaims({ iat: now - 60, exp: now - 1 })],
    ['exp before iat', 'lifetime', withClaims({ iat: now + 60, exp: now + 30 })],
    ['iat longer ago than the longest lifetime', 'lifetime', withClaims({ iat: now - 43_200, exp: now + 1 })],
    ['a lifetime beyond the entry’s own', 'lifetime', withClaims({ exp: now + 901 }), { maxLifetime: '15m' }],
    ['no e-mail', 'subject', withClaims({ email_verified: true }), byEmail()],
    ['an e-mail that was not verified', 'email-unverified', withClaims({ email: 'ada@acme.com' }), byEmail()],
    [
      'an e-mail verified in words',
      'email-unverified',
      withClaims({ email: 'ada@acme.com', email_verified: 'true' }),
      byEmail(),
    ],
    [
      'a person without a verified e-mail',
      'email-unverified',
      withClaims({ email: 'ada@acme.com' }),
      { person: 'email' },
    ],
    ['no person', 'claims', withClaims({}), { person: 'employee' }],
    ['a person with a space', 'claims', withClaims({ employee: 'ada l' }), { person: 'employee' }],
    ['budgets as an object', 'claims', withClaims({ budgets: {} }), { budgets: { claim: 'budgets' } }],
    [
      'sub twice',
      'form',
      (provider) => craft(provider, JSON.stringify(claimsOf(provider)).replace('{', '{"sub":"eve",')),
    ],
    ['a name twice, once escaped', 'form', twiceEscaped],
    ['alg twice', 'form', (provider) => craft(provider, claimsOf(provider), '{"alg":"none","alg":"ES256","kid":"k1"}')],
    ['a signature cut short', 'form', async (provider) => (await provider.sign({ groups: ['leads'] })).slice(0, -5)],
    ['no signature', 'signature', async (provider) => (await provider.sign()).split('.').slice(0, 2).join('.')],
  ])(
    'the API, the gateway and the login refuse a token that names a trusted issuer, and the log says why: %s',
    async (_name, reason, tokenOf, entry = {}) => {
      const { provider, product } = await start(entry, { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: clientId })
      const { answers, read } = await statuses(product, await tokenOf(provider))
      expect([answers, read.body]).toEqual([[401, 401, 401], constant])
      expect(linesOf(product.logged, 'request').map((line) => line.reason)).toEqual(Array(3).fill(reason))
      expect(product.service.requests).toEqual([])
    },
  )

  async function otherAlgorithm(provider: Provider) {
    const key = await provider.newKey('k2', 'ES384')
    provider.state.keys = [...provider.state.keys, key]
    return provider.sign({ groups: ['leads'] }, {}, key)
  }

  async function foreignKey(provider: Provider) {
    return craft(provider, claimsOf(provider), usual(provider), await provider.newKey('k1'))
  }

  async function embeddedKey(provider: Provider) {
    const own = await provider.newKey('own')
    return craft(provider, claimsOf(provider), { ...usual(provider), jwk: own.jwk }, own)
  }

  function twiceEscaped(provider: Provider) {
    return craft(provider, JSON.stringify(claimsOf(provider)).replace('{', '{"gr\\u006fups":["leads"],'))
  }
})

test('a forged token sends no request to the issuer', async () => {
  const { provider, product } = await start()
  for (const token of [
    byHmac(provider, callerKey),
    withClaims({ aud: 'other' })(provider),
    withClaims({ exp: 1 })(provider),
  ])
    await product.call('GET', '/budgets', { token })
  expect(provider.requests).toEqual([])
})

describe('entries of the issuers file', () => {
  const scopes = { claim: 'groups', map: { seo: ['read', 'run'], constructor: ['read'], leads: ['admin', 'read'] } }
  const none = { sub: 'okta:ada', scopes: [], budgets: [] }
  test.each<[string, entry: object, claims: object, expected: object]>([
    [
      'scopes of several groups',
      { scopes },
      { groups: ['seo', 'leads'] },
      { scopes: ['read', 'run', 'admin'], budgets: '*' },
    ],
    ['an unknown group gives nothing and is not kept', { scopes }, { groups: ['toString', 'x'] }, none],
    ['a group with the name of a prototype', { scopes }, { groups: 'constructor' }, { scopes: ['read'] }],
    ['no groups', { scopes }, { groups: undefined }, none],
    ['a list of scopes for all', { scopes: ['read', 'run'] }, {}, { scopes: ['read', 'run'], budgets: [] }],
    [
      'the words of the claim scope',
      scopeWords('scope'),
      { scope: 'ug:run ug:read other' },
      { scopes: ['read', 'run'] },
    ],
    ['the words of the claim scp', scopeWords('scp'), { scp: 'ug:run  ug:read other' }, { scopes: ['read', 'run'] }],
    ['a list of the claim scp', scopeWords('scp'), { scp: ['ug:run', 'ug:read'] }, { scopes: ['read', 'run'] }],
    ['a list with a blank in the claim scope', scopeWords('scope'), { scope: ['ug:run ug:read'] }, { scopes: [] }],
    [
      'the claim scp of a token with both claims',
      scopeWords('scp'),
      { scope: 'ug:run', scp: 'ug:read ug:read' },
      { scopes: ['read'] },
    ],
    [
      'the claim scope of a token with both claims',
      scopeWords('scope'),
      { scope: 'ug:run ug:run', scp: 'ug:read' },
      { scopes: ['run'] },
    ],
    ['a group with a space', scopeWords('groups', 'ug: read'), { groups: 'ug: read' }, { scopes: ['read'] }],
    ['a list of budgets for all', { budgets: ['acme'] }, {}, { budgets: ['acme'] }],
    ['all budgets for all', { budgets: '*' }, {}, { budgets: '*' }],
    ['budgets of a claim', byClaim(), { b: ['acme', 'globex', 'Not A Budget'] }, { budgets: ['acme', 'globex'] }],
    ['a budget as a string', byClaim(), { b: 'acme' }, { budgets: ['acme'] }],
    ['* of a claim counts for nothing', byClaim(), { b: ['*', 'acme'] }, { budgets: ['acme'] }],
    ['* of a claim counts where the file allows it', byClaim(true), { b: '*' }, { budgets: '*' }],
    ['no claim with budgets, though admin', byClaim(true), { groups: 'leads' }, { budgets: [] }],
    ['budgets to read for all', { readsBudgets: ['acme'] }, {}, { readsBudgets: ['acme'] }],
    ['budgets to read of a claim', { readsBudgets: { claim: 'r' } }, { r: ['acme', '*'] }, { readsBudgets: ['acme'] }],
    ['no claim with budgets to read', { readsBudgets: { claim: 'r' } }, {}, { readsBudgets: [] }],
    ['a person', { person: 'employee' }, { employee: 'e17' }, { sub: 'okta:ada', person: 'e17' }],
    [
      'an e-mail in small letters',
      byEmail(),
      { email: 'Ada@Acme.COM', email_verified: true },
      { sub: 'okta:ada@acme.com', person: 'ada@acme.com' },
    ],
    ['a claim with a dot in its name', { subject: 'https://acme/id' }, { 'https://acme/id': '7' }, { sub: 'okta:7' }],
  ])('the issuers file is read or refused: %s', async (_name, entry, claims, expected) => {
    const { provider, product } = await start(entry)
    const caller = callerIn(await (await product.services.identity())?.verify(withClaims(claims)(provider)))
    expect(caller && { ...caller, scopes: [...caller.scopes] }).toMatchObject(expected)
    expect(Object.keys(caller?.issuer?.claims ?? {}).flatMap((claim) => caller?.issuer?.claims[claim])).not.toContain(
      'x',
    )
  })

  function scopeWords(claim: string, read = 'ug:read') {
    return { scopes: { claim, map: { [read]: ['read'], 'ug:run': ['run'] } } }
  }

  function byClaim(mayBeAll = false) {
    return { budgets: { claim: 'b', mayBeAll } }
  }
})

describe('refusals and other names', () => {
  test('a 403 names the groups that would help if no group is mapped', async () => {
    const { provider, product } = await start()
    const { status, body } = await product.call('GET', '/budgets', {
      token: provider.sign({ groups: ['secret-club'] }),
    })
    const detail =
      'okta:ada needs the scope read for this, and has: none. It comes with one of these values of the claim groups: seo, leads.'
    expect([status, body.detail]).toEqual([403, detail])
    const admin = await product.call('GET', '/callers', { token: provider.sign({ groups: ['seo'] }) })
    expect(admin.body.detail).toMatch(
      /and has: read run\. It comes with one of these values of the claim groups: leads\.$/,
    )
    const own = await product.call('GET', '/callers', { token: product.signed({ sub: 'eve', scope: 'read' }) })
    expect(own.body.detail).toBe('eve needs the scope admin for this, and has: read.')
  })

  test('our own token is refused with the iss of a trusted issuer, and accepted with another iss', async () => {
    const { provider, product } = await start()
    const signed = (iss: string) => product.signed({ sub: 'eve', scope: 'read', iss })
    expect((await product.call('GET', '/budgets', { token: signed(provider.issuer) })).status).toBe(401)
    expect((await product.call('GET', '/budgets', { token: signed('https://other.example') })).status).toBe(200)
  })

  test('MINTED_TOKENS=off refuses own tokens, and the callers’ key is not read for a token', async () => {
    const { provider, product } = await start({}, { MINTED_TOKENS: 'off' })
    expect((await product.call('GET', '/budgets')).body).toEqual(constant)
    expect((await product.call('GET', '/budgets', { token: provider.sign({ groups: ['seo'] }) })).status).toBe(200)
    expect(product.secrets.asked.filter((each) => each.includes('caller-key'))).toEqual([])
  })

  test('the audience decides between two entries of one issuer', async () => {
    const clock = createTestClock()
    const provider = await startProvider({ clock })
    const issuers = [
      provider.entry({ name: 'ci', audience: 'unit-guard-ci', scopes: ['read'] }),
      provider.entry({ name: 'people', scopes: [] }),
    ]
    const product = await startProduct({ store: createMemoryStore(), clock, issuers })
    const identity = await product.services.identity()
    const nameFor = async (aud: unknown) => callerIn(await identity?.verify(await provider.sign({ aud })))?.sub ?? null
    expect([await nameFor('unit-guard-ci'), await nameFor('unit-guard'), await nameFor('other')]).toEqual([
      'ci:ada',
      'people:ada',
      null,
    ])
  })

  test('an issuer cannot sign a token of another issuer', async () => {
    const clock = createTestClock()
    const [okta, entra] = [await startProvider({ clock }), await startProvider({ clock })]
    const issuers = [okta.entry({ scopes: ['read'] }), entra.entry({ name: 'entra', scopes: ['read'] })]
    const product = await startProduct({ store: createMemoryStore(), clock, issuers })
    const identity = await product.services.identity()
    const nameOf = async (token: Promise<string>) => callerIn(await identity?.verify(await token))?.sub ?? null
    expect(await nameOf(entra.sign())).toBe('entra:ada')
    expect(await nameOf(okta.sign())).toBe('okta:ada')
    expect(await nameOf(entra.sign({ iss: okta.issuer }))).toBeNull()
    expect(await nameOf(entra.sign({ iss: okta.issuer }, {}, okta.latest()))).toBe('okta:ada')
  })

  test('a verified token is cached for a minute, and never beyond exp', async () => {
    const { clock, provider, product } = await start()
    const read = async (token: string) => (await product.call('GET', '/budgets', { token })).status
    const [long, short] = [
      await provider.sign({ groups: ['seo'] }),
      await provider.sign({ groups: ['seo'], exp: now + 30 }),
    ]
    expect([await read(long), await read(short)]).toEqual([200, 200])
    await provider.rotate({ keeps: false })
    await read(await provider.sign({ groups: ['seo'] }))
    expect(await read(long)).toBe(200)
    clock.advance(30_000)
    expect([await read(long), await read(short)]).toEqual([200, 401])
    clock.advance(30_000)
    expect(await read(long)).toBe(401)
  })
})

describe('the ID token of the login', () => {
  const nonce = 'n-0S6_WzA2Mj'
  const asked = { issuer: 'okta', clientId, nonce }
  const idToken =
    (own: object, header: object = {}): Token =>
    (provider) =>
      withClaims({ aud: clientId, nonce, ...own }, header)(provider)

  test.each<[string, Token, sub: string | null, how?: object]>([
    ['as issuers write it', idToken({}), 'okta:ada'],
    ['with azp', idToken({ azp: clientId }), 'okta:ada'],
    ['for two, with azp', idToken({ aud: ['x', clientId], azp: clientId }), 'okta:ada'],
    ['for two, without azp', idToken({ aud: ['x', clientId] }), null],
    ['for another party', idToken({ azp: 'x' }), null],
    ['for another client', idToken({ aud: 'x' }), null],
    ['for the API', idToken({ aud: 'unit-guard' }), null],
    ['without a nonce', idToken({ nonce: undefined }), null],
    ['with another nonce', idToken({ nonce: 'x' }), null],
    ['with an empty nonce on both sides', idToken({ nonce: '' }), null, { nonce: '' }],
    ['of another issuer', idToken({ iss: 'https://evil.example' }), null],
    ['of an issuer that is not listed', idToken({}), null, { issuer: 'github' }],
    ['that is an access token', idToken({}, { typ: 'at+jwt' }), null],
    ['that has expired', idToken({ iat: now - 60, exp: now }), null],
    ['with HS256', (provider) => byHmac(provider, callerKey), null],
    [
      'signed by another key',
      async (provider) =>
        craft(provider, { ...claimsOf(provider), aud: clientId, nonce }, usual(provider), await provider.newKey('k1')),
      null,
    ],
    ['not a token', () => 'x', null],
  ])('the ID token of the login is accepted or refused: %s', async (_name, tokenOf, sub, how = {}) => {
    const { provider, product } = await start({}, { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: clientId })
    const token = await tokenOf(provider)
    const identity = await product.services.identity()
    expect(callerIn(await identity?.verifyLogin(token, { ...asked, ...how }))?.sub ?? null).toBe(sub)
    expect((await product.call('GET', '/budgets', { token })).status).toBe(401)
  })

  test('the login reads the discovery document once', async () => {
    const { provider, product } = await start()
    const identity = await product.services.identity()
    const found = await Promise.all([identity?.metadata('okta'), identity?.metadata('okta')])
    expect(found.map((each) => each?.token_endpoint)).toEqual(Array(2).fill(`${provider.issuer}/token`))
    expect(provider.asked('/.well-known/openid-configuration')).toBe(1)
  })
})

describe('kept claims', () => {
  test.each<[string, entry: object | null, expected: object | null]>([
    ['as it was', {}, { scopes: ['read', 'run'], budgets: [] }],
    ['with fewer scopes', { scopes: { claim: 'groups', map: { seo: ['read'] } } }, { scopes: ['read'] }],
    ['with another claim', { scopes: { claim: 'constructor', map: { seo: ['read'] } } }, { scopes: [] }],
    ['with a list of scopes', { scopes: ['propose'] }, { scopes: ['propose'] }],
    ['with budgets', { budgets: ['acme'] }, { budgets: ['acme'] }],
    ['without the issuer', null, null],
  ])('the issuers file maps the stored claims again: %s', async (_name, entry, expected) => {
    const { provider, product } = await start(entry ?? { name: 'other' })
    const claims = { groups: ['seo'] }
    const kept = { scopes: ['run'], budgets: '*', person: 'ada', issuer: { name: 'okta', claims } } as const
    const mapped = (await product.services.identity())?.map(kept)
    if (expected === null) expect(mapped).toBeNull()
    else expect(mapped).toMatchObject({ ...expected, person: 'ada', issuer: { name: 'okta', claims } })
    expect(provider.requests).toEqual([])
  })

  test('the stored claims of our own token are not mapped again', async () => {
    const { product } = await start()
    const kept = { scopes: ['run'], budgets: ['acme'] } as const
    expect((await product.services.identity())?.map(kept)).toBe(kept)
  })
})
