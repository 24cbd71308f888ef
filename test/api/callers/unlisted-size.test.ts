import { describe, expect, test } from 'vitest'
import { maxUnlisted } from '../../../shared/ledger/book/book.ts'
import { bookKey } from '../../../shared/ledger/book/book-item.ts'
import type { Caller, Definitions } from '../../../shared/ledger/book/definitions.ts'
import { definitionsKey } from '../../../shared/ledger/book/definitions-item.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { toAttributes } from '../../../shared/ledger/store/dynamo-transaction.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import { type Item, nameOf } from '../../../shared/ledger/store/store.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { createTestClock } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { itemSize } from '../../support/store/item-size.ts'
import { createStore } from '../../support/store/stores.ts'

const limits = [{ window: 'month', units: toUnits(1_000) }] as const

/** The rules of `*`, and a book that counts so many unlisted callers. */
async function startWith(counted: number, { store = createMemoryStore(new Map()), width = 24 } = {}) {
  const product = await startProduct({ store })
  expect((await product.call('PUT', '/callers/*', { body: { limits } })).status).toBe(201)
  const ask = (sub: string, project = sub) =>
    product.update({ kind: 'ranking', project }, { token: product.signed({ sub, scope: 'run', budgets: '*' }) })
  expect((await ask('first')).status).toBe(201)
  const [book] = await store.get([bookKey('month:2026-11-01')])
  const add = (window: 'month' | 'day') => {
    const counters = book?.[window] as Record<string, Record<string, number>>
    const pods = Array.from({ length: counted - 1 }, (_, index) => [
      `caller:${`pod-${index}`.padEnd(width - 7, '.')}`,
      { ...counters['caller:first'], s: 0, a: window === 'month' ? 1_000 : 0 },
    ])
    return { ...counters, ...Object.fromEntries(pods) }
  }
  if (!book) throw new Error('no book')
  const item: Item = { ...book, month: add('month'), day: add('day') }
  await store.transact([{ kind: 'put', item, when: [] }], 'pods')
  return { product, ask, store, itemNow: async () => (await store.get([bookKey('month:2026-11-01')]))[0] as Item }
}

describe('counters of unlisted callers in a book', () => {
  test('a window counts at most 200 unlisted callers; the next one is refused and told what helps', async () => {
    const { product, ask } = await startWith(maxUnlisted - 1)
    expect((await ask('last')).status).toBe(201)
    const calls = product.service.requests.length
    const refused = await ask('one-more')
    expect(refused.body).toMatchObject({
      ...{ status: 402, type: '/problems/too-many-callers', title: 'No more unlisted callers can be counted' },
      detail:
        'one-more is not listed, and this month already counts 200 unlisted callers, the most that a book holds; ask an administrator to list one-more (PUT /callers/one-more), or try again after 1 Dec 2026 00:00 UTC.',
      ...{ window: 'month', maxCallers: 200, resetsAt: '2026-12-01T00:00:00.000Z' },
    })
    expect(product.service.requests).toHaveLength(calls)
    expect((await ask('last', 'other')).status).toBe(201)
    await product.call('PUT', '/callers/one-more', { body: { limits } })
    expect((await ask('one-more', 'again')).status).toBe(201)
    product.clock.set('2026-12-01T08:00:00Z')
    expect((await ask('two-more')).status).toBe(201)
  })

  test('two last callers at once get one counter, by the condition of the hold on the real store', async () => {
    const { ask, itemNow } = await startWith(maxUnlisted - 1, { store: await createStore() })
    const answers = await Promise.all(['ada', 'bob'].map((sub) => ask(sub)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 402])
    const names = Object.keys((await itemNow()).month as object).filter((name) => name.startsWith('caller:'))
    expect(names).toHaveLength(200)
  })

  test('200 unlisted callers take some 19 KB of a book, and a change that leaves no room for them is refused', async () => {
    const { itemNow } = await startWith(maxUnlisted)
    const bytes = itemSize(toAttributes(await itemNow()))
    expect(Math.round(bytes / 1_000)).toBe(19)
    const items = new Map<string, Item>()
    const ledger = createLedger({
      ...{ store: createMemoryStore(items), clock: createTestClock('2026-11-20T10:00:00Z'), account: usualAccount },
    })
    const change = (make: (definitions: Definitions) => Partial<Definitions>) =>
      ledger.change('ada', ({ definitions }) => ({
        definitions: { ...definitions, ...make(definitions) },
        note: { type: 'caller', budget: 'account', reason: 'r' },
      }))
    const callers = (count: number): Record<string, Caller> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`caller-${index}`.padEnd(13, '.'), { limits }]))
    expect((await change(() => ({ unlisted: { limits } }))).kind).toBe('changed')
    expect((await change(() => ({ callers: callers(1_200) }))).kind).toBe('faulty')
    expect((await change(() => ({ callers: callers(1_100) }))).kind).toBe('changed')
    expect(items.has(nameOf(definitionsKey))).toBe(true)
  })
})
