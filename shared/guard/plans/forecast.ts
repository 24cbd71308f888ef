import { usedOf } from '../../ledger/book/book.ts'
import type { WindowKind } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Price } from '../../ledger/views/projects.ts'
import { type Clock, dayMs, hourMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { inParallel } from '../../platform/parallel.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import { type GuardOptions, runsAtOnce, settleMarginMs } from '../options.ts'
import { noPace, type Pace } from '../reports/history.ts'
import { targetOfRequest } from '../update/quote.ts'
import type { Plan } from './plans-file.ts'
import { timesOf } from './schedule.ts'

/** Instants in ms. */
export type ForecastCounter = {
  readonly budget: string
  readonly window: WindowKind
  /** `null`: unlimited. */
  readonly available: number | null
  /** `end` belongs to the next window. */
  readonly start: number
  readonly end: number
  readonly held: number
  readonly inDoubt: number
  readonly spent: number
  /** What the tightest counter of the chain has left. `null`: all are unlimited. */
  readonly payable: number | null
}

export type ForecastPlan = {
  readonly plan: Plan
  readonly paused: boolean
  readonly chainOf: (project: string) => readonly string[]
  /** The plan's last time; a rate counts from here. */
  readonly last: number | null
}

export type KnownPrice = { readonly units: number; readonly at: number }

export type PriceOf = (kind: Kind, project: string) => KnownPrice | null

export type Forecast = {
  readonly budget: string
  readonly window: WindowKind
  readonly available: number | null
  readonly committed: number
  /** Spent, held, in doubt and committed. */
  readonly projected: number
  readonly exhaustedAt: number | null
  readonly exhaustedBy: string | null
  readonly pace: Pace
  /** `null`: too little history. */
  readonly projectedAtPace: number | null
  readonly exhaustedAtPace: number | null
  /** The price of the budget's last run, and how many of it the whole chain can still pay. */
  readonly lastPrice: number | null
  readonly updatesLeft: number | null
  readonly ifResumed: number
  readonly unpriced: number
  readonly pricedAt: number | null
}

/** More than the 89,000 minutes of the longest window. */
const maxTimes = 100_000

/** An upper bound, because refusals, reserves and cool-downs are ignored. */
export function forecastCounters({
  now,
  counters,
  plans,
  priceOf,
  paceOf = () => noPace,
  lastPriceOf = () => null,
}: {
  readonly now: number
  readonly counters: readonly ForecastCounter[]
  readonly plans: readonly ForecastPlan[]
  readonly priceOf: PriceOf
  readonly paceOf?: (budget: string) => Pace
  readonly lastPriceOf?: (budget: string) => number | null
}): readonly Forecast[] {
  const until = Math.max(now, ...counters.map(({ end }) => end))
  const demands = demandsOf(plans, { now, until, priceOf })
  return counters.map((counter) => {
    const { budget } = counter
    return forecastOf(counter, demands, { now, pace: paceOf(budget), lastPrice: lastPriceOf(budget) })
  })
}

export const demandsOf = (
  plans: readonly ForecastPlan[],
  { now, until, priceOf }: { readonly now: number; readonly until: number; readonly priceOf: PriceOf },
): readonly Demand[] =>
  plans
    .filter(({ plan }) => plan.enabled)
    .map(({ plan, paused, chainOf, last }) => ({
      plan: plan.name,
      paused,
      times: timesOf(plan.schedule, { from: now, until, max: maxTimes, anchor: last ?? 0 }),
      charges: chargesOf(plan, chainOf, priceOf),
    }))

/** How many units plans that are not paused take from a counter, from its start up to an instant. */
export function takenFrom(
  { budget, start }: Pick<ForecastCounter, 'budget' | 'start'>,
  demands: readonly Demand[],
): (instant: number) => number {
  const due = demands.flatMap(({ paused, times, charges }) => {
    const charge = charges.get(budget)
    return charge && !paused ? [{ times, units: charge.units, earlier: countUntil(times, start - 1) }] : []
  })
  return (instant) =>
    due.reduce((sum, { times, units, earlier }) => sum + Math.max(0, countUntil(times, instant) - earlier) * units, 0)
}

type Charge = { readonly units: number; readonly unpriced: number; readonly pricedAt: number | null }

export type Demand = {
  readonly plan: string
  readonly paused: boolean
  readonly times: readonly number[]
  readonly charges: ReadonlyMap<string, Charge>
}

export function chargesOf(
  { kind, projects }: Plan,
  chainOf: ForecastPlan['chainOf'],
  priceOf: PriceOf,
): ReadonlyMap<string, Charge> {
  const charges = new Map<string, Charge>()
  for (const project of projects) {
    const price = priceOf(kind, project)
    for (const budget of chainOf(project)) {
      const charge = charges.get(budget) ?? { units: 0, unpriced: 0, pricedAt: null }
      charges.set(budget, {
        units: charge.units + (price?.units ?? 0),
        unpriced: charge.unpriced + (price ? 0 : 1),
        pricedAt: price ? older(charge.pricedAt, price.at) : charge.pricedAt,
      })
    }
  }
  return charges
}

type Trend = { readonly now: number; readonly pace: Pace; readonly lastPrice: number | null }

function forecastOf(counter: ForecastCounter, demands: readonly Demand[], trend: Trend): Forecast {
  const { budget, window, available, payable, start, end } = counter
  const { now, pace, lastPrice } = trend
  const charging = demands.flatMap(({ plan, paused, times, charges }) => {
    const charge = charges.get(budget)
    const earlier = countUntil(times, start - 1)
    return charge && countUntil(times, end - 1) > earlier ? [{ plan, paused, times, earlier, charge }] : []
  })
  const due = charging.filter(({ paused }) => !paused)
  const takenUntil = (instant: number, by = due) =>
    by.reduce((sum, { times, earlier, charge }) => sum + (countUntil(times, instant) - earlier) * charge.units, 0)
  const unplannedADay = pace.last7Days ?? pace.month
  const unplannedUntil = (instant: number) =>
    Math.floor(((unplannedADay ?? 0) * Math.max(0, instant - Math.max(now, start))) / dayMs)
  const left = Math.max(available ?? Number.POSITIVE_INFINITY, 0)
  const firstAbove = (taken: (instant: number) => number) =>
    taken(end - 1) > left ? firstInstant({ from: start, to: end - 1 }, (instant) => taken(instant) > left) : null
  const committed = takenUntil(end - 1)
  const projected = usedOf(counter) + committed
  const exhaustedAt = firstAbove((instant) => takenUntil(instant))
  return {
    budget,
    window,
    available,
    committed,
    projected,
    exhaustedAt,
    exhaustedBy:
      due.find(({ times, charge }) => exhaustedAt !== null && charge.units > 0 && times.includes(exhaustedAt))?.plan ??
      null,
    pace,
    projectedAtPace: unplannedADay === null ? null : projected + unplannedUntil(end - 1),
    exhaustedAtPace:
      unplannedADay === null ? null : firstAbove((instant) => takenUntil(instant) + unplannedUntil(instant)),
    lastPrice,
    updatesLeft:
      lastPrice === null || lastPrice === 0 || payable === null ? null : Math.floor(Math.max(0, payable) / lastPrice),
    ifResumed: takenUntil(
      end - 1,
      charging.filter(({ paused }) => paused),
    ),
    unpriced: due.reduce((sum, { charge }) => sum + charge.unpriced, 0),
    pricedAt: due.reduce<number | null>((oldest, { charge }) => older(oldest, charge.pricedAt), null),
  }
}

/** Binary search. `isSo` must be true at `to`, and stay true. */
export function firstInstant({ from, to }: { from: number; to: number }, isSo: (instant: number) => boolean): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isSo(middle)) high = middle
    else low = middle + 1
  }
  return high
}

function countUntil(times: readonly number[], instant: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? instant) <= instant) low = middle + 1
    else high = middle
  }
  return low
}

const older = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

const nightMs = 12 * hourMs

/** Reads prices once a night, so that forecasts need no estimates. */
export function createPrices(parts: {
  ledger: Ledger
  tracking: Tracking
  plans: readonly Plan[]
  clock: Clock
  log: Log
  options: GuardOptions
}) {
  const { ledger, tracking, plans, clock, log, options } = parts
  const priced = [
    ...new Map(
      plans.flatMap(({ kind, projects, query, enabled }) =>
        enabled ? projects.map((project) => [priceKey(kind, project), { kind, project, query }] as const) : [],
      ),
    ).values(),
  ]

  /** Skips prices read tonight, because a second reading would replace `before`. */
  async function readPrices(endsAt: number): Promise<{ readonly read: number; readonly failed: number }> {
    const known = await ledger.prices.read(priced)
    const wanted = priced.filter((_, position) => !isOfTonight(known[position]?.at))
    // A hanging service must leave the caller time.
    const lastAt = endsAt - options.serviceTimeoutMs - settleMarginMs
    const read = await inParallel(wanted, runsAtOnce, async ({ kind, project, query }) => {
      if (clock.now() >= lastAt) return false
      const estimate = await tracking.estimate(targetOfRequest({ kind, project, ...(query && { query }) }))
      if (estimate.kind !== 'units') return false
      await ledger.prices.write({ kind, project, units: estimate.units, at: clock.now() })
      return true
    })
    const done = read.filter(Boolean).length
    log.info('prices', { read: done, failed: read.length - done })
    return { read: done, failed: read.length - done }
  }

  const isOfTonight = (at: number | undefined): boolean => at !== undefined && clock.now() - at < nightMs

  async function prices(): Promise<readonly Price[]> {
    const found = await ledger.prices.read(priced)
    return found.filter((price) => price !== null)
  }

  return { readPrices, prices }
}

export const priceKey = (kind: Kind, project: string): string => `${kind} ${project}`
