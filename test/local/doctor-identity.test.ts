import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { describeIssuers, examineIdentity, openToAll } from '../../infra/local/commands/doctor/identity.ts'
import { examineRefused, tellToken } from '../../infra/local/commands/doctor/token.ts'
import { parseIssuers } from '../../shared/auth/issuers-file.ts'
import { issuerKeys } from '../../shared/auth/stored-keys.ts'
import { type GuardSettings, guardSettings } from '../../shared/guard/options.ts'
import { createItems } from '../../shared/ledger/store/items.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { createTestClock, hours, minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { startProvider } from '../support/provider.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { writeFileOf } from '../support/written-file.ts'

const discovery = '/.well-known/openid-configuration'

async function start(entry: object = {}) {
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  const keys = issuerKeys.functions(createItems(issuerKeys, { store: createMemoryStore() }))
  const at = (ms: number) => new Date(clock.now() + ms).toUTCString()
  /** The provider uses this machine's clock. */
  const answer = (body: object = {}, behindMs = 0) => {
    const { issuer } = provider
    const usual = { issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: 'a', token_endpoint: 't' }
    provider.state.answers[discovery] = { headers: { date: at(-behindMs) }, body: { ...usual, ...body } }
  }
  answer()
  const examine = async (names: readonly string[] = [], env: Record<string, string> = {}, budgets?: object) => {
    const given = { TABLE_NAME: 't', ACCOUNT_UNITS_PER_MONTH: '1', TRACKING_BASE_URL: 'https://service.example/v3' }
    const TRUSTED_ISSUERS = await writeFileOf('issuers', [provider.entry(entry)])
    const settings = parseSettings(guardSettings, { ...given, TRUSTED_ISSUERS, ...env })
    return examineIdentity(settings, { budgets: budgets && { ...budgets }, keys, names, clock })
  }
  return { clock, provider, keys, answer, examine }
}

describe('the doctor on trusted issuers', () => {
  test('the doctor reads discovery and keys, and finds no fault', async () => {
    const { provider, keys, examine, clock } = await start()
    await keys.keep({ name: 'okta', issuer: provider.issuer, jwks: '{}', fetchedAt: clock.now() })
    expect(await examine(['okta:ada', 'slack:U1', 'alice'])).toEqual({
      lines: [`okta: ${provider.issuer} gives 1 key, 1 for ES256`],
      toDo: [],
    })
  })

  test('the doctor says if an issuer does not answer, is another issuer, or has no key for the file', async () => {
    const down = await start()
    down.provider.state.way = 'error'
    expect((await down.examine()).toDo).toEqual([
      `see why okta does not give its keys: ${down.provider.issuer}${discovery} answered with the status 500; its callers get 503 once the known keys are a day old`,
    ])
    const other = await start()
    other.answer({ issuer: 'https://okta.example' })
    expect((await other.examine()).toDo).toEqual([
      'correct okta in the issuers file: if "https://okta.example" is your issuer, write exactly that',
    ])
    const clear = await start()
    clear.answer({ jwks_uri: 'http://okta.example/keys' })
    expect((await clear.examine()).toDo).toEqual([
      expect.stringContaining('ask the operators of okta for keys by https'),
    ])
    const changed = await start({ algorithms: ['RS256', 'PS256'] })
    expect((await changed.examine()).toDo).toEqual([
      'correct the algorithms of okta in the issuers file: no key is for RS256 and PS256; it has keys for ES256',
    ])
  })

  test.each([
    [
      95_000,
      ["set the clocks: this machine's is 95 seconds ahead of that of okta, and tokens are refused from 60 seconds on"],
    ],
    [
      -95_000,
      ["set the clocks: this machine's is 95 seconds behind that of okta, and tokens are refused from 60 seconds on"],
    ],
    [60_000, []],
  ])('the doctor says if an issuer’s clock is %d ms behind', async (ms, toDo) => {
    const { answer, examine } = await start()
    answer({}, ms)
    expect((await examine()).toDo).toEqual(toDo)
  })

  test('the doctor says which issuer has a name, and which callers have names of issuers', async () => {
    const { provider, keys, examine, clock } = await start()
    const early = await examine(['okta:ada', 'ci:nightly', 'ci:weekly', 'github:x', 'schedule:morning'])
    expect(early.lines).toContain(
      'okta: okta:ada is known, but no token of this issuer has come yet; if npm run token made their tokens, give the issuer another name',
    )
    expect(early.toDo).toEqual([
      'give these callers names without a colon, and new tokens: ci:nightly, ci:weekly and github:x; such names belong to trusted issuers, so their tokens are refused',
    ])
    const earlier = { jwks: '{}', fetchedAt: clock.now() - minutes(5) }
    await keys.keep({ ...earlier, name: 'okta', issuer: 'https://acme.okta.com' })
    await keys.keep({ ...earlier, name: 'github', issuer: 'https://token.actions.githubusercontent.com' })
    expect((await examine(['okta:ada', 'github:x'])).toDo).toEqual([
      `give okta another name in the issuers file: this name belongs to https://acme.okta.com, so tokens of ${provider.issuer} are refused`,
    ])
  })

  test('the doctor shows the login and its missing parts', async () => {
    const { answer, examine } = await start()
    const login = { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: 'web', MINTED_TOKENS: 'off' }
    const secrets = await startTestSecrets({ 'unit-guard/login-client': 'canary-login-client' })
    const env = { ...login, SECRETS_ENDPOINT: secrets.endpoint }
    const { lines } = await examine([], { ...env, DASHBOARD_URL: 'http://127.0.0.1:8787' })
    await secrets.close()
    expect(lines.slice(1)).toEqual([
      'tokens of npm run token are refused (MINTED_TOKENS=off)',
      'people log in to the dashboard at okta as the client web (with a secret); its redirect URI is http://127.0.0.1:8787/login/callback',
    ])
    answer({ authorization_endpoint: undefined })
    expect((await examine([], env)).toDo).toEqual([
      'name another issuer in LOGIN_ISSUER: people cannot log in at okta (its discovery has no authorization_endpoint)',
      'set DASHBOARD_URL: okta leads people back to <DASHBOARD_URL>/login/callback',
    ])
  })

  test('the doctor refuses a list of scopes if everyone can get a token from the issuer', () => {
    const github = { name: 'github', issuer: 'https://token.actions.githubusercontent.com' }
    expect(openToAll({ ...github, scopes: ['read'] })).toEqual([
      `take scopes from a claim in the entry github of the issuers file: now every user of ${github.issuer} has all scopes of its list`,
    ])
    expect(openToAll({ ...github, scopes: { claim: 'sub', map: {} } })).toEqual([])
    expect(openToAll({ ...github, issuer: 'https://acme.okta.com', scopes: ['read'] })).toEqual([])
  })
})

describe('the doctor on refused tokens', () => {
  test('the doctor counts the refused tokens of the last hour by reason and issuer', async () => {
    const clock = createTestClock()
    const provider = await startProvider({ clock })
    const product = await startProduct({ store: createMemoryStore(), clock, issuers: [provider.entry()] })
    const ask = async (token: string | null) => product.call('GET', '/budgets', { token })
    await ask('nonsense')
    clock.advance(hours(1) + 1)
    for (const aud of ['a', 'b', 'c']) await ask(await provider.sign({ aud }))
    await ask(null)
    await ask('nonsense')
    await ask(await provider.sign({ groups: ['seo'] }))
    const directory = await mkdtemp(join(tmpdir(), 'log-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const file = join(directory, 'guard.log')
    expect((await examineRefused(file, clock)).lines).toEqual([])
    await writeFile(file, `${product.logged.join('\n')}\n{"at":"2026-11-20T11:0`)
    expect(await examineRefused(file, clock)).toEqual({
      lines: [
        'in the last hour 4 tokens were refused: 3 audience (okta) and 1 form (docs/identity.md, "My token is refused")',
      ],
      toDo: [],
    })
    clock.advance(hours(1) + 1)
    expect((await examineRefused(file, clock)).lines).toEqual([])
  })

  const issuersText = (issuer: string) => `[
  { "name": "okta", "issuer": "${issuer}",
    "audience": "unit-guard", "algorithms": ["ES256"],
    "subject": "email",
    "scopes": { "claim": "groups", "map": { "seo": ["read"] } } },
  {
    "name": "ci",
    "issuer": "https://ci.example",
    "audience": "unit-guard",
    "algorithms": ["RS256", "ES256"],
    "maxLifetime": "15m",
    "scopes": ["read"]
  }
]
`
  const now = Date.parse('2026-11-20T10:00:00Z') / 1000
  const verified = { email: 'ada@acme.com', email_verified: true, groups: ['seo'] }

  test.each<[string, claims: Record<string, unknown>, lines: readonly (string | RegExp)[], header?: object]>([
    [
      'that is good',
      verified,
      ['it is accepted until 2026-11-20T11:00:00.000Z: its caller is okta:ada@acme.com, with the scopes read'],
    ],
    [
      'without a mapped group',
      { ...verified, groups: ['x'] },
      [/is okta:ada@acme.com, with no scope; the claim groups has no value of the file's map$/],
    ],
    [
      'of another audience',
      { ...verified, aud: 'api://default' },
      [
        /^it is refused \(audience\): .*; the token has aud "api:\/\/default"$/,
        'issuers.json, line 3 (okta): "audience": "unit-guard", "algorithms": ["ES256"],',
      ],
    ],
    [
      'of an issuer that is not listed',
      { ...verified, iss: 'https://ci.example/' },
      [
        /^it is refused \(issuer-unknown\): .*; the token has iss "https:\/\/ci.example\/"$/,
        /^issuers.json, line 2 \(okta\): { "name": "okta", "issuer": /,
        'issuers.json, line 8 (ci): "issuer": "https://ci.example",',
      ],
    ],
    [
      'of another algorithm',
      { ...verified, iss: 'https://ci.example' },
      [
        /^it is refused \(algorithm\): .*; the token has alg "ES384"$/,
        'issuers.json, line 10 (ci): "algorithms": ["RS256", "ES256"],',
      ],
      { alg: 'ES384' },
    ],
    [
      'that lasts longer than the usual lifetime',
      { ...verified, exp: now + 43_201 },
      [
        /^it is refused \(lifetime\): .*; the token has iat \d+ \(2026-11-20T10:00:00.000Z\), exp \d+ \(2026-11-20T22:00:01.000Z\)$/,
        'issuers.json, line 2 (okta): no "maxLifetime", so 12h',
      ],
    ],
    [
      'that lasts longer than the entry’s own lifetime',
      { iss: 'https://ci.example' },
      [/^it is refused \(lifetime\)/, 'issuers.json, line 11 (ci): "maxLifetime": "15m",'],
    ],
    [
      'with an unverified e-mail address',
      { email: 'ada@acme.com' },
      [/^it is refused \(email-unverified\): [^;]*$/, 'issuers.json, line 4 (okta): "subject": "email",'],
    ],
    [
      'that has expired',
      { ...verified, iat: now - 60, exp: now },
      [/^it is refused \(expired\): .*; the token has exp \d+ \(2026-11-20T10:00:00.000Z\)$/],
    ],
  ])('the doctor explains a token %s, and names the line of the file', async (_name, claims, lines, header = {}) => {
    const clock = createTestClock()
    const provider = await startProvider({ clock })
    const directory = await mkdtemp(join(tmpdir(), 'token-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const [issuersPath, tokenPath] = [join(directory, 'issuers.json'), join(directory, 'token')]
    await writeFile(issuersPath, issuersText(provider.issuer))
    const isOther = 'alg' in header
    const key = isOther ? await provider.newKey('k2', 'ES384') : undefined
    await writeFile(tokenPath, `Bearer ${await provider.sign(claims, {}, key)}\n`)
    const settings = parseSettings(guardSettings, {
      TABLE_NAME: 't',
      ACCOUNT_UNITS_PER_MONTH: '1',
      TRACKING_BASE_URL: 'https://service.example/v3',
      TRUSTED_ISSUERS: issuersPath,
    })
    const keys = issuerKeys.functions(createItems(issuerKeys, { store: createMemoryStore() }))
    const told = await tellToken(tokenPath, settings, { keys, clock })
    expect(told.lines).toEqual(lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))))
    expect(told.isAccepted).toBe(String(lines[0]).includes('accepted') || String(lines[0]).includes('no scope'))
    expect(await keys.read('okta')).toBeNull()
  })
})

describe('the doctor and npm start on budgets in the issuers file', () => {
  const budgets = { account: {}, acme: {} }
  test.each([
    [{ budgets: ['acme'] }, []],
    [{ budgets: ['acme', 'acmee'] }, ['acmee does not exist']],
    [{ readsBudgets: ['acmee', 'globex'], budgets: ['globex'] }, ['globex and acmee do not exist']],
    [{ budgets: { claim: 'budgets' } }, []],
    [{ budgets: '*' }, []],
  ])('the doctor and npm start name missing budgets in an entry with %j', async (entry, missing) => {
    const { examine, provider } = await start(entry)
    const expected = missing.map((each) => `correct the entry okta of the issuers file, or create its budgets: ${each}`)
    expect((await examine([], {}, budgets)).toDo).toEqual(expected)
    expect((await examine()).toDo).toEqual([])
    const issuers = parseIssuers(JSON.stringify([provider.entry(entry)]))
    const settings = { LOGIN_ISSUER: undefined, MINTED_TOKENS: 'on' } as GuardSettings
    const told = [`okta (${provider.issuer})`, 'people do not log in there (LOGIN_ISSUER)']
    expect(describeIssuers(issuers, settings, budgets)).toBe([...told, ...expected].join('; '))
    expect(describeIssuers(issuers, settings, undefined)).toBe(told.join('; '))
  })
})
