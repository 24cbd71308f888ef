import { type Calendar, dayAt, type Window } from '../../ledger/book/windows.ts'
import type { Cost, Demand } from './forecast.ts'

export interface DuePlan extends Pick<Cost, 'units' | 'unpriced'> {
  readonly plan: string
  /** Ascending instants in ms; at least one. */
  readonly times: readonly number[]
}

/** @param weeks the number of weeks, from this week on; the last week ends on its Sunday. */
export function daysAhead(calendar: Calendar, now: number, weeks: number): readonly Window[] {
  let day = dayAt(calendar, now)
  const days = [day]
  for (let left = weeks * 7 - weekdayOf(day) - 1; left > 0; left--) {
    day = dayAt(calendar, day.end)
    days.push(day)
  }
  return days
}

/** 0 is Monday. */
export const weekdayOf = ({ name }: Pick<Window, 'name'>): number =>
  (new Date(name.slice('day:'.length)).getUTCDay() + 6) % 7

/** The plans that are due on each day. `runsOut` assumes that only plans spend, and that prices stay. */
export function lookAhead({
  days,
  demands,
  costs,
  runsOut,
  resets,
}: {
  readonly days: readonly Window[]
  readonly demands: readonly Demand[]
  readonly costs: ReadonlyMap<string, Cost>
  readonly runsOut: readonly { readonly budget: string; readonly at: number }[]
  readonly resets: readonly number[]
}) {
  const dueOn = (day: Window, isPaused: boolean): readonly DuePlan[] =>
    demands
      .filter(({ paused }) => paused === isPaused)
      .flatMap(({ plan, ...demand }) => {
        const times = demand.times.filter((time) => isWithin(day, time))
        const { units = 0, unpriced = 0 } = costs.get(plan) ?? {}
        return times.length > 0 ? [{ plan, times, units: times.length * units, unpriced: times.length * unpriced }] : []
      })
      .toSorted((a, b) => (a.times[0] ?? 0) - (b.times[0] ?? 0))
  return days.map((day) => ({
    day,
    due: dueOn(day, false),
    paused: dueOn(day, true),
    runsOut: runsOut.filter(({ at }) => isWithin(day, at)),
    resetsAt: resets.find((at) => isWithin(day, at)) ?? null,
  }))
}

const isWithin = ({ start, end }: Window, instant: number): boolean => start <= instant && instant < end
