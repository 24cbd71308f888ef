import { bookAsOf } from '../../ledger/book/book.ts'
import { chainOf, type Definitions, pauseOf, type Stop, topsOf, windowKinds } from '../../ledger/book/definitions.ts'
import { type Calendar, dayAt, monthAfter, type Window } from '../../ledger/book/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type Occurrence, occurrencesOf } from '../../ledger/updates/tasks.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import type { Price } from '../../ledger/views/projects.ts'
import type { Summary } from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs, minuteMs } from '../../platform/clock.ts'
import { lastRunOf, paceOf } from '../reports/history.ts'
import type { Recent } from '../reports/summary.ts'
import { type Figures, figuresOf, figuresOfChain, tightest, zoneOf } from '../sentences.ts'
import { budgetFor, whyNotPaid } from '../update/projects.ts'
import { whyNotUnowned } from '../update/unowned.ts'
import {
  chargesOf,
  type Forecast,
  type ForecastCounter,
  type ForecastPlan,
  forecastCounters,
  type KnownPrice,
  priceKey,
} from './forecast.ts'
import type { Plan } from './plans-file.ts'
import { timesOf } from './schedule.ts'

export interface PlanStatus {
  readonly plan: Plan
  readonly paused: Stop | null
  /** `null`: never, or unknown (only AWS knows when a rate's rule began). */
  readonly next: number | null
  readonly last: Occurrence | null
}

export interface Upcoming {
  readonly days: readonly DayAhead[]
  readonly costs: ReadonlyMap<string, Cost>
}

/** A leap day may be years away. */
const lookedAheadMs = 9 * 366 * dayMs

export interface CalendarParts {
  ledger: Ledger
  plans: readonly Plan[]
  prices: () => Promise<readonly Price[]>
  recent: Recent
}

export const createCalendar = (parts: CalendarParts) => ({
  planStatuses: (given?: Promise<View>) => planStatuses(parts, given),
  forecast: (given?: View | Promise<View>) => forecast(parts, given),
  forecastWith: (given?: View | Promise<View>) => forecastWith(parts, given),
  upcoming: (weeks: number, given?: Promise<View>) => upcoming(parts, weeks, given),
  budgetsOf: (name: string) => budgetsOf(parts, name),
})

async function planStatuses(
  parts: CalendarParts,
  given?: Promise<View>,
): Promise<{ readonly plans: readonly PlanStatus[]; readonly zone: string }> {
  const { ledger, plans } = parts
  const [view, ...lasts] = await Promise.all([given ?? ledger.view(), ...plans.map((plan) => lastOf(parts, plan))])
  const rows = plans.map((plan, index): PlanStatus => {
    const last = lasts[index] ?? null
    const paused = pauseOf(view.definitions, plan.name) ?? null
    return { plan, paused, last, next: plan.enabled ? nextOf(plan, last, view.now) : null }
  })
  return { plans: rows, zone: zoneOf(view) }
}

const lastOf = async ({ ledger }: CalendarParts, plan: Plan): Promise<Occurrence | null> =>
  (await ledger.occurrences.latest(occurrencesOf(plan.name), 1))[0] ?? null

async function forecast(parts: CalendarParts, given?: View | Promise<View>): Promise<readonly Forecast[]> {
  return (await forecastWith(parts, given)).forecasts
}

export interface ForecastReading {
  readonly view: View
  readonly plans: readonly ForecastPlan[]
  /** Of the month and of the last 30 days, without all rows. */
  readonly summaries: readonly Summary[]
  readonly forecasts: readonly Forecast[]
}

/** The number of requests depends on the plans alone. */
async function forecastWith(parts: CalendarParts, given?: View | Promise<View>): Promise<ForecastReading> {
  const looked = Promise.resolve(given ?? parts.ledger.view())
  const [{ view, isPlanRunning, ...outlook }, summaries] = await Promise.all([
    lookOut(parts, looked),
    looked.then(parts.recent.summaries),
  ])
  const counters = figuresOfChain(view, Object.values(view.definitions.budgets)).map((each) => toForecast(each, view))
  const forecasts = forecastCounters({
    now: view.now,
    counters,
    ...outlook,
    paceOf: (budget) => paceOf(view, summaries, budget, isPlanRunning),
    lastPriceOf: (budget) => lastRunOf(summaries, budget).price,
  })
  return { view, plans: outlook.plans, summaries, forecasts }
}

async function upcoming(parts: CalendarParts, weeks: number, given?: Promise<View>): Promise<Upcoming> {
  const { ledger } = parts
  const { view, isPlanRunning: _now, ...outlook } = await lookOut(parts, given)
  const { definitions, now, month } = view
  const days = daysAhead(definitions.calendar, now, weeks)
  const next = monthAfter(definitions.calendar, month)
  const nextDay = dayAt(definitions.calendar, next.start).name
  const nextBook = bookAsOf(await ledger.bookNamed(next.name), definitions, next.name, nextDay)
  const counters = [view, { ...view, month: next, book: nextBook }].flatMap((each) =>
    Object.values(definitions.budgets).map((budget) => toForecast(figuresOf(each, budget, 'month'), each)),
  )
  const runsOut = forecastCounters({ now, counters, ...outlook }).flatMap(({ budget, exhaustedAt }) =>
    exhaustedAt === null ? [] : [{ budget, at: exhaustedAt }],
  )
  const costs = costsOf(outlook.plans, outlook.priceOf)
  const ahead = lookAhead({ now, days, runsOut, resets: [month.end, next.end], costs, plans: outlook.plans })
  const [top, ...others] = topsOf(definitions)
  const accounts = others.length === 0 ? counters.filter(({ budget }) => budget === top) : []
  const leftAt = (at: number) => {
    const counter = accounts.find(({ start, end }) => start <= at && at < end) ?? accounts.at(-1)
    return counter?.available == null ? null : counter.available - takenBetween(ahead, counter.start, at)
  }
  return { days: ahead.map((each) => ({ ...each, left: leftAt(each.day.end - 1) })), costs }
}

function takenBetween(days: readonly Pick<DayAhead, 'due'>[], from: number, to: number): number {
  const each = days.flatMap(({ due }) =>
    due.flatMap(({ times, units }) => times.map((at) => [at, units / times.length])),
  )
  return each.reduce((sum, [at = 0, units = 0]) => (from <= at && at <= to ? sum + units : sum), 0)
}

async function lookOut(parts: CalendarParts, given?: View | Promise<View>) {
  const { ledger, prices, plans } = parts
  const [view, known, lasts] = await Promise.all([
    given ?? ledger.view(),
    prices(),
    Promise.all(plans.map((plan) => lastOf(parts, plan))),
  ])
  const { definitions } = view
  const priced = new Map(known.map((price) => [priceKey(price.kind, price.project), price]))
  const due = plans.map((plan, index) => ({
    plan,
    paused: pauseOf(definitions, plan.name) !== undefined,
    chainOf: (project: string) => chargedBy(definitions, plan, project),
    last: lasts[index]?.time ?? null,
  }))
  const priceOf = (kind: Plan['kind'], project: string) => priced.get(priceKey(kind, project)) ?? null
  const isPlanRunning = lasts.some((last) => last && view.now - (last.doneAt ?? view.now) < countedWithinMs)
  return { view, plans: due, priceOf, isPlanRunning }
}

/** Sweeps are five minutes apart, and add what a plan charged to the summary of its day. */
const countedWithinMs = 6 * minuteMs

async function budgetsOf(parts: CalendarParts, name: string): Promise<readonly string[]> {
  const { ledger, plans } = parts
  const { definitions } = await ledger.view()
  const plan = plans.find((each) => each.name === name)
  return [...new Set(plan?.projects.flatMap((project) => chargedBy(definitions, plan, project).slice(0, 1)))]
}

function toForecast(figures: Figures, view: View): ForecastCounter {
  const { definitions } = view
  const windows = figures.window === 'day' ? windowKinds : (['month'] as const)
  const chain = chainOf(definitions, figures.budget).flatMap((budget) =>
    windows.map((window) => figuresOf(view, budget, window)),
  )
  return {
    ...figures,
    available: figures.limit === 'unlimited' ? null : figures.available,
    payable: tightest(chain)?.available ?? null,
  }
}

/** Empty if the update would be refused. */
function chargedBy(definitions: Definitions, plan: Plan, project: string): readonly string[] {
  return whyNotPaidBy(definitions, plan, project) === null
    ? chainOf(definitions, budgetFor(definitions, plan, project)).map(({ name }) => name)
    : []
}

export function whyNotPaidBy(definitions: Definitions, plan: Plan, project: string): Problem | null {
  const charge = { project, budget: budgetFor(definitions, plan, project), caller: `schedule:${plan.name}` }
  return whyNotPaid(definitions, charge, plan.mayChargeAncestors) ?? whyNotUnowned(definitions, project)
}

function nextOf({ schedule }: Plan, last: Occurrence | null, now: number): number | null {
  if (schedule.kind === 'rate' && !last) return null
  return timesOf(schedule, { from: now, until: now + lookedAheadMs, max: 1, anchor: last?.time ?? 0 })[0] ?? null
}

export interface DayAhead {
  readonly day: Window
  readonly due: readonly DuePlan[]
  readonly paused: readonly DuePlan[]
  /** If only plans spend, and prices stay. */
  readonly runsOut: readonly { readonly budget: string; readonly at: number }[]
  readonly resetsAt: number | null
  /** At the day's end, if only plans spend; `null`: it is unlimited, or the reader sees several tops. */
  readonly left: number | null
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

const costsOf = (
  plans: readonly ForecastPlan[],
  priceOf: (kind: Plan['kind'], project: string) => KnownPrice | null,
): ReadonlyMap<string, Cost> =>
  new Map(
    plans.map(({ plan, chainOf }) => {
      const paid = (project: string) => (chainOf(project).length > 0 ? [plan.name] : [])
      return [plan.name, chargesOf(plan, paid, priceOf).get(plan.name) ?? nothing]
    }),
  )

const maxTimes = 52_000

/** @param weeks this week is the first; the last ends on its Sunday. */
function daysAhead(calendar: Calendar, now: number, weeks: number): readonly Window[] {
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

function lookAhead({
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
}): readonly Omit<DayAhead, 'left'>[] {
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
