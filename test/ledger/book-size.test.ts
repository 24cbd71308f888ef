import { describe, expect, test } from 'vitest'
import { bookKey } from '../../shared/ledger/book/book-item.ts'
import type { Caller, Definitions } from '../../shared/ledger/definitions/definitions.ts'
import { usualAccount } from '../../shared/ledger/identity.ts'
import { createLedger, type Ledger } from '../../shared/ledger/ledger.ts'
import { toAttributes } from '../../shared/ledger/store/dynamo-transaction.ts'
import { type Item, nameOf, type Value } from '../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../shared/ledger/store/stored.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createTestClock, days } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { itemSize } from '../support/store/item-size.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { createStore } from '../support/store/stores.ts'

/** This many callers with a counter. Each name needs 20 bytes of a book, with `caller:`. */
const callers = (count: number, of = 'caller', limits: Caller['limits'] = []): Record<string, Caller> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${of}-${index}`.padEnd(13, '.'), { limits }] as const),
  )

const changed = (ledger: Ledger, make: (definitions: Definitions) => Partial<Definitions>) =>
  ledger.change('ada', ({ definitions }) => ({
    definitions: { ...definitions, ...make(definitions) },
    note: { type: 'caller', budget: 'account', reason: 'r' },
  }))

const add = (ledger: Ledger, more: Record<string, Caller>) =>
  changed(ledger, (definitions) => ({ callers: { ...definitions.callers, ...more } }))

const clear = (ledger: Ledger) => changed(ledger, () => ({ callers: {} }))

const grant = (ledger: Ledger, id: string, window: 'month' | 'next-month') =>
  ledger.enter({
    id,
    content: 'c',
    type: 'grant',
    budget: 'account',
    units: 1,
    window,
    wholeChain: false,
    reason: 'r',
    by: 'ada',
  } as const)

function open() {
  const items = new Map<string, Item>()
  const clock = createTestClock('2026-11-20T10:00:00Z')
  return { items, clock, ledger: createLedger({ store: createMemoryStore(items), clock, account: usualAccount }) }
}

const tooLarge = (month: string, bytes: string) => ({
  kind: 'faulty',
  faults: [
    {
      path: 'limits',
      message: `the book of ${month} could take ${bytes} bytes, and at most 350,000 are allowed: give fewer callers limits, or merge budgets; deleted ones count until the end of the next month`,
    },
  ],
})

describe('a change that would make a book too large', () => {
  test('the first caller that would make a book too large is refused, and the largest allowed number fits', async () => {
    const { ledger } = open()
    expect(await add(ledger, callers(1_822))).toEqual(tooLarge('month:2026-11-01', '350,118'))
    expect((await ledger.view()).definitions.revision).toBe(1)
    expect((await add(ledger, callers(1_821))).kind).toBe('changed')
    expect((await add(ledger, { unlimited: {} })).kind).toBe('changed')
    expect((await add(ledger, callers(1, 'other'))).kind).toBe('faulty')
  })

  test('deleted callers count in the size of a book until no open book has their counters', async () => {
    const { ledger, clock } = open()
    await grant(ledger, 'ent_1', 'month')
    await add(ledger, callers(1_000, 'gone'))
    await clear(ledger)
    expect(await add(ledger, callers(822))).toEqual(tooLarge('month:2026-11-01', '350,118'))
    // A caller that is added again has its counter already.
    expect((await add(ledger, { ...callers(821), ...callers(1_000, 'gone') })).kind).toBe('changed')
    await clear(ledger)
    clock.advance(days(11))
    expect(await add(ledger, callers(822))).toEqual(tooLarge('month:2026-11-01', '350,118'))
    clock.advance(days(31))
    expect((await add(ledger, callers(822))).kind).toBe('changed')
  })

  test("deleted callers count in the size of the next month's book, too", async () => {
    const { ledger } = open()
    await add(ledger, callers(1_000, 'gone'))
    await grant(ledger, 'ent_1', 'next-month')
    await clear(ledger)
    expect(await add(ledger, callers(822))).toEqual(tooLarge('month:2026-12-01', '350,118'))
    expect((await add(ledger, callers(821))).kind).toBe('changed')
  })

  test('a change that does not enlarge a too large book is accepted', async () => {
    const { ledger, items } = open()
    await ledger.view()
    const name = nameOf(definitionsKey)
    items.set(name, { ...(items.get(name) as Item), callers: callers(1_900) as unknown as Value })
    await grant(ledger, 'ent_1', 'month')
    expect((await add(ledger, callers(1, 'other'))).kind).toBe('faulty')
    const frozen = { reason: 'r', by: 'ada', at: 1 }
    const freeze = ({ budgets }: Definitions) => ({
      budgets: Object.fromEntries(Object.entries(budgets).map(([key, budget]) => [key, { ...budget, frozen }])),
    })
    expect((await changed(ledger, freeze)).kind).toBe('changed')
    expect((await changed(ledger, () => ({ callers: callers(1_899) }))).kind).toBe('changed')
    expect((await add(ledger, callers(1_900))).kind).toBe('changed')
  })
})

test('the largest allowed book accepts holds, settlements and changes with maximal figures', async () => {
  const store = await createStore()
  const product = await startProduct({ store })
  expect((await product.update({ kind: 'ranking', project: 'first' })).status).toBe(201)
  const { ledger } = product.guard
  const most = Number.MAX_SAFE_INTEGER
  const limits = (['month', 'day'] as const).map((window) => ({ window, units: toUnits(most) }))
  expect((await add(ledger, callers(1_821, 'caller', limits))).kind).toBe('changed')
  const key = bookKey('month:2026-11-01')
  const book = (await store.get([key]))[0] as Item
  const largest = { l: most, g: -most, a: -most, h: -most, i: -most, s: -most }
  const full = (window: Value | undefined) =>
    Object.fromEntries(
      Object.entries(window as Record<string, Value>).map(([name, counter]) => [
        name,
        name === 'account' ? counter : largest,
      ]),
    )
  const item = { ...book, month: full(book.month), day: full(book.day) }
  expect(itemSize(toAttributes(item))).toBeGreaterThan(320_000)
  expect(itemSize(toAttributes(item))).toBeLessThan(350_000)
  await store.transact([{ kind: 'put', item, when: [] }], 'filled')
  expect((await product.update({ kind: 'ranking', project: 'second' })).body.updates).toMatchObject([
    { state: 'settled' },
  ])
  expect((await product.call('POST', '/budgets/account/freeze', { body: { reason: 'r' } })).status).toBe(200)
  expect(await product.figures()).toMatchObject({ spent: 80, held: 0 })
})
