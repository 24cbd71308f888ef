import { describe, expect, test } from 'vitest'
import { days, minutes } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { reconcile } from '../../support/store/reconcile.ts'

/** A client of whom an update for 40 units has run. */
async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const client = { limits: [{ window: 'month', units: 100 }], projects: [{ name: 'shop' }] }
  await product.call('PUT', '/budgets/acme', { body: client })
  const { body } = await product.update({ kind: 'ranking', project: 'shop' })
  const enter = (entry: object) =>
    product.call('POST', '/budgets/acme/entries', { body: { reason: 'credit note 4711', ...entry } })
  product.clock.advance(minutes(5))
  const reconciled = (unitsLeft: number) => reconcile(product, { unitsLeft, reason: 'the screen' })
  return { product, enter, reconcile: reconciled, update: body.updates[0] }
}

describe('units that the vendor gave back', () => {
  test('units that the vendor gave back are a grant, and the next reconciliation finds no difference', async () => {
    const { product, enter, reconcile } = await start()
    expect((await enter({ type: 'grant', units: 40, wholeChain: true })).status).toBe(201)
    expect(await product.figures('acme')).toMatchObject({ granted: 40, available: 100, spent: 40 })
    expect((await reconcile(50_000)).body).toMatchObject({ type: 'reconcile', units: 0 })
    expect(await product.audit()).toBe(true)
  })

  test("a vendor's figure above an unspent month is refused with the missing grant", async () => {
    const { product, enter, reconcile } = await start()
    product.clock.advance(days(20))
    const refused = await reconcile(50_040)
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      'The vendor has 50,040 units left, and account allows only 50,000 this month; if the vendor gave the difference, grant it to account, else raise its limit first.',
    ])
    expect((await enter({ type: 'grant', units: 40, wholeChain: true })).status).toBe(201)
    expect((await reconcile(50_040)).body).toMatchObject({ units: 0 })
    expect(await product.audit()).toBe(true)
  })

  test.each<[what: string, entry: (update: string) => object, path: string, message: string]>([
    [
      'negative spending',
      () => ({ type: 'external-spend', units: -40 }),
      'units',
      'must be a whole number of units from 1 to 1000000000000; for units that the vendor gave back, book a grant with wholeChain',
    ],
    [
      'the correction of an update',
      (corrects) => ({ type: 'correction', units: 0, corrects }),
      'corrects',
      'must be the id of an entry; what an update was charged is not corrected: for units that the vendor gave back, book a grant with wholeChain',
    ],
  ])(
    'units that the vendor gave back cannot be booked as %s, and the error names the way',
    async (_what, entry, path, message) => {
      const { product, enter, update } = await start()
      const { status, body } = await enter(entry(update.id))
      expect([status, body.errors]).toEqual([400, [{ path, message }]])
      expect(await product.figures('acme')).toMatchObject({ granted: 0, available: 60, spent: 40 })
    },
  )
})

describe('a reconciliation with a wrong figure', () => {
  test('a wrong reconciliation is repaired by reconciling again, as its refused correction says', async () => {
    const { product, reconcile, enter } = await start()
    const { body: wrong } = await reconcile(4_996)
    expect(await product.figures()).toMatchObject({ available: 4_996 })
    const refused = await product.call('POST', '/budgets/account/entries', {
      body: { type: 'correction', units: 0, corrects: wrong.id, reason: 'a typo' },
    })
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      `${wrong.id} is a reconciliation, which is not corrected: reconcile again with the figure that the vendor shows now, and the difference to this one is booked.`,
    ])
    expect((await reconcile(49_960)).body).toMatchObject({ units: -44_964 })
    expect(await product.figures()).toMatchObject({ available: 49_960, spent: 40 })
    expect((await enter({ type: 'grant', units: 1 })).status).toBe(201)
    expect(await product.audit()).toBe(true)
  })

  test('a wrong reconciliation of an ended month stays, as its refused correction says', async () => {
    const { product, reconcile } = await start()
    const { body: wrong } = await reconcile(49_900)
    product.clock.advance(days(20))
    const refused = await product.call('POST', '/budgets/account/entries', {
      body: { type: 'correction', units: 0, corrects: wrong.id, reason: 'a typo' },
    })
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      `${wrong.id} is a reconciliation of month:2026-11-01, which is over: nothing can be spent in it any more, and its statement keeps 60 units as spent outside, on account. Reconcile again for the open month.`,
    ])
    expect(await product.audit()).toBe(true)
  })
})
