import { either, number, type Of, oneOf, optional, record, text, units, whole } from '../store/stored.ts'
import { type Limit, windowKinds } from './definitions.ts'

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
