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
