import { expect, test } from 'vitest'
import { appAt } from '../../shared/api/paths.ts'
import { okta } from '../support/infra/deployment.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/** Routes that the API redirects to the dashboard, or that both have. */
const ofBoth = ['/docs', '/problems/*', '/', '/login', '/dashboard', '/dashboard/*', '/openapi.json']

test('each route reaches its own app if all apps share one address', async () => {
  const env = { LOGIN_ISSUER: okta.name, LOGIN_CLIENT_ID: '0oa1login', DASHBOARD_URL: 'https://units.example' }
  const product = await startProduct({ store: createMemoryStore(), issuers: [okta], env })
  const { api, dashboard, mcp, slackApp: slack } = product.startProcess()
  const apps = Object.entries({ api, dashboard, mcp, slack })
  const routes = apps.flatMap(([name, app]) =>
    [...new Set(app.routes.map(({ path }) => path))].map((path) => [name, path]),
  )
  const own = routes.filter(([, path = '']) => path !== '/*' && !ofBoth.includes(path))
  expect(own.filter(([name, path = '']) => appAt(path) !== name)).toEqual([])
  expect(own.length).toBeGreaterThan(60)
  const pages = ofBoth.filter((path) => path !== '/openapi.json')
  expect(pages.map((path) => appAt(path))).toEqual(pages.map(() => 'dashboard'))
  expect(appAt('/openapi.json')).toBe('api')
})

test.each([
  ['/v3/on-demand/acme/run', 'api'],
  ['/updates/upd_1', 'api'],
  ['/dashboards', 'api'],
  ['/login/x', 'api'],
  ['/slack', 'api'],
  ['/mcp/x', 'api'],
  ['/slack/commands', 'slack'],
  ['/.well-known/oauth-protected-resource/mcp', 'mcp'],
])('%s is answered by %s', (path, app) => {
  expect(appAt(path)).toBe(app)
})
