import { describe, expect, test } from 'vitest'
import { logins } from '../../shared/auth/logins.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { startProduct } from '../support/product.ts'
import { listPeople } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Links in Slack and problem types lead to the host of the API, which redirects browsers to the dashboard.

const DASHBOARD_URL = 'https://units.example'
const start = (env: Record<string, string> = { DASHBOARD_URL }) => startProduct({ store: createMemoryStore(), env })

describe('a page that is requested from the API’s host', () => {
  test.each([
    '/',
    '/login?code=abc_DEF-123',
    '/docs',
    '/problems/over-budget',
    '/dashboard',
    '/dashboard/updates?state=in-doubt&project=caf%C3%A9%20%26%20co',
    '/dashboard/updates/upd_1',
  ])('%s redirects to the same path and query of the dashboard', async (path) => {
    const product = await start()
    for (const method of ['GET', 'HEAD']) {
      const answer = await product.api.request(path, { method })
      expect([answer.status, answer.headers.get('location')]).toEqual([308, `${DASHBOARD_URL}${path}`])
      // A browser that cached the redirect would use it after the dashboard has moved.
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect(product.secrets.asked).toEqual([])
    expect(product.service.requests).toEqual([])
  })

  test.each([
    '/dashboard//evil.example/x',
    '/dashboard/..//evil.example',
    '/dashboard/%2e%2e/%2fevil.example',
    '/dashboard/\\evil.example',
    '/dashboard/@evil.example',
    '/problems/https://evil.example',
  ])('%s never redirects to another host', async (path) => {
    const product = await start()
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
    // Passes the raw path, because a request made here would be normalized.
    const answer = await product.api.request('/', { headers }, { event: { rawPath: path, rawQueryString: '' } })
    const location = answer.headers.get('location') ?? ''
    expect([answer.status, location.startsWith(`${DASHBOARD_URL}/`)]).toEqual([308, true])
    expect(new URL(location).origin).toBe(DASHBOARD_URL)
  })

  test.each(['//evil.example', '//evil.example/dashboard', '/\\evil.example', '/dashboards', '/login/x'])(
    '%s does not redirect',
    async (path) => {
      const product = await start()
      const answer = await product.api.request(`http://localhost${path}`)
      expect([answer.status, answer.headers.get('location')]).toEqual([401, null])
    },
  )

  test('an unknown address leads browsers to the dashboard’s page, and programs to JSON', async () => {
    const product = await start()
    const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
      product.api.request(path, { method, headers })
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    for (const path of ['/nix', '//evil.example', '/nix/@evil.example']) {
      const answer = await ask(path, { accept })
      const to = answer.headers.get('location') ?? ''
      expect([answer.status, new URL(to).origin, to.startsWith(`${DASHBOARD_URL}/dashboard/`)]).toEqual([
        303,
        DASHBOARD_URL,
        true,
      ])
    }
    for (const [path, headers, method] of [
      ['/nix', { accept: '*/*' }, 'GET'],
      ['/nix', { accept }, 'POST'],
      ['/nix', { accept, authorization: 'Bearer wrong' }, 'GET'],
      ['/budgets', { accept }, 'GET'],
      ['/budgets/acme', { accept }, 'GET'],
      ['/v3/projects', { accept }, 'GET'],
    ] as const) {
      const answer = await ask(path, headers, method)
      expect([path, method, answer.status]).toEqual([path, method, 401])
    }
    const browser = openBrowser(product)
    await browser.post(
      '/login',
      { token: await product.signed({ sub: 'ada', scope: 'read' }) },
      { origin: DASHBOARD_URL },
    )
    const page = await browser.get('/dashboard/nix', { origin: DASHBOARD_URL })
    expect([page.status, page.html.includes('<nav aria-label="Dashboard">')]).toEqual([404, true])
  })

  test('a form sent to the API is redirected, and the dashboard refuses forms of another origin', async () => {
    const product = await start()
    const body = new URLSearchParams({ token: 'x' })
    const answer = await product.api.request('/login', { method: 'POST', body })
    expect([answer.status, answer.headers.get('location')]).toEqual([308, `${DASHBOARD_URL}/login`])
    const sent = await openBrowser(product).post(
      '/login',
      { token: 'x' },
      { headers: { 'sec-fetch-site': 'cross-site' } },
    )
    expect(sent.status).toBe(403)
  })

  test('the API answers 404 if no dashboard is configured', async () => {
    const product = await start({})
    const answer = await product.call('GET', '/dashboard/updates', { token: null })
    expect([answer.status, answer.body.detail]).toEqual([404, 'There is no dashboard.'])
  })
})

test('a login link with the host of the API works through the redirect to the dashboard', async () => {
  const product = await startProduct({ store: createMemoryStore(), env: { DASHBOARD_URL }, slack: true })
  await listPeople(product, { U1ADA: { scopes: ['read'] } })
  const code = await product.guard.ledger.item(logins).issue('slack:U1ADA', product.clock.now())
  const way = await product.api.request(`/login?code=${code}`)
  const { pathname, search } = new URL(way.headers.get('location') ?? '')
  const browser = openBrowser(product)
  const page = await browser.get(`${pathname}${search}`, { origin: DASHBOARD_URL })
  const [, filledIn = ''] = /name="code" value="([^"]+)"/.exec(page.html) ?? []
  const sent = await browser.post('/login', { code: filledIn }, { origin: DASHBOARD_URL })
  expect([sent.status, sent.location]).toEqual([303, '/'])
  expect((await browser.get('/', { origin: DASHBOARD_URL })).text).toContain('Overview')
})
