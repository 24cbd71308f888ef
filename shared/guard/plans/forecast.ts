import { usedOf } from '../../ledger/book/book.ts'
import type { WindowKind } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Price } from '../../ledger/views/projects.ts'
import { type Clock, hourMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { inParallel } from '../../platform/parallel.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import { type GuardOptions, runsAtOnce, settleMarginMs } from '../options.ts'
import { targetOfRequest } from '../update/quote.ts'
import type { Plan } from './plans-file.ts'
import { timesOf } from './schedule.ts'

/** One window of one budget, as the book has it. Units; instants in ms since the epoch. */
export type ForecastCounter = {
  readonly budget: string
  readonly window: WindowKind
  /** Null where the budget is unlimited. */
  readonly available: number | null
  /** The window begins at `start` and is over at `end`, which belongs to the next. */
  readonly start: number
  readonly end: number
  readonly held: number
  readonly inDoubt: number
  readonly spent: number
}

export type ForecastPlan = {
  readonly plan: Plan
  readonly paused: boolean
  /** Every budget that an update of this project is charged to. */
  readonly chainOf: (project: string) => readonly string[]
  /** When the plan was last due; a rate is counted from it. */
  readonly last: number | null
}

/** What an update cost when that was last known. */
export type KnownPrice = { readonly units: number; readonly at: number }

export type Forecast = {
  readonly budget: string
  readonly window: WindowKind
  readonly available: number | null
  /** What plans will still take before the window's end, as far as prices are known. */
  readonly committed: number
  /** Spent, held, in doubt and committed. */
  readonly projected: number
  /** The first time at which plans want more than is available; null if that does not happen. */
  readonly exhaustedAt: number | null
  /** Projects of plans that are still due in the window and have no known price: what `committed` leaves out. */
  readonly unpriced: number
  /** When the oldest price was learnt that `committed` rests on. */
  readonly pricedAt: number | null
}

/** Every minute of the longest window there can be, two months less a day, takes 89,000; a schedule has no more. */
const maxTimes = 100_000

/**
 * What plans that are enabled and not paused will still take from every counter, after `now` and before its window ends
 * (contract, `GET /forecast`). Prices are those last seen: nothing is asked of the service. That a plan refuses, leaves
 * units to others or meets a cool-down is not foreseen, so it is the most that plans take at these prices.
 */
export function forecastCounters({
  now,
  counters,
  plans,
  priceOf,
}: {
  readonly now: number
  readonly counters: readonly ForecastCounter[]
  readonly plans: readonly ForecastPlan[]
  readonly priceOf: (kind: Kind, project: string) => KnownPrice | null
}): readonly Forecast[] {
  const until = Math.max(now, ...counters.map(({ end }) => end))
  const demands = plans
    .filter(({ plan, paused }) => plan.enabled && !paused)
    .map(({ plan, chainOf, last }) => ({
      times: timesOf(plan.schedule, { from: now, until, max: maxTimes, anchor: last ?? 0 }),
      charges: chargesOf(plan, chainOf, priceOf),
    }))
  return counters.map((counter) => forecastOf(counter, demands))
}

/** What one occurrence of a plan takes from one budget. */
type Charge = { readonly units: number; readonly unpriced: number; readonly pricedAt: number | null }

type Demand = { readonly times: readonly number[]; readonly charges: ReadonlyMap<string, Charge> }

export function chargesOf(
  { kind, projects }: Plan,
  chainOf: ForecastPlan['chainOf'],
  priceOf: (kind: Kind, project: string) => KnownPrice | null,
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

function forecastOf(counter: ForecastCounter, demands: readonly Demand[]): Forecast {
  const { budget, window, available, start, end } = counter
  const due = demands.flatMap(({ times, charges }) => {
    const charge = charges.get(budget)
    const earlier = countUntil(times, start - 1)
    return charge && countUntil(times, end - 1) > earlier ? [{ times, earlier, charge }] : []
  })
  const takenUntil = (instant: number) =>
    due.reduce((sum, { times, earlier, charge }) => sum + (countUntil(times, instant) - earlier) * charge.units, 0)
  const committed = takenUntil(end - 1)
  // Where nothing is available, or less, it is the first that takes anything.
  const isTooMuch = (instant: number) => takenUntil(instant) > Math.max(available ?? Number.POSITIVE_INFINITY, 0)
  return {
    budget,
    window,
    available,
    committed,
    projected: usedOf(counter) + committed,
    exhaustedAt: isTooMuch(end - 1) ? firstInstant({ from: start, to: end - 1 }, isTooMuch) : null,
    unpriced: due.reduce((sum, { charge }) => sum + charge.unpriced, 0),
    pricedAt: due.reduce<number | null>((oldest, { charge }) => older(oldest, charge.pricedAt), null),
  }
}

/**
 * The first instant for which `isSo` holds, which holds for all after it and for `to`. By halves: what is taken only
 * grows, so the times of all plans need not be merged.
 */
function firstInstant({ from, to }: { from: number; to: number }, isSo: (instant: number) => boolean): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isSo(middle)) high = middle
    else low = middle + 1
  }
  return high
}

/** How many of these ascending times are not after `instant`. */
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

/** Estimates are free, but a forecast that asked for hundreds of them would be slow: they are read once a night. */
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

  /**
   * Reads what every project of the enabled plans would need now; what cannot be read keeps its old price, and what was
   * read this very night is not read again: a second delivery would make the price of tonight the one before.
   */
  async function readPrices(endsAt: number): Promise<{ readonly read: number; readonly failed: number }> {
    const known = await ledger.prices.read(priced)
    const wanted = priced.filter((_, position) => !isOfTonight(known[position]?.at))
    // The caller has something to do afterwards, also when the service hangs.
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
