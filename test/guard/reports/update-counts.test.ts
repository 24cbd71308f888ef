import { expect, test } from 'vitest'
import { all } from '../../../shared/ledger/store/pages.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { UpdateFilter } from '../../../shared/ledger/views/lists.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createTestClock, hours, minutes } from '../../support/clock.ts'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// The number and cost of the updates that match a filter, without reading them.

const since = Date.parse('2026-11-09T00:00:00Z')

async function start() {
  const clock = createTestClock('2026-11-09T10:00:00Z')
  const service = ({ url }: { url: string }) =>
    url.includes('/run') && url.includes('lost')
      ? { status: 500 }
      : url.includes('/run') && url.includes('unsent')
        ? json({ error: 'no' }, 403)
        : undefined
  const product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    clock,
    service,
    units: { dear: 90_000 },
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 5_000 }] } })
  for (let day = 9; day <= 12; day++) {
    for (const budget of ['account', 'seo']) {
      for (const project of ['one', 'one', 'dear', 'lost', 'unsent', 'blog']) {
        await product.update({ kind: 'ranking', project: `${project}-${budget}`, budget })
        clock.advance(minutes(3))
      }
    }
    await (await reportsOf(product.guard)).keepSummaries()
    if (day < 12) clock.advance(hours(24) - minutes(36))
  }
  return product
}

test('the count of updates agrees with the list for each filter, before and after summaries are written', async () => {
  const product = await start()
  const { ledger } = product.guard
  const narrowed: Omit<UpdateFilter, 'since'>[] = [
    {},
    { budget: 'seo' },
    { project: 'one-seo' },
    { search: 'ONE' },
    { caller: 'ada' },
    { caller: 'bob' },
    { kind: 'ranking' },
    { via: 'http' },
    { via: 'slack' },
    { until: Date.parse('2026-11-11') - 1 },
    ...(['settled', 'refused', 'released', 'in-doubt', 'expired'] as const).map((state) => ({ state })),
  ]
  const filters = narrowed.map((filter) => ({ since, ...filter }))
  for (const filter of filters) {
    const found = await all<Update>((cursor) => ledger.updates(filter, 100, cursor))
    // A period does not limit the list of an open state.
    const sum = found.reduce((units, { charged = 0 }) => units + charged, 0)
    expect([filter, await (await reportsOf(product.guard)).countUpdates(filter)]).toEqual([
      filter,
      expect.objectContaining({ count: found.length, sum }),
    ])
  }
  const { body } = await product.call('GET', '/updates?since=2026-11-09T00:00:00Z&state=settled&budget=seo&limit=1')
  expect([body.count, body.sum, body.updates.length]).toEqual([12, 480, 1])
  const next = await product.call('GET', `/updates?since=2026-11-09T00:00:00Z&limit=1&cursor=${body.next}`)
  expect(next.body).not.toHaveProperty('count')
})

test.each<[why: string, filter: UpdateFilter]>([
  ['no period', {}],
  ['a part of a day', { since: since + 1 }],
  ['a period that ends within a day', { since, until: Date.parse('2026-11-10T12:00:00Z') }],
])('the count of updates is missing for %s', async (_why, filter) => {
  const clock = createTestClock('2026-11-09T00:00:00Z')
  const { guard } = await startProduct({ store: createMemoryStore(), stream: false, clock })
  await guard.ledger.view()
  clock.set('2026-11-20T10:00:00Z')
  expect(await (await reportsOf(guard)).countUpdates(filter)).toBeNull()
})
