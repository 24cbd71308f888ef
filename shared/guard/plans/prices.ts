import { hourMs } from '../../platform/clock.ts'
import { inParallel } from '../../platform/parallel.ts'
import { type PlannedParts, runsAtOnce, settleMarginMs } from '../options.ts'
import { targetOfRequest } from '../update/quote.ts'
import { lastPrices, type Price, priceKey } from './stored-price.ts'

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
