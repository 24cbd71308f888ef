import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openBrowser, ours, type Shown } from '../support/browser/browser.ts'
import { createTestClock, hours, minutes } from '../support/clock.ts'
import { linesOf } from '../support/log-lines.ts'
import { callerKey, loginSecret, serviceToken, startProduct } from '../support/product.ts'
import { startProvider } from '../support/provider.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { writeFileOf } from '../support/written-file.ts'

// Login at an identity provider: what the browser gets and returns, and every answer that opens no session.

const clientId = 'unit-guard-login'
const env = { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: clientId, DASHBOARD_URL: ours }
const secrets = { 'unit-guard/service-token': serviceToken, 'unit-guard/caller-key': callerKey }
const withSecret = () => ({ secrets: { ...secrets, 'unit-guard/login-client': loginSecret } })

type Run = Awaited<ReturnType<typeof start>>

async function start(entry: object = {}, options: Parameters<typeof startProduct>[0] = {}) {
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  provider.state.user = { sub: 'ada', groups: ['seo'] }
  const product = await startProduct({
    store: createMemoryStore(),
    clock,
    issuers: [provider.entry(entry)],
    ...options,
    env: { ...env, ...options.env },
  })
  const browser = openBrowser(product)

  /** The address to which the provider sends the browser back. */
  async function answered(address: string): Promise<string> {
    const answer = await fetch(address, { redirect: 'manual' })
    return (answer.headers.get('location') ?? '').replace(ours, '')
  }

  const begin = async (of = browser, to = '') => (await of.get(`/login/start${to}`)).location ?? ''
  const back = (path: string, of = browser) => of.get(path, { headers: { 'sec-fetch-site': 'cross-site' } })
  const logIn = async (of = browser, to = '') => back(await answered(await begin(of, to)), of)
  return { clock, provider, product, browser, answered, begin, back, logIn }
}

const isIn = async ({ browser }: Run): Promise<boolean> => (await browser.get('/')).location === null

describe('a login at the provider', () => {
  test('a login at the provider opens a session with the mapped claims', async () => {
    const { provider, product, browser, answered, begin, back } = await start()
    const started = await browser.get('/login/start?to=%2Fdashboard%2Fupdates%3Fstate%3Dsettled')
    expect(started.status).toBe(303)
    const [cookie = ''] = started.headers.getSetCookie()
    expect(cookie).toMatch(/^unit-guard-login-[0-9a-z]{10}=[\w.-]+; Max-Age=600; Path=\/login; HttpOnly; SameSite=Lax$/)
    const address = new URL(started.location ?? '')
    expect(`${address.origin}${address.pathname}`).toBe(`${provider.issuer}/authorize`)
    expect(Object.fromEntries(address.searchParams)).toEqual({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: `${ours}/login/callback`,
      scope: 'openid',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const shown = await back(await answered(address.href))
    expect([shown.status, [...browser.cookies.keys()]]).toEqual([200, ['unit-guard']])
    expect(shown.html).toContain('<meta http-equiv="refresh" content="0; url=/dashboard/updates?state=settled"/>')
    expect((await browser.get('/')).text).toContain('okta:ada')
    expect(new URL(await begin()).searchParams.get('state')).not.toBe(address.searchParams.get('state'))
    expect(linesOf(product.logged, 'request').filter(({ caller }) => caller === 'okta:ada')).toHaveLength(2)
  })

  test('a login at the provider logs and stores neither code, verifier, ID token nor secret', async () => {
    const { provider, product, begin, answered, back } = await start({}, withSecret())
    provider.state.client = { id: clientId, secret: loginSecret }
    const store = product.logged
    expect((await back(await answered(await begin()))).status).toBe(200)
    const [form] = provider.state.forms
    for (const name of ['code', 'code_verifier']) {
      expect(form?.get(name)).toMatch(/^[\w-]{40,}$/)
      expect(store.join('\n')).not.toContain(form?.get(name))
    }
  })

  test('the redirect address is the configured one for any Host header', async () => {
    const { product } = await start({}, { env: { DASHBOARD_URL: 'https://units.example' } })
    const browser = openBrowser(product)
    const started = await browser.get('/login/start', { origin: 'http://evil.example' })
    const redirectTo = new URL(started.location ?? '').searchParams.get('redirect_uri')
    expect(redirectTo).toBe('https://units.example/login/callback')
    const secure = await browser.get('/login/start', { origin: 'https://units.example' })
    expect(secure.headers.getSetCookie()[0]).toMatch(
      /^__Secure-unit-guard-login-\w{10}=.*; Path=\/login; HttpOnly; Secure; /,
    )
    expect((await browser.get('/login', { origin: 'http://evil.example' })).html).toContain(
      'href="https://units.example/login/start"',
    )
  })

  test.each([
    '//evil.example',
    'https://evil.example',
    '/dashboard/../v3/x',
    '/logout',
    `/dashboard/${'x'.repeat(2_000)}`,
  ])('a login at the provider leads to the overview instead of the unsafe address %.30s', async (to) => {
    const { browser, logIn } = await start()
    const shown = await logIn(browser, `?to=${encodeURIComponent(to)}`)
    expect(shown.html).toContain('content="0; url=/"')
  })

  test('two logins of one browser do not disturb each other, and many logins leave only a few cookies', async () => {
    const run = await start()
    const [first, second] = [await run.begin(), await run.begin()]
    expect((await run.back(await run.answered(second))).status).toBe(200)
    expect((await run.back(await run.answered(first))).status).toBe(200)
    for (let count = 0; count < 30; count++) await run.begin()
    expect(run.browser.cookies.size).toBeLessThan(10)
  })

  test('a started login survives one rotation of the key', async () => {
    const { product, clock, begin, answered, back } = await start()
    const path = await answered(await begin())
    product.secrets.values['unit-guard/caller-key previous'] = callerKey
    product.secrets.values['unit-guard/caller-key'] = 'canary-new-key-0123456789abcdefghijklmnopqrs'
    clock.advance(minutes(6))
    expect((await back(path)).status).toBe(200)
  })
})

describe('the client', () => {
  test('a confidential client sends its secret, and reads it again after a refusal', async () => {
    const { provider, product, clock, logIn } = await start({}, withSecret())
    provider.state.client = { id: clientId, secret: loginSecret }
    expect((await logIn()).status).toBe(200)
    const rotated = `${loginSecret}-rotated`
    provider.state.client = { id: clientId, secret: rotated }
    product.secrets.values['unit-guard/login-client'] = rotated
    clock.advance(minutes(1))
    expect((await logIn(openBrowser(product))).status).toBe(503)
    expect((await logIn(openBrowser(product))).status).toBe(200)
  })

  test.each([
    ['missing', undefined],
    ['empty', ''],
  ])('a login client is public where the secret is %s', async (_name, value) => {
    const { product, logIn } = await start({}, { secrets: { ...secrets, 'unit-guard/login-client': value } })
    expect((await logIn()).status).toBe(200)
    expect(linesOf(product.logged, 'secret-unavailable')).toEqual([])
  })

  test.each([
    [undefined, null],
    [['client_secret_basic'], null],
    [['client_secret_basic', 'client_secret_post'], loginSecret],
  ])('a login client sends its secret in the body if the provider names that method: %j', async (methods, inBody) => {
    const { provider, logIn } = await start({}, withSecret())
    provider.state.client = { id: clientId, secret: loginSecret }
    provider.state.metadata = { token_endpoint_auth_methods_supported: methods }
    expect((await logIn()).status).toBe(200)
    expect(provider.state.forms.at(-1)?.get('client_secret') ?? null).toBe(inBody)
  })

  test.each([
    [{}, {}, 'openid'],
    [{ person: 'email' }, {}, 'openid email'],
    [{}, { scopes_supported: ['openid', 'offline_access', 'groups', 'profile'] }, 'openid profile groups'],
  ])('a login asks for the scopes of the mapped claims: %j, %j', async (entry, metadata, scope) => {
    const { provider, begin } = await start(entry)
    provider.state.metadata = metadata
    expect(new URL(await begin()).searchParams.get('scope')).toBe(scope)
  })
})

const again =
  'This login was started in another browser, was finished before, or is older than ten minutes. Log in again.'
const noIdToken =
  'okta sent no ID token that Unit Guard accepts. Log in again. If this repeats, an operator has to check the client, its signing algorithm, a verified e-mail address, and the clocks.'
const noAnswer =
  'okta does not answer as it should, so no one can log in with it now. Try again in a minute, or log in with a token.'
const noClient =
  "okta refused Unit Guard itself. Try again. If this repeats, an operator has to check LOGIN_CLIENT_ID and the client's secret."

/** Sends the provider's answer back with other parameters; `undefined` leaves one out. */
async function backWith(run: Run, own: Record<string, string | undefined>, address?: string): Promise<Shown> {
  const url = new URL(await run.answered(address ?? (await run.begin())), ours)
  for (const [name, value] of Object.entries(own))
    value === undefined ? url.searchParams.delete(name) : url.searchParams.set(name, value)
  return run.back(`${url.pathname}${url.search}`)
}

const withClaims = (claims: object) => (run: Run) => {
  run.provider.state.user = { sub: 'ada', groups: ['seo'], ...claims }
  return run.logIn()
}

const withTokenAnswer =
  (answer: object | ((run: Run, nonce: string) => Promise<object>)) =>
  async (run: Run): Promise<Shown> => {
    const address = await run.begin()
    const nonce = new URL(address).searchParams.get('nonce') ?? ''
    run.provider.state.answers['/token'] = typeof answer === 'function' ? await answer(run, nonce) : answer
    return backWith(run, {}, address)
  }

const withIdToken = (make: (run: Run, nonce: string) => Promise<string> | string) =>
  withTokenAnswer(async (run, nonce) => ({
    body: { token_type: 'Bearer', access_token: 'opaque', id_token: await make(run, nonce) },
  }))

/** A token signed with the client's secret. */
function signedBySecret({ provider, clock }: Run, nonce: string, alg: 'HS256' | 'none'): string {
  const now = Math.floor(clock.now() / 1000)
  const claims = { iss: provider.issuer, aud: clientId, sub: 'ada', groups: ['seo'], nonce, iat: now, exp: now + 3600 }
  const text = [{ alg, kid: 'k1' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${alg === 'none' ? '' : createHmac('sha256', loginSecret).update(text).digest('base64url')}`
}

const oldEnough = (run: Run) => Math.floor(run.clock.now() / 1000)

const ofOtherBrowser = async (run: Run): Promise<string> => run.answered(await run.begin(openBrowser(run.product)))

type Refused = [name: string, act: (run: Run) => Promise<Shown>, status: number, sentence: string, entry?: object]

const refused: readonly Refused[] = [
  ['no state', (run) => backWith(run, { state: undefined }), 401, again],
  ['another state', (run) => backWith(run, { state: 'x'.repeat(43) }), 401, again],
  ['a state twice', async (run) => run.back(`${await run.answered(await run.begin())}&state=x`), 401, again],
  ['no code', (run) => backWith(run, { code: undefined }), 401, noIdToken],
  ['another code', (run) => backWith(run, { code: 'x' }), 401, again],
  ['another issuer in the answer', (run) => backWith(run, { iss: 'https://evil.example' }), 401, again],
  ['the answer to another browser', async (run) => run.back(await ofOtherBrowser(run)), 401, again],
  [
    'the code of another browser, with an own state',
    async (run) => backWith(run, { code: new URL(await ofOtherBrowser(run), ours).searchParams.get('code') ?? '' }),
    401,
    again,
  ],
  [
    'an answer after ten minutes',
    async (run) => {
      const path = await run.answered(await run.begin())
      run.clock.advance(minutes(10))
      return run.back(path)
    },
    401,
    again,
  ],
  ...(
    [
      ['altered', (value) => `${value.slice(0, 60)}${value[60] === 'x' ? 'y' : 'x'}${value.slice(61)}`],
      ['cut', (value) => value.slice(0, 20)],
      ['empty', () => ''],
      [
        'a session',
        (_value, product) => product.signed({ sub: 'ada', scope: 'read', aud: 'unit-guard-pages', jti: 'x' }),
      ],
    ] satisfies [string, (value: string, product: Run['product']) => string | Promise<string>][]
  ).map(
    ([name, change]): Refused => [
      `a cookie that is ${name}`,
      async (run) => {
        const path = await run.answered(await run.begin())
        for (const [cookie, value] of run.browser.cookies)
          run.browser.cookies.set(cookie, await change(value, run.product))
        return run.back(path)
      },
      401,
      again,
    ],
  ),
  [
    'the user declines',
    (run) => {
      run.provider.state.user = null
      return run.logIn()
    },
    403,
    'okta did not log you in (access_denied). Log in again, or ask an administrator of okta.',
  ],
  [
    'a long description with markup',
    (run) => backWith(run, { code: undefined, error: 'x', error_description: `<script>\u0007${'y'.repeat(3_000)}` }),
    403,
    `okta did not log you in (x: <script> ${'y'.repeat(191)}). Log in again`,
  ],
  [
    'a provider that is busy',
    (run) => backWith(run, { code: undefined, error: 'temporarily_unavailable' }),
    503,
    'okta did not log you in (temporarily_unavailable). Try again in a minute.',
  ],
  [
    'a token endpoint that hangs',
    async (run) => {
      const path = await run.answered(await run.begin())
      run.provider.state.way = 'hang'
      return run.back(path)
    },
    503,
    noAnswer,
  ],
  ['a token endpoint with an error', withTokenAnswer({ status: 500, body: {} }), 503, noAnswer],
  ['a token endpoint that redirects', withTokenAnswer({ status: 302, headers: { location: '/keys' } }), 503, noAnswer],
  ['a token endpoint without JSON', withTokenAnswer({ body: 'canary' }), 503, noAnswer],
  ['an endless answer', withTokenAnswer({ body: `{"x":"${'x'.repeat(300_000)}"}` }), 503, noAnswer],
  ['no ID token', withTokenAnswer({ body: { token_type: 'Bearer', access_token: 'opaque' } }), 401, noIdToken],
  [
    'a refused client',
    (run) => {
      run.provider.state.client = { id: clientId, secret: 'other' }
      return run.logIn()
    },
    503,
    noClient,
  ],
  [
    'a refused client, with a challenge',
    withTokenAnswer({
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="x"' },
      body: { error: 'invalid_client' },
    }),
    503,
    noClient,
  ],
  ['an ID token for another client', withClaims({ aud: 'other' }), 401, noIdToken],
  ['an ID token for the API', withClaims({ aud: 'unit-guard' }), 401, noIdToken],
  ['an ID token for two, with no azp', withClaims({ aud: [clientId, 'other'] }), 401, noIdToken],
  ['an ID token for another azp', withClaims({ azp: 'other' }), 401, noIdToken],
  ['an ID token with another nonce', withClaims({ nonce: 'x' }), 401, noIdToken],
  ['an ID token without a nonce', withClaims({ nonce: undefined }), 401, noIdToken],
  ['an ID token of another issuer', withClaims({ iss: 'https://evil.example' }), 401, noIdToken],
  ['an unverified e-mail address', withClaims({ email: 'ada@acme.example' }), 401, noIdToken, { subject: 'email' }],
  ['a clock that is behind', (run) => withClaims({ exp: oldEnough(run) - 61 })(run), 401, noIdToken],
  ['a clock that is ahead', (run) => withClaims({ iat: oldEnough(run) + 61 })(run), 401, noIdToken],
  ['an algorithm that is not listed', (run) => run.logIn(), 401, noIdToken, { algorithms: ['RS256'] }],
  [
    'an ID token signed by the secret',
    withIdToken((run, nonce) => signedBySecret(run, nonce, 'HS256')),
    401,
    noIdToken,
  ],
  ['an ID token without a signature', withIdToken((run, nonce) => signedBySecret(run, nonce, 'none')), 401, noIdToken],
  [
    'an ID token of an unknown key',
    withIdToken(async ({ provider }, nonce) =>
      provider.sign({ aud: clientId, nonce }, {}, await provider.newKey('foreign')),
    ),
    401,
    noIdToken,
  ],
  [
    'no group that is mapped',
    withClaims({ groups: ['others', '<b>'] }),
    403,
    'okta:ada may do nothing here. One of these values of the claim groups gives access: seo, leads. Ask an administrator for one.',
  ],
  [
    'more budgets than a cookie holds',
    withClaims({ budgets: Array.from({ length: 300 }, (_, each) => `client-number-${each}`) }),
    403,
    'Your groups and budgets do not fit into a session of the dashboard. Ask an administrator to map fewer of them for you.',
    { budgets: { claim: 'budgets' } },
  ],
]

describe('a refused login', () => {
  test.each(refused)('a login at the provider opens no session: %s', async (name, act, status, sentence, entry) => {
    const isSlow = name.endsWith('hangs')
    const run = await start(entry, { ...(isSlow && { issuersWithinMs: 300 }) })
    const shown = await act(run)
    expect([shown.status, shown.text.includes(sentence), await isIn(run)], shown.text).toEqual([status, true, false])
    expect(shown.html).toContain('href="http://localhost/login/start')
    expect(shown.html).not.toContain('<script')
    const lines = linesOf(run.product.logged, 'login-refused').map((line) => line.status)
    expect(lines).toEqual(name.startsWith('more budgets') ? [] : [status])
    expect(linesOf(run.product.logged, 'failed')).toEqual([])
    if (isSlow) expect(linesOf(run.product.logged, 'login-refused')[0]?.reason).toBe('TimeoutError')
    // The next login works.
    run.provider.state.way = 'answer'
    run.provider.state.answers = {}
    run.provider.state.client = { id: clientId }
    run.provider.state.user = { sub: 'ada', groups: ['seo'], email: 'ada@acme.example', email_verified: true }
    if (!name.startsWith('an algorithm')) expect((await run.logIn()).status).toBe(200)
  })

  test.each([60, -60])('the clock may differ by a minute at a login: %d s', async (seconds) => {
    const run = await start()
    const now = Math.floor(run.clock.now() / 1000)
    const times = seconds > 0 ? { iat: now + seconds } : { iat: now - 3600, exp: now + 1 }
    expect((await withClaims(times)(run)).status).toBe(200)
  })

  test('a repeated answer of the provider opens no session, even if the provider accepts a code twice', async () => {
    const run = await start()
    const address = await run.begin()
    const path = await run.answered(address)
    const copied = [...run.browser.cookies]
    expect((await run.back(path)).status).toBe(200)
    const other = openBrowser(run.product)
    expect((await run.back(path, other)).text).toContain(again)
    for (const again of [path, await run.answered(address)]) {
      for (const [name, value] of copied) other.cookies.set(name, value)
      const shown = await run.back(again, other)
      expect([shown.status, other.cookies.size]).toEqual([401, 0])
    }
  })

  test('three simultaneous copies of a provider’s answer open at most one session', async () => {
    const run = await start()
    const path = await run.answered(await run.begin())
    const copied = [...run.browser.cookies]
    const shown = await Promise.all(
      [1, 2, 3].map(() => {
        const other = openBrowser(run.product)
        for (const [name, value] of copied) other.cookies.set(name, value)
        return run.back(path, other)
      }),
    )
    expect(shown.map(({ status }) => status).sort()).toEqual([200, 401, 401])
  })

  test.each([
    ['does not answer', { way: 'reset' }],
    ['hangs', { way: 'hang' }],
    ['names an endpoint elsewhere', { metadata: { token_endpoint: 'http://evil.example/t' } }],
    ['names no endpoint', { metadata: { authorization_endpoint: 'javascript:alert(1)' } }],
  ])('/login/start says that the provider %s', async (_name, state) => {
    const run = await start({}, { issuersWithinMs: 300 })
    Object.assign(run.provider.state, state)
    const shown = await run.browser.get('/login/start')
    expect([shown.status, shown.text.includes(noAnswer), shown.headers.getSetCookie()]).toEqual([503, true, []])
  })

  test('a login without DASHBOARD_URL is refused and names the missing setting', async () => {
    const run = await start({}, { env: { DASHBOARD_URL: '' } })
    const shown = await run.browser.get('/login/start')
    expect([shown.status, shown.text.includes('until an operator sets DASHBOARD_URL')]).toEqual([503, true])
  })

  test('without its settings, a login at the provider is not offered', async () => {
    const { browser } = await start({}, { env: { LOGIN_ISSUER: '', LOGIN_CLIENT_ID: '' } })
    for (const path of ['/login/start', '/login/callback']) expect((await browser.get(path)).status).toBe(404)
    const { html } = await browser.get('/login')
    expect(html).not.toContain('/login/start')
    expect(html.match(/class="login"/g)).toHaveLength(1)
  })
})

describe('a session of an issuer', () => {
  test('an issuer’s session lasts eight hours for any ID token, and is no bearer token', async () => {
    const run = await start()
    await withClaims({ exp: oldEnough(run) + 60 })(run)
    run.clock.advance(hours(8) - 1000)
    expect(await isIn(run)).toBe(true)
    const cookie = run.browser.cookies.get('unit-guard') ?? ''
    expect((await run.product.call('GET', '/budgets', { token: cookie })).status).toBe(401)
    run.clock.advance(1000)
    expect(await isIn(run)).toBe(false)
  })

  test('an ID token of the login is no bearer token', async () => {
    const { provider, product, logIn } = await start()
    await logIn()
    const idToken = provider.sign({ aud: clientId, nonce: 'x', groups: ['leads'] })
    expect((await product.call('GET', '/budgets', { token: idToken })).status).toBe(401)
  })

  test('an issuer’s session loses removed rights at the next request, and ends when its caller is disabled', async () => {
    const { product, provider, browser, clock, logIn } = await start()
    provider.state.user = { sub: 'ada', groups: ['leads'] }
    await logIn()
    const put = (body: object) => product.call('PUT', '/callers/okta:ada', { body })
    expect((await browser.get('/dashboard/callers')).status).toBe(200)
    await put({ scopes: ['read'] })
    clock.advance(minutes(1))
    expect([(await browser.get('/')).status, (await browser.get('/dashboard/callers')).status]).toEqual([200, 403])
    await put({ scopes: ['read'], disabled: true })
    clock.advance(minutes(1))
    const shown = await browser.get('/')
    expect([shown.status, shown.text.includes('okta:ada is disabled; ask an administrator.')]).toEqual([403, true])
    expect((await browser.get('/')).location).toBe('/login')
  })

  test('logout ends an issuer’s session and says that the provider may still know the user', async () => {
    const { browser, logIn } = await start()
    await logIn()
    const { formToken } = await browser.get('/')
    const sent = await browser.post('/logout', { form: formToken })
    expect([sent.location, browser.cookies.size]).toEqual(['/login?out', 0])
    const said = 'You are logged out of Unit Guard. okta may still know you: on a shared computer, log out there too.'
    expect((await browser.get('/login?out')).text).toContain(said)
    expect((await browser.get('/')).location).toBe('/login')
  })

  test('an issuer’s session ends when its issuer leaves the file', async () => {
    const { product, browser, provider, logIn } = await start()
    await logIn()
    const process = product.startProcess({
      TRUSTED_ISSUERS: await writeFileOf('issuers', [provider.entry({ name: 'entra' })]),
      LOGIN_ISSUER: 'entra',
    })
    const later = openBrowser(process)
    later.cookies.set('unit-guard', browser.cookies.get('unit-guard') ?? '')
    expect((await later.get('/')).location).toBe('/login')
    expect((await browser.get('/')).status).toBe(200)
  })
})

describe('the login page', () => {
  test('the login page offers the provider first, then the token, then Slack', async () => {
    const { browser } = await start()
    const { html, text } = await browser.get('/login?to=%2Fdashboard%2Finbox')
    const order = [
      'href="http://localhost/login/start?to=%2Fdashboard%2Finbox"',
      'Log in with okta',
      'Your token',
      '/units login',
    ]
    expect(order.map((part) => html.indexOf(part))).toEqual(
      order.map((part) => html.indexOf(part)).toSorted((a, b) => a - b),
    )
    expect(order.filter((part) => !html.includes(part))).toEqual([])
    expect(text).toContain('The same token as for the API.')
  })

  test('the login page with MINTED_TOKENS=off says which tokens it accepts', async () => {
    const { product, browser } = await start({}, { env: { MINTED_TOKENS: 'off' } })
    const { text } = await browser.get('/login')
    expect(text).toContain('A token of okta, as for the API. Tokens of npm run token are switched off here.')
    expect(text).not.toContain('An operator makes tokens')
    expect((await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))).status).toBe(401)
  })

  test('a login is refused if the budgets of the token do not fit into a cookie', async () => {
    const { product, browser } = await start()
    const budgets = Array.from({ length: 250 }, (_, each) => `client-number-${each}`)
    const shown = await browser.logIn(product.signed({ sub: 'rita', scope: 'read', budgets }))
    expect([shown.status, shown.headers.getSetCookie()]).toEqual([403, []])
    expect(shown.text).toContain('do not fit into a session')
  })
})
