import { type Book, freshBook, freshCounter } from '../../ledger/book/book.ts'
import { budgetNamed, type Definitions, rootBudget, topsOf } from '../../ledger/book/definitions.ts'
import { dayAt, monthBefore, type Window } from '../../ledger/book/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { summaryDayAt, summaryDays } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs } from '../../platform/clock.ts'
import { toUnits } from '../../platform/words.ts'
import { type Figures, figuresOf } from '../sentences.ts'
import { type History, historyOf } from './history.ts'
import { sumOfHistories } from './tops.ts'

export type MonthFigures = Figures & { readonly month: Window }

export interface PastMonth {
  readonly view: View
  readonly figures: readonly Figures[]
  /** Of the account, or of all that a narrowed reader sees. */
  readonly history: History
}

export function createMonths({ ledger }: { ledger: Ledger }) {
  /** The view of a month at its end, or now. */
  async function viewOf(view: View, month: Window): Promise<View> {
    if (month.name === view.month.name) return view
    const { definitions } = view
    const stored = await ledger.bookNamed(month.name)
    // The book of an ended month keeps the limits that held at its end.
    return { ...view, month, stored, book: stored ?? (await unusedBook(definitions, month)) }
  }

  /** A month in which nothing moved has no book; its days know the limits of that time. */
  async function unusedBook(definitions: Definitions, month: Window): Promise<Book> {
    const days = summaryDays(definitions.calendar, { since: month.start, until: month.end - 1 })
    const summaries = await ledger.summaries.read(days, { withRows: false })
    const known = summaries.findLast(({ used }) => Object.keys(used).length > 0)?.used ?? {}
    const book = freshBook(definitions, month.name, dayAt(definitions.calendar, month.start).name)
    const limits = Object.entries(known).map(
      ([budget, { limit }]) => [budget, freshCounter(limit === undefined ? 'unlimited' : toUnits(limit))] as const,
    )
    return { ...book, counters: { ...book.counters, month: { ...book.counters.month, ...Object.fromEntries(limits) } } }
  }

  async function pastMonth(view: View, month: Window): Promise<PastMonth> {
    const days = summaryDays(view.definitions.calendar, { since: month.start, until: month.end - 1 })
    const [past, summaries] = await Promise.all([viewOf(view, month), ledger.summaries.read(days, { withRows: false })])
    const figures = Object.values(view.definitions.budgets).map((budget) => figuresOf(past, budget, 'month'))
    const tops = topsOf(view.definitions)
    const histories = (tops.length > 0 ? tops : [rootBudget]).map((top) => historyOf(past, summaries, top))
    return { view: past, figures, history: sumOfHistories(histories) }
  }

  /** The newest first. Months before the ledger began are left out. */
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

  /** What the account had used at the end of the same day. `null`: unknown. */
  async function usedLastMonth({ definitions, month, now }: View): Promise<number | null> {
    const before = monthBefore(definitions.calendar, month)
    if (definitions.createdAt >= before.end) return null
    const day = summaryDayAt(definitions.calendar, Math.min(before.end - 1, before.start + (now - month.start)))
    const [summary] = await ledger.summaries.read([day], { withRows: false })
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
