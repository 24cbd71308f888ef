import { asNumber, counterOf, usedOf } from '../../ledger/book/book.ts'
import { rootBudget } from '../../ledger/book/definitions.ts'
import { type LastRun, type Summary, summaryDayAt } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs } from '../../platform/clock.ts'

/** Units a day beside plans. `null`: fewer than three days are known. */
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
  /** When the month began for this budget, and what had been used before it. */
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

/** A budget that the nights before do not name began with the night after. */
function startOf({ definitions, month }: View, known: readonly Summary[], budget: string): History['start'] {
  const { createdAt, identity } = definitions
  const isFirstMonth = createdAt >= month.start
  const used = isFirstMonth && budget === rootBudget ? (identity?.began.usedAtStart ?? 0) : 0
  const first = known.findIndex((summary) => Object.hasOwn(summary.used, budget))
  const before = first < 0 ? known.at(-1) : known[first - 1]
  return { at: before?.day.end ?? (isFirstMonth ? createdAt : month.start), used }
}

/** @param isPlanRunning what a plan charges now is not in today's summary yet, so today is left out. */
export function paceOf(view: View, summaries: readonly Summary[], budget: string, isPlanRunning: boolean): Pace {
  const { start, nights, now } = historyOf(view, summaries, budget)
  const points = [start, ...nights, ...(isPlanRunning ? [] : [now])]
  const today = summaryDayAt(view.definitions.calendar, view.now).start
  const plannedOn = new Map(
    summaries.map(({ day, mark, planned }) => [day.end, mark === null && day.start === today ? {} : planned] as const),
  )
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

export function lastRunOf(
  summaries: readonly Summary[],
  budget: string,
): { readonly price: number | null; readonly shortSince: number | null } {
  const runs = summaries.flatMap(({ lastRuns }) => ownOf(lastRuns, budget))
  const last = runs.reduce<LastRun | null>((a, b) => (a && a.at > b.at ? a : b), null)
  const short = summaries.flatMap(({ shortSince }) => ownOf(shortSince, budget)).filter((at) => at > (last?.at ?? 0))
  return { price: last?.units ?? null, shortSince: short.length > 0 ? Math.min(...short) : null }
}

const ownOf = <T>(map: Readonly<Record<string, T>>, name: string): T[] => {
  const value = Object.hasOwn(map, name) ? map[name] : undefined
  return value === undefined ? [] : [value]
}
