import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createTestClock, hours, minutes } from '../../support/clock.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import { gate } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// The course of the open month: the units used by the end of each day, and the units that refused duplicates would have cost.

const month = (units: number) => [{ window: 'month', units }]
const sweep = (product: Product) => product.triggers.handle({ task: 'sweep' }, product.endsAt())

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const clock = createTestClock('2026-11-10T10:00:00Z')
  const product = await startProduct({ store: createMemoryStore(), stream: false, clock, ...options })
  await product.guard.ledger.view()
  return product
}

/** The units used, by the day that begins at that midnight. */
async function usedIn({ guard }: Product): Promise<Record<string, Record<string, number>>> {
  const { budgets } = await (await reportsOf(guard)).outlook()
  const found: Record<string, Record<string, number>> = {}
  for (const { budget, history } of budgets)
    for (const { at, used } of history.nights) {
      const night = new Date(at).toISOString().slice(0, 16)
      found[night] = { ...found[night], [budget]: used }
    }
  return found
}

/** The times of each budget's line in drawing order. */
async function timesIn({ guard }: Product) {
  const { budgets } = await (await reportsOf(guard)).outlook()
  return budgets.map(({ history: { start, nights, now } }) => [start, ...nights, now].map(({ at }) => at))
}

const savedIn = async ({ guard }: Product) => (await (await reportsOf(guard)).outlook()).saved

const ask = (product: Product, project: string, budget = 'account') =>
  product.update({ kind: 'ranking', project, budget })

describe('the course of a ledger, a budget or a month that began today', () => {
  test('the course runs forward and begins no earlier than the ledger, in any zone at any time', async () => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Kiritimati')
    // The last days of October and the first of November: the clocks change, and a month ends.
    const began = fc.date({
      min: new Date('2026-10-24T00:00Z'),
      max: new Date('2026-11-03T00:00Z'),
      noInvalidDate: true,
    })
    const waits = fc.array(fc.integer({ min: 0, max: 26 * 60 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(zones, began, waits, async (zone, from, minutesBetween) => {
        const product = await start({
          clock: createTestClock(from.toISOString()),
          env: { ACCOUNT_TIME_ZONE: zone, ACCOUNT_RENEWAL_DAY: '1' },
        })
        const createdAt = product.clock.now()
        for (const [index, wait] of minutesBetween.entries()) {
          await sweep(product)
          await ask(product, `p${index}`)
          if (index === 1) await product.call('PUT', '/budgets/late', { body: { limits: month(500) } })
          product.clock.advance(minutes(wait))
          for (const times of await timesIn(product)) {
            expect(times).toEqual(times.toSorted((a, b) => a - b))
            expect(times[0]).toBeGreaterThanOrEqual(createdAt)
          }
        }
      }),
      { numRuns: 12 },
    )
  })
})

describe('a day that has ended', () => {
  test('the course records the use by midnight, even if the sweep is late', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.set('2026-11-11T09:00:00Z')
    await ask(product, 'two')
    await sweep(product)
    await product.call('PUT', '/budgets/seo', { body: { limits: month(500) } })
    await ask(product, 'three', 'seo')
    product.clock.set('2026-11-12T00:05:00Z')
    await sweep(product)
    expect(await usedIn(product)).toEqual({
      '2026-11-11T00:00': { account: 40 },
      '2026-11-12T00:00': { account: 120, seo: 40 },
    })
    const { budgets } = await (await reportsOf(product.guard)).outlook()
    const seo = budgets.find(({ budget }) => budget === 'seo')
    expect(seo?.history.nights).toEqual([{ at: Date.parse('2026-11-12T00:00:00Z'), used: 40, limit: 500 }])
  })

  test('days without a sweep are left out, and a new month begins at 0', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.set('2026-11-14T00:05:00Z')
    await sweep(product)
    expect(await usedIn(product)).toEqual({ '2026-11-14T00:00': { account: 40 } })
    product.clock.set('2026-12-01T09:00:00Z')
    await sweep(product)
    expect(await usedIn(product)).toEqual({})
  })

  test('units in doubt count as used on an ended day', async () => {
    const product = await start({ service: ({ url }) => (/\/run/.test(url) ? { status: 500 } : undefined) })
    await ask(product, 'lost')
    product.clock.set('2026-11-11T00:05:00Z')
    await sweep(product)
    expect(await usedIn(product)).toEqual({ '2026-11-11T00:00': { account: 40 } })
  })

  test('units held at midnight count as used on the ended day', async () => {
    const { opened, open } = gate()
    const product = await start({
      service: ({ url }) => (/\/run/.test(url) ? { ...json({ keyword_units: 40 }), once: opened } : undefined),
    })
    const asked = ask(product, 'one')
    while (product.seen('run').length === 0) await new Promise(setImmediate)
    product.clock.set('2026-11-11T00:00:01Z')
    await (await reportsOf(product.guard)).keepSummaries()
    expect(await usedIn(product)).toEqual({ '2026-11-11T00:00': { account: 40 } })
    open()
    await asked
  })

  test('a sweep with a slow clock records no later day', async () => {
    const product = await start()
    await ask(product, 'one')
    product.clock.set('2026-11-12T00:05:00Z')
    await ask(product, 'two')
    product.clock.set('2026-11-11T09:00:00Z')
    await (await reportsOf(product.guard)).keepSummaries()
    expect(await usedIn(product)).toEqual({})
    product.clock.set('2026-11-12T00:05:00Z')
    await (await reportsOf(product.guard)).keepSummaries()
    expect(await usedIn(product)).toEqual({ '2026-11-12T00:00': { account: 40 } })
  })

  test('the course keeps a day’s use if an update of the day is corrected', async () => {
    const product = await start({ service: ({ url }) => (/\/run/.test(url) ? { status: 500 } : undefined) })
    const [{ id }] = (await ask(product, 'lost')).body.updates
    product.clock.set('2026-11-11T00:05:00Z')
    await sweep(product)
    await product.call('POST', `/updates/${id}/resolve`, { body: { outcome: 'did-not-run', reason: 'r' } })
    const update = await product.guard.ledger.update(id)
    if (!update) throw new Error('the update is gone')
    const late = { kind: 'did-not-run', from: 'sender', by: 'service', note: 'late' } as const
    await product.guard.ledger.settle(update, late)
    await sweep(product)
    expect(await usedIn(product)).toEqual({ '2026-11-11T00:00': { account: 40 } })
  })

  test('the course includes a budget named like a member of every object', async () => {
    const product = await start()
    await product.call('PUT', '/budgets/constructor', { body: { limits: month(500) } })
    await ask(product, 'one', 'constructor')
    for (const day of ['11', '12']) {
      product.clock.set(`2026-11-${day}T00:05:00Z`)
      await sweep(product)
    }
    expect(Object.values(await usedIn(product))).toEqual(Array(2).fill({ account: 40, constructor: 40 }))
  })
})

describe('refused duplicates', () => {
  test('refused duplicates are counted once, at the cost of the same work', async () => {
    const product = await start({ units: { dear: 300 } })
    expect(await savedIn(product)).toBeNull()
    for (const project of ['one', 'dear', 'one', 'dear', 'one']) await ask(product, project)
    product.clock.advance(minutes(2))
    await sweep(product)
    expect(await savedIn(product)).toEqual({ updates: 3, units: 380 })
    await ask(product, 'one')
    product.clock.advance(minutes(2))
    await sweep(product)
    await sweep(product)
    expect(await savedIn(product)).toEqual({ updates: 4, units: 420 })
    for (const at of ['2026-11-10T20:00:00Z', '2026-11-11T00:10:00Z', '2026-11-11T00:40:00Z', '2026-11-12T01:00:00Z']) {
      product.clock.set(at)
      await sweep(product)
      expect(await savedIn(product)).toEqual({ updates: 4, units: 420 })
    }
  })

  test('updates that were refused for other reasons never count as duplicates', async () => {
    const product = await start({ units: { dear: 90_000 } })
    for (const project of ['one', 'one', 'dear']) await ask(product, project)
    await sweep(product)
    expect(await savedIn(product)).toEqual({ updates: 1, units: 40 })
  })

  test('refused duplicates are found after days without a sweep, too', async () => {
    const product = await start()
    await ask(product, 'first')
    product.clock.set('2026-11-14T12:00:00Z')
    for (const project of ['one', 'one']) await ask(product, project)
    product.clock.advance(minutes(2))
    await (await reportsOf(product.guard)).keepSummaries()
    expect(await savedIn(product)).toEqual({ updates: 1, units: 40 })
  })

  test('refused duplicates of work in doubt count with the units of its hold', async () => {
    const product = await start({ service: ({ url }) => (/\/run/.test(url) ? { status: 500 } : undefined) })
    for (const project of ['lost', 'lost']) await ask(product, project)
    product.clock.advance(minutes(2))
    await (await reportsOf(product.guard)).keepSummaries()
    expect(await savedIn(product)).toEqual({ updates: 1, units: 40 })
  })

  test('refused duplicates count for a plan on time, but not for its own work or a rerun', async () => {
    const night = { name: 'night', kind: 'ranking', projects: ['one'], schedule: 'cron(0 * * * ? *)' }
    const product = await start({ plans: [night] })
    const runAt = (time: string) =>
      product.triggers.handle({ plan: 'night', time: `2026-11-10T${time}:00Z` }, product.endsAt())
    await ask(product, 'one')
    await runAt('10:00')
    await sweep(product)
    expect(await savedIn(product)).toEqual({ updates: 1, units: 40 })
    await product.call('POST', '/plans/night/run', { body: { time: '2026-11-10T08:00:00Z', only: 'unsent' } })
    product.clock.set('2026-11-11T10:00:00Z')
    for (const time of ['2026-11-11T10:00:00Z', '2026-11-11T09:59:00Z']) {
      await product.triggers.handle({ plan: 'night', time }, product.endsAt())
    }
    await sweep(product)
    expect(product.seen('run')).toHaveLength(2)
    expect(await savedIn(product)).toEqual({ updates: 1, units: 40 })
  })

  test('only one of two simultaneous sweeps counts the refused duplicates', async () => {
    const product = await start()
    for (const project of ['one', 'one']) await ask(product, project)
    product.clock.advance(minutes(2))
    await Promise.all([
      (await reportsOf(product.guard)).keepSummaries(),
      (await reportsOf(product.guard)).keepSummaries(),
    ])
    expect(await savedIn(product)).toEqual({ updates: 1, units: 40 })
  })
})

test('the course of a day with sixty budgets is written twice and takes less than 8 KB', async () => {
  let size = 0
  let writes = 0
  const inner = createMemoryStore()
  const store: Store = {
    ...inner,
    transact: (changes, token) => {
      for (const write of changes) {
        if (write.kind !== 'put' || !write.item.pk.startsWith('summary#')) continue
        writes++
        size = Math.max(size, Buffer.byteLength(JSON.stringify(write.item)))
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
  product.clock.set('2026-12-01T20:00:00Z')
  await (await reportsOf(product.guard)).keepSummaries()
  writes = 0
  for (let sweeps = 0; sweeps < 29 * 24; sweeps++) {
    product.clock.advance(hours(1))
    await (await reportsOf(product.guard)).keepSummaries()
  }
  expect(writes).toBe(29 * 2)
  expect(size).toBeLessThan(8_000)
})
