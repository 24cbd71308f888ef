import { expect, test } from 'vitest'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

/** An estimate says 40 at `/data/keyword_units`; a run states its figure elsewhere. */
async function start(options: Options = {}) {
  const product = await startProduct({
    slack: true,
    store: createMemoryStore(),
    service: ({ url }) => {
      if (!url.endsWith('/run')) return undefined
      return json(url.includes('/blog/') ? { started: true, cost: 48_211 } : { started: true, total: 48_210 })
    },
    ...options,
  })
  const run = async (project: string, kind = 'ranking') => {
    const { body } = await product.update({ kind, project })
    expect(body.updates[0]).toMatchObject({ state: 'settled', units: { charged: 40 } })
  }
  const told = async () => {
    await product.deliver()
    return product.slack.news().map(({ text }) => text)
  }
  return { product, run, told }
}

const says = (kind: string, figure: string, place: string, setting: string) =>
  `The service's answer to a ${kind} update states ${figure} at ${place}, which is not read. The 40 units held were charged. If it is the cost, set ${setting}=${place}.`
const total = says('ranking', '48,210', '/total', 'RUN_POINTER_RANKING')

test('a figure that no setting reads is announced once for each kind of update and place', async () => {
  const { product, run, told } = await start()
  for (const project of ['acme', 'shop', 'blog']) await run(project)
  await run('acme', 'keyword-difficulty')
  const announced = await told()
  expect(announced.toSorted()).toEqual(
    [
      total,
      says('ranking', '48,211', '/cost', 'RUN_POINTER_RANKING'),
      says('keyword-difficulty', '48,210', '/total', 'RUN_POINTER_DIFFICULTY'),
    ].toSorted(),
  )
  const token = await product.signed({ sub: 'ada', scope: 'run', budgets: '*' })
  const { status } = await product.startProcess().api.request('/updates', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'another' },
    body: JSON.stringify({ kind: 'ranking', project: 'news' }),
  })
  expect([status, await told()]).toEqual([201, []])
})

test('a figure at the place of the estimate is announced with the reason why it is not read', async () => {
  const { run, told } = await start({
    service: ({ url }) => (url.endsWith('/run') ? json({ started: true, data: { keyword_units: 401 } }) : undefined),
  })
  await run('acme')
  expect(await told()).toEqual([
    "The service's answer to a ranking update states 401 at /data/keyword_units, where a figure above ten times the hold is not read. The 40 units held were charged. If it is the cost, set RUN_POINTER_RANKING=/data/keyword_units.",
  ])
})

test.each([
  ['it equals the hold', 40, {}],
  ['it is below zero', -5, {}],
  ['it is far too high', 1e15, {}],
  ['a setting names its place', 0, { RUN_POINTER_RANKING: '/total' }],
])('a figure is not announced if %s', async (_case, total, env) => {
  const { run, told } = await start({
    service: ({ url }) => (url.endsWith('/run') ? json({ started: true, total }) : undefined),
    env,
  })
  await run('acme')
  expect(await told()).toEqual([])
})

test('the process sends one more request for a place, and asks again only if that request failed', async () => {
  const memory = createMemoryStore()
  const sent: string[] = []
  let fails = 1
  const store: Store = {
    ...memory,
    transact: async (writes, token) => {
      const isNews = writes.some((write) => write.kind === 'put' && write.item.pk.startsWith('announcement#unread'))
      if (isNews) sent.push(fails > 0 ? 'failed' : 'written')
      if (isNews && fails-- > 0) throw new Error('the ledger is away')
      return memory.transact(writes, token)
    },
  }
  const { product, run, told } = await start({ store })
  for (const project of ['acme', 'shop', 'news', 'home']) await run(project)
  expect(sent).toEqual(['failed', 'written'])
  expect(await told()).toEqual([total])
  expect(product.logged.filter((line) => line.includes('unread-figure-not-told'))).toHaveLength(1)
})
