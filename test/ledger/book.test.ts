import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBudgets } from '../../shared/guard/people/budgets.ts'
import {
  type Book,
  bookAfter,
  bookAsOf,
  counterOf,
  freshBook,
  goesBack,
  spentOnTops,
} from '../../shared/ledger/book/book.ts'
import {
  additions,
  addTo,
  applyDefinitions,
  bookKey,
  fromBookItem,
  toBookItem,
  turnDay,
} from '../../shared/ledger/book/book-item.ts'
import { type Entry, movedOnTops } from '../../shared/ledger/book/entry.ts'
import { type RunOutcome, settlementOf } from '../../shared/ledger/book/outcome.ts'
import { type Counter, type Move, madeAvailable, usedOf } from '../../shared/ledger/definitions/counters.ts'
import type { Budget, Definitions, WindowKind } from '../../shared/ledger/definitions/definitions.ts'
import { newCalendar } from '../../shared/ledger/definitions/windows.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import { itemSize } from '../../shared/ledger/store/item-size.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import type { Update } from '../../shared/ledger/updates/update.ts'
import { toUpdateItem } from '../../shared/ledger/updates/update-keys.ts'
import { digest } from '../../shared/platform/ids.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createTestClock } from '../support/clock.ts'
import { counterWith, decidedFrom } from '../support/records.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const renewal = { day: 1, time: '00:00', zone: 'UTC' }
const accountUnits = 5_000
const account = { unitsPerMonth: toUnits(accountUnits), usedAtStart: toUnits(0), renewal }

type Limit = number | 'unlimited'

const budget = (name: string, parent: string | null, month: Limit, day: Limit = 'unlimited'): Budget => ({
  name,
  parent,
  projects: [],
  limits: (['month', 'day'] as const).map((window) => {
    const units = window === 'month' ? month : day
    return { window, units: units === 'unlimited' ? units : toUnits(units) }
  }),
})

const define = (revision: number, ...budgets: Budget[]): Definitions => ({
  revision,
  createdAt: 0,
  calendar: newCalendar(renewal),
  budgets: Object.fromEntries(budgets.map((each) => [each.name, each])),
})

const counter = (limit: Limit, figures: Partial<Counter> = {}) =>
  counterWith(limit, { available: limit === 'unlimited' ? 0 : limit, ...figures }) as Counter

describe('a book', () => {
  const definitions = define(3, budget('account', null, 1_000), budget('constructor', 'account', 100, 20))
  const fresh = freshBook(definitions, 'month:2026-11-01', 'day:2026-11-20')

  test('a fresh book has every budget in both windows', () => {
    expect(fresh).toEqual({
      month: 'month:2026-11-01',
      day: 'day:2026-11-20',
      revision: 3,
      counters: {
        month: { account: counter(1_000), constructor: counter(100) },
        day: { account: counter('unlimited'), constructor: counter(20) },
      },
    })
  })

  test('a book comes back from its item unchanged', () => {
    expect(fromBookItem(toBookItem(fresh))).toEqual(fresh)
  })

  test('figures of a month add up the counters of its top budgets', () => {
    const figures = { held: 5, inDoubt: 7, spent: 30 }
    const book: Book = { ...fresh, counters: { ...fresh.counters, month: { account: counter(1_000, figures) } } }
    expect(usedOf(figures)).toBe(42)
    expect(spentOnTops(book, ['account', 'account', 'gone'])).toBe(60)
    const moves = (['month', 'day'] as const).flatMap((window) =>
      ['account', 'seo'].map((budget) => ({ budget, window, move: { spent: 9, granted: 2 } })),
    )
    const entry = { moves: [...moves, { budget: 'account', window: 'month', move: {} }] } as unknown as Entry
    expect((['spent', 'granted'] as const).map((what) => movedOnTops(['account'], entry, what))).toEqual([9, 2])
  })

  test('a book has counters only for its own members', () => {
    expect(counterOf(fresh, 'month', 'constructor')).toEqual(counter(100))
    expect(counterOf(fresh, 'month', 'toString')).toBeUndefined()
    expect(counterOf(fresh, 'day', '__proto__')).toBeUndefined()
  })

  const moved: Book = {
    ...fresh,
    counters: {
      month: {
        account: counter(1_000, { available: 930, spent: 70 }),
        constructor: counter(100, { available: 30, held: 70 }),
      },
      day: {
        account: counter('unlimited', { available: -70, spent: 70 }),
        constructor: counter(20, { available: -50, held: 70 }),
      },
    },
  }

  test('a book follows the newest definitions, and its available units move by the difference', () => {
    const changed = define(
      4,
      budget('account', null, 500),
      budget('constructor', 'account', 'unlimited', 90),
      budget('new', 'account', 7),
    )
    expect(bookAsOf(moved, changed, 'month:2026-11-01', 'day:2026-11-20')).toEqual({
      ...moved,
      revision: 4,
      counters: {
        month: {
          account: counter(500, { available: 430, spent: 70 }),
          constructor: counter('unlimited', { available: -70, held: 70 }),
          new: counter(7),
        },
        day: {
          account: counter('unlimited', { available: -70, spent: 70 }),
          constructor: counter(90, { available: 20, held: 70 }),
          new: counter('unlimited'),
        },
      },
    })
  })

  test('a book can start a later day, but not an earlier one', () => {
    const tomorrow = bookAsOf(moved, definitions, 'month:2026-11-01', 'day:2026-11-21')
    expect(tomorrow).toEqual({
      ...moved,
      day: 'day:2026-11-21',
      counters: { month: moved.counters.month, day: fresh.counters.day },
    })
    expect(bookAsOf(moved, definitions, 'month:2026-11-01', 'day:2026-11-19')).toEqual(moved)
    expect(bookAsOf(null, definitions, 'month:2026-11-01', 'day:2026-11-20')).toEqual(fresh)
  })

  test('a closed book keeps its limits, and gets new budgets', () => {
    const changed = define(
      4,
      budget('account', null, 500),
      budget('constructor', 'account', 9),
      budget('new', 'account', 7),
    )
    const write = applyDefinitions(moved, changed, true)
    expect(write).toMatchObject({ kind: 'update', key: { pk: 'book', sk: 'month:2026-11-01' }, add: [] })
    expect(write.kind === 'update' && write.set.map(([path]) => path.join('.'))).toEqual([
      'revision',
      'month.new',
      'day.new',
    ])
  })

  const figures = (item: unknown) => item as Record<string, object>

  test('a stored book gets the changes of the definitions', () => {
    const changed = define(
      4,
      budget('account', null, 'unlimited'),
      budget('constructor', 'account', 100, 50),
      budget('new', 'account', 7),
    )
    expect(applyDefinitions(moved, changed, false)).toEqual({
      kind: 'update',
      key: { pk: 'book', sk: 'month:2026-11-01' },
      set: [
        [['revision'], 4],
        [['month', 'new'], { l: 7, g: 0, a: 7, h: 0, i: 0, s: 0 }],
        [['day', 'new'], { l: 'u', g: 0, a: 0, h: 0, i: 0, s: 0 }],
        [['month', 'account', 'l'], 'u'],
        [['day', 'constructor', 'l'], 50],
      ],
      add: [
        [['month', 'account', 'a'], -1_000],
        [['day', 'constructor', 'a'], 30],
      ],
      when: [
        { kind: 'equal', path: ['revision'], value: 3 },
        { kind: 'equal', path: ['today'], value: 'day:2026-11-20' },
        { kind: 'absent', path: ['day', 'constructor', 'o'] },
      ],
    })
  })

  test.each([
    [39, 2, 'part by part'],
    [40, 0, 'part by part'],
    [40, 1, 'as a whole'],
    [41, 0, 'as a whole'],
    [0, 100, 'part by part'],
    [0, 101, 'as a whole'],
  ])('%i limits that changed and %i new budgets are set %s', (changes, news, how) => {
    const names = Array.from({ length: changes }, (_, index) => `b${index}`)
    const old = names.map((name) => budget(name, 'account', 10))
    const before = freshBook(define(3, budget('account', null, 1_000), ...old), fresh.month, fresh.day)
    const after = define(
      4,
      budget('account', null, 1_000),
      ...names.map((name) => budget(name, 'account', 30)),
      ...Array.from({ length: news }, (_, index) => budget(`new${index}`, 'account', 5)),
    )
    const write = applyDefinitions(before, after, false)
    if (write.kind !== 'update') throw new Error('it changes the book')
    const same = [
      { kind: 'equal', path: ['revision'], value: 3 },
      { kind: 'equal', path: ['today'], value: 'day:2026-11-20' },
    ]
    expect(write.set[0]).toEqual([['revision'], 4])
    if (how === 'part by part') {
      const noOnce = names.map((name) => ({ kind: 'absent', path: ['month', name, 'o'] }))
      const seen = [1 + changes + 2 * news, changes, [...same, ...noOnce]]
      expect([write.set.length, write.add.length, write.when]).toEqual(seen)
      return
    }
    const [, [, month] = [], [, day] = []] = write.set
    const stored = toBookItem(before)
    expect(write).toMatchObject({ kind: 'update', add: [] })
    expect(write.set.map(([path]) => path)).toEqual([['revision'], ['month'], ['day']])
    expect(write.when).toEqual([
      ...same,
      { kind: 'equal', path: ['month'], value: stored.month },
      { kind: 'equal', path: ['day'], value: stored.day },
    ])
    expect(figures(month)).toEqual({
      ...figures(stored.month),
      ...Object.fromEntries(names.map((name) => [name, { l: 30, g: 0, a: 30, h: 0, i: 0, s: 0 }])),
      ...Object.fromEntries(
        Array.from({ length: news }, (_, index) => [`new${index}`, { l: 5, g: 0, a: 5, h: 0, i: 0, s: 0 }]),
      ),
    })
    expect(Object.keys(figures(day))).toHaveLength(1 + changes + news)
    expect(figures(day).account).toEqual({ l: 'u', g: 0, a: 0, h: 0, i: 0, s: 0 })
  })

  test('a stored book turns to a new day under the same revision of the definitions', () => {
    expect(turnDay(moved, definitions, 'day:2026-11-21')).toEqual({
      kind: 'update',
      key: { pk: 'book', sk: 'month:2026-11-01' },
      set: [
        [['today'], 'day:2026-11-21'],
        [['day'], toBookItem(fresh).day],
      ],
      add: [],
      when: [
        { kind: 'equal', path: ['revision'], value: 3 },
        { kind: 'before', path: ['today'], value: 'day:2026-11-21' },
      ],
    })
  })

  test('bookAfter moves counters as the database does', () => {
    const move = { limit: 9, granted: 5, held: 7, inDoubt: 11, spent: 13 }
    expect(bookAfter(moved, [{ budget: 'constructor', window: 'month', move }])).toEqual({
      ...moved,
      counters: {
        month: {
          account: counter(1_000, { available: 930, spent: 70 }),
          constructor: counter(100, { granted: 5, available: 13, held: 77, inDoubt: 11, spent: 13 }),
        },
        day: moved.counters.day,
      },
    })
    expect(bookAfter(moved, [{ budget: 'toString', window: 'month', move }])).toEqual(moved)
  })

  test.each<[back: number, about: string, figures: Partial<Counter>, move: Move, unused?: number]>([
    [5, 'all that is available again', { once: 5, available: 2 }, { spent: -4 }],
    [3, 'no more than is available', { once: 5, available: -1 }, { spent: -4 }],
    [0, 'nothing while all is used', { once: 5, available: -4 }, { spent: -4 }],
    [2, 'no more than the counter keeps of it', { once: 5, available: 50 }, { once: -3, granted: -3 }],
    [4, 'what its own update did not need, though others spent too much', { once: 5, available: -9 }, {}, 4],
    [0, 'nothing without a one-time grant', { available: 50 }, { spent: -4 }],
  ])('%i one-time units go back: %s', (back, _about, figures, move, unused = 0) => {
    const book = { ...fresh, counters: { ...fresh.counters, month: { seo: counter(100, figures) } } }
    const moves = goesBack(book, [{ budget: 'seo', window: 'month', move, unused }])
    const all = [{ budget: 'seo', window: 'month', move: { granted: 0 - back, once: 0 - back } }]
    expect(moves).toEqual(back === 0 ? [] : all)
  })

  test('a write without additions only checks the book', () => {
    const key = { pk: 'book', sk: 'month:2026-11-01' }
    const when = [{ kind: 'present-item' }] as const
    expect(addTo(key, [], when)).toEqual({ kind: 'check', key, when })
    expect(addTo(key, [[['month', 'seo', 'h'], 1]], when)).toEqual({
      kind: 'update',
      key,
      set: [],
      when,
      add: [[['month', 'seo', 'h'], 1]],
    })
  })

  test.each<[Move, number]>([
    [{ held: 40 }, -40],
    [{ held: -40, spent: 25 }, 15],
    [{ held: -40, inDoubt: 40 }, 0],
    [{ inDoubt: -40 }, 40],
    [{ limit: -10, granted: 4 }, -6],
    [{}, 0],
  ])('%j makes %i available', (move, units) => {
    expect(madeAvailable(move)).toBe(units)
  })

  test('a book gets no additions if nothing moves', () => {
    expect(additions('month', ['seo', 'account'], { held: -40, inDoubt: 40 })).toEqual([
      [['month', 'seo', 'h'], -40],
      [['month', 'seo', 'i'], 40],
      [['month', 'account', 'h'], -40],
      [['month', 'account', 'i'], 40],
    ])
    expect(additions('month', ['seo'], { held: 0 })).toEqual([])
    expect(additions('day', [], { held: 5 })).toEqual([])
  })
})

/**
 * Random histories of random trees through the real ledger, compared with plain arithmetic: a hold is admitted exactly if it fits
 * everywhere, and every counter is the sum of its moves.
 */
describe('properties of every book', () => {
  const names = ['account', 'b1', 'b2', 'b3', 'b4', 'b5']
  const someBudget = fc.nat(names.length - 1).map((index) => names[index] ?? 'account')
  const someLimit = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 400 }) },
    fc.constant<Limit>('unlimited'),
  )
  const someUnits = fc.integer({ min: 0, max: 120 })
  const commands = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('hold' as const), budget: someBudget, units: someUnits }) },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('ran' as const),
          which: fc.nat(),
          units: someUnits,
          from: fc.constantFrom('sender', 'time', 'person', 'evidence'),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('did-not-run' as const),
          which: fc.nat(),
          from: fc.constantFrom('sender', 'person'),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('unknown' as const), which: fc.nat() }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('grant' as const),
          budget: someBudget,
          units: fc.integer({ min: 1, max: 99 }),
          window: fc.constantFrom('month', 'day', 'next-month'),
          wholeChain: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('external' as const),
          budget: someBudget,
          units: fc.integer({ min: 1, max: 99 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('limit' as const),
          budget: someBudget,
          month: someLimit,
          day: someLimit,
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('time' as const), hours: fc.constantFrom(1, 14, 30, 400) }) },
    ),
    { minLength: 5, maxLength: 40 },
  )
  const trees = fc.tuple(
    ...names.slice(1).map((_, index) => fc.record({ parent: fc.nat(index), month: someLimit, day: someLimit })),
  )

  test('available + held + inDoubt + spent = limit + granted, and nothing is admitted beyond it', async () => {
    await fc.assert(
      fc.asyncProperty(trees, commands, async (tree, steps) => {
        const clock = createTestClock('2026-11-18T20:00:00Z')
        const ledger = createLedger({ store: createMemoryStore(), clock, account })
        const parents = new Map<string, string>()
        const limits = new Map<string, Record<WindowKind, Limit>>([
          ['account', { month: accountUnits, day: 'unlimited' }],
        ])
        const sums = new Map<string, Record<'granted' | 'held' | 'inDoubt' | 'spent', number>>()
        const updates: { id: string; hold: string[] }[] = []

        const sumOf = (key: string) => {
          const found = sums.get(key) ?? { granted: 0, held: 0, inDoubt: 0, spent: 0 }
          sums.set(key, found)
          return found
        }
        const month = (at = clock.now()) => `month:${new Date(at).toISOString().slice(0, 7)}-01`
        const day = () => `day:${new Date(clock.now()).toISOString().slice(0, 10)}`
        const lineage = (name: string): string[] => [
          name,
          ...(parents.has(name) ? lineage(parents.get(name) ?? '') : []),
        ]
        const keysOf = (name: string) => lineage(name).flatMap((each) => [`${month()} ${each}`, `${day()} ${each}`])
        const availableOf = (window: WindowKind, name: string) => {
          const limit = limits.get(name)?.[window] ?? 'unlimited'
          const { granted, held, inDoubt, spent } = sumOf(`${window === 'month' ? month() : day()} ${name}`)
          return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit + granted - held - inDoubt - spent
        }
        const put = async (name: string, monthly: Limit, daily: Limit) => {
          limits.set(name, { month: monthly, day: daily })
          const changed = await createBudgets({ ledger }).putBudget(
            budget(name, parents.get(name) ?? null, monthly, daily),
            { caller: 'ada' },
          )
          expect(changed.kind).toBe('changed')
        }

        async function hold(name: string, units: number) {
          const id = `upd_${updates.length}`
          const request = {
            id,
            kind: 'ranking',
            project: id,
            budget: name,
            caller: 'ada',
            via: 'http',
            content: { digest: 'd', count: 1 },
            createdAt: clock.now(),
          } as const
          const { view, seen, update } = await decidedFrom(ledger, request, { units })
          const fits = lineage(name).every(
            (each) => availableOf('month', each) >= units && availableOf('day', each) >= units,
          )
          expect(await ledger.hold(view, seen, update)).toBe(fits ? 'held' : 'moved')
          if (!fits) return
          for (const key of keysOf(name)) sumOf(key).held += units
          updates.push({ id, hold: keysOf(name) })
        }

        async function closeWith(which: number, outcome: RunOutcome) {
          const chosen = updates[which % Math.max(updates.length, 1)]
          const before = chosen && (await ledger.update(chosen.id))
          if (!chosen || !before?.hold) return
          clock.advance(1)
          const { update, changed } = await ledger.settle(before, outcome)
          if (!changed) return
          const units = before.hold.units
          for (const key of chosen.hold) {
            const figures = sumOf(key)
            if (before.state === 'running') figures.held -= units
            if (before.state === 'in-doubt') figures.inDoubt -= units
            if (update.state === 'in-doubt') figures.inDoubt += units
            figures.spent += (update.charged ?? 0) - (before.charged ?? 0)
          }
        }

        async function check() {
          const { book } = await ledger.view()
          expect([book.month, book.day]).toEqual([month(), day()])
          for (const window of ['month', 'day'] as const) {
            for (const [name, figures] of Object.entries(book.counters[window])) {
              const limit = limits.get(name)?.[window] ?? 'unlimited'
              const expected = sumOf(`${window === 'month' ? month() : day()} ${name}`)
              const { granted, held, inDoubt, spent } = expected
              const available = (limit === 'unlimited' ? 0 : limit) + granted - held - inDoubt - spent
              expect({ window, name, ...figures }).toEqual({ window, name, limit, ...expected, available })
              expect(Math.min(granted, held, inDoubt, spent)).toBeGreaterThanOrEqual(0)
            }
          }
        }

        for (const [index, { parent, month: monthly, day: daily }] of tree.entries()) {
          const name = names[index + 1] ?? ''
          parents.set(name, names[parent] ?? 'account')
          await put(name, monthly, daily)
        }
        for (const [index, step] of steps.entries()) {
          const said = { by: 'ada', note: 'said so' }
          const entry = {
            id: `ent_${index}`,
            content: 'c',
            wholeChain: false,
            reason: 'r',
            by: 'ada',
            window: 'month',
          } as const
          switch (step.do) {
            case 'hold':
              await hold(step.budget, step.units)
              break
            case 'ran':
              await closeWith(step.which, { kind: 'ran', units: toUnits(step.units), from: step.from, ...said })
              break
            case 'did-not-run':
              await closeWith(step.which, { kind: 'did-not-run', from: step.from, ...said })
              break
            case 'unknown':
              await closeWith(step.which, { kind: 'unknown', from: 'sender', ...said })
              break
            case 'grant': {
              const { budget: name, units, window, wholeChain } = step
              await ledger.enter({ ...entry, type: 'grant', budget: name, units, window, wholeChain })
              const nextMonth = month(
                Date.UTC(new Date(clock.now()).getUTCFullYear(), new Date(clock.now()).getUTCMonth() + 1),
              )
              const key = window === 'day' ? day() : window === 'month' ? month() : nextMonth
              for (const each of wholeChain ? lineage(name) : [name]) sumOf(`${key} ${each}`).granted += units
              break
            }
            case 'external':
              await ledger.enter({ ...entry, type: 'external-spend', budget: step.budget, units: step.units })
              for (const key of keysOf(step.budget)) sumOf(key).spent += step.units
              break
            case 'limit':
              await put(step.budget, step.month, step.day)
              break
            case 'time':
              clock.advance(step.hours * 3600_000)
              break
          }
          await check()
        }
        expect((await ledger.audit()).filter(({ ok }) => !ok)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})

describe('stored items are small, because DynamoDB charges for every kilobyte of a transaction', () => {
  const kilobyte = 1024

  async function tenBudgets(): Promise<{ store: Store; hold: () => Promise<Update> }> {
    const store = createMemoryStore()
    const ledger = createLedger({
      store,
      clock: createTestClock(),
      account: { ...account, unitsPerMonth: toUnits(51_250) },
    })
    const teams = Array.from({ length: 9 }, (_, index) => `team-seo-${index + 1}`)
    for (const name of teams) {
      expect(name).toHaveLength(10)
      await createBudgets({ ledger }).putBudget(
        budget(name, name === 'team-seo-1' ? 'account' : 'team-seo-1', 12_345, 2_345),
        { caller: 'ada' },
      )
    }
    let holds = 0
    async function hold() {
      const id = `upd_${digest(String(holds++))}`
      const project = 'www.acme-holding.example'
      const request = {
        id,
        kind: 'ranking',
        project,
        budget: 'team-seo-7',
        caller: 'reporting-tool',
        via: 'http',
        content: { digest: digest('content'), count: 1 },
        createdAt: Date.parse('2026-11-20T10:00:00.123Z'),
      } as const
      const dates = ['2026-11-19', '2026-11-13']
      const { view, seen, update } = await decidedFrom(ledger, request, { units: 640, dates })
      expect(await ledger.hold(view, seen, update)).toBe('held')
      return update
    }
    return { store, hold }
  }

  test('the stored book of ten budgets is small, with every counter in use', async () => {
    const { store, hold } = await tenBudgets()
    await hold()
    const [item] = await store.get([bookKey('month:2026-11-01')])
    if (!item) throw new Error('there is no book')
    const book = fromBookItem(item)
    const busy = (
      counters: Book['counters']['month'],
      [granted, held, inDoubt, spent]: readonly [number, number, number, number],
    ) =>
      Object.fromEntries(
        Object.entries(counters).map(([name, each]) => [
          name,
          { ...each, granted, held, inDoubt, spent, available: 1_234 },
        ]),
      )
    const inUse = {
      ...book,
      revision: 123,
      counters: {
        month: busy(book.counters.month, [500, 640, 155, 9_876]),
        day: busy(book.counters.day, [0, 640, 155, 987]),
      },
    }
    expect(itemSize(toBookItem(inUse))).toBeLessThan(kilobyte)
  })

  test('the stored record of a settled update is small, with a short answer of the service', async () => {
    const { hold } = await tenBudgets()
    const update = await hold()
    const body = '{"response_code":0,"data":{"keyword_units":640}}'
    const service = { status: 200, contentType: 'application/json; charset=utf-8', body, truncated: false }
    const note = 'ran; the answer states 640 units at keyword_units'
    const settled = settlementOf(
      update,
      { kind: 'ran', units: toUnits(640), from: 'sender', by: 'service', note, service },
      update.createdAt + 1_234,
    )
    if (!settled) throw new Error('nothing was settled')
    expect(itemSize(toUpdateItem(update))).toBeLessThan(kilobyte)
    expect(itemSize(toUpdateItem(settled.update))).toBeLessThan(kilobyte)
    const repeated = {
      ...settled.update,
      hold: { ...(update.hold as NonNullable<Update['hold']>), previous: [update.id] },
    }
    expect(itemSize(toUpdateItem(repeated))).toBeLessThan(kilobyte)
  })
})
