import { describe, expect, test } from 'vitest'
import type { EntryType } from '../../shared/ledger/book/entry.ts'
import { createTurns } from '../../shared/ledger/book/hold.ts'
import { type Budget, type Definitions, rootBudget } from '../../shared/ledger/definitions/definitions.ts'
import { LedgerUnavailable, NoDefinitions } from '../../shared/ledger/errors.ts'
import { renewalChange } from '../../shared/ledger/identity.ts'
import { createLedger, type Ledger } from '../../shared/ledger/ledger.ts'
import type { Item, Store } from '../../shared/ledger/store/store.ts'
import { begin, type UpdateRequest } from '../../shared/ledger/updates/update.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createTestClock } from '../support/clock.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const account = {
  unitsPerMonth: toUnits(5_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

const budget = (name: string, units: number, projects: Budget['projects'] = []): Budget => ({
  name,
  parent: rootBudget,
  projects,
  limits: [{ window: 'month', units: toUnits(units) }],
})

const withBudgets = (definitions: Definitions, ...budgets: Budget[]): Definitions => ({
  ...definitions,
  budgets: { ...definitions.budgets, ...Object.fromEntries(budgets.map((each) => [each.name, each])) },
})

function open(items = new Map<string, Item>()) {
  const store = createMemoryStore(items)
  const clock = createTestClock()
  return { items, store, clock, ledger: createLedger({ store, clock, account }) }
}

const request: UpdateRequest = {
  id: 'upd_1',
  kind: 'ranking',
  project: 'acme',
  budget: 'account',
  caller: 'ada',
  via: 'http',
  content: { digest: 'd', count: 1 },
  createdAt: 0,
}

const put = (ledger: Ledger, ...budgets: Budget[]) =>
  ledger.change('ada', ({ definitions }) => ({
    definitions: withBudgets(definitions, ...budgets),
    note: { type: 'limit', budget: budgets[0]?.name ?? '', units: 7, reason: 'it must' },
  }))

const grant = (ledger: Ledger, id: string, window: 'month' | 'next-month', budget = 'seo') =>
  ledger.enter({
    id,
    content: 'c',
    type: 'grant',
    budget,
    units: 1,
    window,
    wholeChain: false,
    reason: 'r',
    by: 'ada',
  } as const)

/** Another process acts before the first transaction. */
function interrupted(store: Store, act: () => Promise<unknown>): Store {
  let acted: Promise<unknown> | undefined
  return {
    ...store,
    transact: async (writes, token) => {
      acted ??= act()
      await acted
      return store.transact(writes, token)
    },
  }
}

describe('a change of the definitions', () => {
  test('two concurrent changes of the definitions are both made', async () => {
    const { ledger, store, clock } = open()
    await ledger.view()
    const other = createLedger({ store, clock, account })
    const made = await Promise.all([put(ledger, budget('seo', 10)), put(other, budget('ads', 20))])
    expect(made.map(({ kind }) => kind)).toEqual(['changed', 'changed'])
    const { definitions } = await ledger.view()
    expect([definitions.revision, Object.keys(definitions.budgets)]).toEqual([3, ['account', 'ads', 'seo']])
  })

  test.each(['month', 'next-month'] as const)(
    'a change of the definitions updates the book of the %s that another process makes meanwhile',
    async (window) => {
      const { ledger, store, clock, items } = open()
      await put(ledger, budget('seo', 10))
      const racing = interrupted(store, () => grant(ledger, 'ent_meanwhile', window))
      await put(createLedger({ store: racing, clock, account }), budget('seo', 25))
      const books = [...items.values()].filter(({ pk }) => pk === 'book')
      expect(books).toMatchObject([{ revision: 3, month: { seo: { l: 25, g: 1, a: 26 } } }])
    },
  )

  test('an impossible change of the definitions is refused with its reason', async () => {
    const { ledger } = open()
    expect(await put(ledger, { ...budget('seo', 10), parent: 'missing' })).toEqual({
      kind: 'faulty',
      faults: [{ path: 'parent', message: 'there is no budget missing; create it first' }],
    })
    expect((await ledger.view()).definitions.revision).toBe(1)
  })

  test('a change of the definitions is an entry in each book that updates can be held in', async () => {
    const { ledger } = open()
    await put(ledger, budget('seo', 10))
    await grant(ledger, 'ent_this', 'month')
    await grant(ledger, 'ent_next', 'next-month')
    await put(ledger, budget('seo', 25), budget('ads', 4), { ...budget('free', 0), limits: [] })
    const linesOf = async (month: string) =>
      (await ledger.entries({ month }, 20)).rows.filter(({ type }) => type === 'limit')
    const [line, first] = await linesOf('month:2026-11-01')
    const moves = [
      { budget: 'ads', window: 'month', move: { limit: 4 } },
      { budget: 'seo', window: 'month', move: { limit: 15 } },
    ]
    const said = { budget: 'seo', units: 7, reason: 'it must', by: 'ada', type: 'limit' }
    expect(line).toMatchObject({ ...said, day: 'day:2026-11-20', at: Date.parse('2026-11-20T10:00:00Z') })
    expect(line?.moves.toSorted((a, b) => (a.budget < b.budget ? -1 : 1))).toEqual(moves)
    expect(first?.moves).toEqual([{ budget: 'seo', window: 'month', move: { limit: 10 } }])
    const [next] = await linesOf('month:2026-12-01')
    expect(next).toMatchObject({ ...said, day: 'day:2026-12-01' })
    expect(next?.moves.toSorted((a, b) => (a.budget < b.budget ? -1 : 1))).toEqual(moves)
  })

  test('a change may concern more budgets than fit into one expression', async () => {
    const { ledger } = open()
    const many = (units: number) => Array.from({ length: 120 }, (_, index) => budget(`b${index}`, units))
    await put(ledger, budget('seo', 10), ...many(5))
    await grant(ledger, 'ent_this', 'month')
    await put(ledger, ...many(50))
    const { stored, definitions } = await ledger.view()
    expect(stored?.revision).toBe(definitions.revision)
    expect(stored?.counters.month.b119).toMatchObject({ limit: 50, available: 50 })
    expect(stored?.counters.month.seo).toMatchObject({ limit: 10, granted: 1, available: 11 })
  })

  test('a change is given up if the table refuses it again and again', async () => {
    const { store, clock, ledger } = open()
    await ledger.view()
    let tries = 0
    const refusing: Store = {
      ...store,
      transact: async () => {
        tries++
        return { applied: false, found: [] }
      },
    }
    const refused = createLedger({ store: refusing, clock, account })
    await expect(put(refused, budget('seo', 10))).rejects.toThrow('the definitions keep changing')
    expect(tries).toBe(16)
  })
})

describe('announcements of stops', () => {
  const stop = async (type: EntryType, plan?: string) => {
    const { ledger } = open()
    await ledger.change('ada', ({ definitions }) => ({
      definitions,
      note: { type, budget: 'account', reason: 'enough', ...(plan !== undefined && { plan }) },
    }))
    const [line] = (await ledger.entries({ month: 'month:2026-11-01', budget: 'account' }, 10)).rows
    expect(line).toMatchObject({ type, budget: 'account', units: 0, by: 'ada', reason: 'enough', moves: [] })
    return (await ledger.announcements.open(10)).rows
  }

  test.each([
    ['freeze', undefined, 'budget', 'account', true],
    ['unfreeze', undefined, 'budget', 'account', false],
    ['pause', 'nightly', 'plan', 'nightly', true],
    ['resume', 'nightly', 'plan', 'nightly', false],
    ['pause', undefined, 'plan', '', true],
  ] as const)('announces a %s of %s', async (type, plan, what, name, isStopped) => {
    expect(await stop(type, plan)).toMatchObject([
      { id: `${type}#2`, about: { kind: 'stopped', what, name, by: 'ada', reason: 'enough', isStopped } },
    ])
  })

  test('a change that stops nothing is not announced', async () => {
    expect(await stop('limit')).toEqual([])
  })
})

test('a renewal that renames the next month is refused while that month has grants, so that no grant is lost', async () => {
  const { ledger } = open()
  await put(ledger, budget('seo', 1))
  await grant(ledger, 'ent_next', 'next-month')
  await grant(ledger, 'ent_other', 'next-month', 'account')
  expect(await ledger.change('setup', renewalChange({ day: 12 }))).toEqual({
    kind: 'faulty',
    faults: [
      {
        path: 'renewal',
        message:
          'the next month would no longer be month:2026-12-01, which has grants (account 1, seo 1): correct these entries to 0, change the renewal, and grant the units again',
      },
    ],
  })
  expect(await ledger.change('setup', renewalChange({ time: '09:00' }))).toMatchObject({ kind: 'changed' })
  const correct = (budget: string, corrects: string) =>
    ledger.enter({
      id: `${corrects}_zero`,
      content: 'c',
      type: 'correction',
      budget,
      units: 0,
      corrects,
      reason: 'r',
      by: 'ada',
    } as never)
  await correct('seo', 'ent_next')
  await correct('account', 'ent_other')
  expect(await ledger.change('setup', renewalChange({ day: 12 }))).toMatchObject({ kind: 'changed' })
})

describe('the entry of a change', () => {
  const changed = async (
    note: { type: EntryType; budget: string; plan?: string },
    make: (definitions: Definitions) => Definitions = (same) => same,
  ) => {
    const { ledger } = open()
    await put(ledger, budget('old', 1))
    await ledger.change('ada', ({ definitions }) => ({
      definitions: make(definitions),
      note: { ...note, reason: 'it must' },
    }))
    const [entry] = (await ledger.entries({ month: 'month:2026-11-01' }, 1)).rows
    const { changed, subjects, revision } = entry ?? {}
    return { differences: changed?.map(({ kind, name }) => `${kind} ${name}`), subjects, revision }
  }
  const frozen = (definitions: Definitions): Definitions =>
    withBudgets(definitions, { ...budget('old', 1), frozen: { by: 'ada', at: 0, reason: 'enough' } })

  test.each([
    [{ type: 'freeze', budget: 'old' }, frozen, { subjects: ['old'], revision: 3 }],
    [{ type: 'freeze', budget: 'old' }, undefined, { subjects: ['old'], revision: 3 }],
    [{ type: 'unfreeze', budget: 'old' }, undefined, { subjects: ['old'], revision: 3 }],
    [{ type: 'restore', budget: 'old' }, frozen, { subjects: ['old'], revision: 3 }],
    [{ type: 'restore', budget: 'old' }, undefined, {}],
    [{ type: 'restore', budget: 'missing' }, undefined, {}],
    [{ type: 'pause', budget: 'account', plan: 'nightly' }, undefined, { subjects: ['nightly'], revision: 3 }],
    [{ type: 'resume', budget: 'account', plan: 'nightly' }, undefined, { subjects: ['nightly'], revision: 3 }],
    [{ type: 'pause', budget: 'account' }, undefined, {}],
    [
      { type: 'limit', budget: 'account' },
      (before: Definitions) => withBudgets(before, budget('old', 2), budget('seo', 3)),
      { differences: ['budget old', 'budget seo'], subjects: ['old', 'seo'], revision: 3 },
    ],
    [
      { type: 'caller', budget: 'account' },
      (before: Definitions) => ({ ...before, callers: { bob: { name: 'bob', role: 'administrator' } } }) as never,
      { differences: ['caller bob'] },
    ],
  ] as const)('the entry of %j says what changed and which subjects events report', async (note, make, expected) => {
    expect(await changed(note, make)).toEqual({
      differences: undefined,
      subjects: undefined,
      revision: undefined,
      ...expected,
    })
  })
})

describe('the view of the ledger', () => {
  test('no new ledger is created if the existing ledger does not answer', async () => {
    const { store, clock, items } = open()
    const deaf: Store = {
      ...store,
      get: async () => {
        throw new LedgerUnavailable('no answer')
      },
    }
    await expect(createLedger({ store: deaf, clock, account }).view()).rejects.toThrow('no answer')
    expect(items.size).toBe(0)
  })

  test('a ledger is set up as soon as its table answers', async () => {
    const { store, clock } = open()
    let failures = 1
    const waking: Store = {
      ...store,
      get: async (keys) => {
        if (failures-- > 0) throw new LedgerUnavailable('no answer')
        return store.get(keys)
      },
    }
    const ledger = createLedger({ store: waking, clock, account })
    await expect(ledger.view()).rejects.toThrow('no answer')
    expect((await ledger.view()).definitions.revision).toBe(1)
  })

  test.each([0, 4])('a ledger is set up once, even if one process is slow, with %i units used', async (usedAtStart) => {
    const { ledger, store, clock } = open()
    const slow = interrupted(store, () => put(ledger, budget('seo', 10)))
    const late = { ...account, unitsPerMonth: toUnits(9), usedAtStart: toUnits(usedAtStart) }
    const { definitions, stored } = await createLedger({ store: slow, clock, account: late }).view()
    expect(Object.keys(definitions.budgets)).toEqual(['account', 'seo'])
    expect(definitions.budgets.account?.limits).toEqual([{ window: 'month', units: 5_000 }])
    expect(stored).toBeNull()
  })

  test('a ledger remembers the last definitions that it read, and their time', async () => {
    const { ledger, clock } = open()
    expect(ledger.lastSeen()).toBeNull()
    const { definitions } = await ledger.view()
    expect(ledger.lastSeen()).toEqual({ definitions, at: clock.now() })
    expect(definitions.budgets).toEqual({ account: { ...budget('account', 5_000), parent: null } })
  })

  test('a ledger without definitions allows nothing', async () => {
    const { ledger, items } = open()
    await ledger.view()
    items.clear()
    await expect(ledger.view()).rejects.toThrow(NoDefinitions)
  })

  test('a ledger finds the book of a month that another process has lengthened', async () => {
    const { ledger, store, clock } = open()
    await put(ledger, budget('seo', 10))
    await grant(ledger, 'ent_this', 'month')
    const later = createTestClock()
    await createLedger({ store, clock: later, account }).change('setup', renewalChange({ day: 12 }))
    clock.set('2026-12-05T10:00:00Z')
    const { month, stored } = await ledger.view()
    expect([month.name, month.end]).toEqual(['month:2026-11-01', Date.parse('2026-12-12T00:00:00Z')])
    expect(stored?.counters.month.seo).toMatchObject({ granted: 1, available: 11 })
  })

  test('a ledger returns the book of a month by its name, or null', async () => {
    const { ledger } = open()
    await put(ledger, budget('seo', 10))
    await grant(ledger, 'ent_this', 'month')
    expect((await ledger.bookNamed('month:2026-11-01'))?.counters.month.seo).toMatchObject({ granted: 1 })
    expect(await ledger.bookNamed('month:2026-10-01')).toBeNull()
  })

  test('a ledger returns any number of updates in the order of their ids', async () => {
    const { ledger } = open()
    for (const id of ['upd_0', 'upd_100']) {
      const record = begin({ ...request, id }, 'refused', { month: 'month:2026-11-01' }, { at: 0, by: 'ada' })
      expect(await ledger.record(record, null)).toBe('recorded')
      expect(await ledger.record({ ...record, reason: 'another' }, null)).toBe('moved')
    }
    const found = await ledger.updatesNamed(Array.from({ length: 101 }, (_, index) => `upd_${index}`))
    expect(found).toHaveLength(101)
    expect(found.map((update, index) => update && [index, update.id]).filter((each) => each !== null)).toEqual([
      [0, 'upd_0'],
      [100, 'upd_100'],
    ])
    expect(await ledger.updatesNamed([])).toEqual([])
  })
})

describe('turns', () => {
  test('waiting callers take turns in order, and the next turn of a caller comes before all of them', async () => {
    const turns = createTurns()
    const order: string[] = []
    const turn = (name: string) => async () => {
      order.push(`${name} begins`)
      await Promise.resolve()
      order.push(`${name} ends`)
      if (name === 'b') throw new Error('b failed')
      return name
    }
    const done = await Promise.allSettled([
      turns.inTurn(turn('a')),
      turns.inTurn(turn('b')),
      turns.next(turn('c')),
      turns.inTurn(turn('d')),
    ])
    expect(order).toEqual(['a', 'c', 'b', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]))
    expect(done.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message))).toEqual([
      'a',
      'b failed',
      'c',
      'd',
    ])
  })
})
