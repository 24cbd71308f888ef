import { beforeEach, describe, expect, test } from 'vitest'
import { createBudgets } from '../../../shared/guard/people/budgets.ts'
import type { EntryRequest } from '../../../shared/ledger/book/entry-request.ts'
import type { RunOutcome } from '../../../shared/ledger/book/outcome.ts'
import type { Counter } from '../../../shared/ledger/definitions/counters.ts'
import type { WindowKind } from '../../../shared/ledger/definitions/definitions.ts'
import { createLedger, type Ledger } from '../../../shared/ledger/ledger.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import type { Grant, Update } from '../../../shared/ledger/updates/update.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { createTestClock, days, minutes, type TestClock } from '../../support/clock.ts'
import { decidedFrom, didNotRun, ran, unknown } from '../../support/records.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { stores } from '../../support/store/stores.ts'

// A one-time grant serves its update alone. No other update may use it, in whatever order things happen.

const account = {
  unitsPerMonth: toUnits(5_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

type Started = Awaited<ReturnType<typeof start>>

/** The budget `client` has 60 units a month, of which 25 were used outside. */
async function start(store: Store, { month = 60, day }: { month?: number; day?: number } = {}) {
  const clock: TestClock = createTestClock()
  const ledger: Ledger = createLedger({ store, clock, account })
  let names = 0

  const put = (units: number, ofDay = day) =>
    createBudgets({ ledger }).putBudget(
      {
        name: 'client',
        parent: 'account',
        projects: [],
        limits: [
          { window: 'month', units: toUnits(units) },
          ...(ofDay === undefined ? [] : [{ window: 'day', units: toUnits(ofDay) } as const]),
        ],
      },
      { caller: 'ada' },
    )

  async function enter(changes: object) {
    const id = `ent_${++names}`
    const request = { id, content: id, budget: 'client', by: 'ada', reason: 'the screen', ...changes } as EntryRequest
    return ledger.enter(request)
  }

  async function counter(window: WindowKind = 'month'): Promise<Counter | undefined> {
    const { book } = await ledger.view()
    return book.counters[window].client
  }

  /** `ordinary` updates get no grant. `null`: refused. */
  async function hold(units: number, how: 'ordinary' | 'granted'): Promise<Update | null> {
    const id = `upd_${++names}`
    const named = { id, kind: 'ranking', project: id, budget: 'client', caller: 'ada', via: 'http' } as const
    const request = { ...named, content: { digest: 'd', count: 1 }, createdAt: clock.now() }
    const { view, seen, update } = await decidedFrom(ledger, request, { units })
    if (!update.hold) throw new Error('nothing is held')
    const grants = (['month', 'day'] as const).flatMap((window): Grant[] => {
      const { limit = 'unlimited', available = 0 } = view.book.counters[window].client ?? {}
      const lacking = units - available
      return limit === 'unlimited' || lacking <= 0 ? [] : [{ budget: 'client', window, units: toUnits(lacking) }]
    })
    const granted = how === 'ordinary' || grants.length === 0
    const held = granted ? update : { ...update, hold: { ...update.hold, grants, isOnce: true as const } }
    return (await ledger.hold(view, seen, held)) === 'held' ? held : null
  }

  async function settle(update: Pick<Update, 'id'>, outcome: RunOutcome): Promise<void> {
    const found = await ledger.update(update.id)
    if (found) await ledger.settle(found, outcome)
  }

  await put(month)
  const outside = await enter({ type: 'external-spend', units: 25 })
  if (outside.kind !== 'entered') throw new Error(outside.kind)
  return { store, clock, ledger, put, enter, counter, hold, settle, outside: outside.entry.id }
}

async function inDoubt(started: Started): Promise<Update> {
  const update = await started.hold(40, 'granted')
  if (!update) throw new Error('it is held')
  await started.settle(update, unknown())
  return update
}

const lines = async ({ ledger }: Started) =>
  (await ledger.entries({ month: 'month:2026-11-01' }, 100)).rows
    .filter(({ type }) => type === 'grant')
    .map(({ units, reason }) => [units, reason] as const)
    .toSorted(([one], [other]) => other - one)

describe.each(stores)('one-time grants: %s', (_name, create) => {
  let started: Started

  beforeEach(async () => {
    started = await start(await create())
  })

  test('a grant that went back is not granted again by a late answer, so no other update can use it', async () => {
    const update = await inDoubt(started)
    expect(await started.counter()).toMatchObject({ granted: 5, once: 5, available: 0 })
    await started.settle(update, ran(20, 'person'))
    expect(await started.counter()).toMatchObject({ granted: 0, once: 0, spent: 45, available: 15 })
    await started.settle(update, ran(30))
    expect(await started.counter()).toMatchObject({ granted: 0, once: 0, spent: 55, available: 5 })
    expect(await started.hold(6, 'ordinary')).toBeNull()
    expect(await started.hold(5, 'ordinary')).not.toBeNull()
    expect(await lines(started)).toEqual([
      [5, `once, for ${update.id}, as it was approved`],
      [-5, `one-time units that are not needed any more, because ${update.id} has cost 20`],
    ])
    expect((await started.ledger.audit()).filter(({ ok }) => ok !== true)).toEqual([])
  })

  test('an update with a grant closes although its budget is overspent, and keeps no more of the grant than its charge', async () => {
    const before = await started.hold(35, 'ordinary')
    if (!before) throw new Error('it is held')
    await started.settle(before, ran(42))
    expect(await started.counter()).toMatchObject({ available: -7 })
    const update = await started.hold(40, 'granted')
    if (!update) throw new Error('it is held')
    expect(await started.counter()).toMatchObject({ granted: 47, once: 47, available: 0 })
    await started.settle(update, ran(40))
    expect(await started.counter()).toMatchObject({ granted: 40, once: 40, held: 0, spent: 107, available: -7 })
    expect((await started.ledger.audit()).filter(({ ok }) => ok !== true)).toEqual([])
  })

  test('a grant of both windows goes back by one line when a limit rises', async () => {
    await started.put(60, 50)
    const update = await inDoubt(started)
    expect(await started.counter('day')).toMatchObject({ granted: 15, once: 15, available: 0 })
    await started.put(63, 200)
    expect(await started.counter()).toMatchObject({ limit: 63, granted: 2, once: 2, available: 0 })
    expect(await started.counter('day')).toMatchObject({ limit: 200, granted: 0, once: 0, available: 135 })
    expect((await lines(started)).at(-1)).toEqual([
      -3,
      'one-time units that are not needed any more, because limits were changed',
    ])
    await started.settle(update, ran(40))
    expect(await started.counter()).toMatchObject({ granted: 2, once: 2, spent: 65, available: 0 })
    expect((await started.ledger.audit()).filter(({ ok }) => ok !== true)).toEqual([])
  })
})

/** Sent again by another process, or beside it: the rule holds for the later one, too. */
test('a release and a grant at the same time leave no one-time unit to others', async () => {
  const started = await start(createMemoryStore())
  const plain = await started.hold(30, 'ordinary')
  if (!plain) throw new Error('it is held')
  let isFirst = true
  const busy: Store = {
    ...started.store,
    transact: async (writes, token) => {
      // After the settlement was prepared, another update gets a grant.
      if (isFirst) {
        isFirst = false
        await started.hold(40, 'granted')
      }
      return started.store.transact(writes, token)
    },
  }
  const other = createLedger({ store: busy, clock: started.clock, account })
  await other.settle(plain, didNotRun())
  // 25 outside and 40 held, of 60.
  expect(await started.counter()).toMatchObject({ granted: 5, once: 5, available: 0 })
})

/** The vendor shows fewer units as left than the book has, so they were spent outside. */
async function reconcile({ enter, ledger }: Started, asOf: object): Promise<void> {
  const figure = { type: 'reconcile', budget: 'account', unitsLeft: 4_900, ...asOf }
  const preview = await ledger.previewEntry({
    ...figure,
    id: 'ent_p',
    content: '',
    reason: '',
    by: 'ada',
  } as EntryRequest)
  if (preview.kind === 'possible') await enter({ ...figure, shown: preview.entry.units })
}

type Event = (started: Started, update: Update) => Promise<unknown>

const events: Readonly<Record<string, Event>> = {
  'a late answer of less': ({ settle }, update) => settle(update, ran(30)),
  'a late answer of all': ({ settle }, update) => settle(update, ran(40)),
  'a late answer of more': ({ settle }, update) => settle(update, ran(55)),
  'a late refusal': ({ settle }, update) => settle(update, didNotRun()),
  evidence: ({ settle }, update) => settle(update, ran(40, 'evidence')),
  'a person says less': ({ settle }, update) => settle(update, ran(20, 'person')),
  'a person says nothing': ({ settle }, update) => settle(update, didNotRun('person')),
  'a figure of now': (started) => reconcile(started, {}),
  'a figure of a minute ago': (started) => reconcile(started, { asOf: started.clock.now() - minutes(1) }),
  'a correction down': ({ enter, outside }) => enter({ type: 'correction', corrects: outside, units: 10 }),
  'a correction up': ({ enter, outside }) => enter({ type: 'correction', corrects: outside, units: 35 }),
  'a charge corrected': ({ enter }, { id }) => enter({ type: 'correction', corrects: id, units: 10 }),
  'a limit up': ({ put }) => put(75),
  'a limit down': ({ put }) => put(40),
  'a lasting grant': ({ enter }) => enter({ type: 'grant', window: 'month', wholeChain: false, units: 20 }),
  'another approved update': ({ hold }) => hold(30, 'granted'),
  'the month turns': async ({ clock, ledger, hold }) => {
    clock.advance(days(15))
    await ledger.view()
    await hold(1, 'ordinary')
  },
}

/** Every order of up to this many events. `ORDERS=3` takes a minute. */
const longest = Number(process.env.ORDERS ?? 2)

function orders(length: number): (readonly string[])[] {
  if (length === 0) return [[]]
  const shorter = orders(length - 1)
  const added = shorter.filter((each) => each.length === length - 1)
  return [...shorter, ...added.flatMap((each) => Object.keys(events).map((name) => [...each, name]))]
}

test(`after each order of up to ${longest} events, no ordinary update may use a one-time grant`, async () => {
  const effective = new Set<string>()
  for (const order of orders(longest)) {
    const started = await start(createMemoryStore(), { day: 50 })
    const update = await inDoubt(started)
    const seen = async () =>
      JSON.stringify([(await started.ledger.view()).book, await started.ledger.update(update.id)])
    for (const name of order) {
      const before = await seen()
      started.clock.advance(minutes(1))
      await events[name]?.(started, update)
      if ((await seen()) !== before) effective.add(name)
      for (const window of ['month', 'day'] as const) {
        const { once = 0, available = 0, granted = 0 } = (await started.counter(window)) ?? {}
        const what = `${order.join(', ')}: ${window} ${JSON.stringify({ once, available, granted })}`
        expect(once > 0 && available > 0, what).toBe(false)
        expect(once, what).toBeGreaterThanOrEqual(0)
      }
    }
    expect((await started.ledger.audit()).filter(({ ok }) => ok !== true)).toEqual([])
  }
  expect([...effective].toSorted()).toEqual(Object.keys(events).toSorted())
})
