import { beforeEach, describe, expect, test } from 'vitest'
import { createBudgets } from '../../shared/guard/people/budgets.ts'
import { bookKey } from '../../shared/ledger/book/book-item.ts'
import type { EntryRequest } from '../../shared/ledger/book/entry-request.ts'
import { createLedger, type Ledger } from '../../shared/ledger/ledger.ts'
import type { Path, Store } from '../../shared/ledger/store/store.ts'
import type { Update } from '../../shared/ledger/updates/update.ts'
import type { AuditedCounter } from '../../shared/ledger/views/audit.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createTestClock, type TestClock } from '../support/clock.ts'
import { counterWith, decidedFrom, didNotRun, ran, unknown } from '../support/records.ts'
import { stores } from '../support/store/stores.ts'

const november = 'month:2026-11-01'
/** Tests that do not depend on the store come last, and run in memory only. */
describe.each(stores)('the audit: %s', (name, create) => {
  let store: Store
  let clock: TestClock
  let ledger: Ledger
  let names = 0

  beforeEach(async () => {
    store = await create()
    clock = createTestClock()
    ledger = open(store)
  })

  const open = (over: Store) =>
    createLedger({
      store: over,
      clock,
      account: {
        unitsPerMonth: toUnits(50_000),
        usedAtStart: toUnits(700),
        renewal: { day: 1, time: '00:00', zone: 'UTC' },
      },
    })

  async function hold(budget: string, units: number): Promise<Update> {
    const id = `upd_${++names}`
    const named = { id, kind: 'ranking', project: id, budget } as const
    const request = {
      ...named,
      caller: 'ada',
      via: 'http',
      content: { digest: 'd', count: 1 },
      createdAt: clock.now(),
    } as const
    const { view, seen, update } = await decidedFrom(ledger, request, { units })
    expect(await ledger.hold(view, seen, update)).toBe('held')
    return update
  }

  const enter = (
    budget: string,
    units: number,
    type: 'grant' | 'external-spend',
    window: 'month' | 'day' | 'next-month' = 'month',
  ) =>
    ledger.enter({
      id: `ent_${++names}`,
      content: 'c',
      type,
      budget,
      units,
      window,
      wholeChain: false,
      reason: 'r',
      by: 'ada',
    } as EntryRequest)

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

  /** Two days and the turn of a month, with every event that moves a counter. */
  async function beBusy() {
    await put('seo', 1_000, 500)
    await put('gone', 100)
    await ledger.settle(await hold('seo', 40), ran(35))
    await ledger.settle(await hold('seo', 40), ran(60))
    await ledger.settle(await hold('gone', 40), didNotRun())
    await createBudgets({ ledger }).deleteBudget('gone', { caller: 'ada' })
    const { update } = await ledger.settle(await hold('seo', 50), unknown())
    const lasting = await hold('seo', 20)
    await enter('seo', 200, 'grant')
    await enter('seo', 30, 'grant', 'day')
    await enter('seo', 9, 'grant', 'next-month')
    await enter('seo', 80, 'external-spend')
    clock.set('2026-11-21T09:00:00Z')
    await hold('seo', 33)
    await enter('seo', 7, 'external-spend')
    await ledger.settle(update, ran(50, 'time'))
    await ledger.settle((await ledger.update(update.id)) ?? update, ran(45))
    await put('seo', 900)
    clock.set('2026-12-01T08:00:00Z')
    await ledger.settle(await hold('seo', 11), ran(11))
    await ledger.settle(lasting, ran(20))
    await put('seo', 2_000, 100)
  }

  const rowOf = (rows: readonly AuditedCounter[], window: string, budget: string) =>
    rows.find((row) => row.window === window && row.budget === budget)

  test('after many different events every counter is the sum of its lines', async () => {
    await beBusy()
    const rows = await ledger.audit()
    expect(rows.filter(({ ok }) => !ok)).toEqual([])
    expect(rowOf(rows, november, 'seo')?.recomputed).toEqual(
      counterWith(900, { granted: 200, available: 820, held: 33, spent: 247 }),
    )
    expect(rowOf(rows, 'day:2026-11-21', 'seo')?.recomputed).toMatchObject({ held: 33, spent: 7 })
    expect(rowOf(rows, 'month:2026-12-01', 'seo')?.recomputed).toEqual(
      counterWith(2_000, { granted: 9, available: 1_998, spent: 11 }),
    )
    expect(rows.map(({ window, budget }) => `${window} ${budget}`).sort()).toEqual([
      'day:2026-11-21 account',
      'day:2026-11-21 seo',
      'day:2026-12-01 account',
      'day:2026-12-01 seo',
      'month:2026-11-01 account',
      'month:2026-11-01 gone',
      'month:2026-11-01 seo',
      'month:2026-12-01 account',
      'month:2026-12-01 seo',
    ])
  })

  test('the audit names a counter that was changed by hand', async () => {
    await beBusy()
    const tamperings: [string, string, Path, number, number | 'unlimited'][] = [
      [november, 'seo', ['month', 'seo', 'a'], 100, 900],
      [november, 'account', ['month', 'account', 's'], -40, 50_000],
      ['day:2026-11-21', 'seo', ['day', 'seo', 'h'], -33, 'unlimited'],
      [november, 'gone', ['month', 'gone', 'g'], 1, 100],
    ]
    for (const [window, budget, path, units, limit] of tamperings) {
      const tamper = (by: number) =>
        store.transact(
          [{ kind: 'update', key: bookKey(november), set: [], add: [[path, by]], when: [{ kind: 'present-item' }] }],
          `tampering with ${path} by ${by}`,
        )
      await tamper(units)
      const bad = (await ledger.audit()).filter(({ ok }) => ok !== true)
      expect(bad).toMatchObject([{ window, budget, ok: false, recorded: { limit }, recomputed: { limit } }])
      expect(bad[0]?.recorded).not.toEqual(bad[0]?.recomputed)
      await tamper(-units)
    }
    expect((await ledger.audit()).every(({ ok }) => ok)).toBe(true)
  })

  if (name !== 'memory') return

  test('the audit of a new ledger finds its opening position, and nothing else', async () => {
    expect(await ledger.audit()).toEqual([
      {
        window: november,
        budget: 'account',
        recorded: counterWith(50_000, { available: 49_300, spent: 700 }),
        recomputed: counterWith(50_000, { available: 49_300, spent: 700 }),
        ok: true,
      },
      {
        window: 'day:2026-11-20',
        budget: 'account',
        recorded: counterWith('unlimited'),
        recomputed: counterWith('unlimited'),
        ok: true,
      },
    ])
  })

  test('the audit includes the book of the next month before that month begins', async () => {
    await enter('account', 9, 'grant', 'next-month')
    const rows = await ledger.audit()
    expect(rows.filter(({ ok }) => !ok)).toEqual([])
    expect(rowOf(rows, 'month:2026-12-01', 'account')?.recomputed).toMatchObject({ granted: 9, available: 50_009 })
  })

  test('the audit names a limit that was changed by hand in the open book', async () => {
    await put('seo', 1_000)
    await hold('seo', 40)
    const raised = {
      kind: 'update',
      key: bookKey(november),
      set: [[['month', 'seo', 'l'], 2_000]],
      add: [[['month', 'seo', 'a'], 1_000]],
      when: [{ kind: 'present-item' }],
    } as const
    await store.transact([raised], 'tampering')
    expect((await ledger.audit()).filter(({ ok }) => ok !== true)).toMatchObject([
      {
        window: november,
        budget: 'seo',
        recorded: { limit: 2_000, available: 1_960 },
        recomputed: { limit: 1_000, available: 960 },
        ok: false,
      },
    ])
  })

  test('a kept audit announces each difference one time, with at most fifty counters', async () => {
    for (let at = 0; at < 52; at++) await put(`seo-${at}`, 1_000)
    await hold('seo-1', 40)
    const keep = async () => ledger.keepAudit({ at: clock.now(), by: 'ada' }, await ledger.audit())
    const announced = async () => (await ledger.announcements.open(10)).rows.map(({ about }) => about)
    const tamper = (...names: string[]) =>
      store.transact(
        [
          {
            kind: 'update',
            key: bookKey(november),
            set: [],
            when: [],
            add: names.map((name) => [['month', name, 's'], 3] as const),
          },
        ],
        `tampering-${clock.now()}`,
      )
    await keep()
    expect(await announced()).toEqual([])
    await tamper('seo-1')
    await keep()
    clock.advance(1)
    await keep()
    const books = [{ window: november, budget: 'seo-1', recorded: expect.anything(), recomputed: expect.anything() }]
    expect(await announced()).toEqual([{ kind: 'audit-failed', books, more: 0 }])
    await hold('seo-1', 40)
    clock.advance(1)
    await keep()
    expect(await announced()).toHaveLength(1)
    await tamper('seo-1')
    await keep()
    expect(await announced()).toHaveLength(2)
    clock.advance(1)
    await tamper(...Array.from({ length: 51 }, (_, at) => `seo-${at}`))
    await keep()
    const lengths = (await announced()).map(
      (about) => about.kind === 'audit-failed' && [about.books.length, about.more],
    )
    expect(lengths.toSorted()).toEqual([
      [1, 0],
      [1, 0],
      [50, 1],
    ])
    expect(await ledger.lastAudit()).toMatchObject({ wrong: 51, by: 'ada' })
  })

  test('the audit notices an update that vanished', async () => {
    const update = await hold('account', 40)
    const { hold: _hold, ...rest } = update
    await ledger.record({ ...rest, version: 2 } as Update, update)
    expect((await ledger.audit()).filter(({ ok }) => ok === false).map(({ window }) => window)).toEqual([
      november,
      'day:2026-11-20',
    ])
  })

  test.each([
    [1, true],
    [Number.POSITIVE_INFINITY, null],
  ])('the audit of a counter that moves %d times during the audit is ok: %s', async (times, ok) => {
    await put('seo', 1_000)
    await hold('account', 1)
    let moves = times
    const restless = open({
      ...store,
      list: async (query) => {
        if (query.partition.startsWith('updates#') && moves-- > 0) await hold('account', 1)
        return store.list(query)
      },
    })
    const rows = await restless.audit()
    expect(rowOf(rows, november, 'account')?.ok).toBe(ok)
    expect(rowOf(rows, november, 'seo')?.ok).toBe(true)
    expect(rows.filter((row) => row.ok === false)).toEqual([])
    expect((await ledger.audit()).every((row) => row.ok)).toBe(true)
  })

  test('the audit waits for a line that the index does not show yet', async () => {
    await enter('account', 40, 'external-spend')
    await hold('account', 1)
    let lagsMs = 1_500
    clock.sleep = async (ms) => {
      lagsMs -= ms
    }
    const lagging = open({
      ...store,
      list: async (query) => {
        const page = await store.list(query)
        return lagsMs > 0 ? { ...page, positions: page.positions.slice(1) } : page
      },
    })
    expect((await lagging.audit()).map(({ ok }) => ok)).toEqual([true, true])
    expect(lagsMs).toBeLessThanOrEqual(0)
  })

  test('the audit uses the limits in a lagging book’s lines', async () => {
    await put('seo', 1_000)
    await enter('seo', 9, 'grant', 'next-month')
    clock.set('2026-10-31T10:00:00Z')
    await put('seo', 400)
    clock.set('2026-11-30T10:00:00Z')
    const rows = await ledger.audit()
    expect(rows.filter(({ ok }) => ok !== true)).toEqual([])
    expect(rowOf(rows, 'month:2026-12-01', 'seo')?.recomputed).toMatchObject({ limit: 1_000, granted: 9 })
  })

  test('the audit counts an update in the month of its hold, not of its request', async () => {
    clock.set('2026-10-29T12:00:00Z')
    await ledger.view()
    clock.set('2026-10-31T23:00:00Z')
    const asked = clock.now()
    clock.set('2026-11-01T22:00:00Z')
    const held = await hold('account', 40)
    const { update } = await ledger.settle(held, ran(40))
    await ledger.record({ ...update, createdAt: asked, version: update.version + 1 }, update)
    expect((await ledger.audit()).filter(({ ok }) => ok !== true)).toEqual([])
  })
})
