import { describe, expect, test } from 'vitest'
import { examineIdentity, openToAll } from '../../infra/local/commands/doctor-identity.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { createIssuerKeysStore } from '../../shared/ledger/issuer-keys.ts'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { createTestClock, minutes } from '../support/clock.ts'
import { startProvider } from '../support/provider.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { writeFileOf } from '../support/written-file.ts'

const discovery = '/.well-known/openid-configuration'

async function start(entry: object = {}) {
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  const keys = createIssuerKeysStore({ store: createMemoryStore() })
  const at = (ms: number) => new Date(clock.now() + ms).toUTCString()
  /** The provider's clock is that of the machine. */
  const answer = (body: object = {}, behindMs = 0) => {
    const { issuer } = provider
    const usual = { issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: 'a', token_endpoint: 't' }
    provider.state.answers[discovery] = { headers: { date: at(-behindMs) }, body: { ...usual, ...body } }
  }
  answer()
  const examine = async (names: readonly string[] = [], env: Record<string, string> = {}) => {
    const given = { TABLE_NAME: 't', ACCOUNT_UNITS_PER_MONTH: '1', TRACKING_BASE_URL: 'https://service.example/v3' }
    const TRUSTED_ISSUERS = await writeFileOf('issuers', [provider.entry(entry)])
    const settings = parseSettings(guardSettings, { ...given, TRUSTED_ISSUERS, ...env })
    return examineIdentity(settings, { keys, names, clock })
  }
  return { clock, provider, keys, answer, examine }
}

describe('the doctor, looking at trusted issuers', () => {
  test('the doctor reads discovery and keys, and has nothing to say', async () => {
    const { provider, keys, examine, clock } = await start()
    await keys.keep({ name: 'okta', issuer: provider.issuer, jwks: '{}', fetchedAt: clock.now() })
    expect(await examine(['okta:ada', 'slack:U1', 'alice'])).toEqual({
      lines: [`okta: ${provider.issuer} gives 1 key, 1 for ES256`],
      toDo: [],
    })
  })

  test('the doctor says that an issuer does not answer, is another one, or has no key for the file', async () => {
    const down = await start()
    down.provider.state.way = 'error'
    expect((await down.examine()).toDo).toEqual([
      `see why okta does not give its keys: ${down.provider.issuer}${discovery} answered with the status 500; its callers get 503 once the known keys are a day old`,
    ])
    const other = await start()
    other.answer({ issuer: 'https://okta.example' })
    expect((await other.examine()).toDo).toEqual([
      'correct okta in the issuers file: its issuer has to be "https://okta.example", byte by byte, if that is yours',
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
  ])('the doctor says when an issuer’s clock is %d ms behind', async (ms, toDo) => {
    const { answer, examine } = await start()
    answer({}, ms)
    expect((await examine()).toDo).toEqual(toDo)
  })

  test('the doctor says whose a name is, and which callers have names of issuers', async () => {
    const { provider, keys, examine, clock } = await start()
    const early = await examine(['okta:ada', 'ci:nightly', 'ci:weekly', 'github:x', 'schedule:morning'])
    expect(early.lines).toContain(
      'okta: okta:ada is known, though no token of this issuer came yet; if they had tokens of npm run token, give the issuer another name',
    )
    expect(early.toDo).toEqual([
      'give these callers names without a colon, and new tokens: ci:nightly, ci:weekly and github:x; such names belong to trusted issuers, so their tokens are refused',
    ])
    const earlier = { jwks: '{}', fetchedAt: clock.now() - minutes(5) }
    await keys.keep({ ...earlier, name: 'okta', issuer: 'https://acme.okta.com' })
    await keys.keep({ ...earlier, name: 'github', issuer: 'https://token.actions.githubusercontent.com' })
    expect((await examine(['okta:ada', 'github:x'])).toDo).toEqual([
      `give okta another name in the issuers file: this one belongs to https://acme.okta.com, and tokens of ${provider.issuer} are refused under it`,
    ])
  })

  test('the doctor shows the login and says what it lacks', async () => {
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

  test('the doctor refuses a list of scopes where everyone can ask for a token', () => {
    const github = { name: 'github', issuer: 'https://token.actions.githubusercontent.com' }
    expect(openToAll({ ...github, scopes: ['read'] })).toEqual([
      `give scopes by a claim in the entry github of the issuers file: every user of ${github.issuer} has the scopes of its list now`,
    ])
    expect(openToAll({ ...github, scopes: { claim: 'sub', map: {} } })).toEqual([])
    expect(openToAll({ ...github, issuer: 'https://acme.okta.com', scopes: ['read'] })).toEqual([])
  })
})
