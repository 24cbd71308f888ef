import { rootBudget } from '../../ledger/book/definitions.ts'
import { type Calendar, dayAt, type Window } from '../../ledger/book/windows.ts'
import { chargesOf, type ForecastPlan, type Price } from './forecast.ts'
import type { Plan } from './plans-file.ts'
import { timesOf } from './schedule.ts'

/** One day of the account, and what plans will do on it, as far as it is still to come. */
export interface DayAhead {
  readonly day: Window
  /** The earliest first. */
  readonly due: readonly DuePlan[]
  /** Where the units of budgets end that day, if plans cost what they cost now and no one else asks. */
  readonly runsOut: readonly Exhaustion[]
  /** When a new month begins on it. */
  readonly resetsAt: number | null
}

export interface DuePlan {
  readonly plan: string
  /** Ascending, in ms since the epoch; at least one. */
  readonly times: readonly number[]
  /** What they cost together, at the prices last seen. */
  readonly units: number
  /** Projects with an unknown price, each time counted: what `units` leaves out. */
  readonly unpriced: number
}

export interface Exhaustion {
  readonly budget: string
  readonly at: number
}

/** What one time of a plan costs, at the prices last seen; projects without one are counted apart. */
export interface Cost {
  readonly units: number
  readonly unpriced: number
  /** When the oldest of these prices was learnt. */
  readonly pricedAt: number | null
}

const nothing: Cost = { units: 0, unpriced: 0, pricedAt: null }

/** Of every plan, whether it is due or not. Every budget's chain ends at the root. */
export const costsOf = (
  plans: readonly ForecastPlan[],
  priceOf: (kind: Plan['kind'], project: string) => Price | null,
): ReadonlyMap<string, Cost> =>
  new Map(plans.map(({ plan, chainOf }) => [plan.name, chargesOf(plan, chainOf, priceOf).get(rootBudget) ?? nothing]))

/** Every minute of five weeks and an hour. */
const maxTimes = 52_000

/** @param weeks the open one, from today on, and those after it, each up to its Sunday. */
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
  readonly runsOut: readonly Exhaustion[]
  /** When months end. */
  readonly resets: readonly number[]
}): readonly DayAhead[] {
  const until = days.at(-1)?.end ?? now
  const due = plans
    .filter(({ plan, paused }) => plan.enabled && !paused)
    .map(({ plan, last }) => ({
      plan: plan.name,
      times: timesOf(plan.schedule, { from: now, until, max: maxTimes, anchor: last ?? 0 }),
      each: costs.get(plan.name) ?? nothing,
    }))
  return days.map((day) => ({
    day,
    due: due
      .flatMap(({ plan, times, each }) => {
        const within = times.filter((time) => isWithin(day, time))
        const [units, unpriced] = [within.length * each.units, within.length * each.unpriced]
        return within.length > 0 ? [{ plan, times: within, units, unpriced }] : []
      })
      .toSorted((a, b) => (a.times[0] ?? 0) - (b.times[0] ?? 0)),
    runsOut: runsOut.filter(({ at }) => isWithin(day, at)),
    resetsAt: resets.find((at) => isWithin(day, at)) ?? null,
  }))
}

const isWithin = ({ start, end }: Window, instant: number): boolean => start <= instant && instant < end
