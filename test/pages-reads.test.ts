import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../shared/ledger/memory-store.ts'
import type { Item, Store } from '../shared/ledger/store.ts'
import { openBrowser } from './support/browser.ts'
import { createTestClock, minutes } from './support/clock.ts'
import { type Product, startProduct } from './support/product.ts'

// A page costs as many readings of the ledger whether the table holds ten updates or a thousand.

const plan = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 10 * * ? *)' }

/** With ten updates, and one occurrence of a plan. */
async function start() {
  const items = new Map<string, Item>()
  const real = createMemoryStore(items)
  let reads = 0
  const counted =
    <Args extends unknown[], Result>(act: (...args: Args) => Result) =>
    (...args: Args) => {
      reads++
      return act(...args)
    }
  const store: Store = { ...real, get: counted(real.get), list: counted(real.list) }
  const clock = createTestClock('2026-11-20T10:00:00Z')
  const product = await startProduct({ store, clock, stream: false, plans: [plan] })
  await product.guard.readPrices(product.endsAt())
  await product.triggers.handle({ plan: 'night', time: '2026-11-20T10:00:00Z' }, product.endsAt())
  const projects = Array.from({ length: 8 }, (_, each) => `p${each}`)
  expect((await product.update({ kind: 'ranking', projects })).status).toBe(201)
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
  const measure = async (path: string): Promise<number> => {
    // What was read a moment ago about who may do what is not believed any more.
    clock.advance(minutes(0.1))
    reads = 0
    expect([path, (await browser.get(path)).status]).toEqual([path, 200])
    return reads
  }
  return { product, items, measure, browser }
}

/** As many more, as if they had been asked for a while before. */
async function multiply(product: Product, items: ReadonlyMap<string, Item>, number: number): Promise<void> {
  const template = [...items.values()].find(({ pk, plan }) => pk.startsWith('update#') && plan === undefined)
  if (!template) throw new Error('there is no update')
  for (let each = 0; each < number; each++) {
    const id = `upd_copy${each}`
    const listedAt = `2026-11-20T09:${String(each % 60).padStart(2, '0')}:00.000Z#${id}`
    const item = { ...template, pk: `update#${id}`, id, listedAt, createdAt: Date.parse(listedAt.slice(0, 24)) }
    await product.store.transact([{ do: 'put', item, when: [] }], id)
  }
}

describe('with a thousand updates as with ten', () => {
  test.each([
    ['/', 9],
    ['/dashboard/updates', 4],
    ['/dashboard/updates?state=settled', 4],
    ['/dashboard/needs-you', 4],
    ['/dashboard/plans', 9],
    ['/dashboard/plans/night', 12],
    ['/dashboard/statements', 2],
    ['/dashboard/statements?window=month:2026-11-01', 2],
    ['/dashboard/ledger', 3],
  ])('%s: %i readings', async (path, readings) => {
    const { product, items, measure } = await start()
    await measure('/dashboard/updates') // a process learns once when the ledger began
    const withTen = await measure(path)
    await multiply(product, items, 990)
    expect([withTen, await measure(path)]).toEqual([readings, readings])
  })
})

test('what is looked for and rare costs a bounded number of readings, and is looked for further page by page', async () => {
  const { product, items, measure, browser } = await start()
  await multiply(product, items, 1_500)
  await measure('/dashboard/updates')
  expect(await measure('/dashboard/updates?search=nothing-like-it')).toBe(26)
  const page = await browser.get('/dashboard/updates?search=nothing-like-it')
  expect(page.text).toContain('None of those that were looked at so far is like this')
  const [, older = ''] = /<a href="([^"]+)" rel="next">/.exec(page.html) ?? []
  expect((await browser.get(older.replaceAll('&amp;', '&'))).text).toContain('No update is like this.')
})
