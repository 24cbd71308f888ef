import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BudgetRequest, createBudgets } from '../../shared/guard/people/budgets.ts'
import { bookKey, fromBookItem } from '../../shared/ledger/book/book-item.ts'
import { grantEntryId } from '../../shared/ledger/book/entry.ts'
import type { EntryRequest } from '../../shared/ledger/book/entry-request.ts'
import type { RunOutcome } from '../../shared/ledger/book/outcome.ts'
import { createViews } from '../../shared/ledger/book/view.ts'
import type { Counter } from '../../shared/ledger/definitions/counters.ts'
import type { Account, WindowKind } from '../../shared/ledger/definitions/definitions.ts'
import { newCalendar } from '../../shared/ledger/definitions/windows.ts'
import { AnswerLost, Contention, LedgerUnavailable } from '../../shared/ledger/errors.ts'
import { renewalChange } from '../../shared/ledger/identity.ts'
import { createLedger, type Ledger } from '../../shared/ledger/ledger.ts'
import type { Item, Store } from '../../shared/ledger/store/store.ts'
import { summaryDayAt } from '../../shared/ledger/updates/summary-days.ts'
import { begin, next, type Update, type UpdateRequest } from '../../shared/ledger/updates/update.ts'
import { toUpdateItem, updateKey } from '../../shared/ledger/updates/update-keys.ts'
import { workKey } from '../../shared/ledger/updates/work.ts'
import { inLogContext, notedCounts } from '../../shared/platform/log.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { daySummaries, emptySummary } from '../../shared/reports/stored-summary.ts'
import type { Kind } from '../../shared/tracking/kinds.ts'
import { createTestClock, days, minutes, type TestClock } from '../support/clock.ts'
import { counterWith, decidedFrom, didNotRun, ran, unknown } from '../support/records.ts'
import { stores } from '../support/store/stores.ts'

const account: Account = {
  unitsPerMonth: toUnits(50_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}
const months = ['2026-09-01', '2026-10-01', '2026-11-01', '2026-12-01', '2026-12-12', '2027-01-01']

/** Tests that do not depend on the store come last in each group, and run in memory only. */
describe.each(stores)('the ledger contract: %s', (name, create) => {
  let store: Store
  let clock: TestClock
  let ledger: Ledger
  let names = 0

  // Creating tables in parallel is faster, but too many tables at once overload a small machine.
  const fresh: Store[] = []
  beforeAll(async () => {
    if (name === 'memory') return
    while (fresh.length < 32) fresh.push(...(await Promise.all(Array.from({ length: 8 }, create))))
  })

  beforeEach(async () => {
    store = fresh.pop() ?? (await create())
    clock = createTestClock()
    ledger = open()
  })

  afterEach(async () => {
    for (const { month, day, counters } of await books()) {
      for (const [window, kind] of [[month, 'month'] as const, [day, 'day'] as const]) {
        for (const [budget, { limit, granted, available, held, inDoubt, spent }] of Object.entries(counters[kind])) {
          const sum = { counter: `${budget} ${window}`, units: available + held + inDoubt + spent }
          const limitUnits = limit === 'unlimited' ? 0 : limit
          expect(sum).toEqual({ counter: `${budget} ${window}`, units: limitUnits + granted })
        }
      }
    }
    const audited = await ledger.audit()
    expect(audited.filter(({ ok }) => ok !== true)).toEqual([])
  })

  /** Another process on the same table. */
  const open = (how: { clock?: TestClock; account?: Partial<Account>; store?: Store } = {}) =>
    createLedger({ store: how.store ?? store, clock: how.clock ?? clock, account: { ...account, ...how.account } })

  const books = async () =>
    (await store.get(months.map((date) => bookKey(`month:${date}`)))).flatMap((item) =>
      item ? [fromBookItem(item)] : [],
    )

  /** A counter as the table has it. */
  async function counter(budget: string, window: WindowKind = 'month', month = '2026-11-01'): Promise<Counter> {
    const book = (await books()).find((each) => each.month === `month:${month}`)
    const found = book?.counters[window][budget]
    if (!found) throw new Error(`${budget} is not in the book of ${month}`)
    return found
  }

  /** A counter as a decision reads it. */
  const seenCounter = async (budget: string, window: WindowKind = 'month', of = ledger) =>
    (await of.view()).book.counters[window][budget]

  async function put(budget: Partial<BudgetRequest> & { name: string }, month?: number | 'unlimited', day?: number) {
    const limits = [
      ...(month === undefined
        ? []
        : ([{ window: 'month', units: month === 'unlimited' ? month : toUnits(month) }] as const)),
      ...(day === undefined ? [] : ([{ window: 'day', units: toUnits(day) }] as const)),
    ]
    const parent = budget.name === 'account' ? null : 'account'
    const changed = await createBudgets({ ledger }).putBudget(
      { parent, limits, projects: [], ...budget },
      { caller: 'ada', asWritten: true },
    )
    expect(changed.kind).toBe('changed')
  }

  interface Wanted {
    budget?: string
    units?: number
    id?: string
    project?: string
    kind?: Kind
    from?: Ledger
  }

  function requestOf({
    budget = 'account',
    id = `upd_${++names}`,
    project = `project-${id}`,
    kind = 'ranking',
  }: Wanted): UpdateRequest {
    const content = { digest: 'of the request', count: 1 }
    return { id, kind, project, budget, caller: 'ada', via: 'http', content, createdAt: clock.now() }
  }

  const decided = (wanted: Wanted = {}) =>
    decidedFrom(wanted.from ?? ledger, requestOf(wanted), { units: wanted.units ?? 40 })

  async function tryHold(wanted: Wanted = {}) {
    const { view, seen, update } = await decided(wanted)
    return { outcome: await (wanted.from ?? ledger).hold(view, seen, update), update }
  }

  async function hold(wanted: Wanted = {}): Promise<Update> {
    const { outcome, update } = await tryHold(wanted)
    expect(outcome).toBe('held')
    return update
  }

  /** Every item that the hold of `update` could have changed. */
  const itemsAround = (update: Update): Promise<(Item | undefined)[]> =>
    store.get([bookKey(update.month), updateKey(update.id), workKey(update.kind, update.project)])

  const enter = (wanted: { budget: string; [name: string]: unknown }) =>
    ledger.enter({
      id: `ent_${++names}`,
      content: 'its content',
      type: 'grant',
      window: 'month',
      wholeChain: false,
      reason: 'it must',
      by: 'ada',
      ...wanted,
    } as EntryRequest)

  async function doubted(wanted: Wanted = {}): Promise<Update> {
    const { update, changed } = await ledger.settle(await hold(wanted), unknown())
    expect([update.state, changed]).toEqual(['in-doubt', true])
    return update
  }

  describe('set-up', () => {
    test('two concurrent processes set up a ledger once', async () => {
      const other = open({ account: { unitsPerMonth: toUnits(60_000) } })
      const [one, two] = await Promise.all([ledger.view(), other.view()])
      expect(one.definitions).toEqual(two.definitions)
      expect(one.definitions.revision).toBe(1)
      expect([50_000, 60_000]).toContain(one.definitions.budgets.account?.limits[0]?.units)
      expect(one.stored).toBeNull()
    })

    test('the opening position counts from the first moment, with its entry', async () => {
      const used = { account: { usedAtStart: toUnits(1_200) } }
      const [one, two] = [open(used), open(used)]
      await Promise.all([one.view(), two.view()])
      expect(await counter('account')).toEqual(counterWith(50_000, { available: 48_800, spent: 1_200 }))
      expect(await seenCounter('account', 'day')).toMatchObject({ spent: 0 })
      const { rows } = await one.entries({ month: 'month:2026-11-01' }, 10)
      expect(rows).toMatchObject([{ type: 'opening', budget: 'account', units: 1_200, by: 'setup' }])
      expect((await tryHold({ from: one, units: 48_801 })).outcome).toBe('moved')
      expect((await tryHold({ from: two, units: 48_800 })).outcome).toBe('held')
    })

    if (name !== 'memory') return

    test('the configured limit is used only for a new ledger', async () => {
      await ledger.view()
      await put({ name: 'account' }, 70_000)
      const later = await open({ account: { unitsPerMonth: toUnits(10) } }).view()
      expect(later.book.counters.month.account).toMatchObject({ limit: 70_000, available: 70_000 })
    })
  })

  describe('hold', () => {
    test('a hold moves every counter of the chain in both windows, and nothing else', async () => {
      await put({ name: 'seo' }, 1_000, 400)
      await put({ name: 'blog', parent: 'seo' }, 300)
      await put({ name: 'shop', parent: 'seo' }, 300)
      const update = await hold({ budget: 'blog', units: 120 })
      expect(await counter('blog')).toEqual(counterWith(300, { available: 180, held: 120, spent: 0 }))
      expect(await counter('blog', 'day')).toEqual(counterWith('unlimited', { available: -120, held: 120 }))
      expect(await counter('seo')).toEqual(counterWith(1_000, { available: 880, held: 120 }))
      expect(await counter('seo', 'day')).toEqual(counterWith(400, { available: 280, held: 120 }))
      expect(await counter('account')).toMatchObject({ available: 49_880, held: 120 })
      expect(await counter('account', 'day')).toMatchObject({ held: 120 })
      expect(await counter('shop')).toEqual(counterWith(300, { available: 300, spent: 0 }))
      expect(await ledger.update(update.id)).toEqual(update)
    })

    test.each<[string, { month?: number; day?: number; parent?: number; parentDay?: number; account?: number }]>([
      ["the budget's month", { month: 100 }],
      ["the budget's day", { day: 100 }],
      ["the parent's month", { parent: 100 }],
      ["the parent's day", { parentDay: 100 }],
      ["the account's month", { account: 100 }],
    ])('%s decides a hold: the available units are held, and one more unit is refused', async (_counter, limits) => {
      await put({ name: 'account' }, limits.account ?? 50_000)
      await put({ name: 'seo' }, limits.parent ?? 1_000, limits.parentDay ?? 1_000)
      await put({ name: 'blog', parent: 'seo' }, limits.month ?? 1_000, limits.day ?? 1_000)
      await hold({ budget: 'blog', units: 30 })
      const { outcome, update } = await tryHold({ budget: 'blog', units: 71 })
      expect(outcome).toBe('moved')
      expect(await ledger.update(update.id)).toBeNull()
      expect(await counter('blog')).toMatchObject({ held: 30 })
      await hold({ budget: 'blog', units: 70 })
      expect(await counter('blog')).toMatchObject({ held: 100 })
      expect((await tryHold({ budget: 'blog', units: 1 })).outcome).toBe('moved')
    })

    test('the first hold of a month makes the book, and the first of a day turns it', async () => {
      await put({ name: 'seo' }, 1_000, 100)
      expect(await books()).toEqual([])
      await hold({ budget: 'seo', units: 100 })
      expect((await books()).map(({ month, day }) => [month, day])).toEqual([['month:2026-11-01', 'day:2026-11-20']])

      clock.set('2026-11-21T09:00:00Z')
      expect(await seenCounter('seo', 'day')).toMatchObject({ available: 100, held: 0 })
      await hold({ budget: 'seo', units: 60 })
      expect(await counter('seo', 'day')).toMatchObject({ available: 40, held: 60 })
      expect(await counter('seo')).toMatchObject({ available: 840, held: 160 })

      clock.set('2026-12-01T00:00:00Z')
      expect(await seenCounter('seo')).toMatchObject({ available: 1_000, held: 0 })
      await hold({ budget: 'seo', units: 10 })
      expect(await counter('seo', 'month', '2026-12-01')).toMatchObject({ available: 990, held: 10 })
      expect(await counter('seo', 'day', '2026-12-01')).toMatchObject({ available: 90, held: 10 })
      expect(await counter('seo')).toMatchObject({ available: 840, held: 160 })
    })

    test.each(['2026-11-20T10:00:00Z', '2026-11-21T00:00:00Z', '2026-12-01T00:00:00Z'])(
      'thirty concurrent holds fill the room for ten, at %s',
      async (at) => {
        await put({ name: 'ten' }, 10 * 40)
        if (at !== '2026-11-20T10:00:00Z') await ledger.settle(await hold(), didNotRun())
        clock.set(at)
        const other = open()
        const all = await Promise.all(
          Array.from({ length: 30 }, (_, index) => decided({ budget: 'ten', from: index % 2 === 0 ? ledger : other })),
        )
        const outcomes = await Promise.all(
          all.map(({ view, seen, update }, index) => (index % 2 === 0 ? ledger : other).hold(view, seen, update)),
        )
        expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(10)
        expect((await ledger.view()).book.counters.month.ten).toEqual(counterWith(400, { held: 400 }))
      },
    )

    test('a hold books its grants on the short counters once, in its own transaction', async () => {
      await put({ name: 'seo' }, 30, 35)
      const { view, seen, update } = await decided({ budget: 'seo', units: 40, id: 'upd_short' })
      if (!update.hold) throw new Error('it holds')
      const granted = (month: number, day: number): Update => ({
        ...update,
        hold: {
          ...(update.hold as NonNullable<Update['hold']>),
          grants: [
            { budget: 'seo', window: 'month', units: toUnits(month) },
            { budget: 'seo', window: 'day', units: toUnits(day) },
          ],
          isOnce: true,
        },
        approval: { by: 'bob', at: clock.now(), units: toUnits(40) },
      })
      expect(await ledger.hold(view, seen, granted(9, 5))).toBe('moved')
      expect(await ledger.hold(view, seen, granted(10, 4))).toBe('moved')
      expect(await ledger.hold(view, seen, granted(10, 5))).toBe('held')
      const held = { held: 40, available: 0, inDoubt: 0, spent: 0 }
      expect(await counter('seo')).toEqual({ limit: 30, granted: 10, once: 10, ...held })
      expect(await counter('seo', 'day')).toEqual({ limit: 35, granted: 5, once: 5, ...held })
      expect(await counter('account')).toMatchObject({ granted: 0, available: 49_960, held: 40 })
      const lines = (await ledger.entries({ month: 'month:2026-11-01', budget: 'seo' }, 10)).rows
      const line = { type: 'grant', budget: 'seo', by: 'bob', reason: 'once, for upd_short, as it was approved' }
      const moves = lines.filter(({ type }) => type === 'grant')
      for (const each of moves) expect(each).toMatchObject({ ...line, day: 'day:2026-11-20', at: clock.now() })
      expect(moves.map((each) => [each.units, each.moves]).toSorted()).toEqual([
        [10, [{ budget: 'seo', window: 'month', move: { granted: 10, once: 10 } }]],
        [5, [{ budget: 'seo', window: 'day', move: { granted: 5, once: 5 } }]],
      ])
      expect(new Set(moves.map(({ id }) => id)).size).toBe(2)
      for (const { id } of moves) expect(id).toMatch(/^ent_.+/)
    })

    test('a hold is refused as moved if an entry has the id of its grant', async () => {
      await put({ name: 'seo' }, 30)
      const { view, seen, update } = await decided({ budget: 'seo', units: 40 })
      const grants = [{ budget: 'seo', window: 'month', units: toUnits(10) }] as const
      const granted = { ...update, hold: { ...(update.hold as NonNullable<Update['hold']>), grants } }
      const [grant] = grants
      const item = { pk: `entry#${grantEntryId(granted.hold, grant)}`, sk: 'entry' }
      await store.transact([{ kind: 'put', item, when: [] }], 'before')
      expect(await ledger.hold(view, seen, granted)).toBe('moved')
    })

    test('a hold over an observed limit is refused as moved unless it lacks exactly the recorded units', async () => {
      await put({ name: 'seo', enforce: false }, 30)
      const holdLacking = async (units: number) => {
        const { view, seen, update } = await decided({ budget: 'seo', units: 40 })
        const lacks = { budget: 'seo', window: 'month', units: toUnits(units) } as const
        return ledger.hold(view, seen, { ...update, wouldHaveRefused: [lacks] })
      }
      expect([await holdLacking(11), await holdLacking(40), await holdLacking(10)]).toEqual(['moved', 'moved', 'held'])
      // The used-up counter lacks all units of the next update.
      expect([await holdLacking(39), await holdLacking(40)]).toEqual(['moved', 'held'])
    })

    test('answer lost: a process that finds its own fence has held once', async () => {
      const forgetful = losing(store)
      const process = open({ store: forgetful.store })
      await hold({ from: process })
      const { view, seen, update } = await decided({ from: process, units: 7 })
      forgetful.lose(1)
      expect(await process.hold(view, seen, update)).toBe('held')
      expect(await counter('account')).toMatchObject({ held: 47 })
    })

    if (name !== 'memory') return

    test('a hold on an unlimited budget is counted, and its ancestors still limit it', async () => {
      await put({ name: 'seo' }, 'unlimited')
      await put({ name: 'account' }, 100)
      await hold({ budget: 'seo', units: 100 })
      expect(await counter('seo')).toEqual(counterWith('unlimited', { available: -100, held: 100 }))
      expect((await tryHold({ budget: 'seo', units: 1 })).outcome).toBe('moved')
    })

    test('an update of zero units is held, settled, released and doubted', async () => {
      const [settled, released, inDoubt] = [
        await hold({ units: 0 }),
        await hold({ units: 0 }),
        await hold({ units: 0 }),
      ]
      expect(await ledger.settle(settled, ran(0))).toMatchObject({
        changed: true,
        update: { state: 'settled', charged: 0 },
      })
      expect(await ledger.settle(released, didNotRun())).toMatchObject({
        changed: true,
        update: { state: 'released', charged: 0 },
      })
      const { update, changed } = await ledger.settle(inDoubt, unknown())
      expect([update.state, changed]).toEqual(['in-doubt', true])
      expect(await ledger.settle(update, ran(0, 'person'))).toMatchObject({
        changed: true,
        update: { state: 'settled', charged: 0 },
      })
      expect(await counter('account')).toEqual(counterWith(50_000, { available: 50_000 }))
      expect(await ledger.settle(await hold({ units: 0 }), ran(7))).toMatchObject({
        update: { charged: 7, overrun: 7 },
      })
      expect(await counter('account')).toMatchObject({ available: 49_993, held: 0, spent: 7 })
    })

    test('the counters of eight budgets in a chain move as one', async () => {
      const chain = ['account', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7', 'b8']
      for (const [index, name] of chain.entries())
        if (index > 0) await put({ name, parent: chain[index - 1] ?? '' }, 100, 50)
      const update = await hold({ budget: 'b8', units: 50 })
      await ledger.settle(update, ran(48))
      for (const name of chain.slice(1)) {
        expect(await counter(name)).toMatchObject({ available: 52, held: 0, spent: 48 })
        expect(await counter(name, 'day')).toMatchObject({ available: 2, held: 0, spent: 48 })
      }
      expect(await counter('account')).toMatchObject({ available: 49_952, spent: 48 })
    })

    describe('a hold that is refused as moved changes nothing', () => {
      async function staysAsItWas(how: Wanted, meanwhile: (update: Update) => Promise<unknown>) {
        const { view, seen, update } = await decided(how)
        await meanwhile(update)
        const before = await itemsAround(update)
        expect(await ledger.hold(view, seen, update)).toBe('moved')
        expect(await itemsAround(update)).toEqual(before)
      }

      test('a hold is refused as moved if the definitions have a new revision', () =>
        staysAsItWas({}, () => createBudgets({ ledger }).freeze('account', { caller: 'ada', reason: 'stop' })))

      test('a hold is refused as moved if the definitions have a new revision and there is a book', async () => {
        await hold()
        await staysAsItWas({}, () => put({ name: 'account' }, 40_000))
      })

      test('a hold is refused as moved if the day has turned', () =>
        staysAsItWas({}, async () => {
          clock.set('2026-11-21T00:00:00Z')
          await hold()
        }))

      test('a hold is refused as moved if another process has written a record under the same id', () =>
        staysAsItWas({ id: 'upd_same' }, () => hold({ id: 'upd_same', project: 'another' })))

      test('a hold is refused as moved if the requested record has changed', async () => {
        await hold()
        const asked = begin(
          requestOf({ id: 'upd_queued' }),
          'requested',
          { month: 'month:2026-11-01' },
          { at: clock.now(), by: 'ada' },
        )
        expect(await ledger.record(asked, null)).toBe('recorded')
        await staysAsItWas({ id: 'upd_queued' }, () =>
          ledger.record(next(asked, 'cancelled', {}, { at: clock.now(), by: 'ada' }), asked),
        )
      })

      test('a hold is refused as moved if another update has taken the free work', () =>
        staysAsItWas({ project: 'acme' }, () => hold({ project: 'acme' })))

      test('a hold is refused as moved if another update has taken the work over from the known one', async () => {
        await ledger.settle(await hold({ project: 'acme' }), ran(40))
        await staysAsItWas({ project: 'acme' }, () => hold({ project: 'acme' }))
      })
    })

    test('a hold continues the requested record, and takes the work over from the known update', async () => {
      await ledger.settle(await hold({ project: 'acme' }), ran(40))
      const asked = begin(
        requestOf({ id: 'upd_queued', project: 'acme' }),
        'requested',
        { month: 'month:2026-11-01' },
        { at: clock.now(), by: 'ada' },
      )
      await ledger.record(asked, null)
      await hold({ id: 'upd_queued', project: 'acme' })
      expect(await ledger.update('upd_queued')).toMatchObject({ state: 'running', version: 2 })
      const {
        results: [seen],
      } = await ledger.view([{ work: { kind: 'ranking', project: 'acme' } }])
      expect(seen).toMatchObject({ works: [{ work: { update: 'upd_queued', version: 2 } }] })
      expect(seen?.records.get('upd_queued')).toMatchObject({ state: 'running' })
      const {
        results: [other],
      } = await ledger.view([{ work: { kind: 'keyword-difficulty', project: 'acme' } }])
      expect(other).toEqual({ update: null, works: [{ key: expect.any(String), work: null }], records: new Map() })
    })

    test('all holds that were decided before the book existed make it once', async () => {
      let transactions = 0
      const counted: Store = {
        ...store,
        transact: (writes, token) => {
          transactions++
          return store.transact(writes, token)
        },
      }
      const process = open({ store: counted })
      await process.view()
      const both = [await decided({ from: process }), await decided({ from: process })]
      transactions = 0
      for (const { view, seen, update } of both) expect(await process.hold(view, seen, update)).toBe('held')
      expect(transactions).toBe(3)
    })

    test('a hold does not take the units that its plan leaves to others', async () => {
      await put({ name: 'seo' }, 100)
      const { view, seen, update } = await decided({ budget: 'seo', units: 40 })
      expect(await ledger.hold(view, seen, { ...update, plan: 'nightly', leave: toUnits(61) })).toBe('moved')
      expect(await ledger.hold(view, seen, { ...update, plan: 'nightly', leave: toUnits(60) })).toBe('held')
      expect(await counter('seo')).toMatchObject({ available: 60, held: 40 })
    })

    test('a hold of an update that is not a plan’s does not take the units that a budget keeps for plans', async () => {
      await put({ name: 'seo', keep: toUnits(61) }, 100)
      const strict = await decided({ budget: 'seo', units: 40 })
      expect(await ledger.hold(strict.view, strict.seen, strict.update)).toBe('moved')
      const ofPlan = { ...strict.update, plan: 'nightly' }
      expect(await ledger.hold(strict.view, strict.seen, ofPlan)).toBe('held')
      expect(await counter('seo')).toMatchObject({ available: 60, held: 40 })
      const last = await decided({ id: 'upd_last', project: 'other', budget: 'seo', units: 1 })
      expect(await ledger.hold(last.view, last.seen, last.update)).toBe('moved')
    })

    test('an approved hold may take what its budget keeps, with the units of its grant', async () => {
      await put({ name: 'seo', keep: toUnits(80) }, 100)
      const { view, seen, update } = await decided({ budget: 'seo', units: 40 })
      const grants = [{ budget: 'seo', window: 'month', units: toUnits(0) } as const]
      const approved = { ...update, hold: { ...update.hold, grants, isOnce: true } } as Update
      expect(await ledger.hold(view, seen, approved)).toBe('held')
      expect(await counter('seo')).toMatchObject({ available: 60, held: 40 })
    })

    test('a hold is refused for an update that is not running or holds nothing', async () => {
      const { view, seen, update } = await decided()
      const { hold: _hold, ...without } = update
      await expect(ledger.hold(view, seen, { ...update, state: 'settled' })).rejects.toThrow('is not a hold')
      await expect(ledger.hold(view, seen, without)).rejects.toThrow('is not a hold')
      expect(await ledger.update(update.id)).toBeNull()
    })

    test('answer lost: a process that finds no fence, or another’s, does not continue', async () => {
      const forgetful = losing(store)
      const process = open({ store: forgetful.store })
      await hold({ from: process })
      const theirs = await decided({ from: process, id: 'upd_race', project: 'p' })
      const ours = { ...theirs.update, hold: { ...theirs.update.hold, attempt: 'ours' } } as Update
      forgetful.lose(1, { applied: false })
      await expect(process.hold(theirs.view, theirs.seen, ours)).rejects.toThrow(AnswerLost)
      expect(await ledger.update('upd_race')).toBeNull()
      await ledger.hold(theirs.view, theirs.seen, theirs.update)
      forgetful.lose(1, { applied: false })
      await expect(process.hold(theirs.view, theirs.seen, ours)).rejects.toThrow(AnswerLost)
      expect(await counter('account')).toMatchObject({ held: 80 })
    })

    test('answer lost: a process does not continue if its hold is in doubt already, or cannot be read', async () => {
      await hold()
      const { view, seen, update } = await decided()
      const afterwards = (act: () => Promise<unknown>, more: Partial<Store> = {}) =>
        open({
          store: {
            ...store,
            transact: async (writes, token) => {
              await store.transact(writes, token)
              await act()
              throw new AnswerLost('nothing was heard')
            },
            ...more,
          },
        })
      const away = afterwards(async () => null, { get: () => Promise.reject(new LedgerUnavailable('away')) })
      await expect(away.hold(view, seen, update)).rejects.toThrow(AnswerLost)
      const next = await decided()
      const doubted = afterwards(() => ledger.settle(next.update, unknown('sweep')))
      await expect(doubted.hold(next.view, next.seen, next.update)).rejects.toThrow(AnswerLost)
      expect(await counter('account')).toMatchObject({ held: 80, inDoubt: 40 })
    })

    test('a hold is sent until its deadline, and the store gets the rest of that time', async () => {
      await hold()
      const leftMs: unknown[] = []
      const timed: Store = {
        ...store,
        transact: (writes, token, ms) => {
          leftMs.push(ms)
          return store.transact(writes, token)
        },
      }
      const process = open({ store: timed })
      const outcomes: string[] = []
      for (const ms of [5, 0, -1]) {
        const { view, seen, update } = await decided()
        outcomes.push(await process.hold(view, seen, update, clock.now() + ms))
      }
      expect([outcomes, leftMs]).toEqual([
        ['held', 'held', 'moved'],
        [5, 0],
      ])
    })

    test('a hold is refused as moved if its transaction keeps colliding; any other failure is thrown', async () => {
      const { view, seen, update } = await decided()
      const failing = (error: Error) =>
        open({ store: { ...store, transact: () => Promise.reject(error) } }).hold(view, seen, update)
      expect(await failing(new Contention('others are faster'))).toBe('moved')
      await expect(failing(new LedgerUnavailable('away'))).rejects.toThrow('away')
    })
  })

  describe('close', () => {
    beforeEach(() => put({ name: 'seo' }, 1_000, 400))

    test.each<[string, RunOutcome, object, object]>([
      ['settles below the hold', ran(25), { state: 'settled', charged: 25 }, { available: 975, held: 0, spent: 25 }],
      ['releases', didNotRun(), { state: 'released', charged: 0 }, { available: 1_000, held: 0, spent: 0 }],
      [
        'doubts',
        unknown(),
        { state: 'in-doubt', doubt: { by: 'sender' } },
        { available: 960, held: 0, inDoubt: 40, spent: 0 },
      ],
    ])('settling from running: %s, in both windows of the whole chain', async (_name, outcome, record, figures) => {
      const update = await hold({ budget: 'seo' })
      const closed = await ledger.settle(update, outcome)
      expect(closed).toMatchObject({ changed: true, update: record })
      expect(await ledger.update(update.id)).toEqual(closed.update)
      expect(await counter('seo')).toMatchObject(figures)
      const { available: _available, ...moved } = figures as { available: number }
      expect(await counter('seo', 'day')).toMatchObject(moved)
      expect(await counter('account')).toMatchObject(moved)
    })

    test.each<[string, RunOutcome, object, object]>([
      [
        "the sender's late answer settles",
        ran(40),
        { state: 'settled', closedBy: 'sender' },
        { available: 960, inDoubt: 0, spent: 40 },
      ],
      [
        'a person releases',
        didNotRun('person'),
        { state: 'released', closedBy: 'person', charged: 0 },
        { available: 1_000, inDoubt: 0, spent: 0 },
      ],
    ])('settling from in-doubt: %s', async (_name, outcome, record, figures) => {
      const update = await doubted({ budget: 'seo' })
      expect(await ledger.settle(update, outcome)).toMatchObject({ changed: true, update: record })
      expect(await counter('seo')).toMatchObject(figures)
      const { available: _available, ...moved } = figures as { available: number }
      expect(await counter('seo', 'day')).toMatchObject(moved)
    })

    test('the counts have each outcome once, and the units that a correction gives back', async () => {
      const counts = (work: () => Promise<unknown>) =>
        inLogContext({}, async () => {
          await work()
          return notedCounts()
        })
      const asked = begin(requestOf({}), 'requested', { month: 'month:2026-11-01' }, { at: clock.now(), by: 'ada' })
      const refused = next(asked, 'refused', {}, { at: clock.now(), by: 'guard' })
      expect(await counts(() => ledger.record(asked, null))).toEqual({})
      expect(await counts(() => ledger.record(refused, asked))).toEqual({ Refused: 1 })
      expect(await counts(() => ledger.record({ ...refused, version: 3 }, refused))).toEqual({})
      const update = await hold({ budget: 'seo' })
      const { view, seen, update: late } = await decided({ budget: 'seo' })
      await put({ name: 'other' })
      expect(await counts(() => ledger.hold(view, seen, late))).toEqual({ Conflicts: 1 })
      let settled = update
      const settle = (outcome: RunOutcome) =>
        counts(async () => {
          settled = (await ledger.settle(settled, outcome)).update
        })
      expect(await settle(unknown())).toEqual({ InDoubt: 1 })
      expect(await settle(ran(40, 'time'))).toEqual({ Settled: 1, UnitsCharged: 40 })
      expect(await settle(ran(25))).toEqual({ UnitsCharged: -15 })
      expect(await counts(async () => ledger.settle(await hold(), didNotRun()))).toEqual({ Released: 1 })
    })

    test('only one of several concurrent settlements is written', async () => {
      const update = await doubted({ budget: 'seo' })
      const outcomes = await Promise.all([
        ledger.settle(update, ran(40, 'person')),
        ledger.settle(update, didNotRun('person')),
        open().settle(update, ran(40, 'time')),
      ])
      expect(outcomes.filter(({ changed }) => changed)).toHaveLength(1)
      expect(await counter('seo')).toMatchObject({ inDoubt: 0, held: 0 })
    })

    test('answer lost: a settlement is applied once, whatever its answer was', async () => {
      const forgetful = losing(store)
      const process = open({ store: forgetful.store })
      const [first, second] = [await hold({ budget: 'seo', units: 10 }), await hold({ budget: 'seo', units: 20 })]
      forgetful.lose(1)
      expect(await process.settle(first, ran(10))).toMatchObject({ changed: true, update: { state: 'settled' } })
      forgetful.lose(1, { applied: false })
      await expect(process.settle(second, ran(20))).rejects.toThrow(AnswerLost)
      expect(await counter('seo')).toMatchObject({ available: 970, held: 20, spent: 10 })
      expect(await process.settle(second, ran(20))).toMatchObject({ changed: true, update: { state: 'settled' } })
      expect(await counter('seo')).toMatchObject({ available: 970, held: 0, spent: 30 })
    })

    describe('the grant of a hold when the update is closed', () => {
      beforeEach(() => put({ name: 'seo' }, 30, 35))

      /** An update of 40 units. Its approval grants the missing units. */
      async function granted(): Promise<Update> {
        const { view, seen, update } = await decided({ budget: 'seo', units: 40 })
        if (!update.hold) throw new Error('it holds')
        const grants = [
          { budget: 'seo', window: 'month', units: toUnits(10) },
          { budget: 'seo', window: 'day', units: toUnits(5) },
        ] as const
        const held = { ...update, hold: { ...update.hold, grants, isOnce: true as const } }
        expect(await ledger.hold(view, seen, held)).toBe('held')
        return held
      }

      const entriesOf = async (type: string) =>
        (await ledger.entries({ month: 'month:2026-11-01' }, 20)).rows.filter((entry) => entry.type === type)

      test.each<[string, readonly RunOutcome[], string]>([
        ['did not run', [didNotRun()], 'has cost nothing'],
        ['did not run, though a person said so', [unknown(), ran(20, 'person'), didNotRun()], 'has cost 20'],
      ])('a grant is taken back with the hold if the update %s', async (_name, outcomes, cost) => {
        let update = await granted()
        for (const outcome of outcomes) update = (await ledger.settle(update, outcome)).update
        expect(await counter('seo')).toEqual(counterWith(30, { available: 30, once: 0 }))
        expect(await counter('seo', 'day')).toEqual(counterWith(35, { available: 35, once: 0 }))
        expect(await counter('account')).toMatchObject({ granted: 0, available: 50_000, spent: 0 })
        const back = (await entriesOf('grant')).filter(({ units }) => units < 0)
        expect(back.map(({ units, reason, moves }) => [units, reason, moves])).toEqual([
          [
            -10,
            `one-time units that are not needed any more, because ${update.id} ${cost}`,
            [
              { budget: 'seo', window: 'month', move: { granted: -10, once: -10 } },
              { budget: 'seo', window: 'day', move: { granted: -5, once: -5 } },
            ],
          ],
        ])
      })

      if (name !== 'memory') return

      test('a grant that was spent stays', async () => {
        await ledger.settle(await granted(), ran(40))
        expect(await counter('seo')).toEqual(counterWith(30, { granted: 10, once: 10, spent: 40 }))
        expect((await entriesOf('grant')).map(({ units }) => units).toSorted()).toEqual([10, 5])
      })

      test.each([
        ['more than the missing units', 37, 7, 2],
        ['no more than the budget had', 20, 0, 0],
      ])('of a grant, only what the update needed stays if it cost %s', async (_name, charged, ofMonth, ofDay) => {
        await ledger.settle(await granted(), ran(charged))
        expect(await counter('seo')).toEqual(
          counterWith(30, { granted: ofMonth, once: ofMonth, spent: charged, available: 30 + ofMonth - charged }),
        )
        expect(await counter('seo', 'day')).toMatchObject({ granted: ofDay, once: ofDay, spent: charged })
      })

      test('a grant of an overspent budget is no larger than what its update was charged', async () => {
        const update = await granted()
        await enter({ budget: 'seo', type: 'external-spend', units: 100 })
        await ledger.settle(update, ran(4))
        expect(await counter('seo')).toEqual(counterWith(30, { granted: 4, once: 4, spent: 104, available: 34 - 104 }))
      })

      test.each([
        [38, 7, 38],
        [44, 7, 44],
        [0, 0, 0],
      ])('a late answer of %i units after a person’s 37 grants nothing again', async (late, ofMonth, spent) => {
        const { update: doubt } = await ledger.settle(await granted(), unknown())
        const { update } = await ledger.settle(doubt, ran(37, 'person'))
        await ledger.settle(update, late === 0 ? didNotRun() : ran(late))
        expect(await counter('seo')).toMatchObject({ granted: ofMonth, once: ofMonth, spent })
      })

      test('one-time units are not corrected by people, because they go back by themselves', async () => {
        await granted()
        const grant = (await entriesOf('grant')).find(({ units }) => units === 10)
        expect(await enter({ budget: 'seo', type: 'correction', units: 15, corrects: grant?.id })).toEqual({
          kind: 'not-possible',
          why: `${grant?.id} is of one-time units, which go back by themselves when they are not needed any more.`,
        })
      })

      test('a settlement does not move the counters of a day that turned after the first attempt', async () => {
        const update = await granted()
        let attempts = 0
        const busy: Store = {
          ...store,
          transact: async (writes, token) => {
            if (++attempts === 1) {
              clock.set('2026-11-21T08:00:00Z')
              await hold({ budget: 'account', units: 1 })
            }
            return store.transact(writes, token)
          },
        }
        await open({ store: busy }).settle(update, didNotRun())
        expect(attempts).toBe(2)
        expect(await counter('seo')).toEqual(counterWith(30, { once: 0, available: 30 }))
        expect(await counter('seo', 'day')).toEqual(counterWith(35, { available: 35 }))
      })
    })

    describe('the late correction of an update that was closed without its sender', () => {
      test.each<[string, RunOutcome, RunOutcome, number]>([
        ['time charged the hold, and it cost less', ran(40, 'time'), ran(31), 31],
        ['a person released it, and it ran', didNotRun('person'), ran(40), 40],
        ['a person was right', ran(40, 'person'), ran(40), 40],
      ])(
        'a late correction of %s keeps the state, and books the difference once',
        async (_name, first, late, charged) => {
          const { update: closed } = await ledger.settle(await doubted({ budget: 'seo' }), first)
          const { update, changed } = await ledger.settle(closed, late)
          expect(changed).toBe(true)
          expect(update).toMatchObject({ state: closed.state, charged, corrected: true })
          const figures = { available: 1_000 - charged, held: 0, inDoubt: 0, spent: charged }
          expect(await counter('seo')).toMatchObject(figures)
          clock.advance(1)
          for (const again of [late, ran(99), ran(99, 'evidence'), didNotRun()]) {
            expect((await ledger.settle(closed, again)).changed).toBe(false)
            expect(await ledger.settle(update, again)).toEqual({ update, changed: false })
          }
          expect(await counter('seo')).toMatchObject(figures)
        },
      )

      if (name !== 'memory') return

      test('a late correction invalidates the summary, and leaves the book alone if nothing moves', async () => {
        const byTime = async () => (await ledger.settle(await doubted({ budget: 'seo' }), ran(40, 'time'))).update
        const [same, more] = [await byTime(), await byTime()]
        const { definitions } = await ledger.view()
        const day = summaryDayAt(definitions.calendar, same.createdAt)
        await ledger.item(daySummaries).write({ ...emptySummary(day), until: clock.now() })
        const countedUntil = async () => (await ledger.item(daySummaries).read([day]))[0]?.until
        const written: string[] = []
        const watched: Store = {
          ...store,
          transact: (writes, token) => {
            written.push(...writes.map((write) => (write.kind === 'put' ? write.item.pk : write.key.pk)))
            return store.transact(writes, token)
          },
        }
        expect(await open({ store: watched }).settle(same, ran(40))).toMatchObject({ changed: true })
        expect(written).toEqual([
          `update#${same.id}`,
          `announcement#${same.id}#correction#4`,
          workKey(same.kind, same.project).pk,
        ])
        expect(await countedUntil()).toBe(clock.now())
        expect(await ledger.settle(more, ran(45))).toMatchObject({ changed: true })
        expect(await countedUntil()).toBe(day.start - 1)
      })

      test.each([
        ['nothing is spent there any more', 50_000, 0],
        ['less is spent there than that', 49_961, 39],
      ])('a late correction gives no units back a second time: %s', async (_name, unitsLeft, spent) => {
        const { update: said } = await ledger.settle(await doubted({ budget: 'seo' }), ran(40, 'person'))
        clock.advance(minutes(12))
        await enter({ budget: 'account', type: 'reconcile', unitsLeft, shown: 49_960 - unitsLeft })
        const { update, changed } = await ledger.settle(said, didNotRun())
        expect([changed, update]).toMatchObject([true, { state: 'settled', charged: 0, corrected: true }])
        expect(await counter('account')).toMatchObject({ limit: 50_000, granted: 0, available: unitsLeft, spent })
        expect(await counter('account', 'day')).toMatchObject({ spent: 0 })
        expect(await counter('seo')).toMatchObject({ available: 1_000, spent: 0 })
        const { rows } = await ledger.entries({ month: 'month:2026-11-01' }, 10)
        expect(rows.filter(({ type }) => type === 'external-spend')).toEqual([
          {
            id: expect.stringMatching(/^ent_.+/),
            type: 'external-spend',
            budget: 'account',
            units: 40,
            month: 'month:2026-11-01',
            day: 'day:2026-11-20',
            by: 'sender',
            at: clock.now(),
            reason: `units that ${update.id} did not give back, because account was reconciled after it ended`,
            moves: [{ budget: 'account', window: 'month', move: { spent: 40 } }],
            kept: 0,
          },
        ])
        expect(await ledger.settle(said, didNotRun())).toEqual({ update, changed: false })
      })

      test('a late correction gives account nothing back if it was reconciled after the update ended', async () => {
        const [one, two] = [await doubted({ budget: 'seo' }), await doubted({ budget: 'seo' })]
        const { update: said } = await ledger.settle(one, ran(40, 'time'))
        await ledger.settle(two, ran(40))
        clock.advance(minutes(12))
        await enter({ budget: 'account', type: 'reconcile', unitsLeft: 49_960, shown: -40 })
        clock.advance(1)
        const { update: after } = await ledger.settle(await doubted({ budget: 'seo' }), ran(40, 'time'))
        await ledger.settle(said, didNotRun())
        expect([await counter('account'), await counter('seo')]).toMatchObject([{ spent: 80 }, { spent: 80 }])
        const { rows } = await ledger.entries({ month: 'month:2026-11-01' }, 10)
        const kept = rows.find(({ type }) => type === 'external-spend')
        expect(kept).toMatchObject({ budget: 'account', units: 40, kept: 0 })
        await ledger.settle(after, didNotRun())
        expect([await counter('account'), await counter('seo')]).toMatchObject([{ spent: 40 }, { spent: 40 }])
      })

      test('what account took from outside spending is corrected in the direction of the new units', async () => {
        const { update: said } = await ledger.settle(await doubted({ budget: 'seo' }), ran(40, 'time'))
        clock.advance(minutes(12))
        await enter({ budget: 'account', type: 'reconcile', unitsLeft: 49_900, shown: 60 })
        await ledger.settle(said, ran(70))
        const taken = async () => (await ledger.entries({ month: 'month:2026-11-01' }, 10)).rows
        const [entry] = (await taken()).filter(({ type }) => type === 'external-spend')
        expect([entry?.units, (await counter('account')).spent]).toEqual([-30, 100])
        await enter({ budget: 'account', type: 'correction', units: 0, corrects: entry?.id })
        expect((await counter('account')).spent).toBe(130)
        const [none] = (await taken()).filter(({ type }) => type === 'correction')
        await enter({ budget: 'account', type: 'correction', units: 5, corrects: none?.id })
        expect((await counter('account')).spent).toBe(135)
      })

      test('a late correction on another day gives no units back a second time', async () => {
        const { update: said } = await ledger.settle(await doubted({ budget: 'seo' }), ran(40, 'time'))
        clock.advance(minutes(12))
        await enter({ budget: 'account', type: 'reconcile', unitsLeft: 50_000, shown: -40 })
        clock.set('2026-11-21T08:00:00Z')
        await hold({ budget: 'seo', units: 7 })
        expect((await ledger.settle(said, ran(25))).update).toMatchObject({ charged: 25 })
        expect(await counter('account')).toMatchObject({ available: 49_993, held: 7, spent: 0 })
        expect(await counter('account', 'day')).toMatchObject({ held: 7, spent: 0 })
        expect(await counter('seo')).toMatchObject({ available: 968, held: 7, spent: 25 })
      })
    })

    if (name !== 'memory') return

    test('more units than held are booked in full, and the available units become negative', async () => {
      await put({ name: 'seo' }, 50, 45)
      const { update } = await ledger.settle(await hold({ budget: 'seo' }), ran(90))
      expect(update).toMatchObject({ charged: 90, overrun: 50 })
      expect(await counter('seo')).toMatchObject({ available: -40, held: 0, spent: 90 })
      expect(await counter('seo', 'day')).toMatchObject({ available: -45, spent: 90 })
      expect(await counter('account')).toMatchObject({ available: 49_910, spent: 90 })
      expect((await tryHold({ budget: 'seo', units: 1 })).outcome).toBe('moved')
    })

    test('settle: delivered twice: books once, even with an old copy of the record', async () => {
      const update = await hold({ budget: 'seo' })
      const { update: settled } = await ledger.settle(update, ran(40))
      clock.advance(1)
      expect(await ledger.settle(update, ran(40))).toEqual({ update: settled, changed: false })
      expect(await open().settle(update, didNotRun())).toEqual({ update: settled, changed: false })
      expect(await ledger.settle(settled, unknown())).toEqual({ update: settled, changed: false })
      expect(await counter('seo')).toMatchObject({ available: 960, held: 0, inDoubt: 0, spent: 40 })
    })

    test('answer lost: settling continues after the changes of another process', async () => {
      const update = await hold({ budget: 'seo' })
      let losses = 1
      const deaf = (error: Error): Store => ({
        ...store,
        transact: async (writes, token) => {
          if (losses-- <= 0) return store.transact(writes, token)
          await ledger.settle(update, unknown('sweep'))
          throw error
        },
      })
      const away = new LedgerUnavailable('away')
      await expect(open({ store: deaf(away) }).settle(update, ran(40))).rejects.toBe(away)
      losses = 1
      expect(await open({ store: deaf(new AnswerLost('nothing was heard')) }).settle(update, ran(40))).toMatchObject({
        changed: true,
        update: { state: 'settled', doubt: { by: 'sweep' } },
      })
      expect(await counter('seo')).toMatchObject({ held: 0, inDoubt: 0, spent: 40 })
    })

    test('settling gives up if another process keeps changing the record', async () => {
      const update = await hold({ budget: 'seo' })
      let version = update.version
      const restless: Store = {
        ...store,
        transact: async (writes, token) => {
          const changed = { ...update, version: ++version }
          await store.transact(
            [{ kind: 'put', item: toUpdateItem(changed), when: [{ kind: 'present-item' }] }],
            `restless ${version}`,
          )
          return store.transact(writes, token)
        },
      }
      await expect(open({ store: restless }).settle(update, ran(40))).rejects.toThrow(
        `update ${update.id} keeps changing`,
      )
      expect(version).toBe(9)
      expect(await counter('seo')).toMatchObject({ held: 40, spent: 0 })
    })

    test('settling on the next day moves only the month', async () => {
      const [one, two] = [await hold({ budget: 'seo', units: 100 }), await hold({ budget: 'seo', units: 50 })]
      clock.set('2026-11-21T08:00:00Z')
      await hold({ budget: 'seo', units: 7 })
      expect(await counter('seo', 'day')).toMatchObject({ available: 393, held: 7, spent: 0 })
      await ledger.settle(one, ran(90))
      const { update: inDoubt } = await ledger.settle(two, unknown())
      await ledger.settle(inDoubt, didNotRun('person'))
      expect(await counter('seo', 'day')).toEqual(counterWith(400, { available: 393, held: 7 }))
      expect(await counter('seo')).toMatchObject({ available: 903, held: 7, inDoubt: 0, spent: 90 })
    })

    test('settling on the next day moves the day counters if the day was not turned', async () => {
      const update = await hold({ budget: 'seo', units: 100 })
      clock.set('2026-11-21T08:00:00Z')
      await ledger.settle(update, ran(90))
      expect(await counter('seo', 'day')).toMatchObject({ available: 310, held: 0, spent: 90 })
      expect(await seenCounter('seo', 'day')).toMatchObject({ available: 400, spent: 0 })
    })

    test('settling after the month moves the book of the hold, not the open one', async () => {
      const [one, two] = [await hold({ budget: 'seo', units: 100 }), await doubted({ budget: 'seo', units: 50 })]
      clock.set('2026-12-01T00:00:05Z')
      await hold({ budget: 'seo', units: 7 })
      await put({ name: 'seo' }, 2_000)
      await ledger.settle(one, ran(100))
      await ledger.settle(two, ran(50, 'evidence'))
      expect(await counter('seo')).toEqual(counterWith(1_000, { available: 850, spent: 150 }))
      expect(await counter('seo', 'month', '2026-12-01')).toMatchObject({
        limit: 2_000,
        available: 1_993,
        held: 7,
        spent: 0,
      })
      clock.set('2027-01-15T00:00:05Z')
      await hold({ budget: 'seo', units: 1 })
      expect(await counter('seo')).toMatchObject({ available: 850, spent: 150 })
    })
  })

  describe('a change of the definitions', () => {
    test('a new limit moves the available units by the difference, in this month and the next', async () => {
      await put({ name: 'seo' }, 1_000, 400)
      await ledger.settle(await hold({ budget: 'seo', units: 100 }), ran(100))
      await enter({ budget: 'seo', units: 5, window: 'next-month' })
      await put({ name: 'seo' }, 1_500, 450)
      expect(await counter('seo')).toEqual(counterWith(1_500, { available: 1_400, spent: 100 }))
      expect(await counter('seo', 'day')).toMatchObject({ limit: 450, available: 350 })
      expect(await counter('seo', 'month', '2026-12-01')).toMatchObject({ limit: 1_500, granted: 5, available: 1_505 })
      await put({ name: 'seo' }, 600, 90)
      expect(await counter('seo')).toMatchObject({ limit: 600, available: 500, spent: 100 })
      expect(await counter('seo', 'day')).toMatchObject({ limit: 90, available: -10 })
      expect((await tryHold({ budget: 'seo', units: 1 })).outcome).toBe('moved')
      await put({ name: 'seo' }, 600)
      expect(await counter('seo', 'day')).toMatchObject({ limit: 'unlimited', available: -100, spent: 100 })
      await hold({ budget: 'seo', units: 500 })
    })

    test('each of many concurrent changes is made', async () => {
      await hold()
      const other = open()
      await Promise.all(
        ['a', 'b', 'c', 'd'].map((name, index) =>
          createBudgets({ ledger: index % 2 === 0 ? ledger : other }).putBudget(
            { name, parent: 'account', limits: [{ window: 'month', units: toUnits(10) }], projects: [] },
            { caller: 'ada' },
          ),
        ),
      )
      const { definitions, book } = await ledger.view()
      expect(Object.keys(definitions.budgets).sort()).toEqual(['a', 'account', 'b', 'c', 'd'])
      expect(book.counters.month.d).toMatchObject({ limit: 10, available: 10 })
      expect(definitions.revision).toBe(5)
    })

    test('every budget can hold after a change and the first hold of a day at the same moment', async () => {
      await put({ name: 'seo' }, 1_000, 400)
      await hold({ budget: 'seo', units: 0 }).then((update) => ledger.settle(update, ran(0)))
      await createBudgets({ ledger }).deleteBudget('seo', { caller: 'ada' })
      clock.set('2026-11-21T00:00:00Z')
      let hasTurned = false
      const racing: Store = {
        ...store,
        transact: async (writes, token) => {
          if (!hasTurned) {
            hasTurned = true
            await hold({ units: 1 })
          }
          return store.transact(writes, token)
        },
      }
      const limits = [
        { window: 'month', units: toUnits(1_000) } as const,
        { window: 'day', units: toUnits(400) } as const,
      ]
      const changed = await createBudgets({ ledger: open({ store: racing }) }).putBudget(
        { name: 'seo', parent: 'account', limits, projects: [] },
        { caller: 'ada' },
      )
      expect(changed.kind).toBe('changed')
      await hold({ budget: 'seo', units: 400 })
    })

    if (name !== 'memory') return

    test('a limit below the spent units makes the available units negative until it is raised', async () => {
      await put({ name: 'seo' }, 1_000)
      await hold({ budget: 'seo', units: 600 })
      await put({ name: 'seo' }, 500)
      expect(await counter('seo')).toMatchObject({ limit: 500, available: -100, held: 600 })
      await put({ name: 'seo' }, 'unlimited')
      expect(await counter('seo')).toMatchObject({ limit: 'unlimited', available: -600, held: 600 })
      await put({ name: 'seo' }, 700)
      expect(await counter('seo')).toMatchObject({ limit: 700, available: 100, held: 600 })
    })

    test('a new day limit counts the units already spent today', async () => {
      await put({ name: 'seo' }, 1_000)
      await ledger.settle(await hold({ budget: 'seo', units: 150 }), ran(150))
      await put({ name: 'seo' }, 1_000, 200)
      expect(await counter('seo', 'day')).toEqual(counterWith(200, { available: 50, spent: 150 }))
      expect((await tryHold({ budget: 'seo', units: 51 })).outcome).toBe('moved')
      await hold({ budget: 'seo', units: 50 })
    })

    test('freezing and unfreezing are one revision each, with actor and reason', async () => {
      const budgeting = createBudgets({ ledger })
      const before = (await ledger.view()).definitions.revision
      await budgeting.freeze('account', { caller: 'ada', reason: 'a cron job has gone wild' })
      expect((await ledger.view()).definitions).toMatchObject({
        revision: before + 1,
        budgets: {
          account: {
            frozen: { by: 'ada', reason: 'a cron job has gone wild', at: Date.parse('2026-11-20T10:00:00Z') },
          },
        },
      })
      await budgeting.unfreeze('account', { caller: 'bob', reason: 'mended' })
      const { definitions } = await ledger.view()
      expect(definitions.revision).toBe(before + 2)
      expect(definitions.budgets.account).not.toHaveProperty('frozen')
      const { rows } = await ledger.entries({ month: 'month:2026-11-01' }, 10)
      expect(rows.map(({ type, by, reason }) => `${type} ${by}: ${reason}`).sort()).toEqual([
        'freeze ada: a cron job has gone wild',
        'unfreeze bob: mended',
      ])
    })

    test('a budget that is deleted and created again continues with its counters', async () => {
      await put({ name: 'seo' }, 1_000, 400)
      await ledger.settle(await hold({ budget: 'seo', units: 300 }), ran(300))
      await createBudgets({ ledger }).deleteBudget('seo', { caller: 'ada' })
      expect((await ledger.view()).definitions.budgets).not.toHaveProperty('seo')
      await hold({ units: 1 })
      await put({ name: 'seo' }, 500, 350)
      expect(await counter('seo')).toEqual(counterWith(500, { available: 200, spent: 300 }))
      expect(await counter('seo', 'day')).toMatchObject({ limit: 350, available: 50, spent: 300 })
      expect((await tryHold({ budget: 'seo', units: 51 })).outcome).toBe('moved')
      await hold({ budget: 'seo', units: 50 })
    })

    test('a budget that is created again on another day continues its month and starts a new day', async () => {
      await put({ name: 'seo' }, 1_000, 400)
      await ledger.settle(await hold({ budget: 'seo', units: 300 }), ran(300))
      await createBudgets({ ledger }).deleteBudget('seo', { caller: 'ada' })
      clock.set('2026-11-21T10:00:00Z')
      await hold({ units: 1 })
      await put({ name: 'seo' }, 1_000, 400)
      expect(await counter('seo')).toMatchObject({ available: 700, spent: 300 })
      expect(await counter('seo', 'day')).toMatchObject({ available: 400, spent: 0 })
      await hold({ budget: 'seo', units: 400 })
    })

    test('a budget is never deleted while units of it are held', async () => {
      await put({ name: 'seo' }, 1_000)
      const { view, seen, update } = await decided({ budget: 'seo' })
      await hold()
      let hasHeld = false
      const racing: Store = {
        ...store,
        transact: async (writes, token) => {
          if (!hasHeld) {
            hasHeld = true
            expect(await ledger.hold(view, seen, update)).toBe('held')
          }
          return store.transact(writes, token)
        },
      }
      const changed = await createBudgets({ ledger: open({ store: racing }) }).deleteBudget('seo', { caller: 'ada' })
      expect(changed).toMatchObject({ kind: 'problem', problem: { slug: 'wrong-state' } })
      expect((await ledger.view()).definitions.budgets).toHaveProperty('seo')
    })
  })

  describe('entries', () => {
    beforeEach(async () => {
      await put({ name: 'seo' }, 1_000, 400)
      await put({ name: 'blog', parent: 'seo' }, 100, 50)
    })

    test('a grant for the whole chain is one entry in one transaction', async () => {
      await enter({ budget: 'blog', units: 30, wholeChain: true })
      for (const name of ['blog', 'seo', 'account']) expect(await counter(name)).toMatchObject({ granted: 30 })
      expect((await ledger.entries({ month: 'month:2026-11-01', budget: 'account' }, 10)).rows[0]).toMatchObject({
        type: 'grant',
        budget: 'blog',
      })
    })

    test('an entry with the same content is repeated, and other content under its id is refused', async () => {
      const first = await enter({ id: 'ent_once', budget: 'blog', units: 30 })
      const [second, third] = await Promise.all([
        enter({ id: 'ent_once', budget: 'blog', units: 30 }),
        enter({ id: 'ent_once', budget: 'blog', units: 30 }),
      ])
      for (const again of [second, third]) expect(again).toEqual({ ...first, again: true })
      expect(await enter({ id: 'ent_once', budget: 'blog', units: 31, content: 'other' })).toEqual({
        kind: 'key-reused',
      })
      expect(await counter('blog')).toMatchObject({ granted: 30 })
    })

    test('each of many concurrent entries is booked once', async () => {
      const other = open()
      const request = (index: number): EntryRequest => ({
        id: `ent_many_${index}`,
        content: 'its content',
        type: 'grant',
        budget: 'blog',
        units: 1,
        window: 'month',
        wholeChain: false,
        reason: 'it must',
        by: 'ada',
      })
      await Promise.all(
        [0, 1, 2, 3, 4, 5].flatMap((index) => [ledger.enter(request(index)), other.enter(request(index))]),
      )
      expect(await counter('blog')).toMatchObject({ granted: 6 })
    })

    if (name !== 'memory') return

    test('a grant for the month is for that budget only', async () => {
      const outcome = await enter({ budget: 'blog', units: 30 })
      expect(outcome).toMatchObject({
        kind: 'entered',
        again: false,
        entry: { type: 'grant', units: 30, month: 'month:2026-11-01' },
      })
      expect(await counter('blog')).toEqual(counterWith(100, { granted: 30, available: 130, spent: 0 }))
      expect(await counter('blog', 'day')).toMatchObject({ granted: 0, available: 50 })
      expect(await counter('seo')).toMatchObject({ granted: 0, available: 1_000 })
    })

    test('a grant for the day ends with the day', async () => {
      await enter({ budget: 'blog', units: 30, window: 'day' })
      expect(await counter('blog', 'day')).toMatchObject({ granted: 30, available: 80 })
      expect(await counter('blog')).toMatchObject({ granted: 0 })
      clock.set('2026-11-21T10:00:00Z')
      await hold({ budget: 'blog', units: 50 })
      expect(await counter('blog', 'day')).toMatchObject({ granted: 0, available: 0 })
    })

    test('a grant for the next month makes its book, in which holds then count', async () => {
      await enter({ budget: 'blog', units: 30, window: 'next-month' })
      await enter({ budget: 'blog', units: 12, window: 'next-month', wholeChain: true })
      await expect(counter('blog')).rejects.toThrow('not in the book')
      expect(await counter('blog', 'month', '2026-12-01')).toMatchObject({ limit: 100, granted: 42, available: 142 })
      clock.set('2026-12-05T10:00:00Z')
      expect(await seenCounter('blog', 'day')).toMatchObject({ available: 50 })
      const update = await hold({ budget: 'blog', units: 50 })
      expect(update.hold?.day).toBe('day:2026-12-05')
      expect(await counter('blog', 'month', '2026-12-01')).toMatchObject({ available: 92, held: 50 })
      expect((await books()).map(({ day }) => day)).toEqual(['day:2026-12-05'])
    })

    test('outside spending counts in both windows of the chain, and may exceed the available units', async () => {
      await enter({ budget: 'blog', units: 130, type: 'external-spend' })
      expect(await counter('blog')).toEqual(counterWith(100, { available: -30, spent: 130 }))
      expect(await counter('blog', 'day')).toMatchObject({ available: -80, spent: 130 })
      expect(await counter('seo')).toMatchObject({ available: 870, spent: 130 })
      expect(await counter('account')).toMatchObject({ available: 49_870, spent: 130 })
      expect((await tryHold({ budget: 'blog', units: 1 })).outcome).toBe('moved')
    })

    test('an entry of an unknown budget is refused', async () => {
      expect(await enter({ budget: 'constructor', units: 1 })).toEqual({
        kind: 'unknown-budget',
        budget: 'constructor',
      })
    })

    test('a repeated entry is answered even if the budget is gone', async () => {
      const first = await enter({ id: 'ent_kept', budget: 'blog', units: 30 })
      await createBudgets({ ledger }).deleteBudget('blog', { caller: 'ada' })
      expect(await enter({ id: 'ent_kept', budget: 'blog', units: 30 })).toEqual({ ...first, again: true })
    })
  })

  if (name === 'memory')
    describe('a view', () => {
      /** A process that counts the items of each batch that it reads. */
      function counting() {
        const batches: number[] = []
        const get: Store['get'] = (keys) => {
          batches.push(keys.length)
          return store.get(keys)
        }
        return { batches, other: open({ store: { ...store, get } }) }
      }

      test('a view reads the definitions, the book and what its queries name in one batch', async () => {
        const update = await hold({ project: 'acme' })
        const { batches, other } = counting()
        await other.view()
        batches.length = 0
        const plain = await other.view()
        expect(batches).toEqual([2])
        expect([plain.results, 'nextStored' in plain]).toEqual([[], false])
        batches.length = 0
        const { results } = await other.view([{}, { id: update.id }, { nextMonth: true }])
        expect(batches).toEqual([4])
        expect(results.map((result) => result.update?.id)).toEqual([undefined, update.id, undefined])
        expect(results.map(({ works }) => works)).toEqual([[], [], []])
      })

      test('a view has the book of next month only if a query wants it', async () => {
        const grant = { type: 'grant', window: 'next-month', wholeChain: false, by: 'ada', reason: 'r' } as const
        await ledger.view()
        expect(await ledger.view([{ nextMonth: true }])).toMatchObject({ nextStored: null })
        await ledger.enter({ ...grant, id: 'ent_next', content: 'c', budget: 'account', units: 7 })
        for (const queries of [[{ nextMonth: true }], [{}, { nextMonth: true }]] as const)
          expect((await ledger.view(queries)).nextStored?.counters.month.account).toMatchObject({ granted: 7 })
        expect(await ledger.view([{}])).not.toHaveProperty('nextStored')
      })

      test('a view reads the right books after another process changed the renewal', async () => {
        const { batches, other } = counting()
        await hold({ units: 40 })
        await other.view()
        await open().change('ada', renewalChange({ day: 12 }))
        clock.set('2026-12-20T10:00:00Z')
        await ledger.enter({
          id: 'ent_now',
          content: 'c',
          type: 'external-spend',
          budget: 'account',
          units: 9,
          reason: 'r',
          by: 'ada',
        })
        batches.length = 0
        const seen = await other.view([{ nextMonth: true }])
        expect([seen.month.name, seen.stored?.month, seen.nextStored]).toEqual([
          'month:2026-12-12',
          'month:2026-12-12',
          null,
        ])
        expect(batches).toEqual([3, 2])
      })

      test('a view reads the work of each name that a budget lists for the project, also a name listed since', async () => {
        const { batches, other } = counting()
        await other.view()
        const update = await hold({ project: '1001' })
        await put({ name: 'seo', projects: [{ name: 'acme', id: '1001' }] }, 100)
        batches.length = 0
        const of = { work: { kind: 'ranking', project: 'acme' } } as const
        const [seen] = (await other.view([of])).results
        expect(seen?.works.map(({ work }) => work?.update)).toEqual([undefined, update.id])
        expect(seen?.records.get(update.id)).toMatchObject({ project: '1001' })
        expect(batches).toEqual([3, 1, 1])
        batches.length = 0
        expect((await other.view([of])).results).toEqual([seen])
        expect(batches).toEqual([4, 1])
      })

      test('a view has no record of an update that its work names but the table lost', async () => {
        const update = await hold({ project: 'acme' })
        const lost: Store['get'] = async (keys) =>
          (await store.get(keys)).map((item) => (item?.pk === updateKey(update.id).pk ? undefined : item))
        const [seen] = (
          await open({ store: { ...store, get: lost } }).view([{ work: { kind: 'ranking', project: 'acme' } }])
        ).results
        expect(seen).toMatchObject({ update: null, works: [{ work: { update: update.id } }], records: new Map() })
      })

      test('nothing is read of a table without a ledger', async () => {
        const views = createViews({ store, clock, calendar: newCalendar(account.renewal) })
        await expect(views.look()).rejects.toThrow('the ledger has not been set up')
      })

      test('the calendar of an instant is read again only if the instant is later than the last view', async () => {
        await ledger.view()
        const batches: number[] = []
        const get: Store['get'] = (keys) => {
          batches.push(keys.length)
          return store.get(keys)
        }
        const views = createViews({ store: { ...store, get }, clock, calendar: newCalendar(account.renewal) })
        await views.look()
        for (const [instant, reads] of [
          [clock.now() - 1, 1],
          [clock.now(), 1],
          [clock.now() + 1, 2],
        ] as const) {
          expect(await views.calendarAt(instant)).toEqual(newCalendar(account.renewal))
          expect(batches).toHaveLength(reads)
        }
      })
    })

  describe('the clock and the windows', () => {
    test('a changed renewal lengthens the open month and keeps its book', async () => {
      await hold({ units: 100 })
      await open().change('setup', renewalChange({ day: 12 }))
      const reopened = open()
      const { month, definitions } = await reopened.view()
      expect(month).toEqual({
        name: 'month:2026-11-01',
        start: Date.parse('2026-11-01T00:00Z'),
        end: Date.parse('2026-12-12T00:00Z'),
      })
      expect(definitions.revision).toBe(2)
      clock.set('2026-12-11T23:00:00Z')
      expect(await seenCounter('account', 'month', reopened)).toMatchObject({ available: 49_900, held: 100 })
      await hold({ units: 49_900, from: reopened })
      expect((await tryHold({ units: 1, from: reopened })).outcome).toBe('moved')
      clock.set('2026-12-12T00:00:00Z')
      await hold({ units: 50_000, from: reopened })
      expect((await books()).map((book) => book.month)).toEqual(['month:2026-11-01', 'month:2026-12-12'])
      const { rows } = await reopened.entries({ month: 'month:2026-11-01' }, 10)
      expect(rows).toMatchObject([
        { type: 'renewal', by: 'setup', reason: 'months turn on day 12 at 00:00 UTC after the current month' },
      ])
      ledger = reopened
    })

    test('a clock behind in the previous month still works after a change of the definitions', async () => {
      await put({ name: 'seo' }, 1_000, 100)
      await put({ name: 'free' }, 'unlimited')
      await put({ name: 'tight' }, 50)
      for (const budget of ['free', 'tight']) await hold({ budget, units: 10 })
      const behind = open({ clock: createTestClock('2026-11-30T23:59:59Z') })
      clock.set('2026-12-01T00:00:01Z')
      await hold({ budget: 'seo', units: 100 })
      await put({ name: 'seo' }, 2_000, 300)
      await put({ name: 'blog', parent: 'seo' }, 100)
      await put({ name: 'free' }, 1_000)
      await put({ name: 'tight' }, 'unlimited')
      const update = await hold({ budget: 'blog', units: 50, from: behind })
      expect(update.month).toBe('month:2026-11-01')
      expect(await counter('seo')).toMatchObject({ limit: 1_000, available: 950, held: 50 })
      expect(await counter('blog')).toMatchObject({ limit: 100, available: 50, held: 50 })
      await behind.settle(update, ran(50))
      expect(await counter('seo')).toMatchObject({ available: 950, held: 0, spent: 50 })
      // A closed book keeps its limits, whatever the definitions say later.
      await hold({ budget: 'free', units: 500, from: behind })
      const both = [
        await decided({ budget: 'tight', units: 40, from: behind }),
        await decided({ budget: 'tight', units: 40, from: behind }),
      ]
      const outcomes = []
      for (const { view, seen, update: each } of both) outcomes.push(await behind.hold(view, seen, each))
      expect(outcomes).toEqual(['held', 'moved'])
      expect(await counter('tight')).toMatchObject({ limit: 50, available: 0, held: 50 })
      expect(await counter('seo', 'month', '2026-12-01')).toMatchObject({ limit: 2_000, available: 1_900, held: 100 })
    })

    if (name !== 'memory') return

    test('a lagging book gets the new definitions before it is used', async () => {
      await enter({ budget: 'account', units: 5, window: 'next-month' })
      clock.set('2026-10-31T10:00:00Z')
      await put({ name: 'seo' }, 1_000, 400)
      await put({ name: 'account' }, 40_000)
      clock.set('2026-11-30T10:00:00Z')
      expect((await books()).find(({ month }) => month === 'month:2026-12-01')?.revision).toBe(1)
      await enter({ budget: 'seo', units: 7, window: 'next-month', wholeChain: true })
      expect(await counter('seo', 'month', '2026-12-01')).toMatchObject({ limit: 1_000, granted: 7, available: 1_007 })
      expect(await counter('account', 'month', '2026-12-01')).toMatchObject({
        limit: 40_000,
        granted: 12,
        available: 40_012,
      })
    })

    test.each(['01', '03'])('the first hold updates a lagging book to the definitions, on day %s', async (day) => {
      await enter({ budget: 'account', units: 5, window: 'next-month' })
      clock.set('2026-10-31T10:00:00Z')
      await put({ name: 'seo' }, 1_000, 400)
      clock.set(`2026-12-${day}T10:00:00Z`)
      expect(await seenCounter('seo')).toMatchObject({ available: 1_000 })
      await hold({ budget: 'seo', units: 400 })
      expect(await counter('seo', 'day', '2026-12-01')).toMatchObject({ limit: 400, available: 0, held: 400 })
      expect(await counter('account', 'month', '2026-12-01')).toMatchObject({ granted: 5, available: 49_605 })
    })

    test("a clock behind the book's day counts in the book's day", async () => {
      await put({ name: 'seo' }, 1_000, 100)
      const late = createTestClock('2026-11-20T23:59:59Z')
      const behind = open({ clock: late })
      await behind.view()
      clock.set('2026-11-21T00:00:01Z')
      await hold({ budget: 'seo', units: 60 })
      expect(await seenCounter('seo', 'day', behind)).toMatchObject({ available: 40, held: 60 })
      expect((await tryHold({ budget: 'seo', units: 41, from: behind })).outcome).toBe('moved')
      const update = await hold({ budget: 'seo', units: 40, from: behind })
      expect(update.hold?.day).toBe('day:2026-11-21')
      await behind.settle(update, ran(40))
      expect(await counter('seo', 'day')).toMatchObject({ available: 0, held: 60, spent: 40 })
    })

    test('a hold turns the book of a new month that another process made for another day', async () => {
      const behind = open({ clock: createTestClock('2026-12-01T23:59:59Z') })
      clock.set('2026-12-02T00:00:01Z')
      const mine = await decided()
      await hold({ from: behind, units: 3 })
      expect(await ledger.hold(mine.view, mine.seen, mine.update)).toBe('moved')
      await hold({ units: 4 })
      expect(await counter('account', 'month', '2026-12-01')).toMatchObject({ held: 7 })
      expect(await counter('account', 'day', '2026-12-01')).toMatchObject({ held: 4 })
    })

    test('a month without updates has and needs no book', async () => {
      await hold({ units: 5 })
      clock.advance(days(60))
      await put({ name: 'seo' }, 1_000)
      await hold({ budget: 'seo', units: 6 })
      expect((await books()).map(({ month }) => month)).toEqual(['month:2026-11-01', 'month:2027-01-01'])
    })
  })
})

/** A store that loses its next answers, after or before they took effect. */
function losing(store: Store) {
  let lost = 0
  let applied = true
  return {
    lose(count: number, how: { applied: boolean } = { applied: true }) {
      lost = count
      applied = how.applied
    },
    store: {
      ...store,
      transact: async (writes, token) => {
        if (lost === 0) return store.transact(writes, token)
        lost -= 1
        if (applied) await store.transact(writes, token)
        throw new AnswerLost('the answer was lost')
      },
    } satisfies Store,
  }
}
