import { either, number, type Of, oneOf, optional, record, text, units, whole } from '../stored.ts'
import { counterOwnersIn, type Definitions, type Limit, limitOf, type WindowKind, windowKinds } from './definitions.ts'

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

/** `available + held + inDoubt + spent = limit + granted`; `unlimited` counts as 0. */
export const storedCounter = record({
  limit: either(oneOf(['unlimited']), units),
  granted: number,
  /** Without meaning for an unlimited budget: never compared or shown there. */
  available: number,
  held: number,
  inDoubt: number,
  spent: number,
  /** The part of `granted` that is one-time grants in force. Absent: none. */
  once: optional(number),
})
export type Counter = Of<typeof storedCounter>

export const usedOf = ({ held, inDoubt, spent }: Pick<Counter, 'held' | 'inDoubt' | 'spent'>): number =>
  held + inDoubt + spent

/** `available` is computed from these members, so the equation of the counter always holds. */
export const storedMove = record({
  limit: optional(whole),
  granted: optional(whole),
  held: optional(whole),
  inDoubt: optional(whole),
  spent: optional(whole),
  once: optional(whole),
})
export type Move = Of<typeof storedMove>

export const storedCounterMove = record({ budget: text, window: oneOf(windowKinds), move: storedMove })
export type CounterMove = Of<typeof storedCounterMove>

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

export const moveCounter = (
  { limit, granted, available, held, inDoubt, spent, once }: Counter,
  move: Move,
): Counter => ({
  limit,
  granted: granted + (move.granted ?? 0),
  available: available + madeAvailable(move),
  held: held + (move.held ?? 0),
  inDoubt: inDoubt + (move.inDoubt ?? 0),
  spent: spent + (move.spent ?? 0),
  ...((once ?? move.once) !== undefined && { once: (once ?? 0) + (move.once ?? 0) }),
})

export type CounterName = Pick<CounterMove, 'budget' | 'window'>

/** Adds the moves of one counter to its line. */
export const moveOn = (counter: CounterName, line: Move, moves: readonly CounterMove[]): Move =>
  moves
    .filter((each) => each.budget === counter.budget && each.window === counter.window)
    .reduce((sum, { move }) => plus(sum, move), line)

function plus(a: Move, b: Move): Move {
  const sum: Record<string, number> = { ...a }
  for (const [name, units] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + units
  return sum
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
