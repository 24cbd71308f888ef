import { describe, expect, test } from 'vitest'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const units = { small: 30, middle: 50, large: 90 }
const projects = ['large', 'middle', 'small']
const isRun = (url: string) => new URL(url, 'http://x').pathname.endsWith('/run')

async function withRoom(month: number, service?: Parameters<typeof startProduct>[0]) {
  const product = await startProduct({ store: createMemoryStore(), stream: false, units, ...service })
  await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: month }] } })
  return product
}

const states = (body: { updates: { project: string; state: string }[] }) =>
  body.updates.map(({ project, state }) => `${project} ${state}`)

describe('several projects in one request', () => {
  test('several projects that fit together all run, each as an update of its own, in order', async () => {
    const product = await withRoom(170)
    const { status, body } = await product.update({ kind: 'ranking', projects, budget: 'acme' })
    expect(status).toBe(201)
    expect(states(body)).toEqual(['large settled', 'middle settled', 'small settled'])
    expect(await product.figures('acme')).toMatchObject({ available: 0, spent: 170 })
    expect(await product.audit()).toBe(true)
  })

  test.each([
    ['everything', {}],
    ['one budget', { readsBudgets: ['acme'] }],
  ])('a ledger that fails after the run: the answer says what ran, to a caller who reads %s', async (_, listed) => {
    const real = createMemoryStore()
    let fails = (_pk: string) => false
    const get: Store['get'] = async (keys) => {
      if (keys.some(({ pk }) => fails(pk))) throw new LedgerUnavailable('away')
      return real.get(keys)
    }
    const product = await startProduct({ store: { ...real, get }, stream: false, units })
    const limits = [{ window: 'month', units: 170 }]
    const owned = projects.map((name) => ({ name }))
    await product.call('PUT', '/budgets/acme', { body: { limits, projects: owned } })
    await product.call('PUT', '/callers/mia', { body: listed })
    const token = product.signed({ sub: 'mia', scope: 'read run', budgets: ['acme'] })
    const earlier = (await product.update({ kind: 'ranking', project: 'large' }, { token })).body.updates[0].id
    fails = (pk) => pk === `update#${earlier}` && product.seen('run').length > 1
    const { status, body } = await product.update({ kind: 'ranking', projects: ['large', 'small'] }, { token })
    expect([status, states(body)]).toEqual([201, ['large refused', 'small settled']])
    fails = () => false
    expect(await product.figures('acme')).toMatchObject({ spent: 120 })
  })

  test('refuse: no update is admitted unless the sum fits, and the sentence says so', async () => {
    const product = await withRoom(169)
    const { status, body } = await product.update({ kind: 'ranking', projects, budget: 'acme' })
    expect(status).toBe(402)
    expect(body).toMatchObject({
      type: '/problems/over-budget',
      detail:
        'acme has 169 of 169 units left this month and these 3 updates need 170; resets 1 Dec 2026 00:00 UTC; ask for 1 more.',
      units: 170,
      short: 1,
    })
    expect(states(body)).toEqual(['large refused', 'middle refused', 'small refused'])
    expect(product.seen('run')).toEqual([])
    expect(await product.figures('acme')).toMatchObject({ available: 169, held: 0 })
  })

  test('refuse: one update that needs more than any account has stops all, before anything is summed', async () => {
    const most = Number.MAX_SAFE_INTEGER
    const product = await startProduct({ store: createMemoryStore(), units: { a: 40, b: most, c: most } })
    const { status, body } = await product.update({ kind: 'ranking', projects: ['a', 'b', 'c'] })
    expect([status, body.type, body.detail]).toEqual([
      402,
      '/problems/over-update-limit',
      'The update of b needs 9,007,199,254,740,991 units, more than any account has; the estimate is wrong, or read from the wrong place.',
    ])
    expect(states(body)).toEqual(['a refused', 'b refused', 'c refused'])
    expect(product.seen('run')).toEqual([])
  })

  test('refuse: sums are taken for each budget, the owners’ own ones included', async () => {
    const product = await withRoom(1000)
    await product.call('PUT', '/budgets/client', {
      body: {
        parent: 'acme',
        limits: [{ window: 'month', units: 79 }],
        projects: [{ name: 'middle' }, { name: 'small' }],
      },
    })
    const { status, body } = await product.update({ kind: 'ranking', projects })
    expect(status).toBe(402)
    expect(body.budgets).toMatchObject([{ budget: 'client', short: 1 }])
    expect(product.seen('run')).toEqual([])
  })

  test('fit: updates are taken in order, and what no longer fits is refused', async () => {
    const product = await withRoom(125)
    const { status, body } = await product.update({ kind: 'ranking', projects, budget: 'acme', whenShort: 'fit' })
    expect(status).toBe(201)
    expect(states(body)).toEqual(['large settled', 'middle refused', 'small settled'])
    expect(body.updates[1].problem).toMatchObject({
      type: '/problems/over-budget',
      detail:
        'acme has 35 of 125 units left this month and this needs 50; resets 1 Dec 2026 00:00 UTC; ask for 15 more.',
    })
    expect(await product.figures('acme')).toMatchObject({ available: 5, spent: 120 })
    expect(await product.audit()).toBe(true)
  })

  test('more updates than the process can run at once still all run', async () => {
    const product = await withRoom(10_000)
    const twenty = Array.from({ length: 20 }, (_, index) => `project-${index}`)
    const { status } = await product.update({ kind: 'ranking', projects: twenty, budget: 'acme' })
    expect(status).toBe(201)
    expect(product.seen('run')).toHaveLength(20)
    expect(await product.figures('acme')).toMatchObject({ spent: 800, held: 0 })
  })

  test('the status of several updates is the first that fits of 202, 201, 200, 502, 409, 402', async () => {
    const product = await withRoom(10_000, {
      service: ({ url }) => {
        if (!isRun(url)) return undefined
        return url.includes('doubt') ? { status: 500 } : url.includes('released') ? { status: 404 } : undefined
      },
    })
    const ask = (...names: string[]) =>
      product.update({ kind: 'ranking', projects: names, budget: 'acme', maxUnits: 45, whenShort: 'fit' })
    await ask('done')
    await ask('doubt')
    expect((await ask('doubt-2', 'new-1', 'done', 'released-1', 'doubt', 'large')).status).toBe(202)
    expect((await ask('new-2', 'done', 'released-2', 'doubt', 'large')).status).toBe(201)
    const earlier = await ask('done', 'released-3', 'doubt', 'large')
    expect(earlier.status).toBe(200)
    expect(states(earlier.body)).toEqual(['done settled', 'released-3 released', 'doubt refused', 'large refused'])
    expect((await ask('released-4', 'doubt', 'large')).status).toBe(502)
    expect((await ask('doubt', 'large')).body).toMatchObject({ type: '/problems/duplicate-work', status: 409 })
    expect((await ask('large')).body).toMatchObject({ type: '/problems/over-max-units', status: 402 })
    expect(await product.audit()).toBe(true)
  })

  test('an estimate that cannot be read stops all with refuse, and only its own with fit', async () => {
    let isDown = true
    const product = await withRoom(10_000, {
      service: ({ url }) => (isDown && url.includes('/middle/estimate') ? json({ nothing: true }) : undefined),
    })
    const key = { headers: { 'idempotency-key': 'batch' } }
    const refuse = await product.update({ kind: 'ranking', projects, budget: 'acme' }, key)
    expect(refuse.status).toBe(502)
    expect(refuse.body).toMatchObject({ type: '/problems/estimate-unreadable', shape: '{"nothing": boolean}' })
    expect(refuse.body.updates).toBeUndefined()
    expect(product.seen('run')).toEqual([])

    const fit = await product.update(
      { kind: 'ranking', projects, budget: 'acme', whenShort: 'fit' },
      { headers: { 'idempotency-key': 'fit' } },
    )
    expect(fit.status).toBe(201)
    expect(states(fit.body)).toEqual(['large settled', 'small settled'])
    expect(fit.body.notRecorded).toMatchObject([
      { project: 'middle', problem: { type: '/problems/estimate-unreadable' } },
    ])

    isDown = false
    const again = await product.update(
      { kind: 'ranking', projects, budget: 'acme', whenShort: 'fit' },
      { headers: { 'idempotency-key': 'fit' } },
    )
    expect(again.headers.get('idempotency-replayed')).toBeNull()
    expect(states(again.body)).toEqual(['large settled', 'middle settled', 'small settled'])
    expect(product.seen('run')).toHaveLength(3)
    expect(await product.audit()).toBe(true)
  })
})

describe('policies', () => {
  test.each<[string, object, object, string, string]>([
    [
      'perUpdate of an ancestor',
      { perUpdate: 25 },
      {},
      'over-update-limit',
      'This update needs 30 units, and acme allows at most 25 for one update.',
    ],
    [
      'kinds',
      { kinds: ['keyword-difficulty'] },
      {},
      'kind-not-allowed',
      'acme allows keyword-difficulty updates only, and this is a ranking update.',
    ],
    [
      'maxUnits',
      {},
      { maxUnits: 29 },
      'over-max-units',
      'This update needs 30 units, and the request allows at most 29 (maxUnits).',
    ],
  ])('a policy refuses with its figures: %s', async (_name, budget, ask, slug, detail) => {
    const product = await withRoom(1000)
    await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 1000 }], ...budget } })
    await product.call('PUT', '/budgets/child', {
      body: { parent: 'acme', limits: [{ window: 'month', units: 'unlimited' }] },
    })
    const { status, body } = await product.update({ kind: 'ranking', project: 'small', budget: 'child', ...ask })
    expect(status).toBe(402)
    expect(body).toMatchObject({ type: `/problems/${slug}`, detail })
    expect(product.seen('run')).toEqual([])
    expect(await product.audit()).toBe(true)
  })

  test('approvalIfGrown: more than so many per cent above the last price needs a person', async () => {
    let cost = 100
    const product = await withRoom(1000, {
      service: ({ url }) =>
        url.includes('/grown/') && !url.endsWith('/dates') ? json({ keyword_units: cost }) : undefined,
    })
    await product.call('PUT', '/budgets/acme', {
      body: { limits: [{ window: 'month', units: 1000 }], approvalIfGrown: 20 },
    })
    const ask = async (units: number) => {
      cost = units
      product.clock.advance(24 * 3600_000)
      return product.update({ kind: 'ranking', project: 'grown', budget: 'acme' })
    }
    expect((await ask(100)).status).toBe(201)
    expect((await ask(120)).status).toBe(201)
    const grown = await ask(145)
    expect(grown.status).toBe(202)
    expect(grown.body.updates[0]).toMatchObject({ state: 'awaiting-approval', units: { estimated: 145, held: 0 } })
    expect(grown.body.updates[0].history[0].note).toBe(
      'it needs 145 units, the last one cost 120, and acme wants approval above 20 % more',
    )
  })

  test.each([
    ['a limited account', 'over-update-limit', 50_000],
    ['an unlimited account', 'over-update-limit', 'unlimited'],
  ])('an absurd estimate is refused on %s', async (_name, slug, month) => {
    const product = await startProduct({
      store: createMemoryStore(),
      stream: false,
      units: { absurd: Number.MAX_SAFE_INTEGER },
    })
    await product.call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units: month }] } })
    const { status, body } = await product.update({ kind: 'ranking', project: 'absurd' })
    expect([status, body.type]).toEqual([402, `/problems/${slug}`])
    expect(product.seen('run')).toEqual([])
  })

  test('a query is sent identically to estimate and run', async () => {
    const product = await withRoom(1000)
    const query = { depth: '20', 'a b': 'c&d=é', yes: true }
    expect((await product.update({ kind: 'ranking', project: 'small', query })).status).toBe(201)
    expect(product.service.requests.map(({ url }) => url).sort()).toEqual([
      '/v3/on-demand/small/estimate?depth=20&a%20b=c%26d%3D%C3%A9&yes=true',
      '/v3/on-demand/small/run?depth=20&a%20b=c%26d%3D%C3%A9&yes=true',
      '/v3/projects/small/dates',
    ])
  })
})

describe('estimates', () => {
  test('GET /estimates says what updates would cost and whether they would pass, and spends nothing', async () => {
    const product = await withRoom(100)
    const { status, body } = await product.call(
      'GET',
      '/estimates?kind=ranking&project=small&project=middle&budget=acme',
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      kind: 'ranking',
      units: 80,
      projects: [
        { project: 'small', units: 30 },
        { project: 'middle', units: 50 },
      ],
      allowed: true,
      budgets: [
        { budget: 'acme', window: 'month', limit: 100, available: 100 },
        { budget: 'account', window: 'month', limit: 50000, available: 50000 },
      ],
    })
    expect(body.problem).toBeUndefined()
    const more = await product.call('GET', '/estimates?kind=ranking&project=small&project=large&budget=acme')
    expect(more.body).toMatchObject({
      units: 120,
      allowed: false,
      problem: { type: '/problems/over-budget', short: 20 },
    })
    expect(product.seen('run')).toEqual([])
    expect((await product.call('GET', '/updates')).body.updates).toEqual([])
  })

  test('GET /estimates asks the service again each time', async () => {
    const product = await withRoom(1000)
    for (let n = 0; n < 3; n++) await product.call('GET', '/estimates?kind=ranking&project=small')
    expect(product.seen('estimate')).toHaveLength(3)
  })
})
