import { expect, test } from 'vitest'
import type { Item, Store } from '../../shared/ledger/store/store.ts'
import { reportsOf } from '../../shared/reports/reports.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { createTestClock, minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// A page needs as many reads of the ledger for ten updates as for 100,000.

const plan = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 10 * * ? *)' }

/** Ten updates, one occurrence of a plan and `more` updates, counted by the sweeps of fifteen hours. */
async function start({
  more,
  price = '0.012',
  budgets,
  scope = 'read',
}: {
  more: number
  price?: string
  budgets?: readonly string[]
  scope?: string
}) {
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
  const clock = createTestClock('2026-11-02T00:00:00Z')
  const product = await startProduct({
    store,
    clock,
    stream: false,
    plans: [plan],
    env: { PRICE_PER_UNIT: price, CURRENCY: 'EUR' },
  })
  await product.guard.ledger.view() // the ledger begins
  clock.set('2026-11-20T10:00:00Z')
  await (await product.guard.jobs()).readPrices(product.endsAt())
  await product.triggers.handle({ plan: 'night', time: '2026-11-20T10:00:00Z' }, product.endsAt())
  if (budgets) {
    const body = { limits: [{ window: 'month', units: 900 }], projects: [{ name: 'own' }] }
    expect((await product.call('PUT', '/budgets/acme', { body })).status).toBe(201)
    expect((await product.call('PUT', '/callers/rita', { body: { readsBudgets: budgets } })).status).toBe(201)
    expect((await product.update({ kind: 'ranking', project: 'own' })).status).toBe(201)
  }
  const projects = Array.from({ length: 8 }, (_, each) => `p${each}`)
  expect((await product.update({ kind: 'ranking', projects })).status).toBe(201)
  await (await product.guard.jobs()).audit()
  await multiply(real, items, more)
  for (let round = 0; round < 36; round++) {
    clock.advance(minutes(25))
    await (await reportsOf(product.guard)).keepSummaries()
  }
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'rita', scope }))
  const measure = async (path: string): Promise<number> => {
    // The cached permissions and the played plans expire, so that each page reads them again.
    clock.advance(minutes(1.1))
    reads = 0
    expect([path, (await browser.get(path)).status]).toEqual([path, 200])
    return reads
  }
  await measure('/dashboard/updates') // a process reads the beginning of the ledger only one time
  return { product, measure, browser }
}

const atOnce = 1_000

/** Adds `number` copies, spread over the month, that cost nothing, so that the book is right. */
async function multiply(store: Store, items: ReadonlyMap<string, Item>, number: number): Promise<void> {
  const template = [...items.values()].find(({ pk, plan }) => pk.startsWith('update#') && plan === undefined)
  if (!template) throw new Error('there is no update')
  const first = Date.parse('2026-11-02T00:00:00Z')
  const apart = (Date.parse('2026-11-20T09:00:00Z') - first) / number
  const copyOf = (each: number): Item => {
    const id = `upd_copy${each}`
    const createdAt = Math.floor(first + each * apart)
    const listedAt = `${new Date(createdAt).toISOString()}#copy${each}#account`
    return { ...template, pk: `update#${id}`, id, createdAt, listedAt, charged: 0 }
  }
  for (let from = 0; from < number; from += atOnce) {
    const copies = Array.from({ length: Math.min(atOnce, number - from) }, (_, each) => copyOf(from + each))
    const writes = copies.map((item) => ({ kind: 'put', item, when: [] }) as const)
    await store.transact(writes, `copies from ${from}`)
  }
}

const readings = {
  '/': 15,
  '/?window=month:2026-11-01': 15,
  '/dashboard/budgets': 14,
  '/dashboard/budgets/account': 19,
  '/dashboard/find?q=p': 8,
  '/dashboard/projects/p1': 11,
  '/dashboard/people/ada': 11,
  '/dashboard/updates': 9,
  '/dashboard/updates?state=settled': 9,
  '/dashboard/inbox': 19,
  '/dashboard/plans': 13,
  '/dashboard/plans/night': 18,
  '/dashboard/statements': 10,
  '/dashboard/statements?window=month:2026-11-01': 10,
  '/dashboard/statements?by=project': 10,
  '/dashboard/statements?by=caller': 10,
  '/dashboard/statements.csv?by=project': 6,
  '/dashboard/activity': 7,
  '/dashboard/events': 4,
}

test.each([
  ['ten', 0],
  ['100,000', 99_990],
])('with %s updates, each page needs the listed number of reads', async (_name, more) => {
  const { product, measure } = await start({ more })
  const found: Record<string, number> = {}
  for (const path of Object.keys(readings)) found[path] = await measure(path)
  expect(found).toEqual(readings)
  const statement = await (await reportsOf(product.guard)).statement(null, 'project')
  expect(statement).toMatchObject({ total: { updates: 10 + more, charged: 400 }, addsUp: true })
})

const ofAdministrators = {
  '/dashboard/budgets/account/edit': 13,
  '/dashboard/budgets/account/book': 6,
  '/dashboard/close': 8,
  '/dashboard/callers': 9,
  '/dashboard/callers/edit?sub=carol': 5,
}

test.each([0, 990])('with %i more updates, each administration page needs the listed number of reads', async (more) => {
  const { measure } = await start({ more, scope: 'read admin' })
  const found: Record<string, number> = {}
  for (const path of Object.keys(ofAdministrators)) found[path] = await measure(path)
  expect(found).toEqual(ofAdministrators)
})

test.each([
  ['ten', 0],
  ['1,000', 990],
])('with %s updates, a page after a price change needs the reads of a statement', async (_name, more) => {
  const { measure } = await start({ more, price: '0.01@2025-01-01,0.012@2026-11-21' })
  expect(await measure('/')).toBe(readings['/'] + 5)
  expect(await measure('/dashboard/statements')).toBe(readings['/dashboard/statements'])
})

test('a search for a rare text needs a limited number of reads, and continues page by page', async () => {
  const { measure, browser } = await start({ more: 1_500 })
  expect(await measure('/dashboard/updates?search=nothing-like-it')).toBe(32)
  const page = await browser.get('/dashboard/updates?search=nothing-like-it')
  expect(page.text).toContain('No matches so far.')
  const [, older = ''] = /<a href="([^"]+)" rel="next">/.exec(page.html) ?? []
  expect((await browser.get(older.replaceAll('&amp;', '&'))).text).toContain(
    'No matches. Plan and caller need the exact name.',
  )
})

/** The reads for a reader of one budget. */
const ofOneBudget = {
  '/': 15,
  '/dashboard/budgets': 14,
  '/dashboard/updates': 13,
  '/dashboard/updates?state=settled': 13,
  '/dashboard/inbox': 19,
  '/dashboard/plans': 7,
  '/dashboard/statements?by=project': 16,
  '/dashboard/activity': 10,
}
/** A reader of other budgets gets no such page. */
const ofOwn = { '/dashboard/projects/own': 15, '/dashboard/people/ada': 17 }
const ofNone = {
  ...ofOneBudget,
  '/dashboard/budgets': 13,
  '/dashboard/updates': 12,
  '/dashboard/updates?state=settled': 12,
  '/dashboard/inbox': 17,
  '/dashboard/plans': 7,
  '/dashboard/statements?by=project': 15,
  '/dashboard/activity': 9,
}

test.each([
  ['one budget', ['acme'], { ...ofOneBudget, ...ofOwn }],
  ['no budget', [], ofNone],
])('for a reader of %s, each page needs the same reads, whatever others did', async (_name, budgets, expected) => {
  for (const more of [0, 4_000]) {
    const { measure } = await start({ more, budgets })
    const found: Record<string, number> = {}
    for (const path of Object.keys(expected)) found[path] = await measure(path)
    expect([more, found]).toEqual([more, expected])
  }
})
