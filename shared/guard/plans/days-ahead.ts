import { type Calendar, dayAt, type Window } from '../../ledger/book/windows.ts'
import { chargesOf, type ForecastPlan, type PriceOf } from './forecast.ts'
import { timesOf } from './schedule.ts'

export interface DayAhead {
  readonly day: Window
  readonly due: readonly DuePlan[]
  readonly paused: readonly DuePlan[]
  /** If only plans spend, and prices stay. */
  readonly runsOut: readonly { readonly budget: string; readonly at: number }[]
  readonly resetsAt: number | null
  /** At the day's end, if only plans spend; `null`: it is unlimited, or the reader sees several tops. */
  readonly left: number | null
  /** An update before the day's end has no known price. */
  readonly isLeftAtMost: boolean
}

export interface DuePlan {
  readonly plan: string
  /** Ascending instants in ms; at least one. */
  readonly times: readonly number[]
  readonly units: number
  /** How many updates `units` leaves out, because they lack a price. */
  readonly unpriced: number
}

export interface Cost {
  readonly units: number
  readonly unpriced: number
  readonly pricedAt: number | null
}

const nothing: Cost = { units: 0, unpriced: 0, pricedAt: null }

export const costsOf = (plans: readonly ForecastPlan[], priceOf: PriceOf): ReadonlyMap<string, Cost> =>
  new Map(
    plans.map(({ plan, chainOf }) => {
      const paid = (project: string) => (chainOf(project).length > 0 ? [plan.name] : [])
      return [plan.name, chargesOf(plan, paid, priceOf).get(plan.name) ?? nothing]
    }),
  )

const maxTimes = 52_000

/** @param weeks this week is the first; the last ends on its Sunday. */
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

export function lookAhead({
  now,
  days,
  plans,
  costs,
  runsOut,
  resets,
}: {
  readonly now: number
  readonly days: readonly Window[]
  readonly plans: readonly ForecastPlan[]
  readonly costs: ReadonlyMap<string, Cost>
  readonly runsOut: DayAhead['runsOut']
  readonly resets: readonly number[]
}): readonly Omit<DayAhead, 'left' | 'isLeftAtMost'>[] {
  const until = days.at(-1)?.end ?? now
  const due = plans
    .filter(({ plan }) => plan.enabled)
    .map(({ plan, paused, last }) => ({
      plan: plan.name,
      paused,
      times: timesOf(plan.schedule, { from: now, until, max: maxTimes, anchor: last ?? 0 }),
      each: costs.get(plan.name) ?? nothing,
    }))
  const dueOn = (day: Window, isPaused: boolean): readonly DuePlan[] =>
    due
      .filter(({ paused }) => paused === isPaused)
      .flatMap(({ plan, times, each }) => {
        const within = times.filter((time) => isWithin(day, time))
        const [units, unpriced] = [within.length * each.units, within.length * each.unpriced]
        return within.length > 0 ? [{ plan, times: within, units, unpriced }] : []
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
