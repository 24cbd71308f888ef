import { type Figures, figuresOf } from '../guard/sentences.ts'
import { type Book, counterOf, freshBook } from '../ledger/book/book.ts'
import type { View } from '../ledger/book/view.ts'
import { asNumber, freshCounter, usedOf } from '../ledger/definitions/counters.ts'
import { budgetNamed, callerOfCounter, rootBudget, topsOf } from '../ledger/definitions/definitions.ts'
import { dayAt, monthBefore, type Window } from '../ledger/definitions/windows.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { summaryDayAt, summaryDays } from '../ledger/updates/summary-days.ts'
import { dayMs } from '../platform/clock.ts'
import { toUnits } from '../platform/words.ts'
import { summariesOf } from './figures.ts'
import type { Summary } from './stored-summary.ts'

/** Units a day that no plan charged. `null`: fewer than three days are known. */
export interface Pace {
  readonly last7Days: number | null
  readonly month: number | null
}

export const noPace: Pace = { last7Days: null, month: null }

/** `limit` includes grants. `null`: unlimited. */
interface HistoryPoint {
  readonly at: number
  readonly used: number
  readonly limit: number | null
}

export interface History {
  /** The start of the budget's month, and the units used before that time. */
  readonly start: Pick<HistoryPoint, 'at' | 'used'>
  /** At the end of each day that a sweep saw. */
  readonly nights: readonly HistoryPoint[]
  readonly now: HistoryPoint
}

const fewestDays = 3

export function historyOf(view: View, summaries: readonly Summary[], budget: string): History {
  // The first sweep also sums up the day before the ledger began.
  const ended = summaries.filter(({ day }) => day.month === view.month.name && day.end > view.definitions.createdAt)
  const known = ended.filter(({ used }) => Object.keys(used).length > 0)
  const nights = known.flatMap(({ day, used }): HistoryPoint[] => {
    const counter = Object.hasOwn(used, budget) ? used[budget] : undefined
    return counter ? [{ at: day.end, used: counter.used, limit: counter.limit ?? null }] : []
  })
  const counter = counterOf(view.book, 'month', budget)
  return {
    start: startOf(view, known, budget),
    nights,
    now: {
      at: Math.min(view.now, view.month.end),
      used: counter ? usedOf(counter) : 0,
      limit: !counter || counter.limit === 'unlimited' ? null : asNumber(counter.limit) + counter.granted,
    },
  }
}

/** The history of a new budget starts at the last night without that budget. */
function startOf({ definitions, month }: View, known: readonly Summary[], budget: string): History['start'] {
  const { createdAt, identity } = definitions
  const isFirstMonth = createdAt >= month.start
  const used = isFirstMonth && budget === rootBudget ? (identity?.began.usedAtStart ?? 0) : 0
  const first = known.findIndex((summary) => Object.hasOwn(summary.used, budget))
  const before = first < 0 ? known.at(-1) : known[first - 1]
  return { at: before?.day.end ?? (isFirstMonth ? createdAt : month.start), used }
}

/** @param isPlanRunning whether to leave out today, because its summary lacks the charges of a running plan. */
export function createPace(view: View, summaries: readonly Summary[], isPlanRunning: boolean) {
  const today = summaryDayAt(view.definitions.calendar, view.now).start
  const plannedOn = new Map(
    summaries.map(({ day, mark, planned }) => [day.end, mark === null && day.start === today ? {} : planned] as const),
  )
  return (budget: string): Pace =>
    paceOf(view, historyOf(view, summaries, budget), { budget, plannedOn, isPlanRunning })
}

interface Planned {
  readonly budget: string
  /** What plans charged on each day, by its end. */
  readonly plannedOn: ReadonlyMap<number, Summary['planned']>
  readonly isPlanRunning: boolean
}

function paceOf(view: View, { start, nights, now }: History, { budget, plannedOn, isPlanRunning }: Planned): Pace {
  const points = [start, ...nights, ...(isPlanRunning ? [] : [now])]
  const spans = points.slice(1).flatMap((to, index) => {
    const from = points[index] ?? start
    const planned = [...plannedOn].filter(([end]) => end > from.at && (end <= to.at || to === now))
    // A day that is not summed up does not say what plans charged.
    if (to.at <= from.at || planned.some(([, units]) => units === undefined)) return []
    const units = planned.reduce((sum, [, of]) => sum + (of && Object.hasOwn(of, budget) ? (of[budget] ?? 0) : 0), 0)
    return [{ from: from.at, ms: to.at - from.at, units: to.used - from.used - units }]
  })
  const week = points.findLast(({ at }) => at <= view.now - 7 * dayMs)?.at ?? 0
  return { last7Days: perDay(spans.filter(({ from }) => from >= week)), month: perDay(spans) }
}

/** Never negative, because corrections may give back more than was spent. */
function perDay(spans: readonly { readonly ms: number; readonly units: number }[]): number | null {
  const days = spans.reduce((sum, { ms }) => sum + ms, 0) / dayMs
  const units = spans.reduce((sum, { units }) => sum + units, 0)
  return days < fewestDays ? null : Math.round(Math.max(0, units / days) * 10) / 10
}

export const both = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)

/** Leaves out nights that one history does not know. @param all at least one. */
export const sumOfHistories = (all: readonly History[]): History => all.reduce(plusHistory)

function plusHistory(a: History, b: History): History {
  const nights = [...new Set([...a.nights, ...b.nights].map(({ at }) => at))].toSorted((one, two) => one - two)
  return {
    start: { at: Math.min(a.start.at, b.start.at), used: a.start.used + b.start.used },
    nights: nights.flatMap((night) => {
      const [one, other] = [nightOf(a, night), nightOf(b, night)]
      return one && other ? { at: night, used: one.used + other.used, limit: both(one.limit, other.limit) } : []
    }),
    now: { at: a.now.at, used: a.now.used + b.now.used, limit: both(a.now.limit, b.now.limit) },
  }
}

/** Before the start of a history, the use and the limit are 0. */
const nightOf = ({ start, nights }: History, night: number) =>
  nights.find(({ at }) => at === night) ?? (start.at >= night ? { used: 0, limit: 0 } : null)

export type MonthFigures = Figures & { readonly month: Window }

/** A deleted budget has no limit. */
export type FiguresInMonth = Figures & { readonly isDeleted?: true }

/** The book keeps the counter of a budget that was deleted in the month. A narrowed reader's book has none. */
export const deletedIn = (view: View): readonly FiguresInMonth[] =>
  Object.keys(view.book.counters.month).flatMap((name): FiguresInMonth[] => {
    if (budgetNamed(view.definitions, name) || callerOfCounter(name) !== null) return []
    const left = figuresOf(view, { name, limits: [] }, 'month')
    const isUsed = [left.granted, left.spent, left.held, left.inDoubt].some((units) => units !== 0)
    return isUsed ? [{ ...left, limit: 'unlimited', isDeleted: true }] : []
  })

function figuresIn(past: View): readonly FiguresInMonth[] {
  const figures = Object.values(past.definitions.budgets).map((budget) => figuresOf(past, budget, 'month'))
  return [...figures, ...deletedIn(past)]
}

export function createMonths({ ledger }: { ledger: Ledger }) {
  const nightsOf = (view: View, { start, end }: Pick<Window, 'start' | 'end'>) =>
    summariesOf(ledger, view, { since: start, until: end - 1 }, { withRows: false })

  const daysOf = ({ definitions }: View, { start, end }: Pick<Window, 'start' | 'end'>) =>
    summaryDays(definitions.calendar, { since: start, until: end - 1 })

  /** The view of a month at its end, or now if the month is open. */
  async function viewOf(view: View, month: Window): Promise<View> {
    if (month.name === view.month.name) return view
    const stored = await ledger.bookNamed(month.name)
    // The book of an ended month keeps the limits that held at its end.
    return { ...view, month, stored, book: stored ?? (await unusedBook(view, month)) }
  }

  /** A month without movements has no book. The summaries of its days have its limits. */
  async function unusedBook(view: View, month: Window): Promise<Book> {
    const { definitions } = view
    const summaries = await nightsOf(view, month)
    const known = summaries.findLast(({ used }) => Object.keys(used).length > 0)?.used ?? {}
    const book = freshBook(definitions, month.name, dayAt(definitions.calendar, month.start).name)
    const limits = Object.entries(known).map(
      ([budget, { limit }]) => [budget, freshCounter(limit === undefined ? 'unlimited' : toUnits(limit))] as const,
    )
    return { ...book, counters: { ...book.counters, month: { ...book.counters.month, ...Object.fromEntries(limits) } } }
  }

  /** `history`: of the account, or of all top budgets of a narrowed reader. */
  async function pastMonth(view: View, month: Window) {
    const [past, summaries] = await Promise.all([viewOf(view, month), nightsOf(view, month)])
    const tops = topsOf(view.definitions)
    const histories = (tops.length > 0 ? tops : [rootBudget]).map((top) => historyOf(past, summaries, top))
    return { view: past, figures: figuresIn(past), history: sumOfHistories(histories) }
  }

  /** The newest month comes first. Months before the ledger began are left out. */
  async function lastMonths(view: View, name: string, number: number): Promise<readonly MonthFigures[]> {
    const { definitions } = view
    const budget = budgetNamed(definitions, name)
    if (!budget) return []
    const months = [view.month]
    while (months.length < number) months.push(monthBefore(definitions.calendar, months.at(-1) ?? view.month))
    const known = months.filter(({ end }) => end > definitions.createdAt)
    return Promise.all(
      known.map(async (month) => ({ ...figuresOf(await viewOf(view, month), budget, 'month'), month })),
    )
  }

  /** The account's use at the end of the same day of last month, or of its last day. `null`: unknown. */
  async function usedLastMonth(view: View): Promise<number | null> {
    const { definitions, month, now } = view
    const before = monthBefore(definitions.calendar, month)
    if (definitions.createdAt >= before.end) return null
    const { length } = daysOf(view, { start: month.start, end: now + 1 })
    const day = daysOf(view, before).slice(0, length).at(-1) ?? before
    const [summary] = await nightsOf(view, day)
    const used = topsOf(definitions).map((top) => summary?.used[top]?.used)
    return used.reduce<number | null>((sum, each) => (sum === null || each === undefined ? null : sum + each), 0)
  }

  return { pastMonth, lastMonths, usedLastMonth }
}

export interface DayUse {
  /** `2026-11-20` */
  readonly date: string
  readonly start: number
  readonly end: number
  readonly units: number
}

/** Leaves out days that do not begin and end with a known figure. */
export function dayUses({ definitions, month }: View, { start, nights, now }: History): readonly DayUse[] {
  const known = new Map([start, ...nights].map(({ at, used }) => [at, used]))
  return summaryDays(definitions.calendar, { since: month.start, until: now.at - 1 }).flatMap((day) => {
    const isFirst = start.at >= day.start && start.at < day.end
    const before = isFirst ? start.used : known.get(day.start)
    const after = now.at <= day.end ? now.used : known.get(day.end)
    if (before === undefined || after === undefined) return []
    return [{ date: day.name.slice('day:'.length), start: day.start, end: day.end, units: after - before }]
  })
}

/** `null`: less than a day is known. */
export function dailyMean({ start, now }: History): number | null {
  const days = (now.at - start.at) / dayMs
  return days < 1 ? null : Math.round((now.used - start.used) / days)
}

export interface Saved {
  readonly updates: number
  readonly units: number
}

export function savedIn({ month }: Pick<View, 'month'>, summaries: readonly Summary[]): Saved | null {
  const counted = summaries.filter(({ day, mark }) => day.month === month.name && mark !== null)
  const sum = (of: (summary: Summary) => number) => counted.reduce((total, summary) => total + of(summary), 0)
  return counted.length === 0
    ? null
    : { updates: sum(({ duplicates }) => duplicates), units: sum(({ saved }) => saved) }
}
