import { describe, expect, test } from 'vitest'
import { json, startProduct } from '../../support/product.ts'

test('an estimate of several projects shows the problem of each, and null if the service gave no estimate', async () => {
  const product = await startProduct({
    units: { dear: 50 },
    service: ({ url }) => (url.includes('/typo/') ? json({}, 404) : undefined),
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 100 }], perUpdate: 45 } })
  const query = 'kind=ranking&budget=seo&project=cheap&project=dear&project=typo'
  const { status, body } = await product.call('GET', `/estimates?${query}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ units: 90, allowed: false, problem: { type: '/problems/over-update-limit' } })
  expect(body.projects).toEqual([
    { project: 'cheap', units: 40 },
    {
      project: 'dear',
      units: 50,
      problem: expect.objectContaining({ type: '/problems/over-update-limit', units: 50 }),
    },
    {
      project: 'typo',
      units: null,
      problem: expect.objectContaining({ type: '/problems/service-refused', serviceStatus: 404 }),
    },
  ])
})

test('an estimate that prices no project is answered with the problem', async () => {
  const product = await startProduct({ service: () => json({}, 404) })
  const { status, body } = await product.call('GET', '/estimates?kind=ranking&project=a&project=b')
  expect([status, body.type, body.detail.includes('update of a')]).toEqual([502, '/problems/service-refused', true])
})

describe('with explain=true', () => {
  const estimate = '/estimates?kind=ranking&project=shop'
  const explained = `${estimate}&explain=true`
  const month = (units: number) => ({ limits: [{ window: 'month', units }] })

  async function start(options: Parameters<typeof startProduct>[0] = {}) {
    const product = await startProduct(options)
    await product.call('PUT', '/budgets/acme', { body: { ...month(30), projects: [{ name: 'shop' }] } })
    const rowsOf = async (path: string, token?: Promise<string>) => {
      const { status, body } = await product.call('GET', path, token ? { token } : {})
      const rows: readonly { check: string; verdict: string; figure: string }[] = body.projects?.[0].checks ?? []
      const notPassed = rows.filter(({ verdict }) => verdict !== 'passes')
      return { status, body, rows, notPassed: notPassed.map(({ check, verdict }) => `${check} ${verdict}`) }
    }
    return { ...product, rowsOf }
  }

  test('explain=true shows every check with its figure, and requests only the free estimate', async () => {
    const { call, rowsOf, service, audit } = await start()
    const { body, rows } = await rowsOf(explained)
    expect(rows.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
      ...[
        'same-work',
        'caller',
        'name',
        'permission',
        'payer',
        'rules',
        'used-up',
        'estimate',
        'one-update',
        'fresh',
      ].map((check) => `${check} passes`),
      'counter refuses',
      'counter passes',
      'approval passes',
    ])
    expect(rows.at(-3)).toEqual({
      check: 'counter',
      verdict: 'refuses',
      budget: 'acme',
      window: 'month',
      limit: 30,
      available: 30,
      needed: 40,
      figure: 'acme has 30 of 30 units left this month, this needs 40',
    })
    expect(body).toMatchObject({ allowed: false, problem: { type: '/problems/over-budget' } })
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v3/projects/shop/dates',
      'GET /v3/on-demand/shop/estimate',
    ])
    expect((await call('GET', '/updates')).body.updates).toEqual([])
    expect(await audit()).toBe(true)
    expect((await call('GET', estimate)).body.projects[0]).not.toHaveProperty('checks')
  })

  test('explain=true shows the checks and figures although the service gives no estimate', async () => {
    const { rowsOf } = await start({ service: () => json({}, 503) })
    const { status, body, notPassed } = await rowsOf(explained)
    expect([status, body.allowed, body.problem.type]).toEqual([200, false, '/problems/service-unreachable'])
    expect(notPassed).toEqual(['estimate refuses', 'counter unknown', 'counter unknown'])
  })

  test('explain=true applies the scopes of the requesting caller', async () => {
    const { rowsOf, signed } = await start()
    const { notPassed } = await rowsOf(explained, signed({ sub: 'rita', scope: 'read' }))
    expect(notPassed).toEqual(['permission refuses', 'counter refuses', 'approval asks'])
  })

  test('an estimate for another caller applies that caller’s entry in the list', async () => {
    const { call, rowsOf } = await start()
    const caller = { scopes: ['propose'], budgets: ['acme'], perUpdate: 35, ...month(90) }
    await call('PUT', '/callers/bob', { body: caller })
    const { rows, notPassed } = await rowsOf(`${explained}&as=bob`)
    expect(notPassed).toEqual(['one-update refuses', 'counter refuses', 'approval asks'])
    expect(rows.find(({ check }) => check === 'caller')?.figure).toBe(
      'bob is not disabled; its token is not known here, so only the list of callers counts',
    )
    expect((await rowsOf(`${explained}&as=slack:U1`)).notPassed).toContain('permission refuses')
    expect((await rowsOf(`${explained}&as=eve`)).notPassed).toEqual(['counter refuses'])
    await call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
    const unseen = await call('GET', '/estimates?kind=ranking&project=other&explain=true&as=mia')
    expect([unseen.status, unseen.body.detail]).toEqual([
      404,
      'mia is told: There is no project other in the budgets that you read.',
    ])
  })

  test.each([
    ['as without explain=true', `${estimate}&as=bob`, 'read run admin', 400],
    ['another value of explain', `${estimate}&explain=false`, 'read run admin', 400],
    ['as without the scope admin', `${explained}&as=bob`, 'read run', 403],
  ])('an explained estimate refuses %s', async (_name, path, scope, status) => {
    const { rowsOf, signed } = await start()
    expect((await rowsOf(path, signed({ sub: 'ada', scope, budgets: '*' }))).status).toBe(status)
  })

  test('an administrator who reads only some budgets may not estimate for another caller', async () => {
    const { call, rowsOf, signed } = await start()
    await call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
    const token = signed({ sub: 'mia', scope: 'read run admin', budgets: '*' })
    expect((await rowsOf(`${explained}&as=bob`, token)).status).toBe(403)
    const { rows } = await rowsOf(explained, token)
    expect(rows.filter(({ check }) => check === 'counter')).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('account')
  })

  test('explain=true shows a reader of some budgets no more of a budget above than a refusal shows', async () => {
    const { call, rowsOf, signed } = await start({ units: { shop: 4 } })
    await call('PUT', '/budgets/over', { body: { ...month(3), approvalAbove: 1, perUpdate: 50 } })
    await call('PUT', '/budgets/acme', { body: { parent: 'over', ...month(30), projects: [{ name: 'shop' }] } })
    await call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
    const { rows } = await rowsOf(explained, signed({ sub: 'mia', scope: 'read run', budgets: '*' }))
    expect(rows.filter(({ check }) => ['rules', 'one-update', 'counter', 'approval'].includes(check))).toEqual([
      { check: 'rules', verdict: 'passes', figure: 'not frozen, and open to this kind of update: acme' },
      { check: 'one-update', verdict: 'passes', figure: 'limits: none' },
      expect.objectContaining({ budget: 'acme', verdict: 'passes' }),
      { check: 'counter', verdict: 'refuses', figure: 'a budget above is 1 unit short' },
      { check: 'approval', verdict: 'asks', figure: 'a budget above wants approval' },
    ])
  })
})
