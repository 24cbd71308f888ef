import { describe, expect, test } from 'vitest'
import type { Store } from '../../shared/ledger/store/store.ts'
import { openBrowser, ours } from '../support/browser/browser.ts'
import { hours, minutes } from '../support/clock.ts'
import { callerKey, startProduct } from '../support/product.ts'
import { listPeople } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Who may log in, with which proof and for how long. The cookie opens only pages.

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), ...options })
  return { product, browser: openBrowser(product) }
}

const reader = { sub: 'rita', scope: 'read' }
const claimsOf = (cookie = '') => JSON.parse(Buffer.from(cookie.split('.')[1] ?? '', 'base64url').toString())
const wrongToken = 'Not a valid token: it may have expired, be cut off, or be signed with another key.'
const wrongLink = 'This link was already used, or is older than five minutes. Run npm run login for a new one.'

describe('with a token', () => {
  test('a login with a token shows the form, then the overview', async () => {
    const { product, browser } = await start()
    const form = await browser.get('/login')
    expect([form.status, form.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(form.text).toContain('In Slack, type /units login')
    expect(form.text).toContain('npm run --silent token -- --sub alice --scope "read approve" --expires 8h')
    const sent = await browser.logIn(product.signed(reader))
    expect([sent.status, sent.location]).toEqual([303, '/'])
    expect((await browser.get('/')).text).toContain('Left of 50,000 50,000')
    expect((await browser.get('/login')).location).toBe('/')
  })

  test('the session cookie is limited to this site and path, hidden from scripts, and ends after eight hours', async () => {
    const { product, browser } = await start()
    const sent = await browser.logIn(product.signed(reader))
    expect(sent.headers.getSetCookie()).toEqual([
      `unit-guard=${browser.cookies.get('unit-guard')}; Max-Age=3600; Path=/; HttpOnly; SameSite=Strict`,
    ])
    const now = product.clock.now() / 1000
    const claims = claimsOf(browser.cookies.get('unit-guard'))
    expect(claims).toEqual({
      aud: 'unit-guard-pages',
      sub: 'rita',
      scope: 'read',
      budgets: [],
      jti: expect.stringMatching(/^[0-9a-z]{26}$/),
      exp: now + 3600,
    })
    await browser.logIn(product.signed({ ...reader, exp: now + 366 * 24 * 3600 }))
    expect(claimsOf(browser.cookies.get('unit-guard')).exp).toBe(now + 8 * 3600)
  })

  test('the session cookie has a name that only this host can set with https', async () => {
    const { product, browser } = await start()
    const origin = 'https://units.example'
    const sent = await browser.post('/login', { token: await product.signed(reader) }, { origin })
    expect(sent.headers.getSetCookie()).toEqual([
      `__Host-unit-guard=${browser.cookies.get('__Host-unit-guard')}; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Strict`,
    ])
    const page = await browser.get('/', { origin })
    expect([page.status, page.headers.get('strict-transport-security')]).toEqual([200, 'max-age=31536000'])
  })

  test('the session cookie has its https name also behind a proxy that ends TLS', async () => {
    const { product, browser } = await start({ env: { DASHBOARD_URL: 'https://units.example' } })
    const how = { origin: 'http://units.example', headers: { origin: 'https://units.example' } }
    const sent = await browser.post('/login', { token: await product.signed(reader) }, how)
    expect([sent.status, sent.headers.getSetCookie()[0]?.slice(0, 18)]).toEqual([303, '__Host-unit-guard='])
  })

  test.each<[string, (product: Awaited<ReturnType<typeof start>>['product']) => string | Promise<string>]>([
    ['nothing', () => ''],
    ['nonsense', () => '"><script>alert(1)</script>'],
    ['another key', ({ signed }) => signed(reader, 'another-key-0123456789abcdefghijklmnopqrstu')],
    ['a token that has ended', ({ signed, clock }) => signed({ ...reader, exp: clock.now() / 1000 - 1 })],
    ['a cookie of ours', ({ signed }) => signed({ ...reader, aud: 'unit-guard-pages', jti: 'x' })],
  ])('a login is refused with %s', async (_name, tokenOf) => {
    const { product, browser } = await start()
    const sent = await browser.logIn(tokenOf(product))
    expect([sent.status, sent.headers.getSetCookie()]).toEqual([401, []])
    expect(sent.text).toContain(wrongToken)
    expect(sent.html).not.toContain('script')
  })

  test('a login continues to the page the user wanted, but never to another site', async () => {
    const { product, browser } = await start()
    const away = await browser.get('/dashboard/updates?state=settled&budget=account')
    expect([away.status, away.location]).toEqual([
      303,
      '/login?to=%2Fdashboard%2Fupdates%3Fstate%3Dsettled%26budget%3Daccount',
    ])
    const form = await browser.get(away.location ?? '')
    expect(form.html).toContain('name="to" value="/dashboard/updates?state=settled&amp;budget=account"')
    const token = await product.signed(reader)
    const sent = await browser.post('/login', { token, to: '/dashboard/updates?state=settled&budget=account' })
    expect(sent.location).toBe('/dashboard/updates?state=settled&budget=account')
    const others = [
      '//evil.example',
      'https://evil.example',
      '/dashboard/../v3/x',
      '/\\evil',
      '/dashboard/\r\nx',
      '/logout',
    ]
    for (const to of others) expect((await browser.post('/login', { token, to })).location).toBe('/')
  })
})

describe('with a link from Slack', () => {
  async function withLink() {
    const real = createMemoryStore()
    const written: string[] = []
    const store: Store = {
      ...real,
      transact: (writes, token) => {
        written.push(JSON.stringify(writes), token)
        return real.transact(writes, token)
      },
    }
    const { product, browser } = await start({ store, slack: true, env: { DASHBOARD_URL: 'http://localhost' } })
    await listPeople(product, { U1ADA: { scopes: ['read', 'approve'] } })
    await product.deliver()
    product.slack.news()
    await product.slack.command('login')
    await product.deliver()
    const [told] = product.slack.news()
    const [, path = ''] = /<http:\/\/localhost(\/login\?code=[0-9a-z]{26})\|/.exec(JSON.stringify(told?.body)) ?? []
    return { product, browser, written, told, path }
  }

  const codeIn = (path: string) => path.replace('/login?code=', '')

  test('only the user who requested a login link sees it, and no notification, log or table contains it', async () => {
    const { product, browser, written, told, path } = await withLink()
    expect([told?.to, told?.body.response_type, told?.text]).toEqual([
      'asker',
      'ephemeral',
      'Your link to the dashboard is here. It works once, within five minutes.',
    ])
    expect(path).toMatch(/^\/login\?code=[0-9a-z]{26}$/)
    await browser.post('/login', { code: codeIn(path) })
    expect(written.filter((each) => each.includes('login#'))).toHaveLength(2)
    expect([...product.logged, ...written].filter((each) => each.includes(codeIn(path)))).toEqual([])
  })

  test('a GET never uses a login code, and the button uses it once', async () => {
    const { browser, path } = await withLink()
    for (const _preview of [1, 2, 3]) {
      const page = await browser.get(path, { headers: { 'sec-fetch-site': 'cross-site' } })
      expect([page.status, page.headers.getSetCookie()]).toEqual([200, []])
      expect(page.html).toContain('Open the dashboard')
    }
    const sent = await browser.post('/login', { code: codeIn(path) })
    expect([sent.status, sent.location]).toEqual([303, '/'])
    expect(claimsOf(browser.cookies.get('unit-guard'))).toEqual({
      aud: 'unit-guard-pages',
      sub: 'slack:U1ADA',
      jti: expect.any(String),
      exp: expect.any(Number),
    })
    expect((await browser.get('/')).text).toContain('slack:U1ADA')
    for (const again of [await browser.post('/login', { code: codeIn(path) }), await browser.get(path)]) {
      expect([again.status, again.headers.getSetCookie()]).toEqual([401, []])
      expect(again.text).toContain(wrongLink)
      expect(again.html).not.toContain('Open the dashboard')
    }
  })

  test.each(['', 'x', '0'.repeat(26), '0'.repeat(100_000), '<script>', 'login#x'])('link %.30s: 401', async (code) => {
    const { browser } = await withLink()
    const sent = await browser.post('/login', { code })
    expect(sent.status).toBe(401)
    expect(sent.html).not.toContain('<script')
  })

  test('permissions of a Slack user are looked up at each request', async () => {
    const { product, browser, path } = await withLink()
    await browser.post('/login', { code: codeIn(path) })
    await listPeople(product, { U1ADA: { scopes: ['run'] } })
    product.clock.advance(minutes(1))
    const page = await browser.get('/')
    expect(page.status).toBe(403)
    expect(page.text).toContain('slack:U1ADA needs the scope read for this, and has: run.')
    await listPeople(product, { U1ADA: { scopes: ['read'], disabled: true } })
    product.clock.advance(minutes(1))
    expect((await browser.get('/')).text).toContain('slack:U1ADA is disabled; ask an administrator.')
  })

  test('a login link is never posted to the channel, and is lost if Slack cannot show it to its user', async () => {
    const { product } = await withLink()
    product.slack.answers({ status: 404, body: 'used_url' }, { status: 200, body: 'ok' })
    await product.slack.command('login')
    await product.deliver()
    expect(product.slack.news().map(({ to }) => to)).toEqual(['asker'])
  })
})

describe('the session', () => {
  test('a session ends at its time, or when the user logs out', async () => {
    const { product, browser } = await start()
    await browser.logIn(product.signed(reader))
    product.clock.advance(hours(1))
    expect((await browser.get('/')).location).toBe('/login')
    await browser.logIn(product.signed(reader))
    const { formToken } = await browser.get('/')
    const sent = await browser.post('/logout', { form: formToken })
    expect([sent.status, sent.location, sent.headers.getSetCookie()]).toEqual([
      303,
      '/login',
      ['unit-guard=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict'],
    ])
    expect((await browser.get('/')).status).toBe(303)
  })

  test('a session outlives one rotation of the key', async () => {
    const { product, browser } = await start()
    await browser.logIn(product.signed(reader))
    product.secrets.values['unit-guard/caller-key previous'] = callerKey
    product.secrets.values['unit-guard/caller-key'] = 'canary-new-key-0123456789abcdefghijklmnopqrs'
    product.clock.advance(minutes(6))
    expect((await browser.get('/')).status).toBe(200)
  })

  test('a forged cookie, or one with a bearer token, opens no session', async () => {
    const { product, browser } = await start()
    const pages = { ...reader, aud: 'unit-guard-pages', jti: 'x' }
    const now = product.clock.now() / 1000
    const cookies = [
      '',
      'nonsense',
      await product.signed(reader),
      await product.signed(pages, 'another-key-0123456789abcdefghijklmnopqrstu'),
      await product.signed({ ...pages, exp: now - 1 }),
      await product.signed({ ...pages, sub: 'schedule:nightly' }),
      await product.signed({ ...pages, scope: undefined }),
      await product.signed({ ...pages, jti: undefined }),
    ]
    for (const cookie of cookies) {
      browser.cookies.set('unit-guard', cookie)
      expect((await browser.get('/')).location).toBe('/login')
    }
    browser.cookies.set('unit-guard', await product.signed(pages))
    expect((await browser.get('/')).status).toBe(200)
    // Only this host can set a cookie of this name, so another host cannot replace the cookie.
    expect((await browser.get('/', { origin: 'https://units.example' })).location).toBe('/login')
  })

  test('a session opens no JSON route and no run, so opening a link spends nothing', async () => {
    const { product, browser } = await start()
    await browser.logIn(product.signed({ sub: 'ada', scope: 'read run propose write approve admin', budgets: '*' }))
    const cookie = browser.cookies.get('unit-guard') ?? ''
    const paths = ['/v3/on-demand/x/run', '/v3/projects', '/updates', '/budgets', '/audit', '/nothing']
    const headers = { cookie: `unit-guard=${cookie}` }
    for (const path of paths) {
      expect((await product.api.request(path, { headers })).status).toBe(401)
      expect((await product.call('GET', path, { token: cookie })).status).toBe(401)
      expect((await browser.get(path)).status).toBe(404)
    }
    expect((await product.api.request('/updates', { method: 'POST', headers })).status).toBe(401)
    expect(product.service.requests).toEqual([])
  })

  test('a bearer token opens no page', async () => {
    const { product } = await start()
    const headers = { authorization: `Bearer ${await product.signed({ sub: 'ada', scope: 'read admin' })}` }
    expect((await product.dashboard.request('/', { headers })).status).toBe(303)
    expect((await product.dashboard.request('/dashboard/updates', { headers })).status).toBe(303)
  })

  test('our own page repeats the request of a link on another site, because that request has no cookie', async () => {
    const { product, browser } = await start()
    const path = '/dashboard/updates?project=%3Cb%3E%22'
    const headers = { 'sec-fetch-site': 'cross-site' }
    const first = await browser.get(path, { headers })
    expect(first.status).toBe(200)
    expect(first.html).toContain('<meta http-equiv="refresh" content="0; url=/dashboard/updates?project=%3Cb%3E%22"/>')
    expect((await browser.get(path, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(303)
    await browser.logIn(product.signed(reader))
    expect((await browser.get(path, { headers })).text).toContain('Updates')
  })

  test('no one can log in while the key cannot be read', async () => {
    const { product, browser } = await start({ secrets: {} })
    const sent = await browser.logIn(product.signed(reader))
    expect(sent.status).toBe(503)
    expect(sent.text).toContain('A secret that this needs could not be read')
  })
})

describe('forms', () => {
  async function inside() {
    const { product, browser } = await start()
    await browser.logIn(product.signed({ sub: 'ada', scope: 'read approve' }))
    return { product, browser, formToken: (await browser.get('/')).formToken }
  }
  const ended = 'Your session ended, so nothing was done. Log in, then send the form again.'
  const elsewhere = 'This form was sent by another site, so nothing was done.'
  const otherSession =
    'This form belongs to another session, so nothing was done. Go back, load the page again, and send it once more.'

  test.each<[string, Record<string, string | undefined>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another host of this site', { 'sec-fetch-site': 'same-site', origin: 'http://other.localhost' }],
    ['an unknown origin, as a browser says', { 'sec-fetch-site': 'none', origin: 'null' }],
    ['another origin, by an old browser', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    ['an unknown origin, by an old browser', { 'sec-fetch-site': undefined, origin: 'null' }],
  ])('forms from %s are refused, also for login and logout', async (_name, headers) => {
    const { product, browser, formToken } = await inside()
    const token = await product.signed(reader)
    for (const [path, fields] of [
      ['/login', { token }],
      ['/logout', { form: formToken }],
      ['/dashboard/decide', { form: formToken, do: 'approve', id: 'upd_x', from: 'inbox' }],
    ] as const) {
      const sent = await browser.post(path, fields, { headers })
      expect([sent.status, sent.headers.getSetCookie()]).toEqual([403, []])
      expect(sent.text).toContain(elsewhere)
    }
  })

  test('forms must have the fields of their page, from the same session', async () => {
    const { product, browser, formToken } = await inside()
    const other = openBrowser(product)
    await other.logIn(product.signed({ sub: 'ada', scope: 'read approve' }))
    const { formToken: foreign } = await other.get('/')
    expect(foreign).not.toBe(formToken)
    for (const form of ['', 'x', foreign, `${formToken}x`, formToken.slice(1)]) {
      for (const path of ['/logout', '/dashboard/decide']) {
        const sent = await browser.post(path, { form, do: 'approve', id: 'upd_x', from: 'inbox' })
        expect([path, sent.status]).toEqual([path, 403])
        expect(sent.text).toContain(otherSession)
      }
    }
    expect((await browser.post('/logout', {})).status).toBe(403)
    expect((await browser.post('/logout', { form: formToken }, { headers: { origin: ours } })).status).toBe(303)
  })

  test('forms must have the content type of a form and a limited size', async () => {
    const { browser, formToken } = await inside()
    const json = { headers: { 'content-type': 'application/json' } }
    expect((await browser.post('/dashboard/decide', { form: formToken }, json)).status).toBe(415)
    expect((await browser.post('/dashboard/decide', { form: formToken, reason: 'x'.repeat(300_000) })).status).toBe(413)
  })

  test('forms without a session lead to the login, which says that nothing was done', async () => {
    const { product, browser, formToken } = await inside()
    product.clock.advance(hours(9))
    const sent = await browser.post('/dashboard/decide', { form: formToken, do: 'approve' })
    expect([sent.status, sent.location]).toEqual([303, '/login?ended'])
    const login = await browser.get('/login?ended')
    expect([login.status, login.text.includes(ended)]).toEqual([200, true])
    expect((await browser.get('/login')).text).not.toContain(ended)
  })
})
