import { beforeEach, describe, expect, test } from 'vitest'
import { createBudgets } from '../../../shared/guard/people/budgets.ts'
import { fromBookItem } from '../../../shared/ledger/book/book-item.ts'
import { fromEntryItem, toEntryItem } from '../../../shared/ledger/book/entry.ts'
import type { EntryRequest } from '../../../shared/ledger/book/entry-request.ts'
import type { Counter } from '../../../shared/ledger/definitions/counters.ts'
import type { WindowKind } from '../../../shared/ledger/definitions/definitions.ts'
import { AnswerLost, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { createLedger, type Ledger } from '../../../shared/ledger/ledger.ts'
import type { Item, Store } from '../../../shared/ledger/store/store.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { createTestClock, days, type TestClock } from '../../support/clock.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const account = {
  unitsPerMonth: toUnits(5_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

let items: Map<string, Item>
let store: Store
let clock: TestClock
let ledger: Ledger
let names = 0

/** `account` > `seo` (1,000 a month, 400 a day) > `blog` (100 a month), and `ads` (50 a month) beside `seo`. */
beforeEach(async () => {
  items = new Map()
  store = createMemoryStore(items)
  clock = createTestClock()
  ledger = createLedger({ store, clock, account })
  await put('seo', 'account', 1_000, 400)
  await put('blog', 'seo', 100)
  await put('ads', 'account', 50)
})

async function put(name: string, parent: string | null, month: number | 'unlimited', day?: number) {
  const monthly = { window: 'month', units: month === 'unlimited' ? month : toUnits(month) } as const
  const limits = [monthly, ...(day === undefined ? [] : [{ window: 'day', units: toUnits(day) } as const])]
  await createBudgets({ ledger }).putBudget({ name, parent, limits, projects: [] }, { caller: 'ada' })
}

const asked = (wanted: object): EntryRequest =>
  ({
    id: `ent_${++names}`,
    content: 'its content',
    budget: 'blog',
    type: 'grant',
    units: 30,
    window: 'month',
    wholeChain: false,
    reason: 'it must',
    by: 'ada',
    ...wanted,
  }) as EntryRequest

/** A reconciliation books the difference that its preview shows. */
async function enter(wanted: object) {
  const request = asked(wanted)
  if (request.type !== 'reconcile') return ledger.enter(request)
  const preview = await ledger.previewEntry(request)
  return preview.kind === 'possible' ? ledger.enter({ ...request, shown: preview.entry.units }) : preview
}

/** The entry that was booked. */
async function entered(wanted: object) {
  const outcome = await enter(wanted)
  if (outcome.kind !== 'entered') throw new Error(JSON.stringify(outcome))
  return outcome.entry
}

async function counter(budget: string, window: WindowKind = 'month', month = 'month:2026-11-01'): Promise<Counter> {
  const [item] = await store.get([{ pk: 'book', sk: month }])
  const found = item && fromBookItem(item).counters[window][budget]
  if (!found) throw new Error(`${budget} is not counted`)
  return found
}

const impossible = (why: string) => ({ kind: 'not-possible', why })

/** The refusal with the units that the month lacks. */
const short = (lack: { budget: string; available: number; needed: number }, figures: object) => ({
  kind: 'short',
  window: 'month',
  ...lack,
  counters: [{ window: 'month', granted: 0, held: 0, inDoubt: 0, spent: 0, ...lack, ...figures }],
  ends: { month: Date.parse('2026-12-01T00:00Z'), day: Date.parse('2026-11-21T00:00Z') },
})

describe('a transfer', () => {
  const transfer = { type: 'transfer', units: 60, to: 'ads' }

  test('a transfer takes units from one branch and gives them to the other, without a change of common ancestors', async () => {
    const entry = await entered({ ...transfer, budget: 'blog' })
    expect(entry).toMatchObject({ type: 'transfer', budget: 'blog', to: 'ads', units: 60, month: 'month:2026-11-01' })
    expect(entry.moves).toEqual([
      { budget: 'blog', window: 'month', move: { granted: -60 } },
      { budget: 'seo', window: 'month', move: { granted: -60 } },
      { budget: 'ads', window: 'month', move: { granted: 60 } },
    ])
    expect(await counter('blog')).toMatchObject({ granted: -60, available: 40 })
    expect(await counter('ads')).toMatchObject({ granted: 60, available: 110 })
    expect(await counter('account')).toMatchObject({ granted: 0, available: 5_000 })
    expect(entry.binds).toEqual({ budget: 'ads', window: 'month', available: 110 })
  })

  test('a transfer of more than the giver has is refused, even to a child of the giver', async () => {
    expect(await enter({ ...transfer, units: 101 })).toEqual(
      short({ budget: 'blog', available: 100, needed: 101 }, { limit: 100 }),
    )
    expect(await enter({ ...transfer, budget: 'seo', to: 'blog', units: 1_001 })).toMatchObject({
      kind: 'short',
      budget: 'seo',
      available: 1_000,
    })
    expect(await enter({ ...transfer, units: 100 })).toMatchObject({ kind: 'entered' })
    expect(await enter({ ...transfer, units: 1 })).toMatchObject({ kind: 'short', available: 0, needed: 1 })
  })

  test('a transfer to a child grants to the child alone', async () => {
    const entry = await entered({ ...transfer, budget: 'seo', to: 'blog', units: 1_000 })
    expect(entry.moves).toEqual([{ budget: 'blog', window: 'month', move: { granted: 1_000 } }])
    expect(await counter('seo')).toMatchObject({ granted: 0, available: 1_000 })
  })

  test('a transfer to a parent takes from the child alone', async () => {
    const entry = await entered({ ...transfer, budget: 'blog', to: 'seo' })
    expect(entry.moves).toEqual([{ budget: 'blog', window: 'month', move: { granted: -60 } }])
  })

  test('a transfer for the day moves the day counters', async () => {
    await enter({ ...transfer, budget: 'seo', window: 'day', units: 400 })
    expect(await counter('seo', 'day')).toMatchObject({ granted: -400, available: 0 })
    expect(await counter('ads', 'day')).toMatchObject({ granted: 400 })
    expect(await counter('seo')).toMatchObject({ granted: 0 })
    expect(await enter({ ...transfer, budget: 'seo', window: 'day', units: 1 })).toMatchObject({ window: 'day' })
  })

  test('a transfer to the same budget or of an unknown budget is refused', async () => {
    expect(await enter({ ...transfer, to: 'blog' })).toEqual(impossible('blog and blog are the same budget.'))
    expect(await enter({ ...transfer, to: 'missing' })).toEqual({ kind: 'unknown-budget', budget: 'missing' })
    expect(await enter({ ...transfer, budget: 'missing' })).toEqual({ kind: 'unknown-budget', budget: 'missing' })
    expect(await enter({ to: 'missing' })).toMatchObject({ kind: 'entered' })
  })

  test('two concurrent transfers move the same units once', async () => {
    const both = await Promise.all([enter({ ...transfer, units: 70 }), enter({ ...transfer, units: 70 })])
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['entered', 'short'])
    expect(await counter('blog')).toMatchObject({ available: 30 })
  })

  test('a transfer helps a budget that has spent too much', async () => {
    await enter({ type: 'external-spend', budget: 'ads', units: 130 })
    expect(await enter({ ...transfer, units: 60 })).toMatchObject({ kind: 'entered' })
    expect(await counter('ads')).toMatchObject({ available: -20 })
  })

  test('a transfer from an unlimited budget is never short', async () => {
    await put('free', 'account', 'unlimited')
    expect(await enter({ ...transfer, budget: 'free' })).toMatchObject({ kind: 'entered' })
    expect(await counter('free')).toMatchObject({ limit: 'unlimited', granted: -60 })
  })
})

describe('a correction', () => {
  test('a correction books the difference to the right figure of a grant, once', async () => {
    const first = await entered({ wholeChain: true })
    const corrected = await entered({ type: 'correction', units: 10, corrects: first.id })
    expect(corrected).toMatchObject({ type: 'correction', corrects: first.id, units: 10 })
    expect(corrected).not.toHaveProperty('to')
    expect(first).not.toHaveProperty('signs')
    expect(first).not.toHaveProperty('corrects')
    expect(corrected.moves).toEqual(
      ['blog', 'seo', 'account'].map((budget) => ({ budget, window: 'month', move: { granted: -20 } })),
    )
    expect(await counter('seo')).toMatchObject({ granted: 10, available: 1_010 })
    expect(await enter({ type: 'correction', units: 5, corrects: first.id })).toEqual(
      impossible(`${first.id} was corrected by ${corrected.id}; correct that one.`),
    )
    const again = await entered({ type: 'correction', units: 50, corrects: corrected.id })
    expect(again.moves[0]).toEqual({ budget: 'blog', window: 'month', move: { granted: 40 } })
    expect(await counter('blog')).toMatchObject({ granted: 50, available: 150 })
  })

  test('a correction of a transfer is refused if the giver lacks the units, and so is the next correction', async () => {
    const first = await entered({ type: 'transfer', budget: 'seo', to: 'blog', units: 1 })
    const lacking = short({ budget: 'seo', available: 1_000, needed: 1_001 }, { limit: 1_000 })
    expect(await enter({ type: 'correction', units: 1_002, corrects: first.id })).toEqual(lacking)
    const second = await entered({ type: 'correction', units: 600, corrects: first.id })
    expect(await enter({ type: 'correction', units: 1_601, corrects: second.id })).toEqual(lacking)
    const third = await entered({ type: 'correction', units: 0, corrects: second.id })
    expect(third.moves).toEqual([{ budget: 'blog', window: 'month', move: { granted: -600 } }])
    expect(await counter('seo')).toMatchObject({ granted: 0, available: 1_000 })
    expect(await counter('blog')).toMatchObject({ granted: 0, available: 100 })
  })

  test('a correction sets an entry to 0, and the next correction sets it back', async () => {
    const first = await entered({ units: 0 })
    const none = await entered({ type: 'correction', units: 0, corrects: first.id })
    expect(none.moves).toEqual([])
    const spent = await entered({ type: 'external-spend', units: 30 })
    const gone = await entered({ type: 'correction', units: 0, corrects: spent.id })
    expect(gone.signs).toEqual([
      ...['blog', 'seo', 'account'].map((budget) => ({ budget, window: 'month', move: { spent: 1 } })),
      ...['blog', 'seo', 'account'].map((budget) => ({ budget, window: 'day', move: { spent: 1 } })),
    ])
    expect(await counter('blog')).toMatchObject({ spent: 0, available: 100 })
    await enter({ type: 'correction', units: 12, corrects: gone.id })
    expect(await counter('blog')).toMatchObject({ spent: 12, available: 88 })
    expect(await counter('seo', 'day')).toMatchObject({ spent: 12, available: 388 })
  })

  test('a correction on another day does not change the day counters', async () => {
    const spent = await entered({ type: 'external-spend', units: 30 })
    clock.advance(days(1))
    const corrected = await entered({ type: 'correction', units: 40, corrects: spent.id })
    expect(corrected.moves.map(({ budget, window }) => `${budget} ${window}`)).toEqual([
      'blog month',
      'seo month',
      'account month',
    ])
    expect(await counter('seo', 'day')).toMatchObject({ spent: 0, available: 400 })
  })

  test('a correction after the month is booked in the month of the entry', async () => {
    const granted = await entered({})
    clock.set('2026-12-05T10:00:00Z')
    const corrected = await entered({ type: 'correction', units: 7, corrects: granted.id })
    expect([corrected.month, corrected.day]).toEqual(['month:2026-11-01', 'day:2026-11-20'])
    expect(await counter('blog')).toMatchObject({ granted: 7, available: 107 })
    await expect(counter('blog', 'month', 'month:2026-12-01')).rejects.toThrow('not counted')
    items.delete(JSON.stringify(['book', 'month:2026-11-01']))
    expect(await enter({ type: 'correction', units: 8, corrects: corrected.id })).toEqual({ kind: 'unknown-entry' })
  })

  test('a correction takes back no units that are already used', async () => {
    const granted = await entered({ units: 30 })
    await entered({ type: 'external-spend', units: 120 })
    expect(await enter({ type: 'correction', units: 19, corrects: granted.id })).toEqual(
      short({ budget: 'blog', available: 10, needed: 11 }, { limit: 100, granted: 30, spent: 120 }),
    )
    expect(await enter({ type: 'correction', units: 20, corrects: granted.id })).toMatchObject({ kind: 'entered' })
  })

  test('outside spending of a budget that spent too much can be corrected', async () => {
    const spent = await entered({ type: 'external-spend', units: 150 })
    await entered({ type: 'correction', units: 140, corrects: spent.id })
    expect(await counter('blog')).toMatchObject({ available: -40, spent: 140 })
  })

  /** The figures of `account` and `blog` after outside spending of `units`, and the vendor's figure of 4,990. */
  async function spentAndReconciled(units: number) {
    const spent = await entered({ type: 'external-spend', units })
    await entered({ type: 'reconcile', budget: 'account', unitsLeft: 4_990 })
    return spent
  }
  const months = async () => [(await counter('account')).spent, (await counter('blog')).spent]

  test('a correction gives account nothing back that a reconciliation gave back before', async () => {
    const spent = await spentAndReconciled(52)
    expect(await months()).toEqual([10, 52])
    const lower = await entered({ type: 'correction', units: 25, corrects: spent.id })
    expect([await months(), await counter('account', 'day')]).toMatchObject([[10, 25], { spent: 25 }])
    const { rows } = await ledger.entries({ month: 'month:2026-11-01' }, 10)
    expect(rows.find(({ reason }) => reason.startsWith('units that'))).toMatchObject({
      type: 'external-spend',
      budget: 'account',
      units: 27,
      by: 'ada',
      reason: `units that ${lower.id} did not give back, because account was reconciled after ${spent.id}`,
      kept: 0,
      keptFor: lower.id,
      moves: [{ budget: 'account', window: 'month', move: { spent: 27 } }],
    })
  })

  test('a ledger that an older version reconciled takes back no more than account has spent', async () => {
    const spent = await spentAndReconciled(52)
    const [book] = await store.get([{ pk: 'book', sk: 'month:2026-11-01' }])
    const { reconciledAt: _unknown, ...older } = book ?? { pk: '', sk: '' }
    await store.transact([{ kind: 'put', item: older, when: [] }], 'older')
    expect(await enter({ type: 'correction', units: 41, corrects: spent.id })).toEqual(
      impossible('account has spent only 10 units, so 11 cannot be taken back.'),
    )
    expect(await months()).toEqual([10, 52])
    await entered({ type: 'correction', units: 42, corrects: spent.id })
    expect(await months()).toEqual([0, 42])
  })

  test('a chain of corrections after a reconciliation counts no unit twice on account', async () => {
    let { id } = await spentAndReconciled(52)
    const correct = async (units: number) => {
      id = (await entered({ type: 'correction', units, corrects: id })).id
      return months()
    }
    expect([await correct(5), await correct(15), await correct(52)]).toEqual([
      [10, 5],
      [10, 15],
      [10, 52],
    ])
    // Only units above the first figure count on account, and these it gets back.
    expect([await correct(60), await correct(40), await correct(52)]).toEqual([
      [18, 60],
      [18, 40],
      [18, 52],
    ])
    const { rows } = await ledger.entries({ month: 'month:2026-11-01' }, 100)
    expect(rows.find((row) => row.id === id)).toMatchObject({ kept: 8, type: 'correction' })
    const left = rows.filter(({ reason }) => reason.startsWith('units that'))
    expect(left.map(({ units }) => units).toSorted((a, b) => a - b)).toEqual([-37, -12, -10, 20, 47])
    expect(left.filter(({ reason }) => reason.includes('counts again'))).toHaveLength(3)
  })

  test('a reconciliation between the reading and the writing of a correction is noticed', async () => {
    await entered({ type: 'external-spend', budget: 'ads', units: 100 })
    const spent = await entered({ type: 'external-spend', units: 52 })
    let isFirst = true
    const busy: Store = {
      ...store,
      transact: async (writes, token) => {
        if (isFirst) {
          isFirst = false
          await entered({ type: 'reconcile', budget: 'account', unitsLeft: 4_890 })
        }
        return store.transact(writes, token)
      },
    }
    const request = asked({ type: 'correction', units: 25, corrects: spent.id })
    const outcome = await createLedger({ store: busy, clock, account }).enter(request)
    expect([outcome.kind, await months()]).toEqual(['entered', [110, 25]])
  })

  test('a correction of a grant gives account nothing that a reconciliation gave before', async () => {
    const granted = await entered({ units: 50, budget: 'account' })
    await entered({ type: 'external-spend', units: 90 })
    await entered({ type: 'reconcile', budget: 'account', unitsLeft: 5_000 })
    expect(await counter('account')).toMatchObject({ available: 5_000, granted: 50, spent: 50 })
    await entered({ type: 'correction', units: 80, budget: 'account', corrects: granted.id })
    expect(await counter('account')).toMatchObject({ available: 5_000, granted: 80, spent: 80 })
  })

  test('the preview of a correction after a reconciliation shows that account keeps its figure', async () => {
    const spent = await spentAndReconciled(52)
    const request = asked({ type: 'correction', units: 25, corrects: spent.id })
    const preview = await ledger.previewEntry(request)
    expect(preview).toMatchObject({ kind: 'possible', after: { counters: { month: { account: { spent: 10 } } } } })
  })

  test('an entry after the reconciliation is corrected on account, too', async () => {
    await spentAndReconciled(52)
    clock.advance(1)
    const spent = await entered({ type: 'external-spend', units: 40 })
    await entered({ type: 'correction', units: 4, corrects: spent.id })
    expect(await months()).toEqual([14, 56])
  })

  test('an entry after the time of a figure is corrected on account, too', async () => {
    const asOf = clock.now()
    clock.advance(60_000)
    const spent = await entered({ type: 'external-spend', units: 40 })
    clock.advance(60_000)
    await entered({ type: 'reconcile', budget: 'account', unitsLeft: 4_990, asOf })
    expect(await months()).toEqual([50, 40])
    await entered({ type: 'correction', units: 4, corrects: spent.id })
    expect(await months()).toEqual([14, 4])
  })

  test('a simultaneous correction and reconciliation give the same units back once', async () => {
    const spent = await entered({ type: 'external-spend', units: 52 })
    const [reconciled] = await Promise.all([
      enter({ type: 'reconcile', budget: 'account', unitsLeft: 4_990 }),
      entered({ type: 'correction', units: 25, corrects: spent.id }),
    ])
    // A reconciliation that comes second is refused, because its difference has changed.
    expect(await months()).toEqual([reconciled.kind === 'entered' ? 10 : 25, 25])
  })

  test('a correction of an unknown entry, another budget, or an entry that booked nothing is refused', async () => {
    expect(await enter({ type: 'correction', units: 1, corrects: 'ent_nothing' })).toEqual({ kind: 'unknown-entry' })
    const granted = await entered({})
    expect(await enter({ type: 'correction', units: 1, budget: 'ads', corrects: granted.id })).toEqual(
      impossible(`${granted.id} did not move ads.`),
    )
    const spent = await entered({ type: 'external-spend', units: 0, budget: 'blog' })
    expect(await enter({ type: 'correction', units: 3, budget: 'seo', corrects: spent.id })).toMatchObject({
      kind: 'entered',
    })
    const lines = (await ledger.entries({ month: 'month:2026-11-01' }, 50)).rows
    const created = lines.find(({ type }) => type === 'budget-created')
    expect(await enter({ type: 'correction', units: 1, corrects: created?.id })).toEqual(
      impossible('An entry of the type budget-created is not corrected; make another change.'),
    )
  })

  test('the correction of a transfer moves both sides', async () => {
    const moved = await entered({ type: 'transfer', units: 60, to: 'ads' })
    await entered({ type: 'correction', units: 20, corrects: moved.id, budget: 'ads' })
    expect(await counter('blog')).toMatchObject({ granted: -20 })
    expect(await counter('ads')).toMatchObject({ granted: 20 })
  })

  test('the opening position can be corrected', async () => {
    ledger = createLedger({ store: createMemoryStore(), clock, account: { ...account, usedAtStart: toUnits(500) } })
    await ledger.view()
    const [opening] = (await ledger.entries({ month: 'month:2026-11-01' }, 5)).rows
    expect(opening).toMatchObject({
      id: expect.stringMatching(/^ent_./),
      type: 'opening',
      reason: 'opening position: units used in this month before the guard began to count',
    })
    const corrected = await entered({ type: 'correction', budget: 'account', units: 450, corrects: opening?.id })
    expect(corrected.moves).toEqual([{ budget: 'account', window: 'month', move: { spent: -50 } }])
  })

  test('only one of two concurrent corrections is booked', async () => {
    const granted = await entered({})
    const both = await Promise.all([
      enter({ type: 'correction', units: 40, corrects: granted.id }),
      enter({ type: 'correction', units: 50, corrects: granted.id }),
    ])
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['entered', 'not-possible'])
  })
})

describe('the figure on the vendor’s screen', () => {
  const reconcile = { type: 'reconcile', budget: 'account' }

  test.each([
    [4_200, 800],
    [5_000, 0],
    [0, 5_000],
  ])('a reconciliation with %i units left makes %i units spent', async (unitsLeft, spent) => {
    const entry = await entered({ ...reconcile, unitsLeft })
    expect([entry.units, entry.moves.map(({ budget, window, move }) => [budget, window, move])]).toEqual([
      spent,
      spent === 0 ? [] : [['account', 'month', { spent }]],
    ])
    expect(await counter('account')).toMatchObject({ spent, available: unitsLeft })
    expect(await counter('account', 'day')).toMatchObject({ spent: 0 })
  })

  test('a reconciliation books only the difference that its preview showed', async () => {
    const request = asked({ ...reconcile, unitsLeft: 4_200 }) as EntryRequest & { type: 'reconcile' }
    const numbers =
      "of the vendor's 4,200 units, 0 were spent in the last minutes, 0 are held and 0 in doubt, so account goes from 5,000 to 4,200 available, a difference of 800. Send the same with the difference 800 to book it."
    expect(await ledger.enter(request)).toEqual(impossible(`Nothing is booked without a preview: ${numbers}`))
    expect(await ledger.enter({ ...request, shown: 799 })).toEqual(
      impossible(`The difference is not 799 any more: ${numbers}`),
    )
    clock.advance(120_000)
    const early = { ...request, id: 'ent_early', asOf: clock.now() - 60_000 }
    await enter({ type: 'external-spend', budget: 'account', units: 300 })
    expect(await ledger.enter(early)).toMatchObject({
      why: expect.stringContaining('300 were spent since, 0 are held'),
    })
    expect(await ledger.enter({ ...early, unitsLeft: toUnits(5_001) })).toMatchObject({
      why: expect.stringContaining('the vendor had 1 more left than the book, and only a figure of now'),
    })
    const again = { ...request, unitsLeft: toUnits(4_000), shown: 700 }
    expect(await ledger.enter(again)).toMatchObject({ kind: 'entered', again: false })
    expect(await ledger.enter(again)).toMatchObject({ kind: 'entered', again: true })
    expect(await ledger.enter({ ...again, shown: 701 })).toEqual({ kind: 'key-reused' })
    expect(await ledger.previewEntry(again)).toMatchObject({ kind: 'entered', again: true })
  })

  test('a figure that a fast clock entered counts as a figure of now', async () => {
    const early = clock.now() - 60_000
    expect(await entered({ ...reconcile, unitsLeft: 4_990, enteredAt: early })).toMatchObject({ asOf: early })
    const fast = await entered({ ...reconcile, unitsLeft: 4_980, enteredAt: clock.now() + 60_000 })
    expect(fast).not.toHaveProperty('asOf')
  })

  test('a reconciliation that gives nothing back may name a time, and needs no reason within the hour', async () => {
    await entered({ ...reconcile, unitsLeft: 4_990 })
    expect(await entered({ ...reconcile, unitsLeft: 4_990, reason: 'as of 10:00' })).toMatchObject({ units: 0 })
    expect(await entered({ ...reconcile, unitsLeft: 4_990, reason: '' })).toMatchObject({ units: 0 })
    expect(await enter({ ...reconcile, unitsLeft: 4_991, reason: '' })).toMatchObject({
      why: expect.stringContaining('Units would come back within an hour of another reconciliation'),
    })
  })

  test('units come back without a reason an hour after the last reconciliation, whatever else was entered', async () => {
    await entered({ type: 'external-spend', units: 90 })
    await entered({ ...reconcile, unitsLeft: 4_920, reason: '' })
    clock.advance(3_600_000 - 1)
    await entered({ units: 30 })
    const again = { ...reconcile, unitsLeft: 4_930, reason: '' }
    expect(await enter(again)).toMatchObject({ why: expect.stringContaining('within an hour') })
    clock.advance(1)
    expect(await entered(again)).toMatchObject({ units: -10 })
  })

  test('a figure that was entered before the renewal is not booked after it', async () => {
    const request = asked({ ...reconcile, unitsLeft: 4_990, enteredAt: Date.parse('2026-11-30T23:50:00Z'), shown: 10 })
    clock.set('2026-12-01T00:05:00Z')
    expect(await ledger.enter(request)).toEqual(
      impossible('The figure is of 30 Nov 2026 23:50 UTC, before the renewal of 1 Dec 2026 00:00 UTC: look again.'),
    )
  })

  test('a reconciliation gives back units that the vendor did not count, down to nothing spent', async () => {
    await enter({ type: 'external-spend', budget: 'account', units: 300 })
    expect(await entered({ ...reconcile, unitsLeft: 5_000 })).toMatchObject({ units: -300 })
    expect(await enter({ ...reconcile, unitsLeft: 5_001 })).toEqual(
      impossible(
        'The vendor has 5,001 units left, and account allows only 5,000 this month; if the vendor gave the difference, grant it to account, else raise its limit first.',
      ),
    )
    await enter({ budget: 'account', units: 1 })
    expect(await enter({ ...reconcile, unitsLeft: 5_001 })).toMatchObject({ kind: 'entered' })
    expect(await enter({ ...reconcile, unitsLeft: 5_002 })).toMatchObject({
      why: 'The vendor has 5,002 units left, and account allows only 5,001 this month; if the vendor gave the difference, grant it to account, else raise its limit first.',
    })
  })

  test('a reconciliation assumes that the vendor’s figure does not include held units yet', async () => {
    await enter({ budget: 'account', units: 0 })
    const key = JSON.stringify(['book', 'month:2026-11-01'])
    const item = items.get(key)
    if (!item) throw new Error('there is no book')
    const counters = item.month as { account: object }
    const held = { ...counters.account, a: 4_700, h: 300 }
    items.set(key, { ...item, month: { ...counters, account: held } })
    expect(await entered({ ...reconcile, unitsLeft: 4_900 })).toMatchObject({ units: 100 })
    expect(await counter('account')).toMatchObject({ available: 4_600, held: 300, spent: 100 })
  })

  test('only one of two concurrent reconciliations is booked', async () => {
    await Promise.all([enter({ ...reconcile, unitsLeft: 4_000 }), enter({ ...reconcile, unitsLeft: 4_000 })])
    expect(await counter('account')).toMatchObject({ spent: 1_000, available: 4_000 })
  })

  test('an account without a limit cannot be reconciled', async () => {
    await put('account', null, 'unlimited')
    expect(await enter({ ...reconcile, unitsLeft: 1 })).toEqual(
      impossible('account has no limit this month, so there is no figure to compare with.'),
    )
  })
})

describe('the sentence about an entry', () => {
  test('an entry names the counter with the least units left for an update of the budget', async () => {
    expect((await entered({ units: 30 })).binds).toEqual({ budget: 'blog', window: 'month', available: 130 })
    expect((await entered({ units: 800 })).binds).toEqual({ budget: 'seo', window: 'day', available: 400 })
    expect((await entered({ budget: 'seo', units: 500, window: 'day' })).binds).toEqual({
      budget: 'seo',
      window: 'day',
      available: 900,
    })
    expect((await entered({ budget: 'seo', units: 500, window: 'day' })).binds?.window).toBe('month')
  })

  test('an entry names no counter of an observed budget', async () => {
    const { view } = ledger
    const watched = { name: 'seo', parent: 'account', enforce: false, projects: [] } as const
    const limits = [{ window: 'month', units: toUnits(10) }] as const
    await createBudgets({ ledger }).putBudget({ ...watched, limits }, { caller: 'ada' })
    expect((await view()).definitions.budgets.seo?.enforce).toBe(false)
    expect((await entered({ units: 30 })).binds).toEqual({ budget: 'blog', window: 'month', available: 130 })
  })

  test('an entry names no tightest counter if nothing is limited', async () => {
    await put('account', null, 'unlimited')
    expect(await entered({ budget: 'account', units: 1 })).not.toHaveProperty('binds')
  })

  test('an entry says who and why, and is kept for 26 months', async () => {
    const entry = await entered({ id: 'ent_line', units: 30 })
    expect(entry).toMatchObject({
      id: 'ent_line',
      content: 'its content',
      reason: 'it must',
      by: 'ada',
      at: clock.now(),
    })
    const item = toEntryItem(entry)
    expect(item).toMatchObject({
      pk: 'entry#ent_line',
      listedIn: 'entries#month:2026-11-01',
      listedAt: '2026-11-20T10:00:00.000Z#ent_line',
      expiresAt: (clock.now() + days(780)) / 1000,
    })
    expect(fromEntryItem(item)).toEqual(entry)
  })
})

test('an entry that two processes send at the same time is booked once', async () => {
  const other = createLedger({ store, clock: createTestClock('2026-11-20T10:00:01Z'), account })
  await other.view()
  const request = asked({ id: 'ent_both' })
  const both = await Promise.all([ledger.enter(request), other.enter(request)])
  expect(both.map((outcome) => outcome.kind === 'entered' && outcome.again).toSorted()).toEqual([false, true])
  expect(await counter('blog')).toMatchObject({ granted: 30 })
})

describe('the preview of an entry', () => {
  const book = (granted: number) => ({ counters: { month: { blog: { granted, available: 100 + granted } } } })

  test('a preview shows the book before and after, and writes nothing', async () => {
    const stored = new Map(items)
    const preview = await ledger.previewEntry(asked({ window: 'next-month' }))
    expect(preview).toMatchObject({ kind: 'possible', entry: { units: 30 }, before: book(0), after: book(30) })
    expect(preview).toMatchObject({ before: { month: 'month:2026-12-01' }, after: { day: 'day:2026-12-01' } })
    expect(items).toEqual(stored)
  })

  test('a preview moves every figure of both windows', async () => {
    await enter({ type: 'external-spend', units: 7 })
    expect(await ledger.previewEntry(asked({ type: 'external-spend', units: 5 }))).toMatchObject({
      after: {
        counters: {
          month: {
            blog: { available: 88, spent: 12, held: 0, inDoubt: 0, granted: 0 },
            ads: { spent: 0, available: 50 },
          },
          day: { seo: { available: 388, spent: 12 }, ads: { spent: 0 } },
        },
      },
    })
    const day = await ledger.previewEntry(asked({ budget: 'seo', window: 'day', units: 5 }))
    expect(day).toMatchObject({
      after: { counters: { month: { seo: { granted: 0 } }, day: { seo: { granted: 5, available: 398 } } } },
    })
  })

  test('a preview says that an entry is booked already or would be refused', async () => {
    const first = await entered({ id: 'ent_once' })
    expect(await ledger.previewEntry(asked({ id: 'ent_once' }))).toEqual({ kind: 'entered', entry: first, again: true })
    expect(await ledger.previewEntry(asked({ type: 'transfer', to: 'ads', units: 999 }))).toMatchObject({
      kind: 'short',
    })
    expect(await ledger.previewEntry(asked({ type: 'correction', corrects: 'ent_no', units: 1 }))).toEqual({
      kind: 'unknown-entry',
    })
  })
})

describe('when the table fails', () => {
  /** A ledger on a store that fails in this way for a transaction with an entry. */
  function failing(how: (apply: () => Promise<unknown>) => Promise<never>) {
    const failed: Store = {
      ...store,
      transact: async (writes, token) => {
        const books = writes.some((write) => write.kind === 'put' && write.item.sk === 'entry')
        return books ? how(() => store.transact(writes, token)) : store.transact(writes, token)
      },
    }
    return createLedger({ store: failed, clock, account })
  }

  test('an entry is given up if the book keeps changing', async () => {
    let tries = 0
    const refusing: Store = {
      ...store,
      transact: async () => {
        tries++
        return { applied: false, found: [] }
      },
    }
    await enter({})
    await expect(createLedger({ store: refusing, clock, account }).enter(asked({}))).rejects.toThrow(
      'the book keeps changing',
    )
    expect(tries).toBe(8)
  })

  test('an entry with a lost answer is found in the table', async () => {
    const deaf = failing(async (apply) => {
      await apply()
      throw new AnswerLost('nothing was heard')
    })
    expect(await deaf.enter(asked({}))).toMatchObject({ kind: 'entered', again: false })
    expect(await counter('blog')).toMatchObject({ granted: 30 })
  })

  test('a failure is thrown if the entry was not written', async () => {
    const deaf = failing(async () => {
      throw new AnswerLost('nothing was heard')
    })
    await expect(deaf.enter(asked({}))).rejects.toThrow(AnswerLost)
    const closed = failing(async () => {
      throw new LedgerUnavailable('closed')
    })
    await enter({ id: 'ent_there' })
    await expect(closed.enter(asked({}))).rejects.toThrow('closed')
  })
})
