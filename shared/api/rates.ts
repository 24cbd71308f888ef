import { problem } from '../guard/problems.ts'
import type { Problem } from '../ledger/updates/update.ts'
import { type Clock, minuteMs } from '../platform/clock.ts'

const maxCallers = 10_000

/**
 * How many requests a caller may make in a minute, counted by this process alone: a loop is slowed down before it costs
 * anybody anything. What a caller may spend is counted in the ledger.
 */
export function createRates(parts: {
  rateOf: (caller: string) => number | undefined
  clock: Clock
  what: { readonly one: string; readonly many: string }
}) {
  const { rateOf, clock, what } = parts
  const counted = new Map<string, { from: number; requests: number }>()

  /** `null`: go on. */
  function take(caller: string): { problem: Problem; retryAfter: number } | null {
    const most = rateOf(caller)
    if (most === undefined) return null
    const now = clock.now()
    const minute = counted.get(caller)
    if (!minute || now - minute.from >= minuteMs) {
      if (counted.size >= maxCallers) counted.clear()
      counted.set(caller, { from: now, requests: 1 })
      return null
    }
    minute.requests++
    if (minute.requests <= most) return null
    const retryAfter = Math.ceil((minute.from + minuteMs - now) / 1000)
    const detail = `${caller} may make ${most} ${most === 1 ? what.one : what.many} a minute; the next one in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`
    return { problem: problem('too-many-requests', detail, { ratePerMinute: most }), retryAfter }
  }

  return { take }
}
