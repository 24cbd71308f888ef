import { usedOf } from '../../ledger/book/book.ts'
import type { WindowKind } from '../../ledger/book/definitions.ts'
import { dayMs, hourMs } from '../../platform/clock.ts'
import { inParallel } from '../../platform/parallel.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type PlannedParts, runsAtOnce, settleMarginMs } from '../options.ts'
import { noPace, type Pace } from '../reports/history.ts'
import type { Figures } from '../sentences.ts'
import { targetOfRequest } from '../update/quote.ts'
import type { Plan } from './plans-file.ts'
import { timesOf } from './schedule.ts'
import { lastPrices, type Price } from './stored-price.ts'

/** Instants in ms. */
export type ForecastCounter = Pick<Figures, 'budget' | 'window' | 'start' | 'end' | 'held' | 'inDoubt' | 'spent'> & {
  /** `null`: unlimited. */
  readonly available: number | null
  /** The units left in the tightest counter of the chain. `null`: all are unlimited. */
  readonly payable: number | null
}

export type ForecastPlan = {
  readonly plan: Plan
  readonly paused: boolean
  readonly chainOf: (project: string) => readonly string[]
  /** The time of the plan's last run; a rate counts from this time. */
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
  /** The price of the budget's last run. `updatesLeft`: the number of updates at this price that the chain can pay. */
  readonly lastPrice: number | null
  readonly updatesLeft: number | null
  readonly ifResumed: number
  readonly unpriced: number
  readonly pricedAt: number | null
}

/** More than the 90,000 minutes of two months. */
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

/** The cost of one run. `unpriced`: the number of updates that `units` leaves out, because they lack a price. */
export interface Cost {
  readonly units: number
  readonly unpriced: number
  readonly pricedAt: number | null
}

export interface Demand {
  readonly plan: string
  readonly paused: boolean
  readonly times: readonly number[]
  readonly charges: ReadonlyMap<string, Cost>
}

export const costsOf = (plans: readonly ForecastPlan[], priceOf: PriceOf): ReadonlyMap<string, Cost> =>
  new Map(
    plans.map(({ plan, chainOf }) => {
      const paid = (project: string) => (chainOf(project).length > 0 ? [plan.name] : [])
      return [plan.name, chargesOf(plan, paid, priceOf).get(plan.name) ?? nothing]
    }),
  )

const nothing: Cost = { units: 0, unpriced: 0, pricedAt: null }

function chargesOf({ kind, projects }: Plan, chainOf: ForecastPlan['chainOf'], priceOf: PriceOf) {
  const charges = new Map<string, Cost>()
  for (const project of projects) {
    const price = priceOf(kind, project)
    for (const budget of chainOf(project)) {
      const { units, unpriced, pricedAt } = charges.get(budget) ?? nothing
      charges.set(budget, {
        units: units + (price?.units ?? 0),
        unpriced: unpriced + (price ? 0 : 1),
        pricedAt: price ? older(pricedAt, price.at) : pricedAt,
      })
    }
  }
  return charges
}

type Span = Pick<ForecastCounter, 'budget' | 'start' | 'end'>
type Due = Pick<Demand, 'plan' | 'times'> & { readonly charge: Cost }

/** The runs that take units from a counter. `end` belongs to the next window. */
export const dueIn = ({ budget, start, end }: Span, demands: readonly Demand[], paused = false): readonly Due[] =>
  demands.flatMap(({ plan, times, charges, ...demand }) => {
    const charge = charges.get(budget)
    const within = times.slice(countUntil(times, start - 1), countUntil(times, end - 1))
    return charge && demand.paused === paused && within.length > 0 ? [{ plan, times: within, charge }] : []
  })

/** The units that these runs take up to an instant. */
export const takenUntil = (due: readonly Due[], instant: number, of: 'units' | 'unpriced' = 'units'): number =>
  due.reduce((sum, { times, charge }) => sum + countUntil(times, instant) * charge[of], 0)

type Trend = { readonly now: number; readonly pace?: Pace; readonly lastPrice?: number | null }

export function forecastOf(counter: ForecastCounter, demands: readonly Demand[], trend: Trend): Forecast {
  const { budget, window, available, payable, start, end } = counter
  const { now, pace = noPace, lastPrice = null } = trend
  const due = dueIn(counter, demands)
  const taken = (instant: number) => takenUntil(due, instant)
  const unplannedADay = pace.last7Days ?? pace.month
  const unplannedUntil = (instant: number) =>
    Math.floor(((unplannedADay ?? 0) * Math.max(0, instant - Math.max(now, start))) / dayMs)
  const left = Math.max(available ?? Number.POSITIVE_INFINITY, 0)
  const firstAbove = (units: (instant: number) => number) =>
    units(end - 1) > left ? firstInstant({ from: start, to: end - 1 }, (instant) => units(instant) > left) : null
  const committed = taken(end - 1)
  const projected = usedOf(counter) + committed
  const exhaustedAt = firstAbove(taken)
  const isLast = ({ times, charge }: Due) => exhaustedAt !== null && charge.units > 0 && times.includes(exhaustedAt)
  return {
    ...{ budget, window, available, committed, projected, exhaustedAt, pace, lastPrice },
    exhaustedBy: due.find(isLast)?.plan ?? null,
    projectedAtPace: unplannedADay === null ? null : projected + unplannedUntil(end - 1),
    exhaustedAtPace: unplannedADay === null ? null : firstAbove((instant) => taken(instant) + unplannedUntil(instant)),
    updatesLeft: !lastPrice || payable === null ? null : Math.floor(Math.max(0, payable) / lastPrice),
    ifResumed: takenUntil(dueIn(counter, demands, true), end - 1),
    unpriced: due.reduce((sum, { charge }) => sum + charge.unpriced, 0),
    pricedAt: due.reduce<number | null>((oldest, { charge }) => older(oldest, charge.pricedAt), null),
  }
}

/** Binary search for the first instant at which `isSo` is true. `isSo` must stay true until `to`. */
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
export function createPrices({ ledger, tracking, plans, clock, log, options }: PlannedParts) {
  const priced = [
    ...new Map(
      plans.flatMap(({ kind, projects, query, enabled }) =>
        enabled ? projects.map((project) => [priceKey(kind, project), { kind, project, query }] as const) : [],
      ),
    ).values(),
  ]

  /** Skips prices read tonight, because a second reading would replace `before`. */
  async function readPrices(endsAt: number): Promise<{ readonly read: number; readonly failed: number }> {
    const known = await ledger.item(lastPrices).read(priced)
    const wanted = priced.filter((_, position) => !isOfTonight(known[position]?.at))
    // A hanging service must leave the caller time.
    const lastAt = endsAt - options.serviceTimeoutMs - settleMarginMs
    const read = await inParallel(wanted, runsAtOnce, async ({ kind, project, query }) => {
      if (clock.now() >= lastAt) return false
      const estimate = await tracking.estimate(targetOfRequest({ kind, project, ...(query && { query }) }))
      if (estimate.kind !== 'units') return false
      await ledger.item(lastPrices).write({ kind, project, units: estimate.units, at: clock.now() })
      return true
    })
    const done = read.filter(Boolean).length
    log.info('prices', { read: done, failed: read.length - done })
    return { read: done, failed: read.length - done }
  }

  const isOfTonight = (at: number | undefined): boolean => at !== undefined && clock.now() - at < nightMs

  async function prices(): Promise<readonly Price[]> {
    const found = await ledger.item(lastPrices).read(priced)
    return found.filter((price) => price !== null)
  }

  return { readPrices, prices }
}

export const priceKey = (kind: Kind, project: string): string => `${kind} ${project}`
