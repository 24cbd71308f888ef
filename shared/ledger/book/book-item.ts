import {
  asNumber,
  type Counter,
  type CounterMove,
  freshCounter,
  type Move,
  madeAvailable,
  moveCounter,
  moveOn,
} from '../definitions/counters.ts'
import {
  counterOwnersIn,
  type Definitions,
  type Limit,
  limitOf,
  type WindowKind,
  windowKinds,
} from '../definitions/definitions.ts'
import type { Condition, Item, Key, Path, Value, Write } from '../store/store.ts'
import {
  either,
  instant,
  map,
  type Of,
  oneOf,
  optional,
  readItem,
  record,
  text,
  units,
  whole,
} from '../store/stored.ts'
import { type Reconciled, reconciledIn } from '../updates/shown.ts'
import { type Book, counterOf, freshCounters, goesBack } from './book.ts'
import { type Entry, entryWrites, goneBack } from './entry.ts'

// Each member of a counter is one letter, because a transaction pays twice for every kilobyte of the book.

const letters = { limit: 'l', granted: 'g', available: 'a', held: 'h', inDoubt: 'i', spent: 's', once: 'o' } as const

export const bookKey = (month: string) => ({ pk: 'book', sk: month })

export const toBookItem = (book: Book): Item => ({
  ...bookKey(book.month),
  today: book.day,
  revision: book.revision,
  ...reconciledIn(book),
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
  ...(counter.once !== undefined && { o: counter.once }),
})

const storedCounters = map(
  record({ l: either(units, oneOf(['u'])), g: whole, a: whole, h: whole, i: whole, s: whole, o: optional(whole) }),
)

const storedBook = record({
  today: text,
  revision: whole,
  reconciledAt: optional(instant),
  reconciledOn: optional(instant),
  month: storedCounters,
  day: storedCounters,
})

export function fromBookItem(item: Item): Book {
  const { today, revision, reconciledAt, reconciledOn, month, day } = readItem(item, storedBook)
  const counters = { month: fromStoredCounters(month), day: fromStoredCounters(day) }
  return { month: item.sk, day: today, revision, ...reconciledIn({ reconciledAt, reconciledOn }), counters }
}

const fromStoredCounters = (stored: Of<typeof storedCounters>): Record<string, Counter> =>
  Object.fromEntries(
    Object.entries(stored).map(([budget, { l, g, a, h, i, s, o }]) => [
      budget,
      {
        limit: l === 'u' ? 'unlimited' : l,
        granted: g,
        available: a,
        held: h,
        inDoubt: i,
        spent: s,
        ...(o !== undefined && { once: o }),
      },
    ]),
  )

export function additions(window: WindowKind, budgets: readonly string[], move: Move): (readonly [Path, number])[] {
  const { limit, once, ...moved } = move
  const deltas = Object.entries({ ...moved, available: madeAvailable(move) }).filter(([, units]) => units !== 0)
  return budgets.flatMap((budget) =>
    deltas.map(([name, units]) => [[window, budget, letters[name as keyof typeof letters]], units as number] as const),
  )
}

export const addTo = (
  key: Key,
  add: readonly (readonly [Path, number])[],
  when: readonly Condition[],
  set: readonly (readonly [Path, Value])[] = [],
): Write => (add.length + set.length === 0 ? { kind: 'check', key, when } : { kind: 'update', key, set, add, when })

export const hasAvailable = (window: WindowKind, budget: string, units: number): Condition => ({
  kind: 'at-least',
  path: [window, budget, letters.available],
  value: units,
})

/** True while an observed budget lacks `short` of the `needed` units. A used-up counter lacks all needed units. */
export const lacksAvailable = (window: WindowKind, budget: string, needed: number, short: number): Condition => {
  const path: Path = [window, budget, letters.available]
  return short < needed ? { kind: 'equal', path, value: needed - short } : { kind: 'at-most', path, value: 0 }
}

const onceSet = (window: WindowKind, budget: string, units: number): readonly [Path, Value] => [
  [window, budget, letters.once],
  units,
]

/** True while the counter's one-time grants are as seen, and with them its available units. */
function onceOf(window: WindowKind, budget: string, seen: Counter | undefined): readonly Condition[] {
  const path: Path = [window, budget, letters.once]
  if (seen?.once === undefined) return [{ kind: 'absent', path }]
  const isSame: Condition = { kind: 'equal', path, value: seen.once }
  return seen.once === 0
    ? [isSame]
    : [isSame, { kind: 'equal', path: [window, budget, letters.available], value: seen.available }]
}

export const hasSpent = (window: WindowKind, budget: string, units: number): Condition => ({
  kind: 'at-least',
  path: [window, budget, letters.spent],
  value: units,
})

export const isSpent = (window: WindowKind, budget: string, units: number): Condition => ({
  kind: 'equal',
  path: [window, budget, letters.spent],
  value: units,
})

/** True while the latest reconciliation is the one that was seen. */
export const isReconciledAt = ({ reconciledAt, reconciledOn }: Reconciled): readonly Condition[] => [
  isTime('reconciledAt', reconciledAt),
  isTime('reconciledOn', reconciledOn),
]

const isTime = (name: string, value: number | undefined): Condition =>
  value === undefined ? { kind: 'absent', path: [name] } : { kind: 'equal', path: [name], value }

export const isUnheld = (window: WindowKind, budget: string): Condition[] =>
  [letters.held, letters.inDoubt].map((letter) => ({ kind: 'equal', path: [window, budget, letter], value: 0 }))

/**
 * The writes and conditions of these moves. If a move makes units available, no one-time grant of its counter may have changed.
 * @param book `null`: no counter is known to have a one-time grant.
 */
export function onceWrites(book: Book | null, moves: readonly CounterMove[]) {
  const concerned = moves.filter(({ move }) => move.once !== undefined || madeAvailable(move) > 0)
  return {
    set: concerned.flatMap(({ budget, window, move: { once = 0 } }) => {
      const seen = book && counterOf(book, window, budget)?.once
      return once === 0 ? [] : [onceSet(window, budget, (seen ?? 0) + once)]
    }),
    when: concerned.flatMap(({ budget, window }) => {
      const seen = book ? counterOf(book, window, budget) : undefined
      return onceOf(window, budget, seen)
    }),
  }
}

/** A closed book keeps its limits. The day is a condition, because a new day has no counters of deleted budgets. */
export function applyDefinitions(book: Book, definitions: Definitions, closed: boolean): Write {
  const key = bookKey(book.month)
  const same = [isOfRevision(book.revision), isOfDay(book.day)]
  const revision: readonly [Path, Value] = [['revision'], definitions.revision]
  const limits = closed ? [] : limitChanges(book, definitions)
  const back = goesBack(book, limits)
  const changed = limits.map((each) => ({ ...each, move: moveOn(each, each.move, back) }))
  const fresh = windowKinds.flatMap((window) =>
    counterOwnersIn(definitions)
      .filter(({ name }) => !counterOf(book, window, name))
      .map((limited) => ({ window, budget: limited.name, counter: freshCounter(limitOf(limited, window)) })),
  )
  if (fresh.length + changed.length * additionsWeigh <= maxWeight) {
    const once = onceWrites(book, changed)
    const set = [
      ...fresh.map(({ window, budget, counter }) => [[window, budget], toStoredCounter(counter)] as const),
      ...changed.map(({ window, budget, limit }) => limitSet(window, budget, limit)),
      ...once.set,
    ]
    const add = changed.flatMap(({ window, budget, move }) => additions(window, [budget], move))
    return { kind: 'update', key, set: [revision, ...set], add, when: [...same, ...once.when] }
  }
  // The change is too large for an expression, so all counters are replaced, on condition that they are unchanged.
  const moved = changed.map((each) => ({
    ...each,
    counter: { ...moveCounter(each.counter, each.move), limit: each.limit },
  }))
  const applied = (window: WindowKind) => ({
    ...book.counters[window],
    ...Object.fromEntries(
      [...fresh, ...moved].filter((each) => each.window === window).map(({ budget, counter }) => [budget, counter]),
    ),
  })
  const set = windowKinds.map((window) => [[window], toStoredCounters(applied(window))] as const)
  const seen = windowKinds.map(
    (window): Condition => ({ kind: 'equal', path: [window], value: toStoredCounters(book.counters[window]) }),
  )
  return { kind: 'update', key, set: [revision, ...set], add: [], when: [...same, ...seen] }
}

/** An expression has at most 4 KB. Setting a counter takes up to 17 bytes, adding to a counter five times as many. */
const maxWeight = 200

const additionsWeigh = 5

function limitChanges(book: Book, definitions: Definitions) {
  return windowKinds.flatMap((window) =>
    counterOwnersIn(definitions).flatMap((owner) => {
      const limit = limitOf(owner, window)
      const counter = counterOf(book, window, owner.name)
      if (!counter || counter.limit === limit) return []
      return [
        { window, budget: owner.name, counter, limit, move: { limit: asNumber(limit) - asNumber(counter.limit) } },
      ]
    }),
  )
}

/** The line of the one-time grants that the limits of these definitions make needless. */
export function goneBackWith(book: Book, definitions: Definitions, { by, at }: Pick<Entry, 'by' | 'at'>): Write[] {
  const { month, day } = book
  const id = `change ${definitions.revision} ${month}`
  const entry = goneBack(goesBack(book, limitChanges(book, definitions)), 'limits were changed', {
    id,
    month,
    day,
    by,
    at,
  })
  return entry ? entryWrites(entry) : []
}

const limitSet = (window: WindowKind, name: string, limit: Limit): readonly [Path, Value] => [
  [window, name, letters.limit],
  limit === 'unlimited' ? 'u' : limit,
]

export const turnDay = (book: Book, definitions: Definitions, day: string): Write => ({
  kind: 'update',
  key: bookKey(book.month),
  set: [
    [['today'], day],
    [['day'], toStoredCounters(freshCounters(definitions, 'day'))],
  ],
  add: [],
  when: [isOfRevision(definitions.revision), { kind: 'before', path: ['today'], value: day }],
})

export const isOfRevision = (revision: number): Condition => ({ kind: 'equal', path: ['revision'], value: revision })

export const isOfDay = (day: string): Condition => ({ kind: 'equal', path: ['today'], value: day })
