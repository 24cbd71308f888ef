import { type Definitions, type Limit, limitedIn, limitOf, type WindowKind, windowKinds } from './definitions.ts'
import type { Condition, Item, Key, Path, Value, Write } from './store.ts'

/** Every counter of one month and of its current day. */
export interface Book {
  /** The window's name, `month:2026-11-12`. */
  readonly month: string
  /** The day that the day counters count, `day:2026-11-20`. It only moves forward. */
  readonly day: string
  /** The revision of the definitions that the limits are from. */
  readonly revision: number
  readonly counters: Readonly<Record<WindowKind, Readonly<Record<string, Counter>>>>
}

/** `available + held + inDoubt + spent = limit + granted`, where `unlimited` counts as 0. */
export interface Counter {
  readonly limit: Limit
  readonly granted: number
  /** Of an unlimited budget a mere remainder, never compared and never shown. */
  readonly available: number
  readonly held: number
  readonly inDoubt: number
  readonly spent: number
}

/** What cannot be used any more: spent, or set aside. */
export const usedOf = ({ held, inDoubt, spent }: Pick<Counter, 'held' | 'inDoubt' | 'spent'>): number =>
  held + inDoubt + spent

/** A change of one counter. What becomes available follows from it, so the sum cannot be broken. */
export interface Move {
  readonly limit?: number
  readonly granted?: number
  readonly held?: number
  readonly inDoubt?: number
  readonly spent?: number
}

/** A move of one counter of a book, by name. */
export interface CounterMove {
  readonly budget: string
  readonly window: WindowKind
  readonly move: Move
}

export const madeAvailable = (move: Move): number =>
  (move.limit ?? 0) + (move.granted ?? 0) - (move.held ?? 0) - (move.inDoubt ?? 0) - (move.spent ?? 0)

export const asNumber = (limit: Limit): number => (limit === 'unlimited' ? 0 : limit)

export const freshCounter = (limit: Limit): Counter => ({
  limit,
  granted: 0,
  available: asNumber(limit),
  held: 0,
  inDoubt: 0,
  spent: 0,
})

const freshCounters = (definitions: Definitions, window: WindowKind) =>
  Object.fromEntries(limitedIn(definitions).map((budget) => [budget.name, freshCounter(limitOf(budget, window))]))

export const freshBook = (definitions: Definitions, month: string, day: string): Book => ({
  month,
  day,
  revision: definitions.revision,
  counters: { month: freshCounters(definitions, 'month'), day: freshCounters(definitions, 'day') },
})

/** The book as a change at this moment finds or makes it: of these definitions, and not of a day before `day`. */
export function bookAsOf(book: Book | null, definitions: Definitions, month: string, day: string): Book {
  if (!book) return freshBook(definitions, month, day)
  const brought = book.revision === definitions.revision ? book : broughtUp(book, definitions)
  if (brought.day >= day) return brought
  return { ...brought, day, counters: { ...brought.counters, day: freshCounters(definitions, 'day') } }
}

function broughtUp(book: Book, definitions: Definitions): Book {
  const counters = (window: WindowKind) => ({
    ...book.counters[window],
    ...Object.fromEntries(
      limitedIn(definitions).map((budget) => {
        const limit = limitOf(budget, window)
        const counter = counterOf(book, window, budget.name)
        return [budget.name, counter ? withLimit(counter, limit) : freshCounter(limit)]
      }),
    ),
  })
  return { ...book, revision: definitions.revision, counters: { month: counters('month'), day: counters('day') } }
}

const withLimit = (counter: Counter, limit: Limit): Counter => ({
  ...counter,
  limit,
  available: counter.available + asNumber(limit) - asNumber(counter.limit),
})

/** Own members only: a budget may be called `constructor`. */
export const counterOf = (book: Book, window: WindowKind, budget: string): Counter | undefined =>
  Object.hasOwn(book.counters[window], budget) ? book.counters[window][budget] : undefined

// How a book is stored. Names are one letter, because a transaction pays for every kilobyte of the book, twice.

const letters = { limit: 'l', granted: 'g', available: 'a', held: 'h', inDoubt: 'i', spent: 's' } as const

export const bookKey = (month: string) => ({ pk: 'book', sk: month })

export const toBookItem = (book: Book): Item => ({
  ...bookKey(book.month),
  today: book.day,
  revision: book.revision,
  month: toStoredCounters(book.counters.month),
  day: toStoredCounters(book.counters.day),
})

const toStoredCounters = (counters: Readonly<Record<string, Counter>>): Value =>
  Object.fromEntries(Object.entries(counters).map(([budget, counter]) => [budget, toStoredCounter(counter)]))

const toStoredCounter = (counter: Counter): Value => ({
  l: counter.limit === 'unlimited' ? 'u' : counter.limit,
  g: counter.granted,
  a: counter.available,
  h: counter.held,
  i: counter.inDoubt,
  s: counter.spent,
})

export function fromBookItem(item: Item): Book {
  const { sk: month, today, revision } = item
  if (typeof today !== 'string' || typeof revision !== 'number') throw new Error(`the book ${month} is damaged`)
  return {
    month,
    day: today,
    revision,
    counters: Object.fromEntries(
      windowKinds.map((window) => [window, fromStoredCounters(item[window], month)]),
    ) as Book['counters'],
  }
}

function fromStoredCounters(stored: Value | undefined, month: string): Record<string, Counter> {
  const counters = Object.entries((stored ?? {}) as Record<string, Record<string, Value>>)
  return Object.fromEntries(
    counters.map(([budget, { l, g, a, h, i, s }]) => {
      if (![g, a, h, i, s].every(Number.isSafeInteger)) throw new Error(`the counter ${budget} of ${month} is damaged`)
      return [budget, { limit: l === 'u' ? 'unlimited' : l, granted: g, available: a, held: h, inDoubt: i, spent: s }]
    }),
  ) as Record<string, Counter>
}

/** The book with these counters moved. */
export function bookAfter(book: Book, moves: readonly CounterMove[]): Book {
  const counters = (window: WindowKind) => ({
    ...book.counters[window],
    ...Object.fromEntries(
      moves.flatMap((each) => {
        const counter = each.window === window ? counterOf(book, window, each.budget) : undefined
        return counter ? [[each.budget, moved(counter, each.move)]] : []
      }),
    ),
  })
  return { ...book, counters: { month: counters('month'), day: counters('day') } }
}

const moved = ({ limit, granted, available, held, inDoubt, spent }: Counter, move: Move): Counter => ({
  limit,
  granted: granted + (move.granted ?? 0),
  available: available + madeAvailable(move),
  held: held + (move.held ?? 0),
  inDoubt: inDoubt + (move.inDoubt ?? 0),
  spent: spent + (move.spent ?? 0),
})

/** The additions that make `move` on the counters of these budgets. */
export function additions(window: WindowKind, budgets: readonly string[], move: Move): (readonly [Path, number])[] {
  const { limit, ...moved } = move
  const deltas = Object.entries({ ...moved, available: madeAvailable(move) }).filter(([, units]) => units !== 0)
  return budgets.flatMap((budget) =>
    deltas.map(([name, units]) => [[window, budget, letters[name as keyof typeof letters]], units as number] as const),
  )
}

/** The write that makes these additions; where there are none (0 units), it only checks. */
export const addTo = (key: Key, add: readonly (readonly [Path, number])[], when: readonly Condition[]): Write =>
  add.length === 0 ? { do: 'check', key, when } : { do: 'update', key, set: [], add, when }

/** "This budget has at least so many units available in this window." */
export const hasAvailable = (window: WindowKind, budget: string, units: number): Condition => ({
  is: 'at-least',
  path: [window, budget, letters.available],
  value: units,
})

/** "This budget has spent at least so many units in this window." */
export const hasSpent = (window: WindowKind, budget: string, units: number): Condition => ({
  is: 'at-least',
  path: [window, budget, letters.spent],
  value: units,
})

/** "This budget has spent just so many units in this window." */
export const isSpent = (window: WindowKind, budget: string, units: number): Condition => ({
  is: 'equal',
  path: [window, budget, letters.spent],
  value: units,
})

/** "Nothing of this budget is held or in doubt in this window." */
export const isUnheld = (window: WindowKind, budget: string): Condition[] =>
  [letters.held, letters.inDoubt].map((letter) => ({ is: 'equal', path: [window, budget, letter], value: 0 }))

/**
 * The write that brings a stored book to new definitions: limits move and what is available moves by the difference,
 * budgets that are new to the book get a counter, and whoever decided with the old revision will not get in.
 * A closed book keeps its limits. It must still count the same day: a new day begins without the counters of budgets
 * that were deleted, so that what is to be set and added would be another.
 */
export function bringUp(book: Book, definitions: Definitions, closed: boolean): Write {
  const key = bookKey(book.month)
  const same = [isOfRevision(book.revision), isOfDay(book.day)]
  const revision: readonly [Path, Value] = [['revision'], definitions.revision]
  const changed = closed ? [] : limitChanges(book, definitions)
  const fresh = windowKinds.flatMap((window) =>
    limitedIn(definitions)
      .filter(({ name }) => !counterOf(book, window, name))
      .map((limited) => ({ window, name: limited.name, counter: freshCounter(limitOf(limited, window)) })),
  )
  if (fresh.length + changed.length * additionsWeigh <= mostWeight) {
    const set = [
      ...fresh.map(({ window, name, counter }) => [[window, name], toStoredCounter(counter)] as const),
      ...changed.map(({ window, name, limit }) => limitSet(window, name, limit)),
    ]
    const add = changed.flatMap(({ window, name, by }) => additions(window, [name], { limit: by }))
    return { do: 'update', key, set: [revision, ...set], add, when: same }
  }
  // What does not fit into an expression is set as a whole, if it still is as it was seen.
  const wanted = [...fresh, ...changed.map((each) => ({ ...each, counter: withLimit(each.counter, each.limit) }))]
  const brought = (window: WindowKind) => ({
    ...book.counters[window],
    ...Object.fromEntries(wanted.filter((each) => each.window === window).map(({ name, counter }) => [name, counter])),
  })
  const set = windowKinds.map((window) => [[window], toStoredCounters(brought(window))] as const)
  const seen = windowKinds.map(
    (window): Condition => ({ is: 'equal', path: [window], value: toStoredCounters(book.counters[window]) }),
  )
  return { do: 'update', key, set: [revision, ...set], add: [], when: [...same, ...seen] }
}

/** An expression has at most 4 KB: a counter that is set takes up to 17 bytes of it, and one that is added to thrice as much. */
const mostWeight = 200
const additionsWeigh = 3

function limitChanges(book: Book, definitions: Definitions) {
  return windowKinds.flatMap((window) =>
    limitedIn(definitions).flatMap((limited) => {
      const { name } = limited
      const limit = limitOf(limited, window)
      const counter = counterOf(book, window, name)
      if (!counter || counter.limit === limit) return []
      return [{ window, name, counter, limit, by: asNumber(limit) - asNumber(counter.limit) }]
    }),
  )
}

const limitSet = (window: WindowKind, name: string, limit: Limit): readonly [Path, Value] => [
  [window, name, letters.limit],
  limit === 'unlimited' ? 'u' : limit,
]

/** The write that begins a new day in a stored book. */
export const turnDay = (book: Book, definitions: Definitions, day: string): Write => ({
  do: 'update',
  key: bookKey(book.month),
  set: [
    [['today'], day],
    [['day'], toStoredCounters(freshCounters(definitions, 'day'))],
  ],
  add: [],
  when: [isOfRevision(definitions.revision), { is: 'before', path: ['today'], value: day }],
})

export const isOfRevision = (revision: number): Condition => ({ is: 'equal', path: ['revision'], value: revision })
export const isOfDay = (day: string): Condition => ({ is: 'equal', path: ['today'], value: day })
