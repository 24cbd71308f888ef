import { type Book, bookAsOf, counterOf } from '../../ledger/book/book.ts'
import type { View } from '../../ledger/book/view.ts'
import { asNumber, freshCounter } from '../../ledger/definitions/counters.ts'
import {
  type CounterOwner,
  counterOwnersIn,
  isEnforced,
  limitOf,
  type WindowKind,
} from '../../ledger/definitions/definitions.ts'
import { type Calendar, dayAt, monthAfter, type Window } from '../../ledger/definitions/windows.ts'
import { isNeverGranted } from '../rules/approvals.ts'
import { shownCounter } from '../sentences.ts'

/** Why the plans’ update does not run. `brief`: a few words. */
export interface PlayedRefusal {
  readonly slug: string
  /** The budget or counter that decides. */
  readonly by: string | null
  readonly brief: string
}

/** One counter in one window, as the played plans move it. Units. */
export interface Cell {
  readonly budget: string
  readonly window: WindowKind
  readonly start: number
  readonly end: number
  /** Whether it can refuse an update. */
  readonly refuses: boolean
  readonly isLimited: boolean
  available: number
  /** The units that the plans take. `ofPaused`: of these, what plans take that are paused now. */
  committed: number
  ofPaused: number
  /** With the updates that some counter of the chain has too little for. */
  wanted: number
  /** What the counter lacks for all updates that it was too small for. */
  short: number
  /** The units of these updates. */
  refused: number
  exhaustedAt: number | null
  exhaustedBy: string | null
  /** The oldest price. */
  pricedAt: number | null
  /** Projects without a known price, and the first time at which one is due. */
  readonly unpriced: Set<string>
  unpricedFrom: number | null
  /** Whether `wanted` leaves out updates without a known price. */
  isWantedAtLeast: boolean
  /** Ascending instants, and the units taken up to each. */
  readonly times: number[]
  readonly taken: number[]
}

export interface PlayedCounter {
  readonly owner: CounterOwner
  readonly isNeverGranted: boolean
  readonly tooLittle: PlayedRefusal
  readonly perDay: number
  month: Cell
  day: Cell
}

export type PlayedCounters = ReturnType<typeof createCounters>

/** Copies of the counters of this month, of its present day and of the next month. They follow the time that is played. */
export function createCounters({ definitions, month, day, stored }: View, nextStored: Book | null) {
  const { calendar } = definitions
  let open = { month, day, stored }
  const cellOf = (owner: CounterOwner, window: WindowKind, book: Book): Cell => ({
    budget: owner.name,
    window,
    start: open[window].start,
    end: Math.min(open[window].end, open.month.end),
    refuses: limitOf(owner, window) !== 'unlimited' && isEnforced(owner),
    isLimited: limitOf(owner, window) !== 'unlimited',
    available: availableIn(owner, window, book),
    committed: 0,
    ofPaused: 0,
    wanted: 0,
    short: 0,
    refused: 0,
    exhaustedAt: null,
    exhaustedBy: null,
    pricedAt: null,
    unpriced: new Set<string>(),
    unpricedFrom: null,
    isWantedAtLeast: false,
    times: [],
    taken: [],
  })
  const bookOfDay = () => bookAsOf(open.stored, definitions, open.month.name, open.day.name)
  const first = bookOfDay()
  const counters = new Map<string, PlayedCounter>()
  for (const owner of counterOwnersIn(definitions)) {
    const { name } = owner
    const tooLittle = { slug: 'over-budget', by: name, brief: `${shownCounter({}, name)} has too little` }
    const [ofMonth, ofDay] = [cellOf(owner, 'month', first), cellOf(owner, 'day', first)]
    const perDay = asNumber(limitOf(owner, 'day'))
    counters.set(name, { owner, isNeverGranted: isNeverGranted(name), tooLittle, perDay, month: ofMonth, day: ofDay })
  }
  const all = [...counters.values()]
  const today = all.map((each) => each.day)
  const months = [all.map((each) => each.month)]

  function turnDay(time: number): void {
    open = { ...open, day: playedDayAt(calendar, time) }
    // Only a book of this day, or of a later one, has counters of the day.
    const isFresh = !open.stored || open.stored.day < open.day.name
    const book = isFresh ? first : bookOfDay()
    const isFirst = all[0]?.day === today[0]
    for (const counter of all) {
      // Only the present day is shown, so one cell serves all later days.
      if (isFirst) counter.day = cellOf(counter.owner, 'day', book)
      counter.day.available = isFresh ? counter.perDay : availableIn(counter.owner, 'day', book)
    }
  }

  function turnMonth(time: number): void {
    const next = monthAfter(calendar, open.month)
    open = { month: next, day: playedDayAt(calendar, time), stored: months.length === 1 ? nextStored : null }
    const book = bookOfDay()
    for (const counter of all) counter.month = cellOf(counter.owner, 'month', book)
    months.push(all.map((each) => each.month))
  }

  /** Turns day and month. `time` never goes back. */
  function turnTo(time: number): Window {
    const isLater = time >= Math.min(open.day.end, open.month.end)
    while (time >= open.month.end) turnMonth(time)
    if (isLater) turnDay(time)
    return open.day
  }

  return { counters, months, today, turnTo }
}

const availableIn = (owner: CounterOwner, window: WindowKind, book: Book): number =>
  (counterOf(book, window, owner.name) ?? freshCounter(limitOf(owner, window))).available

export function takeFrom(cell: Cell, units: number, { time, plan }: { time: number; plan: string }): void {
  cell.available -= units
  cell.committed += units
  cell.wanted += units
  // A limit that is only observed.
  if (cell.isLimited && cell.available < 0) {
    cell.short = Math.max(cell.short, 0 - cell.available)
    cell.exhaustedAt ??= time
    cell.exhaustedBy ??= plan
  }
  const last = cell.times.length - 1
  if (cell.times[last] === time) cell.taken[last] = cell.committed
  else {
    cell.times.push(time)
    cell.taken.push(cell.committed)
  }
}

/** Notes an update that the sums leave out, because its price is not known. */
export function noteUnpriced(cell: Cell, key: string, time: number): void {
  cell.unpriced.add(key)
  cell.unpricedFrom ??= time
  cell.isWantedAtLeast = true
}

/** Notes an update that the counter has too little for. `needed` includes what the update must leave. */
export function noteShort(cell: Cell, needed: number, units: number, at: { time: number; plan: string }): void {
  cell.short = Math.max(cell.short, cell.refused + needed - cell.available)
  cell.refused += units
  if (cell.exhaustedAt !== null) return
  cell.exhaustedAt = at.time
  cell.exhaustedBy = at.plan
}

/** The units taken up to an instant. */
export function takenUntil({ times, taken }: Cell, instant: number): number {
  const later = times.findIndex((time) => time > instant)
  return (later < 0 ? taken.at(-1) : taken[later - 1]) ?? 0
}

const maxDays = 400
const days = new Map<string, readonly Window[]>()

/** Days are kept per calendar, because the time of a zone is slow to find. */
export function playedDayAt(calendar: Calendar, instant: number): Window {
  const key = JSON.stringify(calendar)
  const known = days.get(key) ?? []
  const found = known.find(({ start, end }) => start <= instant && instant < end)
  if (found) return found
  const day = dayAt(calendar, instant)
  days.set(key, [...known, day].slice(-maxDays))
  return day
}
