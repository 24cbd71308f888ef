import { type Counter, counterOf, freshCounter } from '../../ledger/book/book.ts'
import { type CounterOwner, limitOf, type WindowKind, windowKinds } from '../../ledger/book/definitions.ts'
import type { Window } from '../../ledger/book/windows.ts'
import type { View } from '../../ledger/views/views.ts'

/** What one counter shows, and when it begins again. */
export interface Figures extends Counter {
  readonly budget: string
  readonly window: WindowKind
  readonly start: number
  readonly end: number
}

export function figuresOf(view: View, budget: CounterOwner, window: WindowKind): Figures {
  const { start, end } = window === 'month' ? view.month : within(view.month, view.day)
  const counter = counterOf(view.book, window, budget.name) ?? freshCounter(limitOf(budget, window))
  return { ...counter, budget: budget.name, window, start, end }
}

/** Every counter that an update of this chain moves, the budget's own first. */
export const figuresOfChain = (view: View, chain: readonly CounterOwner[]): readonly Figures[] =>
  chain.flatMap((budget) => windowKinds.map((window) => figuresOf(view, budget, window)))

/** The one that has the least left, of those that are limited: what an update that moves all of them can cost at most. */
export const tightest = (figures: readonly Figures[]): Figures | undefined =>
  figures.filter(({ limit }) => limit !== 'unlimited').toSorted((a, b) => a.available - b.available)[0]

/** A book counts the days of one month: on the day that the month turns, each of its books counts its own part. */
const within = (month: Window, day: Window) => ({
  start: Math.max(month.start, day.start),
  end: Math.min(month.end, day.end),
})
