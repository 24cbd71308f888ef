import {
  asNumber,
  type Counter,
  type CounterMove,
  freshCounter,
  madeAvailable,
  moveCounter,
} from '../definitions/counters.ts'
import { counterOwnersIn, type Definitions, type Limit, limitOf, type WindowKind } from '../definitions/definitions.ts'

export interface Book {
  /** `month:2026-11-12` */
  readonly month: string
  /** `day:2026-11-20`; only moves forward. */
  readonly day: string
  /** The limits follow this revision of the definitions. */
  readonly revision: number
  /** When the vendor's figure was read with which `account` was last reconciled. */
  readonly reconciledAt?: number
  /** When that figure was booked. Absent: an older version booked it. */
  readonly reconciledOn?: number
  readonly counters: Readonly<Record<WindowKind, Readonly<Record<string, Counter>>>>
}

export const freshCounters = (definitions: Definitions, window: WindowKind) =>
  Object.fromEntries(counterOwnersIn(definitions).map((budget) => [budget.name, freshCounter(limitOf(budget, window))]))

export const freshBook = (definitions: Definitions, month: string, day: string): Book => ({
  month,
  day,
  revision: definitions.revision,
  counters: { month: freshCounters(definitions, 'month'), day: freshCounters(definitions, 'day') },
})

/** The book as a change finds or makes it now: with these definitions, and on `day` or later. */
export function bookAsOf(book: Book | null, definitions: Definitions, month: string, day: string): Book {
  if (!book) return freshBook(definitions, month, day)
  const current = book.revision === definitions.revision ? book : withDefinitions(book, definitions)
  if (current.day >= day) return current
  return { ...current, day, counters: { ...current.counters, day: freshCounters(definitions, 'day') } }
}

function withDefinitions(book: Book, definitions: Definitions): Book {
  const counters = (window: WindowKind) => ({
    ...book.counters[window],
    ...Object.fromEntries(
      counterOwnersIn(definitions).map((budget) => {
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

/** The units that a month charged. Every chain ends at a top, so the tops count each unit once. */
export const spentOnTops = (book: Book, tops: readonly string[]): number =>
  tops.reduce((sum, top) => sum + (counterOf(book, 'month', top)?.spent ?? 0), 0)

export function bookAfter(book: Book, moves: readonly CounterMove[]): Book {
  const counters = (window: WindowKind) => ({
    ...book.counters[window],
    ...Object.fromEntries(
      moves.flatMap((each) => {
        const counter = each.window === window ? counterOf(book, window, each.budget) : undefined
        return counter ? [[each.budget, moveCounter(counter, each.move)]] : []
      }),
    ),
  })
  return { ...book, counters: { month: counters('month'), day: counters('day') } }
}

// A one-time grant serves the update for which a person granted it. What its counter does not need any more goes back in the
// transaction that makes units available.

/** A counter, and what its closed update no longer needs of its own grant. */
export interface Freed extends CounterMove {
  readonly unused?: number
}

/** What goes back after these moves, as moves of the same counters. */
export function goesBack(book: Book, moves: readonly Freed[]): readonly CounterMove[] {
  return moves.flatMap(({ budget, window, move, unused = 0 }) => {
    const counter = counterOf(book, window, budget)
    const once = (counter?.once ?? 0) + (move.once ?? 0)
    if (!counter || once <= 0) return []
    const available = counter.available + madeAvailable(move)
    const back = Math.min(once, Math.max(0, available, unused))
    return back === 0 ? [] : [{ budget, window, move: { granted: 0 - back, once: 0 - back } }]
  })
}
