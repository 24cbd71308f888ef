import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBudgets } from '../../../shared/guard/people/budgets.ts'
import { fromBookItem } from '../../../shared/ledger/book/book-item.ts'
import type { EntryRequest } from '../../../shared/ledger/book/entry-request.ts'
import type { Counter } from '../../../shared/ledger/definitions/counters.ts'
import type { WindowKind } from '../../../shared/ledger/definitions/definitions.ts'
import { createLedger, type Ledger } from '../../../shared/ledger/ledger.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { summaryDayAt } from '../../../shared/ledger/updates/summary-days.ts'
import type { Grant, Update } from '../../../shared/ledger/updates/update.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { daySummaries, emptySummary } from '../../../shared/reports/stored-summary.ts'
import { createTestClock, days, minutes, type TestClock } from '../../support/clock.ts'
import { decidedFrom, didNotRun, ran, unknown } from '../../support/records.ts'
import { stores } from '../../support/store/stores.ts'

// An administrator says what a settled update really cost.

const november = 'month:2026-11-01'
const account = {
  unitsPerMonth: toUnits(5_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

/** Tests that do not depend on the store come last, and run in memory only. */
describe.each(stores)('the correction of a charge: %s', (name, create) => {
  let store: Store
  let clock: TestClock
  let ledger: Ledger
  let names = 0

  /** `account` > `seo` (1,000 a month, 400 a day), and `ads` (50 a month) beside it. */
  beforeEach(async () => {
    store = await create()
    clock = createTestClock()
    ledger = createLedger({ store, clock, account })
    await put('seo', 1_000, 400)
    await put('ads', 50)
  })

  afterEach(async () => {
    expect((await ledger.audit()).filter(({ ok }) => ok !== true)).toEqual([])
  })

  const put = (name: string, month: number, day?: number) =>
    createBudgets({ ledger }).putBudget(
      {
        name,
        parent: 'account',
        projects: [],
        limits: [
          { window: 'month', units: toUnits(month) },
          ...(day === undefined ? [] : [{ window: 'day', units: toUnits(day) } as const]),
        ],
      },
      { caller: 'ada' },
    )

  interface Wanted {
    readonly budget?: string
    readonly grants?: readonly Grant[]
  }

  async function held(units: number, { budget = 'seo', grants = [] }: Wanted = {}): Promise<Update> {
    const id = `upd_${++names}`
    const named = { id, kind: 'ranking', project: id, budget, caller: 'ada', via: 'http' } as const
    const request = { ...named, content: { digest: 'd', count: 1 }, createdAt: clock.now() }
    const { view, seen, update } = await decidedFrom(ledger, request, { units })
    const { hold } = update
    if (!hold) throw new Error('nothing is held')
    const granted = grants.length === 0 ? update : { ...update, hold: { ...hold, grants, isOnce: true as const } }
    expect(await ledger.hold(view, seen, granted)).toBe('held')
    return granted
  }

  const settled = async (units: number, how?: Wanted) =>
    (await ledger.settle(await held(units, how), ran(units))).update

  const requestOf = ({ id }: Pick<Update, 'id'>, units: number, changes: object = {}): EntryRequest => ({
    id: `ent_${++names}`,
    content: 'its content',
    budget: 'seo',
    by: 'eve',
    reason: 'the bill',
    type: 'correction',
    units,
    corrects: id,
    ...changes,
  })

  const correct = (update: Pick<Update, 'id'>, units: number, changes?: object) =>
    ledger.enter(requestOf(update, units, changes))

  async function corrected(update: Pick<Update, 'id'>, units: number, changes?: object) {
    const outcome = await correct(update, units, changes)
    if (outcome.kind !== 'entered') throw new Error(JSON.stringify(outcome))
    return outcome.entry
  }

  async function read({ id }: Pick<Update, 'id'>): Promise<Update> {
    const update = await ledger.update(id)
    if (!update) throw new Error(`${id} is gone`)
    return update
  }

  async function counter(budget: string, window: WindowKind = 'month', month = november): Promise<Counter> {
    const [item] = await store.get([{ pk: 'book', sk: month }])
    const found = item && fromBookItem(item).counters[window][budget]
    if (!found) throw new Error(`${budget} is not counted`)
    return found
  }
  const spent = async (...budgets: string[]) => Promise.all(budgets.map(async (each) => (await counter(each)).spent))

  const entries = async (month = november) => (await ledger.entries({ month }, 100)).rows

  const reconcile = async (unitsLeft: number) => {
    const figure = { type: 'reconcile', budget: 'account', unitsLeft, reason: 'the screen', by: 'ada' } as const
    const request = { ...figure, id: `ent_${++names}`, content: 'c' }
    const preview = await ledger.previewEntry(request)
    if (preview.kind !== 'possible') throw new Error(JSON.stringify(preview))
    expect(await ledger.enter({ ...request, shown: preview.entry.units })).toMatchObject({ kind: 'entered' })
  }

  test('a correction changes the record, the counters of the hold and the entries in one transaction', async () => {
    const update = await settled(40)
    clock.advance(1_000)
    const entry = await corrected(update, 25)
    expect(entry).toMatchObject({ type: 'correction', corrects: update.id, units: 25, budget: 'seo', month: november })
    expect(entry.moves.map(({ budget, window, move }) => [budget, window, move])).toEqual([
      ['seo', 'month', {}],
      ['account', 'month', {}],
      ['seo', 'day', {}],
      ['account', 'day', {}],
    ])
    expect(await read(update)).toMatchObject({
      state: 'settled',
      version: 3,
      charged: 25,
      ran: true,
      closedBy: 'sender',
      chargeCorrected: { at: clock.now(), by: 'eve', from: 40 },
    })
    expect((await read(update)).history.at(-1)).toEqual({
      state: 'settled',
      by: 'eve',
      at: clock.now(),
      move: { spent: -15 },
      note: 'charge corrected from 40 to 25: the bill',
    })
    expect(await counter('seo')).toMatchObject({ spent: 25, available: 975 })
    expect(await counter('seo', 'day')).toMatchObject({ spent: 25, available: 375 })
    expect(await spent('account', 'ads')).toEqual([25, 0])
  })

  test('the same request books once, and another one corrects the present figure', async () => {
    const update = await settled(40)
    const request = requestOf(update, 25)
    expect(await ledger.enter(request)).toMatchObject({ kind: 'entered', again: false })
    expect(await ledger.enter(request)).toMatchObject({ kind: 'entered', again: true })
    expect(await ledger.enter({ ...request, units: 26, content: 'other' } as EntryRequest)).toEqual({
      kind: 'key-reused',
    })
    await corrected(update, 60)
    expect(await read(update)).toMatchObject({ version: 4, charged: 60, overrun: 20, chargeCorrected: { from: 25 } })
    expect(await spent('seo', 'account')).toEqual([60, 60])
    await corrected(update, 0)
    expect(await read(update)).toMatchObject({ state: 'settled', charged: 0, ran: true, chargeCorrected: { from: 60 } })
    expect(await read(update)).not.toHaveProperty('overrun')
    expect(await spent('seo', 'account')).toEqual([0, 0])
  })

  test('a late answer and a correction at the same time leave the figure of the person', async () => {
    const { update } = await ledger.settle((await ledger.settle(await held(40), unknown())).update, ran(40, 'time'))
    const other = createLedger({ store, clock, account })
    const [late, outcome] = await Promise.all([ledger.settle(update, ran(45)), other.enter(requestOf(update, 30))])
    expect([late.update.state, outcome.kind]).toEqual(['settled', 'entered'])
    expect(await read(update)).toMatchObject({ charged: 30, chargeCorrected: { by: 'eve' } })
    expect(await spent('seo', 'account')).toEqual([30, 30])
    expect(await ledger.settle(await read(update), ran(45))).toMatchObject({ changed: false })
  })

  if (name !== 'memory') return

  test('a late answer after a correction changes nothing, whether it ran or not', async () => {
    const doubts = await Promise.all([held(40), held(30)])
    const closed = []
    for (const each of doubts) {
      const { update } = await ledger.settle(
        (await ledger.settle(each, unknown())).update,
        ran(each.hold?.units ?? 0, 'time'),
      )
      await corrected(update, 10)
      closed.push(update)
    }
    const [one, two] = closed as [Update, Update]
    expect(await ledger.settle(one, ran(45))).toMatchObject({ changed: false, update: { charged: 10 } })
    expect(await ledger.settle(two, didNotRun())).toMatchObject({ changed: false, update: { charged: 10, ran: true } })
    expect(await spent('seo', 'account')).toEqual([20, 20])
  })

  test('a correction after a late answer replaces its figure', async () => {
    const { update } = await ledger.settle((await ledger.settle(await held(40), unknown())).update, ran(40, 'time'))
    await ledger.settle(update, ran(45))
    await corrected(update, 44)
    expect(await read(update)).toMatchObject({
      charged: 44,
      overrun: 4,
      corrected: true,
      chargeCorrected: { from: 45 },
    })
    expect(await spent('seo')).toEqual([44])
  })

  test('an update that a person released, and that ran after all, can be corrected', async () => {
    const { update } = await ledger.settle((await ledger.settle(await held(40), unknown())).update, didNotRun('person'))
    expect(await correct(update, 9)).toEqual({
      kind: 'not-possible',
      why: `${update.id} did not run, so nothing was charged. If it did run, book its units on seo as an external-spend.`,
    })
    await ledger.settle(update, ran(40))
    await corrected(update, 9)
    expect(await read(update)).toMatchObject({ state: 'released', charged: 9, ran: true })
  })

  test('a correction is refused while an update runs or is in doubt, and if nothing was charged', async () => {
    const running = await held(40)
    expect(await correct(running, 1)).toMatchObject({ why: `${running.id} is running: wait until it ends.` })
    await ledger.settle(running, unknown())
    expect(await correct(running, 1)).toMatchObject({
      why: `${running.id} is in doubt: resolve it instead, with the units that it cost.`,
    })
    const { view, update } = await decidedFrom(ledger, { ...running, id: 'upd_cancelled' }, { units: 1 })
    const { hold: _hold, ...asked } = update
    expect(view.month.name).toBe(november)
    await ledger.record({ ...asked, state: 'cancelled' }, null)
    expect(await correct(update, 1)).toMatchObject({ why: 'upd_cancelled is cancelled, so nothing was charged.' })
    await ledger.record({ ...asked, id: 'upd_waits', state: 'awaiting-approval' }, null)
    expect(await correct({ id: 'upd_waits' }, 1)).toMatchObject({
      why: 'upd_waits is awaiting approval, so nothing was charged.',
    })
    const done = await settled(7)
    expect(await correct(done, 7)).toMatchObject({ why: `${done.id} was charged 7 units already.` })
  })

  test('only the budget that paid takes the correction, and account does if the payer was deleted', async () => {
    const update = await settled(40)
    for (const budget of ['ads', 'account'])
      expect(await correct(update, 9, { budget })).toEqual({ kind: 'other-payer', update: update.id, budget: 'seo' })
    expect(await correct({ id: 'upd_missing' }, 9)).toEqual({ kind: 'unknown-update', update: 'upd_missing' })
    await createBudgets({ ledger }).deleteBudget('seo', { caller: 'ada' })
    expect(await correct(update, 9)).toEqual({ kind: 'unknown-budget', budget: 'seo' })
    expect(await corrected(update, 9, { budget: 'account' })).toMatchObject({ budget: 'account', units: 9 })
    expect(await spent('seo', 'account')).toEqual([9, 9])
  })

  test('a correction on a later day does not change the counters of that day', async () => {
    const update = await settled(40)
    clock.advance(days(1))
    await settled(3)
    await corrected(update, 50)
    expect([await counter('seo'), await counter('seo', 'day')]).toMatchObject([{ spent: 53 }, { spent: 3 }])
  })

  test('a charge is corrected in its own month until 60 days after it, and not on the next day', async () => {
    const update = await settled(40)
    clock.set('2027-01-29T23:59:59Z')
    const entry = await corrected(update, 55)
    expect([entry.month, entry.day]).toEqual([november, 'day:2026-11-20'])
    expect(await spent('seo', 'account')).toEqual([55, 55])
    clock.set('2027-01-30T00:00:00Z')
    expect(await correct(update, 9)).toEqual({
      kind: 'not-possible',
      why: `The charge of ${update.id} could be corrected until 2027-01-29, 60 days after its month. Book a grant or an external-spend in the open month instead.`,
    })
    expect(await spent('seo', 'account')).toEqual([55, 55])
  })

  test('after a reconciliation, corrections of what the figure has leave account at the figure, up and down', async () => {
    const update = await settled(40)
    clock.advance(minutes(10))
    await reconcile(4_990)
    expect(await spent('account', 'seo')).toEqual([10, 40])
    const figures = []
    for (const units of [5, 15, 40, 48, 30, 0]) {
      await corrected(update, units)
      figures.push([units, ...(await spent('account', 'seo'))])
    }
    expect(figures).toEqual([
      [5, 10, 5],
      [15, 10, 15],
      [40, 10, 40],
      [48, 10, 48],
      [30, 10, 30],
      [0, 10, 0],
    ])
    const kept = (await entries()).filter(({ keptFor }) => keptFor !== undefined)
    expect(kept.map(({ units }) => units)).toEqual(expect.arrayContaining([35, -10, -25, -8, 18, 30]))
    expect(kept.find(({ units }) => units === 35)).toMatchObject({
      type: 'external-spend',
      budget: 'account',
      day: 'day:2026-11-20',
      by: 'eve',
      reason: expect.stringMatching(
        /^units that ent_\d+ did not give back, because account was reconciled after upd_\d+$/,
      ),
    })
  })

  test('a reconciliation between the reading and the writing of a correction is noticed', async () => {
    const update = await settled(40)
    clock.advance(minutes(10))
    let isFirst = true
    const busy: Store = {
      ...store,
      transact: async (writes, token) => {
        if (isFirst) {
          isFirst = false
          await reconcile(4_990)
        }
        return store.transact(writes, token)
      },
    }
    const outcome = await createLedger({ store: busy, clock, account }).enter(requestOf(update, 30))
    expect([outcome.kind, await spent('account', 'seo')]).toEqual(['entered', [10, 30]])
  })

  test('an update that ended after a reconciliation is corrected on account, too', async () => {
    await settled(40)
    clock.advance(minutes(10))
    await reconcile(4_990)
    clock.advance(1)
    await corrected(await settled(30), 4)
    expect(await spent('account', 'seo')).toEqual([14, 44])
  })

  test('a ledger that an older version reconciled refuses to take back more than account has spent', async () => {
    const update = await settled(40)
    clock.advance(minutes(10))
    await reconcile(4_990)
    const [book] = await store.get([{ pk: 'book', sk: november }])
    const { reconciledAt: _unknown, ...older } = book ?? { pk: '', sk: '' }
    await store.transact([{ kind: 'put', item: older, when: [] }], 'older')
    expect(await correct(update, 29)).toEqual({
      kind: 'not-possible',
      why: 'account has spent only 10 units, so 11 cannot be taken back.',
    })
    await corrected(update, 30)
    expect(await spent('account', 'seo')).toEqual([0, 30])
  })

  test('a one-time grant gives back what the update did not need, and is not granted again', async () => {
    const grants = [{ budget: 'ads', window: 'month', units: toUnits(30) }] as const
    const update = await settled(80, { budget: 'ads', grants })
    const figures = []
    for (const units of [70, 75, 40, 90, 0, 20]) {
      await corrected(update, units, { budget: 'ads' })
      const { granted, available } = await counter('ads')
      figures.push([units, granted, available])
    }
    expect(figures).toEqual([
      [70, 20, 0],
      [75, 20, -5],
      [40, 0, 10],
      [90, 0, -40],
      [0, 0, 50],
      [20, 0, 30],
    ])
  })

  test('the entry of a correction is not corrected, because the update is corrected again', async () => {
    const update = await settled(40)
    const entry = await corrected(update, 25)
    expect(await correct({ id: entry.id }, 9)).toEqual({
      kind: 'not-possible',
      why: `${entry.id} says what ${update.id} cost; correct ${update.id} again.`,
    })
  })

  test('a preview shows the book before and after, and writes nothing', async () => {
    const update = await settled(40)
    const seen = await read(update)
    const figures = (spent: number) => ({ counters: { month: { seo: { spent }, account: { spent } } } })
    expect(await ledger.previewEntry(requestOf(update, 25))).toMatchObject({
      kind: 'possible',
      before: figures(40),
      after: figures(25),
      entry: { corrects: update.id, units: 25, binds: { budget: 'seo', window: 'day', available: 375 } },
    })
    expect([await read(update), await spent('seo')]).toEqual([seen, [40]])
  })

  test('a correction makes the sweep count the day of the update again', async () => {
    const update = await settled(40)
    const { definitions } = await ledger.view()
    const day = summaryDayAt(definitions.calendar, update.createdAt)
    await ledger.item(daySummaries).write({ ...emptySummary(day), until: day.end - 1 })
    await corrected(update, 55)
    expect(await ledger.item(daySummaries).unfinished()).toEqual([day.start])
  })

  test('two corrections at once are both booked, one after the other', async () => {
    const update = await settled(40)
    const both = await Promise.all([correct(update, 25), correct(update, 30)])
    expect(both.map(({ kind }) => kind)).toEqual(['entered', 'entered'])
    const { charged = 0, version } = await read(update)
    expect([25, 30]).toContain(charged)
    expect([version, await spent('seo')]).toEqual([4, [charged]])
  })
})
