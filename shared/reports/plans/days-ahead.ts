import type { PlayedRun } from '../../guard/plans/play.ts'
import { type Calendar, dayAt, type Window } from '../../ledger/definitions/windows.ts'

/** The cost of one run. `unpriced`: the number of updates that `units` leaves out, because they lack a price. */
export interface Cost {
  readonly units: number
  readonly unpriced: number
}

export interface DuePlan extends Cost {
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
  runs,
  paused,
  runsOut,
  resets,
}: {
  readonly days: readonly Window[]
  readonly runs: readonly PlayedRun[]
  /** The runs of paused plans, if they resumed. */
  readonly paused: readonly PlayedRun[]
  /** `hadNothingLeft`: before the first plan took anything. */
  readonly runsOut: readonly { readonly budget: string; readonly at: number; readonly hadNothingLeft: boolean }[]
  readonly resets: readonly number[]
}) {
  return days.map((day) => ({
    day,
    due: dueOn(day, runs),
    paused: dueOn(day, paused),
    runsOut: runsOut.filter(({ at }) => isWithin(day, at)),
    resetsAt: resets.find((at) => isWithin(day, at)) ?? null,
  }))
}

/** Runs are in the order of their times. */
function dueOn(day: Window, runs: readonly PlayedRun[]): readonly DuePlan[] {
  const due = new Map<string, { plan: string; times: number[]; units: number; unpriced: number }>()
  for (const { plan, time, units, unpriced } of runs) {
    if (!isWithin(day, time)) continue
    const sum = due.get(plan.name) ?? { plan: plan.name, times: [], units: 0, unpriced: 0 }
    due.set(plan.name, sum)
    sum.times.push(time)
    sum.units += units
    sum.unpriced += unpriced
  }
  return [...due.values()]
}

const isWithin = ({ start, end }: Window, instant: number): boolean => start <= instant && instant < end
