import { describe, expect, test } from 'vitest'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { startProduct } from '../../support/product.ts'
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
  test.each([
    ['everything', {}],
    ['one budget', { readsBudgets: ['acme'] }],
  ])('if the ledger fails after the run, the answer says what ran, to a caller who reads %s', async (_, listed) => {
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

  test('the status of several updates is the first of 202, 201, 200, 502, 409, 402 that occurs', async () => {
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

  test('estimate and run get the same query', async () => {
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
