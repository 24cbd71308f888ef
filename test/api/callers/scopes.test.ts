import { describe, expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** Any of these scopes is enough. `null`: the route needs no token. */
const scopesOf: Readonly<Record<string, readonly string[] | null>> = {
  'GET /health': null,
  'GET /ready': null,
  'GET /docs': null,
  'GET /openapi.json': null,
  'GET /problems/*': null,
  'GET /estimates': ['read'],
  'GET /updates': ['read'],
  'POST /updates': ['run', 'propose'],
  'GET /updates/:id': ['read'],
  'POST /updates/:id/approve': ['approve'],
  'POST /updates/:id/reject': ['approve'],
  'POST /updates/:id/cancel': ['run', 'propose', 'admin'],
  'POST /updates/:id/resolve': ['approve'],
  'POST /updates/:id/delivery': ['approve', 'admin'],
  'POST /updates/resolve': ['approve'],
  'POST /updates/cancel': ['run', 'propose', 'admin'],
  'GET /budgets': ['read'],
  'PUT /budgets': ['admin'],
  'GET /budgets/:name': ['read'],
  'PUT /budgets/:name': ['admin'],
  'DELETE /budgets/:name': ['admin'],
  'POST /budgets/:name/freeze': ['admin'],
  'POST /budgets/:name/unfreeze': ['admin'],
  'GET /budgets/:name/entries': ['read'],
  'POST /budgets/:name/entries': ['admin'],
  'POST /budgets/account/reconcile': ['admin'],
  'GET /statements': ['read'],
  'GET /status': ['read'],
  'GET /audit': ['read'],
  'GET /changes': ['read'],
  'GET /callers': ['admin'],
  'GET /callers/:sub': ['admin'],
  'PUT /callers/:sub': ['admin'],
  'DELETE /callers/:sub': ['admin'],
  'GET /plans': ['read'],
  'POST /plans/:name/pause': ['admin'],
  'POST /plans/:name/resume': ['admin'],
  'POST /plans/:name/run': ['run'],
  'GET /forecast': ['read'],
}
const all = ['read', 'run', 'propose', 'write', 'approve', 'admin']
const guarded = Object.entries(scopesOf).flatMap(([route, scopes]) => (scopes ? [[route, scopes] as const] : []))

const start = () => startProduct({ store: createMemoryStore() })
type Product = Awaited<ReturnType<typeof start>>

/** Sends a name that does not exist, with a valid body if the scope is checked after the body. */
function ask(product: Product, route: string, token: Promise<string> | null) {
  const [method = '', path = ''] = route.split(' ')
  const body = route === 'POST /updates' ? { kind: 'ranking', project: 'acme' } : {}
  const target = path.replace(/:\w+/, 'nothing').replace('*', 'forbidden')
  return product.call(method, target, { token, ...(method !== 'GET' && { body }) })
}

describe('the scopes of every route', () => {
  test('the table of scopes lists each route of the API and no other', async () => {
    const { api } = await start()
    const routes = api.routes
      // Middleware, 405 answers and the redirects to the dashboard take any method.
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace('/problems/:slug', '/problems/*')}`)
    expect([...new Set(routes)].toSorted()).toEqual(Object.keys(scopesOf).toSorted())
  })

  test('routes answer without a token only if they need none', async () => {
    const product = await start()
    const open = []
    for (const route of Object.keys(scopesOf)) if ((await ask(product, route, null)).status !== 401) open.push(route)
    expect(open).toEqual(['GET /health', 'GET /ready', 'GET /docs', 'GET /openapi.json', 'GET /problems/*'])
  })

  test.each(guarded)('%s accepts any of the scopes %j and no other', async (route, scopes) => {
    const product = await start()
    const signed = (held: readonly string[]) => product.signed({ sub: 'eve', scope: held.join(' '), budgets: '*' })
    const others = all.filter((scope) => !scopes.includes(scope))
    const barred = await ask(product, route, signed(others))
    expect(barred.status).toBe(403)
    expect(barred.body).toEqual({
      type: '/problems/forbidden',
      title: 'This caller may not do that',
      status: 403,
      detail: `eve needs the scope ${scopes.join(' or ')} for this, and has: ${others.join(' ')}.`,
      requestId: expect.stringMatching(/^[0-9a-z]{26}$/),
    })
    for (const scope of scopes) expect([401, 403]).not.toContain((await ask(product, route, signed([scope]))).status)
  })

  test.each(guarded)('%s refuses a scope of the token that the list of callers lacks', async (route, scopes) => {
    const product = await start()
    const others = all.filter((scope) => !scopes.includes(scope))
    await product.call('PUT', '/callers/eve', { body: { scopes: others } })
    const token = product.signed({ sub: 'eve', scope: all.join(' '), budgets: '*' })
    expect((await ask(product, route, token)).status).toBe(403)
    await product.call('PUT', '/callers/eve', { body: { disabled: true } })
    expect((await ask(product, route, token)).body.detail).toBe('eve is disabled; ask an administrator.')
  })
})
