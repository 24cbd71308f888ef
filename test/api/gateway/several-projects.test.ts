import { describe, expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const start = (separator?: string) =>
  startProduct({
    store: createMemoryStore(),
    ...(separator !== undefined && { env: { PROJECT_SEPARATOR: separator } }),
  })

type Product = Awaited<ReturnType<typeof start>>
const runs = (product: Product) => product.seen('run').map(({ url }) => url)

describe('several projects in one run of the gateway', () => {
  test.each([
    ['raw', '/v3/on-demand/acme,globex/run', ['acme', 'globex']],
    ['encoded', '/v3/on-demand/acme%2Cglobex/run', ['acme', 'globex']],
    ['encoded in small letters', '/v3/on-demand/acme%2cglobex/run', ['acme', 'globex']],
    ['each in its own bytes', '/v3/on-demand/caf%c3%A9,my%20shop/run', ['caf%c3%A9', 'my%20shop']],
  ])('each project of a gateway run becomes an update: %s', async (_how, path, segments) => {
    const product = await start(',')
    const { status, body, headers } = await product.call('GET', path)
    expect([status, body.updates.map(({ state, units }: { state: string; units: object }) => [state, units])]).toEqual([
      200,
      segments.map(() => ['settled', { estimated: 40, held: 40, charged: 40 }]),
    ])
    const ids = body.updates.map(({ id }: { id: string }) => id)
    expect(headers.get('unit-guard-update')).toBe(ids.join(', '))
    expect(runs(product).toSorted()).toEqual(segments.map((segment) => `/v3/on-demand/${segment}/run`).toSorted())
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0 })
  })

  const figuresIn = (headers: Headers) =>
    ['charged', 'charged-now', 'available'].map((name) => headers.get(`unit-guard-units-${name}`))

  test('headers of a run of several projects have the sums of units charged', async () => {
    const product = await start(',')
    await product.call('GET', '/v3/on-demand/acme/run')
    const some = await product.call('GET', '/v3/on-demand/acme,globex/run', { headers: { 'idempotency-key': 'k' } })
    expect(figuresIn(some.headers)).toEqual(['80', '40', '49920'])
    const again = await product.call('GET', '/v3/on-demand/acme,globex/run', { headers: { 'idempotency-key': 'k' } })
    expect(figuresIn(again.headers)).toEqual(['80', '0', '49920'])
  })

  test('a run with several payers has no header of available units', async () => {
    const product = await start(',')
    const projects = [{ name: 'acme' }]
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 700 }], projects } })
    const { headers } = await product.call('GET', '/v3/on-demand/acme,globex/run')
    expect(figuresIn(headers)).toEqual(['80', '80', null])
  })

  test('a run of several projects uses the configured separator', async () => {
    const product = await start(';')
    expect((await product.call('GET', '/v3/keyword-difficulty/1;2%3B3/run?depth=2')).status).toBe(200)
    expect(runs(product).toSorted()).toEqual([1, 2, 3].map((id) => `/v3/keyword-difficulty/${id}/run?depth=2`))
    expect((await product.call('GET', '/v3/keyword-difficulty/1,2/run')).status).toBe(400)
  })

  test('a run of several projects is one request with one key, and runs all of them or none', async () => {
    const product = await start(',')
    const headers = { 'idempotency-key': 'k' }
    const first = await product.call('GET', '/v3/on-demand/acme,globex/run', { headers })
    const again = await product.call('GET', '/v3/on-demand/acme,globex/run', { headers })
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([200, first.body, 'true'])
    expect((await product.call('GET', '/v3/on-demand/globex,acme/run', { headers })).status).toBe(422)
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 70 }] } })
    const short = await product.call('GET', '/v3/on-demand/x,y/run', { headers: { 'unit-guard-budget': 'seo' } })
    expect([short.status, short.body.type]).toEqual([402, '/problems/over-budget'])
    expect(runs(product)).toHaveLength(2)
  })

  test('a run of several projects within the cool-down gets the earlier updates', async () => {
    const product = await start(',')
    const { body } = await product.call('GET', '/v3/on-demand/acme,globex/run')
    const again = await product.call('GET', '/v3/on-demand/ACME,globex/run')
    const ids = body.updates.map(({ id }: { id: string }) => id)
    expect([again.status, again.headers.get('unit-guard-replayed')]).toEqual([200, ids.join(', ')])
    expect(runs(product)).toHaveLength(2)
  })

  test('a run of several projects with one in doubt is answered with 202', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      env: { PROJECT_SEPARATOR: ',' },
      service: ({ url }) => (url.includes('globex/run') ? { status: 500, body: '' } : undefined),
    })
    const { status, body, headers } = await product.call('GET', '/v3/on-demand/acme,globex/run')
    expect([status, body.updates.map(({ state }: { state: string }) => state)]).toEqual([202, ['settled', 'in-doubt']])
    expect(figuresIn(headers)).toEqual(['40', '40', '49920'])
  })

  test.each([
    ['/v3/on-demand/p,p/run', 'p is named twice.'],
    ['/v3/on-demand/p,%50/run', 'p and P are the same project; name it once.'],
    ['/v3/on-demand/acme,77/run', 'acme and 77 are the same project; name it once.'],
    ['/v3/on-demand/p,/run', 'names an empty project'],
    ['/v3/on-demand/,p/run', 'names an empty project'],
    ['/v3/on-demand/p,,q/run', 'names an empty project'],
    ['/v3/on-demand/p,%252Cq/run', '%2Cq names several projects'],
    [
      `/v3/on-demand/${Array.from({ length: 21 }, (_, index) => `p${index}`).join(',')}/run`,
      'names more than 20 projects',
    ],
    ['/v3/on-demand/p,%EF%BC%8Cq/run', '，q names several projects'],
  ])('a run of several projects is refused: %s', async (path, message) => {
    const product = await start(',')
    const projects = [{ name: 'acme', id: '77' }]
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 700 }], projects } })
    const { status, body } = await product.call('GET', path)
    expect([status, body.type]).toEqual([400, '/problems/invalid-request'])
    expect(body.detail).toContain(message)
    // Only the change of the budget asked the service, for its projects.
    expect(product.service.requests.map(({ url }) => url)).toEqual(['/v3/projects'])
    expect((await product.call('GET', '/updates')).body.updates).toEqual([])
  })
})

describe('without a configured separator of projects', () => {
  test.each([
    'acme,acme',
    'acme,globex',
    'acme%2Cglobex',
    'acme%252Cglobex',
    'acme%EF%BC%8Cglobex',
    'acme+shop',
    'acme;v=1',
  ])('without a separator a run of %s is refused while reads pass unchanged', async (segment) => {
    const product = await start()
    const { status, body } = await product.call('GET', `/v3/on-demand/${segment}/run`)
    expect([status, body.type]).toEqual([400, '/problems/invalid-request'])
    expect(product.service.requests).toEqual([])
    const estimate = await product.call('GET', `/v3/on-demand/${segment}/estimate`)
    expect(estimate.status).toBe(200)
    expect(product.service.requests.map(({ url }) => url)).toEqual([`/v3/on-demand/${segment}/estimate`])
  })

  test('the refusal of several projects names the setting', async () => {
    const product = await start()
    expect((await product.call('GET', '/v3/on-demand/p,q/run')).body.detail).toContain('set PROJECT_SEPARATOR')
  })

  test('several projects in bodies and estimates are refused without a separator', async () => {
    const product = await start()
    for (const project of ['p,p,p', 'p%2Cq', 'x/../acme']) {
      const asked = await product.call('POST', '/updates', { body: { kind: 'ranking', project } })
      expect([asked.status, asked.body.type]).toEqual([400, '/problems/invalid-request'])
      const path = `/estimates?kind=ranking&project=${encodeURIComponent(project)}`
      expect((await product.call('GET', path)).status).toBe(400)
    }
    expect(product.service.requests).toEqual([])
  })
})
