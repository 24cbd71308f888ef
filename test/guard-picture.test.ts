import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../shared/ledger/memory-store.ts'
import type { Picture } from '../shared/ledger/picture.ts'
import type { Store } from '../shared/ledger/store.ts'
import { createTestClock, hours, minutes } from './support/clock.ts'
import { json, type Product, startProduct } from './support/product.ts'
import { gate } from './support/scripted-service.ts'
import { stores } from './support/stores.ts'

// What the sweep keeps for the overview's drawings: each day's end, and what duplicates would have cost.

const month = (units: number) => [{ window: 'month', units }]
const pictureOf = (product: Product): Promise<Picture | null> => product.guard.ledger.pictures.read('month:2026-11-01')
const sweep = (product: Product) => product.triggers.handle({ task: 'sweep' }, product.endsAt())

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const clock = createTestClock('2026-11-10T10:00:00Z')
  return startProduct({ store: createMemoryStore(), stream: false, clock, ...options })
}

const ask = (product: Product, project: string, budget = 'account') =>
  product.update({ kind: 'ranking', project, budget })

describe('each day that has ended', () => {
  test.each(stores)('with what was used by midnight, however late the sweep comes: %s', async (_name, create) => {
    const product = await start({ store: await create() })
    await ask(product, 'one')
    product.clock.set('2026-11-11T09:00:00Z')
    await ask(product, 'two')
    await sweep(product)
    await product.call('PUT', '/budgets/seo', { body: { limits: month(500) } })
    await ask(product, 'three', 'seo')
    product.clock.set('2026-11-12T00:05:00Z')
    await sweep(product)
    expect(await pictureOf(product)).toMatchObject({
      ends: [Date.parse('2026-11-11T00:00:00Z'), Date.parse('2026-11-12T00:00:00Z')],
      used: { account: [40, 120], seo: [null, 40] },
    })
  })

  test('days that no sweep saw are left out, and a new month begins with nothing', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.set('2026-11-14T00:05:00Z')
    await sweep(product)
    expect((await pictureOf(product))?.ends).toEqual([Date.parse('2026-11-14T00:00:00Z')])
    product.clock.set('2026-12-01T09:00:00Z')
    await sweep(product)
    expect(await product.guard.ledger.pictures.read('month:2026-12-01')).toBeNull()
  })

  test('what a doubt holds counts as used', async () => {
    const product = await start({ service: ({ url }) => (/\/run/.test(url) ? { status: 500 } : undefined) })
    await ask(product, 'lost')
    product.clock.set('2026-11-11T00:05:00Z')
    await sweep(product)
    expect((await pictureOf(product))?.used).toEqual({ account: [40] })
  })

  test('what is held at midnight counts as used', async () => {
    const { opened, open } = gate()
    const product = await start({
      service: ({ url }) => (/\/run/.test(url) ? { ...json({ keyword_units: 40 }), once: opened } : undefined),
    })
    const asked = ask(product, 'one')
    while (product.seen('run').length === 0) await new Promise(setImmediate)
    product.clock.set('2026-11-11T00:00:01Z')
    await product.guard.keepPicture()
    expect((await pictureOf(product))?.used).toEqual({ account: [40] })
    open()
    await asked
  })

  test('a clock that is behind knows nothing of it', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.set('2026-11-12T00:05:00Z')
    await ask(product, 'two')
    product.clock.set('2026-11-11T09:00:00Z')
    await product.guard.keepPicture()
    expect(await pictureOf(product)).toBeNull()
    product.clock.set('2026-11-12T00:05:00Z')
    await product.guard.keepPicture()
    expect(await pictureOf(product)).toMatchObject({
      ends: [Date.parse('2026-11-12T00:00:00Z')],
      used: { account: [40] },
    })
  })

  test('a budget that bears the name of a member of every object', async () => {
    const product = await start()
    await product.call('PUT', '/budgets/constructor', { body: { limits: month(500) } })
    await ask(product, 'one', 'constructor')
    for (const day of ['11', '12']) {
      product.clock.set(`2026-11-${day}T00:05:00Z`)
      await sweep(product)
    }
    expect((await pictureOf(product))?.used).toEqual({ account: [40, 40], constructor: [40, 40] })
  })
})

describe('duplicates that were refused', () => {
  test('are counted once, at what the same work had cost', async () => {
    const product = await start({ units: { dear: 300 } })
    for (const project of ['one', 'dear', 'one', 'dear', 'one']) await ask(product, project)
    product.clock.advance(minutes(2))
    await sweep(product)
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 3, units: 380 })
    await ask(product, 'one')
    product.clock.advance(minutes(2))
    await sweep(product)
    await sweep(product)
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 4, units: 420 })
  })

  test('those of the last minute later, and what was refused for other reasons never', async () => {
    const product = await start({ units: { dear: 90_000 } })
    for (const project of ['one', 'one', 'dear']) await ask(product, project)
    await sweep(product)
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 0, units: 0 })
    product.clock.advance(minutes(2))
    await sweep(product)
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 1, units: 40 })
  })

  test('that of the last millisecond that was looked at is not counted again', async () => {
    const product = await start()
    for (const project of ['one', 'one']) await ask(product, project)
    product.clock.advance(minutes(1))
    await sweep(product)
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 1, units: 40 })
    await ask(product, 'one')
    product.clock.advance(minutes(1))
    await sweep(product)
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 2, units: 80 })
  })

  test('are found also after days without a sweep, a day at a time', async () => {
    const product = await start()
    await ask(product, 'first')
    product.clock.set('2026-11-14T12:00:00Z')
    for (const project of ['one', 'one']) await ask(product, project)
    product.clock.advance(minutes(2))
    for (let round = 0; round < 4; round++) await product.guard.keepPicture()
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 0, units: 0 })
    await product.guard.keepPicture()
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 1, units: 40 })
  })

  test('for work that is in doubt count as what that holds', async () => {
    const product = await start({ service: ({ url }) => (/\/run/.test(url) ? { status: 500 } : undefined) })
    for (const project of ['lost', 'lost']) await ask(product, project)
    product.clock.advance(minutes(2))
    await product.guard.keepPicture()
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 1, units: 40 })
  })

  test('of two sweeps at once one counts', async () => {
    const product = await start()
    for (const project of ['one', 'one']) await ask(product, project)
    product.clock.advance(minutes(2))
    await Promise.all([product.guard.keepPicture(), product.guard.keepPicture()])
    expect((await pictureOf(product))?.saved).toMatchObject({ updates: 1, units: 40 })
  })
})

test('it is written once a day, and where duplicates were refused; a month of sixty budgets takes less than 60 KB', async () => {
  let size = 0
  let writes = 0
  const inner = createMemoryStore()
  const store: Store = {
    ...inner,
    transact: (changes, token) => {
      for (const write of changes) {
        if (write.do !== 'put' || write.item.pk !== 'picture') continue
        writes++
        size = Buffer.byteLength(JSON.stringify(write.item))
      }
      return inner.transact(changes, token)
    },
  }
  const product = await start({ store, clock: createTestClock('2026-12-01T10:00:00Z') })
  await product.guard.ledger.change('ada', ({ definitions }) => {
    const named = (_: unknown, number: number) => {
      const name = `a-budget-with-quite-a-long-name-${number}`
      const limits = [{ window: 'month', units: 'unlimited' }] as const
      return [name, { name, parent: 'account', limits, projects: [] }]
    }
    const budgets = { ...definitions.budgets, ...Object.fromEntries(Array.from({ length: 60 }, named)) }
    return { definitions: { ...definitions, budgets }, note: { type: 'limit', budget: 'account', reason: 'sixty' } }
  })
  await product.call('POST', '/budgets/a-budget-with-quite-a-long-name-7/entries', {
    body: { type: 'external-spend', units: 40_000, reason: 'elsewhere' },
  })
  for (let day = 0; day < 30; day++) {
    product.clock.advance(hours(24))
    for (let round = 0; round < 3; round++) await product.guard.keepPicture()
  }
  expect(writes).toBe(30)
  expect(size).toBeLessThan(20_000)
})
