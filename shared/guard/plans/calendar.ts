import { bookAsOf } from '../../ledger/book/book.ts'
import { chainOf, type Definitions, pauseOf, type Stop, topsOf, windowKinds } from '../../ledger/book/definitions.ts'
import { dayAt, monthAfter } from '../../ledger/book/windows.ts'
import { isKnownToHaveRun } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs, minuteMs } from '../../platform/clock.ts'
import { type PlannedParts, withParts } from '../options.ts'
import type { Recent } from '../reports/figures.ts'
import { paceOf } from '../reports/history.ts'
import { lastsOf, latestOf } from '../reports/last-updates.ts'
import { type Figures, figuresOf, figuresOfChain, tightest, zoneOf } from '../sentences.ts'
import { whyNotPaidBy } from '../update/unowned.ts'
import { attemptId } from './attempts.ts'
import { daysAhead, lookAhead } from './days-ahead.ts'
import {
  type Cost,
  costsOf,
  demandsOf,
  dueIn,
  type Forecast,
  type ForecastCounter,
  type ForecastPlan,
  forecastCounters,
  forecastOf,
  type KnownPrice,
  type PriceOf,
  priceKey,
  takenUntil,
} from './forecast.ts'
import type { Plan } from './plans-file.ts'
import { timesOf } from './schedule.ts'
import { type Occurrence, occurrences, occurrencesOf } from './stored-occurrence.ts'
import type { Price } from './stored-price.ts'
import { chargedBy, verdictOf } from './verdict.ts'

export interface PlanStatus {
  readonly plan: Plan
  readonly paused: Stop | null
  /** `null`: never, or unknown, because only AWS knows when the rule of a rate began. */
  readonly next: number | null
  readonly last: Occurrence | null
}

export type Upcoming = Awaited<ReturnType<typeof upcoming>>
export type DayAhead = Upcoming['days'][number]

/** The next run of any plan. */
export interface NextRun extends Pick<Cost, 'units' | 'unpriced'> {
  readonly plan: string
  readonly at: number
}

/** A leap day may be years away. */
const lookedAheadMs = 9 * 366 * dayMs

interface CalendarParts extends PlannedParts {
  prices: () => Promise<readonly Price[]>
  recent: Recent
}

export const createCalendar = (parts: CalendarParts) =>
  withParts(parts, { planStatuses, forecast, forecastWith, upcoming, budgetsOf })

async function planStatuses(
  parts: CalendarParts,
  given?: Promise<View>,
): Promise<{ readonly plans: readonly PlanStatus[]; readonly zone: string }> {
  const { ledger, plans } = parts
  const [view, ...lasts] = await Promise.all([given ?? ledger.view(), ...plans.map((plan) => lastOf(parts, plan))])
  const rows = plans.map((plan, index): PlanStatus => {
    const last = lasts[index] ?? null
    const paused = pauseOf(view.definitions, plan.name) ?? null
    return { plan, paused, last, next: plan.enabled ? nextOf(plan, last?.time ?? null, view.now) : null }
  })
  return { plans: rows, zone: zoneOf(view) }
}

const lastOf = async ({ ledger }: CalendarParts, plan: Plan): Promise<Occurrence | null> =>
  (await ledger.queue(occurrences).latest(occurrencesOf(plan.name), 1))[0] ?? null

async function forecast(parts: CalendarParts, given?: View | Promise<View>): Promise<readonly Forecast[]> {
  return (await forecastWith(parts, given)).forecasts
}

export type ForecastReading = Awaited<ReturnType<typeof forecastWith>>

/**
 * The number of requests depends on the plans alone.
 *
 * @param later updates that no summary counts yet.
 */
async function forecastWith(parts: CalendarParts, given?: View | Promise<View>, later = parts.recent.updates) {
  const looked = Promise.resolve(given ?? parts.ledger.view())
  const [{ view, isPlanRunning, ...outlook }, summaries, uncounted] = await Promise.all([
    lookOut(parts, looked),
    looked.then(parts.recent.summaries),
    looked.then(later),
  ])
  const lasts = [...summaries, lastsOf(view.definitions, uncounted)]
  const latest = latestOf(view.definitions, lasts)
  const counters = figuresOfChain(view, Object.values(view.definitions.budgets)).map((each) => toForecast(each, view))
  const forecasts = forecastCounters({
    now: view.now,
    counters,
    ...outlook,
    paceOf: (budget) => paceOf(view, summaries, budget, isPlanRunning),
    lastPriceOf: (budget) => latest.runs.get(budget)?.units ?? null,
  })
  return { view, plans: outlook.plans, summaries, latest, forecasts, next: nextRun(view.now, outlook) }
}

function nextRun(now: number, { plans, priceOf }: { plans: readonly ForecastPlan[]; priceOf: PriceOf }) {
  const runs = plans.flatMap(({ plan, paused, last }) => {
    const at = plan.enabled && !paused ? nextOf(plan, last, now) : null
    return at === null ? [] : [{ plan: plan.name, at }]
  })
  const [first] = runs.toSorted((a, b) => a.at - b.at)
  const { units = 0, unpriced = 0 } = (first && costsOf(plans, priceOf).get(first.plan)) ?? {}
  return first ? { ...first, units, unpriced } : null
}

/** `costs` and `verdicts` by the plan's name; a plan that does not run has no verdict. */
async function upcoming(parts: CalendarParts, weeks: number, given?: Promise<View>) {
  const { ledger } = parts
  const { view, plans, priceOf } = await lookOut(parts, given)
  const { definitions, now, month } = view
  const days = daysAhead(definitions.calendar, now, weeks)
  const next = monthAfter(definitions.calendar, month)
  const nextDay = dayAt(definitions.calendar, next.start).name
  const nextBook = bookAsOf(await ledger.bookNamed(next.name), definitions, next.name, nextDay)
  const views = [view, { ...view, month: next, book: nextBook }]
  const counters = views.flatMap((each) =>
    Object.values(definitions.budgets).map((budget) => toForecast(figuresOf(each, budget, 'month'), each)),
  )
  const demands = demandsOf(plans, { now, until: Math.max(next.end, days.at(-1)?.end ?? now), priceOf })
  const runsOut = counters.flatMap((counter) => {
    const { budget, exhaustedAt } = forecastOf(counter, demands, { now })
    return exhaustedAt === null ? [] : [{ budget, at: exhaustedAt }]
  })
  const costs = costsOf(plans, priceOf)
  const [top, ...others] = topsOf(definitions)
  const accounts = others.length === 0 ? counters.filter(({ budget }) => budget === top) : []
  /** The units left if only plans spend. `null`: unlimited, or the reader sees several top budgets. */
  const leftAt = (at: number) => {
    const counter = accounts.find(({ start, end }) => start <= at && at < end) ?? accounts.at(-1)
    if (counter?.available == null) return { left: null, isLeftAtMost: false }
    const due = dueIn({ ...counter, end: at + 1 }, demands)
    return { left: counter.available - takenUntil(due, at), isLeftAtMost: takenUntil(due, at, 'unpriced') > 0 }
  }
  const { separator } = parts.options
  const verdicts = plans.flatMap(({ plan, paused, last }) => {
    if (!plan.enabled || paused) return []
    return [[plan.name, verdictOf({ views, demands, priceOf, separator }, plan, nextOf(plan, last, now))] as const]
  })
  return {
    days: lookAhead({ days, demands, costs, runsOut, resets: [month.end, next.end] }).map((each) => ({
      ...each,
      ...leftAt(each.day.end - 1),
    })),
    costs,
    verdicts: new Map(verdicts),
  }
}

async function lookOut(parts: CalendarParts, given?: View | Promise<View>) {
  const { ledger, prices, plans } = parts
  const [view, known, lasts] = await Promise.all([
    given ?? ledger.view(),
    prices(),
    Promise.all(plans.map((plan) => lastOf(parts, plan))),
  ])
  const { definitions } = view
  const priced = new Map<string, KnownPrice>(
    known.map(({ kind, project, units, at }) => [priceKey(kind, project), { units, at }]),
  )
  for (const [key, price] of await lastPrices(parts, lasts, priced)) priced.set(key, price)
  const due = plans.map((plan, index) => ({
    plan,
    paused: pauseOf(definitions, plan.name) !== undefined,
    chainOf: (project: string) => countersOf(definitions, plan, project),
    last: lasts[index]?.time ?? null,
  }))
  const priceOf: PriceOf = (kind, project) => priced.get(priceKey(kind, project)) ?? null
  const isPlanRunning = lasts.some((last) => last && view.now - (last.doneAt ?? view.now) < countedWithinMs)
  return { view, plans: due, priceOf, isPlanRunning }
}

/** Prices of each plan's last run, for projects without a read price. A refused update gives its estimate. */
async function lastPrices(
  { ledger, plans }: CalendarParts,
  lasts: readonly (Occurrence | null)[],
  priced: ReadonlyMap<string, KnownPrice>,
): Promise<ReadonlyMap<string, KnownPrice>> {
  const wanted = plans.flatMap(({ name, kind, projects }, index) => {
    const last = lasts[index]
    return projects.flatMap((project) => {
      const key = priceKey(kind, project)
      return last && !priced.has(key) ? [{ key, id: attemptId(name, last.time, project, 0) }] : []
    })
  })
  const found = wanted.length === 0 ? [] : await ledger.updatesNamed(wanted.map(({ id }) => id))
  return new Map(
    wanted.flatMap(({ key }, index) => {
      const update = found[index]
      const units = update && (isKnownToHaveRun(update) ? update.charged : update.estimated)
      return update && units != null ? [[key, { units, at: update.hold?.at ?? update.createdAt }] as const] : []
    }),
  )
}

/** A sweep runs every five minutes and adds a plan's charges to the day's summary. */
const countedWithinMs = 6 * minuteMs

async function budgetsOf({ ledger, plans }: CalendarParts, name: string): Promise<readonly string[]> {
  const { definitions } = await ledger.view()
  const plan = plans.find((each) => each.name === name)
  return [...new Set(plan?.projects.flatMap((project) => countersOf(definitions, plan, project).slice(0, 1)))]
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
const countersOf = (definitions: Definitions, plan: Plan, project: string): readonly string[] =>
  whyNotPaidBy(definitions, plan, project) === null ? chargedBy(definitions, plan, project).map(({ name }) => name) : []

function nextOf({ schedule }: Plan, last: number | null, now: number): number | null {
  if (schedule.kind === 'rate' && last === null) return null
  return timesOf(schedule, { from: now, until: now + lookedAheadMs, max: 1, anchor: last ?? 0 })[0] ?? null
}
