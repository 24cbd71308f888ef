import { describe, expect, test } from 'vitest'
import { pricesOf as pricesUsed } from '../../../shared/api/reports/statements.ts'
import { costOf, type UnitPrices } from '../../../shared/guard/money.ts'
import type { Entry } from '../../../shared/ledger/book/entry.ts'
import type { RunOutcome } from '../../../shared/ledger/book/outcome.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { hours, minutes } from '../../support/clock.ts'
import { only, startGuard, unknown } from '../../support/guard.ts'
import { u } from '../../support/records.ts'
import { enter, localDay, monthSeeds, startRandomMonth } from '../../support/reports/random-month.ts'
import { summaryOf } from '../../support/summary.ts'

// The cost of a month in which the price of a unit changes.

type Started = Awaited<ReturnType<typeof startGuard>>

const pricesOf = (...prices: readonly (readonly [from: string, perUnit: bigint])[]): UnitPrices => ({
  currency: 'EUR',
  prices: prices.map(([from, perUnit]) => ({ from, perUnit })),
})

/** One project may be updated again and again. */
const options = {
  serviceTimeoutMs: 5_000,
  serviceFlightMs: 300_000,
  cooldown: { ranking: 0, 'keyword-difficulty': 0 },
}

const start = (unitPrices: UnitPrices) => startGuard({ units: 5_000, parts: { unitPrices, options } })

const statementIn = async ({ guard }: Started, window: string | null = null) => {
  const statement = await (await reportsOf(guard)).statement(window, 'budget')
  if (!statement) throw new Error(`there is no month ${window}`)
  return statement
}

const costIn = async (product: Started, window: string | null = null) => {
  const { rows, total } = await statementIn(product, window)
  return {
    rows: Object.fromEntries(rows.map(({ key, atPrices }) => [key, costOf(atPrices)])),
    total: costOf(total.atPrices),
    prices: pricesUsed(total).map(({ from, units }) => [from, units]),
  }
}

const late: RunOutcome = { kind: 'ran', units: u(70), from: 'sender', by: 'service', note: 'its answer came late' }

describe('a price of a unit that changes on 21 November', () => {
  const changing = pricesOf(['2026-11-01', 10_000n], ['2026-11-21', 20_000n])

  test('an update costs the price on the day of its hold, before and after its day is summarized', async () => {
    const product = await start(changing)
    await product.budget('slow', { approvalAbove: u(1) })
    await product.ask()
    const { id } = only(await product.ask({ budget: 'slow', projects: ['late'] }))
    product.clock.set('2026-11-21T08:00:00Z')
    await product.guard.decide('approve', id, { caller: 'eve' })
    await product.guard.start(id, product.clock.now() + minutes(5))
    const expected = { rows: { account: 0.4, slow: 0.8 }, total: 1.2, prices: expect.anything() }
    expect(await costIn(product)).toEqual(expected)
    product.clock.set('2026-11-23T08:00:00Z')
    await (await reportsOf(product.guard)).keepSummaries()
    expect((await summaryOf(product.guard.ledger, '2026-11-20T12:00:00Z')).rows).toHaveLength(2)
    expect(await costIn(product)).toEqual(expected)
  })

  test('equal updates with holds on two days stay apart in the summary of their day', async () => {
    const product = await start(changing)
    const { guard, clock } = product
    await product.budget('slow', { approvalAbove: u(1) })
    const asked = async () => only(await product.ask({ budget: 'slow' })).id
    const run = async (id: string) => {
      await guard.decide('approve', id, { caller: 'eve' })
      await guard.start(id, clock.now() + minutes(5))
    }
    await run(await asked())
    const second = await asked()
    clock.set('2026-11-21T01:00:00Z')
    await (await reportsOf(guard)).keepSummaries()
    expect((await summaryOf(guard.ledger, '2026-11-20T12:00:00Z')).open).toEqual([second])
    await run(second)
    clock.set('2026-11-23T08:00:00Z')
    await (await reportsOf(guard)).keepSummaries()
    expect(await summaryOf(guard.ledger, '2026-11-20T12:00:00Z')).toMatchObject({
      rows: [{ charged: 40 }, { charged: 40, heldOn: 'day:2026-11-21' }],
      open: [],
    })
    expect(await costIn(product)).toMatchObject({ rows: { slow: 1.2 } })
  })

  test('a late answer costs the price of the hold, and uncharged units cost nothing', async () => {
    const product = await start(changing)
    product.service.run = async () => unknown
    const update = only(await product.ask())
    await product.guard.decide('did-not-run', update.id, { caller: 'eve' }, { reason: 'r' })
    product.clock.set('2026-11-22T08:00:00Z')
    expect(await costIn(product)).toMatchObject({ rows: { account: 0 }, total: 0, prices: [] })
    await product.guard.ledger.settle(update, late)
    expect(await costIn(product)).toMatchObject({ rows: { account: 0.7 }, prices: [['2026-11-01', 70]] })
  })

  test('an entry and its corrections cost the price of its day, and units that a reconciliation returns cost the latest price', async () => {
    const product = await start(changing)
    await product.budget('acme', {})
    const spent = await enter(product, { type: 'external-spend', budget: 'acme', units: 100 })
    product.clock.set('2026-11-22T08:00:00Z')
    const corrected = await enter(product, { type: 'correction', budget: 'acme', units: 90, corrects: spent?.id })
    expect(await costIn(product)).toMatchObject({ rows: { acme: 0.9 }, prices: [['2026-11-01', 90]] })
    await enter(product, { type: 'external-spend', budget: 'acme', units: 1 })
    product.clock.set('2026-12-03T08:00:00Z')
    await enter(product, { type: 'correction', budget: 'acme', units: 50, corrects: corrected?.id })
    expect(await costIn(product, 'month:2026-11-01')).toEqual({
      rows: { acme: 0.52 },
      total: 0.52,
      prices: [
        ['2026-11-01', 50],
        ['2026-11-21', 1],
      ],
    })
  })

  test('a reconciliation costs the price of its day, and units that it returns cost the month’s latest price', async () => {
    const product = await start(changing)
    await enter(product, { type: 'external-spend', units: 100 })
    product.clock.advance(hours(2))
    await enter(product, { type: 'reconcile', unitsLeft: 4_880 })
    expect(await costIn(product)).toMatchObject({ total: 1.2, prices: [['2026-11-01', 120]] })
    product.clock.advance(hours(2))
    await enter(product, { type: 'reconcile', unitsLeft: 4_910 })
    expect(await costIn(product)).toMatchObject({ total: 0.9, prices: [['2026-11-01', 90]] })
    product.clock.set('2026-11-20T23:59:59Z')
    expect(await costIn(product)).toMatchObject({ total: 0.9 })
    product.clock.set('2026-11-21T00:00:00Z')
    const expected = {
      total: 0.6,
      prices: [
        ['2026-11-01', 120],
        ['2026-11-21', -30],
      ],
    }
    expect(await costIn(product)).toMatchObject(expected)
    product.clock.set('2027-01-05T00:00:00Z')
    expect(await costIn(product, 'month:2026-11-01')).toMatchObject(expected)
  })

  test('units before the first price cost nothing, and a row is rounded once from all its prices', async () => {
    const product = await start(pricesOf(['2026-11-21', 4_000n], ['2026-11-22', 3_000n]))
    await product.budget('acme', {})
    await enter(product, { type: 'external-spend', budget: 'acme', units: 1_000 })
    product.clock.set('2026-11-21T08:00:00Z')
    await enter(product, { type: 'external-spend', budget: 'acme', units: 1 })
    await enter(product, { type: 'external-spend', units: 1 })
    product.clock.set('2026-11-22T08:00:00Z')
    await enter(product, { type: 'external-spend', budget: 'acme', units: 1 })
    // The cost of each single day is below half a cent.
    expect(await costIn(product)).toMatchObject({ rows: { account: 0, acme: 0.01 }, total: 0.01 })
    expect((await statementIn(product)).total.external).toBe(1_003)
  })
})

/** The cost of each budget's row in cents, from the records and entries alone. */
async function recomputed(
  { other, clock }: Started,
  window: string,
  end: number,
  zone: string,
  { prices }: UnitPrices,
) {
  const [updates, entries] = [
    (await other.updates({}, 1_000)).rows,
    (await other.entries({ month: window }, 1_000)).rows,
  ]
  const priceOn = (day: string) => prices.filter(({ from = '' }) => from <= day).at(-1)?.perUnit ?? 0n
  const priceOf = (instant: number) => priceOn(localDay(instant, zone))
  const millionths = new Map<string, bigint>()
  const add = (budget: string, units: number, price: bigint) =>
    millionths.set(budget, (millionths.get(budget) ?? 0n) + BigInt(units) * price)
  for (const { budget, month, charged = 0, hold } of updates) {
    if (month === window && hold) add(budget, charged, priceOf(hold.at))
  }
  const firstOf = (entry: Entry): Entry => {
    const corrected = entries.find(({ id }) => id === entry.corrects)
    return corrected ? firstOf(corrected) : entry
  }
  /** Units that were not given back cost what the correction gives back, or what the update cost on the day of its hold. */
  const sourceOf = (first: Entry): Entry => {
    const correction = entries.find(({ id }) => id === first.keptFor)
    return correction ? sourceOf(firstOf(correction)) : first
  }
  for (const entry of entries) {
    const moved = entry.moves.find((each) => each.budget === 'account' && each.window === 'month')?.move.spent ?? 0
    const first = firstOf(entry)
    const isGivenBack = first.type === 'reconcile' && first.units < 0
    const source = sourceOf(first)
    const ownPrice = /^units that upd_/.test(source.reason)
      ? priceOn(source.day.slice('day:'.length))
      : priceOf(source.at)
    add(first.budget, moved, isGivenBack ? priceOf(Math.min(clock.now(), end - 1)) : ownPrice)
  }
  const cents = (exact: bigint) => Number((exact + (exact < 0n ? -5_000n : 5_000n)) / 10_000n)
  const rows = [...millionths].map(([budget, exact]) => [budget, cents(exact)] as const)
  return {
    rows: Object.fromEntries(rows),
    total: cents([...millionths.values()].reduce((sum, each) => sum + each, 0n)),
  }
}

describe('the cost of a statement', () => {
  test.each(monthSeeds)('a statement costs the sum of its records and entries: seed %i', async (seed) => {
    const month = await startRandomMonth(seed)
    const { product, zone, unitPrices, windows } = month
    const seen = new Set<string | undefined>()
    for (let step = 0; step < 160; step++) {
      await month.step()
      if (step % 10 !== 9) continue
      for (const [window, end] of windows) {
        const { rows, total, addsUp } = await statementIn(product, window)
        const cents = (units: typeof total.atPrices) => Math.round(costOf(units) * 100)
        const expected = await recomputed(product, window, end, zone, unitPrices)
        const shown = rows.map(({ key, atPrices }) => [key, cents(atPrices)] as const)
        expect([
          step,
          window,
          Object.fromEntries(shown.filter(([, each]) => each !== 0)),
          cents(total.atPrices),
        ]).toEqual([
          step,
          window,
          Object.fromEntries(Object.entries(expected.rows).filter(([, each]) => each !== 0)),
          expected.total,
        ])
        expect(addsUp).toBe(true)
        for (const { from } of total.atPrices.keys()) seen.add(from)
      }
    }
    expect(seen.size).toBeGreaterThan(1)
    expect(windows.size).toBeGreaterThan(1)
  })
})
