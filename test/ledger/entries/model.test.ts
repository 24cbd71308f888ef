import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBudgets } from '../../../shared/guard/people/budgets.ts'
import { fromBookItem } from '../../../shared/ledger/book/book-item.ts'
import type { EntryRequest } from '../../../shared/ledger/book/entry-request.ts'
import type { WindowKind } from '../../../shared/ledger/definitions/definitions.ts'
import { createLedger, type Ledger } from '../../../shared/ledger/ledger.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { toUnits, type Units } from '../../../shared/platform/words.ts'
import { createTestClock, type TestClock } from '../../support/clock.ts'
import { stores } from '../../support/store/stores.ts'

// The model keeps only what people booked, with the newest figure of each entry, and sums it up again after every step.

const limits = { account: 500, seo: 300, blog: 100, ads: 50 } as const
type Name = keyof typeof limits
const names = Object.keys(limits) as readonly Name[]
const chains: Readonly<Record<Name, readonly Name[]>> = {
  account: ['account'],
  seo: ['seo', 'account'],
  blog: ['blog', 'seo', 'account'],
  ads: ['ads', 'account'],
}
const dayLimits: Partial<Record<Name, number>> = { seo: 80 }

const someName = fc.constantFrom(...names)
const someFigure = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 600 }))
const someUnits = fc.oneof(
  fc.constant(1),
  someFigure.map((units) => Math.max(units, 1)),
)
const someStep = fc.oneof(
  fc.record({
    type: fc.constant('grant' as const),
    budget: someName,
    units: someUnits,
    window: fc.constantFrom('month' as const, 'day' as const, 'next-month' as const),
    wholeChain: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('transfer' as const),
    budget: someName,
    to: someName,
    units: someUnits,
    window: fc.constantFrom('month' as const, 'day' as const),
  }),
  fc.record({ type: fc.constant('external-spend' as const), budget: someName, units: someUnits }),
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('correction' as const), which: fc.nat(3), units: someFigure }),
  },
  fc.record({ type: fc.constant('reconcile' as const), unitsLeft: someFigure }),
  fc.record({ type: fc.constant('wait' as const), hours: fc.constantFrom(1, 24, 24 * 31) }),
)
type Step = typeof someStep extends fc.Arbitrary<infer Of> ? Of : never
type Booked = Exclude<Step, { type: 'correction' | 'reconcile' | 'wait' }>

/** What was booked once, and how often it was corrected. */
interface Fact {
  readonly request: Booked
  readonly month: string
  /** `null` after a correction on another day: from then on the day is over. */
  day: string | null
  /** The entry to correct. */
  id: string
  figure: number
  /** What it has taken from `account` at most since a figure of the vendor that includes it. `null`: no figure has it. */
  lowest: number | null
}

/** The part of one unit that a fact moves on a counter. */
function share({ request }: Fact, window: WindowKind, name: Name): { granted: number; spent: number } {
  const chain = chains[request.budget]
  switch (request.type) {
    case 'external-spend':
      return { granted: 0, spent: chain.includes(name) ? 1 : 0 }
    case 'grant': {
      const isWindow = (request.window === 'day') === (window === 'day')
      const isBudget = request.wholeChain ? chain.includes(name) : name === request.budget
      return { granted: isWindow && isBudget ? 1 : 0, spent: 0 }
    }
    case 'transfer': {
      const gives = chain.includes(name) ? 1 : 0
      const takes = chains[request.to].includes(name) ? 1 : 0
      return { granted: request.window === window ? takes - gives : 0, spent: 0 }
    }
  }
}

/** What the fact makes available to `account` in its month. */
function ofAccount(fact: Fact): number {
  const { granted, spent } = share(fact, 'month', 'account')
  return (granted - spent) * fact.figure
}

const monthOf = (at: number): string => `month:${new Date(at).toISOString().slice(0, 7)}-01`
const dayOf = (at: number): string => `day:${new Date(at).toISOString().slice(0, 10)}`
const monthAfter = (at: number): string => {
  const date = new Date(at)
  return monthOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1))
}

class World {
  readonly facts: Fact[] = []
  /** The months whose `account` was set to a figure of the vendor. */
  readonly reconciled = new Set<string>()
  readonly #clock: TestClock
  readonly #ledger: Ledger
  readonly #store: Store
  #names = 0

  constructor(store: Store) {
    this.#store = store
    this.#clock = createTestClock()
    const renewal = { day: 1, time: '00:00', zone: 'UTC' }
    const account = { unitsPerMonth: toUnits(limits.account), usedAtStart: toUnits(0), renewal }
    this.#ledger = createLedger({ store, clock: this.#clock, account })
  }

  async open(): Promise<void> {
    for (const name of ['seo', 'blog', 'ads'] as const) {
      const set: { window: WindowKind; units: Units }[] = [{ window: 'month', units: toUnits(limits[name]) }]
      const daily = dayLimits[name]
      if (daily !== undefined) set.push({ window: 'day', units: toUnits(daily) })
      const budget = { name, parent: chains[name][1] ?? null, limits: set, projects: [] }
      await createBudgets({ ledger: this.#ledger }).putBudget(budget, { caller: 'ada' })
    }
  }

  async step(step: Step): Promise<void> {
    this.#clock.advance(60_000)
    if (step.type === 'wait') this.#clock.advance(step.hours * 3_600_000)
    else if (step.type === 'reconcile') await this.#reconcile(step.unitsLeft)
    else if (step.type === 'correction') await this.#correct(step)
    else await this.#book(step)
    await this.#compare()
  }

  async #book(request: Booked): Promise<void> {
    const now = this.#clock.now()
    const month = request.type === 'grant' && request.window === 'next-month' ? monthAfter(now) : monthOf(now)
    const day = month === monthOf(now) ? dayOf(now) : null
    const fact: Fact = { request, month, day, id: '', figure: 0, lowest: null }
    const isRefused = request.type === 'transfer' && !(await this.#covers(fact, request.units))
    const id = await this.#enter(request, isRefused)
    if (id === null) return
    fact.id = id
    fact.figure = request.units
    this.facts.push(fact)
  }

  async #correct({ which, units }: { which: number; units: number }): Promise<void> {
    const fact = this.facts[which % Math.max(this.facts.length, 1)]
    if (!fact) return
    const difference = units - fact.figure
    const before = await this.#counter('month', 'account', fact.month)
    const request = { type: 'correction', budget: fact.request.budget, corrects: fact.id, units } as const
    const isRefused = fact.request.type !== 'external-spend' && !(await this.#covers(fact, difference))
    const old = fact.id
    const id = await this.#enter(request, isRefused)
    if (id === null) return
    fact.id = id
    fact.figure = units
    if (fact.day !== (await this.#lastDay(fact.month))) fact.day = null
    const again = { type: 'correction', budget: fact.request.budget, corrects: old, units: 1 } as const
    await this.#enter(again, true)
    if (fact.lowest === null) return
    // The vendor's figure had the fact, so `account` gives nothing back, and takes only what is more than ever before.
    const after = await this.#counter('month', 'account', fact.month)
    expect(after.available - before.available).toBe(Math.min(0, ofAccount(fact) - fact.lowest))
    fact.lowest = Math.min(fact.lowest, ofAccount(fact))
  }

  async #reconcile(unitsLeft: number): Promise<void> {
    const month = monthOf(this.#clock.now())
    const { granted } = this.#sums('month', 'account', month)
    const id = await this.#enter(
      { type: 'reconcile', budget: 'account', unitsLeft },
      unitsLeft > limits.account + granted,
    )
    if (id === null) return
    expect(await this.#counter('month', 'account', month)).toMatchObject({ available: unitsLeft })
    this.reconciled.add(month)
    for (const fact of this.facts) if (fact.month === month) fact.lowest ??= ofAccount(fact)
  }

  /** Whether each budget that loses these units still has them. A transfer to a child needs them in the giver. */
  async #covers(fact: Fact, units: number): Promise<boolean> {
    const { request } = fact
    if (request.type === 'transfer' && request.budget === request.to) return false
    const windows: readonly WindowKind[] = fact.day === (await this.#lastDay(fact.month)) ? ['month', 'day'] : ['month']
    for (const window of windows) {
      const shares = names.map((name) => [name, share(fact, window, name).granted * units] as const)
      const isDownward = request.type === 'transfer' && !names.some((name) => share(fact, window, name).granted < 0)
      const losing = shares.filter(([, granted]) => granted < 0)
      if (isDownward && request.window === window && units > 0) losing.push([request.budget, 0 - units])
      for (const [name, granted] of losing) {
        const { available } = await this.#counter(window, name, fact.month)
        if (available < 0 - granted) return false
      }
    }
    return true
  }

  /** Books after a preview, repeats it, and returns the id. `null`: refused, as expected. */
  async #enter(members: object, isRefused: boolean): Promise<string | null> {
    const id = `ent_${++this.#names}`
    let request = { id, content: id, reason: 'the model', by: 'ada' }
    request = Object.assign(request, members)
    const preview = await this.#ledger.previewEntry(request as unknown as EntryRequest)
    const shown = preview.kind === 'possible' ? { shown: preview.entry.units } : {}
    if ('unitsLeft' in request) request = Object.assign(request, shown)
    const outcome = await this.#ledger.enter(request as unknown as EntryRequest)
    expect([members, preview.kind, outcome.kind === 'entered']).toEqual([
      members,
      isRefused ? expect.stringMatching(/^(short|not-possible)$/) : 'possible',
      !isRefused,
    ])
    if (preview.kind !== 'possible' || outcome.kind !== 'entered') return null
    expect(preview.entry.moves).toEqual(outcome.entry.moves)
    expect((await this.#stored(outcome.entry.month))?.counters).toEqual(preview.after.counters)
    expect(await this.#ledger.enter(request as unknown as EntryRequest)).toMatchObject({ kind: 'entered', again: true })
    return id
  }

  async #compare(): Promise<void> {
    const now = this.#clock.now()
    for (const month of new Set(this.facts.map((fact) => fact.month))) {
      for (const name of names) {
        const { granted, spent } = this.#sums('month', name, month)
        const counter = await this.#counter('month', name, month)
        expect([name, counter.granted]).toEqual([name, granted])
        if (name !== 'account' || !this.reconciled.has(month)) expect([name, counter.spent]).toEqual([name, spent])
        expect(counter.available).toBe(limits[name] + granted - counter.spent)
      }
    }
    if (!this.facts.some(({ day }) => day === dayOf(now))) return
    for (const name of names) {
      const { granted, spent } = this.#sums('day', name, monthOf(now))
      expect([name, await this.#counter('day', name, monthOf(now))]).toMatchObject([name, { granted, spent }])
    }
  }

  #sums(window: WindowKind, name: Name, month: string): { granted: number; spent: number } {
    const today = dayOf(this.#clock.now())
    const facts = this.facts.filter((fact) => fact.month === month && (window === 'month' || fact.day === today))
    let granted = 0
    let spent = 0
    for (const fact of facts) {
      granted += share(fact, window, name).granted * fact.figure
      spent += share(fact, window, name).spent * fact.figure
    }
    return { granted, spent }
  }

  async #stored(month: string) {
    const [item] = await this.#store.get([{ pk: 'book', sk: month }])
    return item && fromBookItem(item)
  }

  /** Today, or the last day that the book of another month counts. */
  async #lastDay(month: string): Promise<string | undefined> {
    const now = this.#clock.now()
    return month === monthOf(now) ? dayOf(now) : (await this.#stored(month))?.day
  }

  /** Nothing has moved in a month without a book, or on a day that the book does not count yet. */
  async #counter(window: WindowKind, name: Name, month: string) {
    const limit = (window === 'month' ? limits[name] : dayLimits[name]) ?? Number.POSITIVE_INFINITY
    const book = await this.#stored(month)
    const isCounted = window === 'month' || book?.day === (await this.#lastDay(month))
    const counter = isCounted ? book?.counters[window][name] : undefined
    if (!counter) return { granted: 0, spent: 0, available: limit }
    const available = counter.limit === 'unlimited' ? limit : counter.available
    return { granted: counter.granted, spent: counter.spent, available }
  }

  async close(): Promise<void> {
    const lines = await this.#ledger.audit()
    expect(lines.filter(({ ok }) => ok !== true)).toEqual([])
  }
}

describe.each(stores)('entries: %s', (name, create) => {
  test('every counter is the sum of what was booked, corrected and reconciled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someStep, { minLength: 1, maxLength: 25 }), async (steps) => {
        const world = new World(await create())
        await world.open()
        for (const step of steps) await world.step(step)
        await world.close()
      }),
      { numRuns: name === 'memory' ? 250 : 3 },
    )
  })
})
