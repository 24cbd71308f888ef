import { problem } from '../guard/problems.ts'
import type { AuditedCounter } from '../ledger/book/audit.ts'
import type { Problem } from '../ledger/updates/update.ts'
import { type Clock, minuteMs } from '../platform/clock.ts'
import { createSlots } from '../platform/parallel.ts'
import { Refusal } from './refusal.ts'

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

/** Of one caller, over HTTP and on pages together, in one process. */
const maxExpensiveReadsPerMinute = 10
/** An audit is answered with one that ended so short a while ago. */
const auditSharedMs = 10_000

export type ExpensiveReads = ReturnType<typeof createExpensiveReads>
type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>

/**
 * Audits and exports read every record of months. Each caller has a few a minute, and a process makes one at a time, so that
 * no reader can slow updates down.
 */
export function createExpensiveReads({ clock }: { clock: Clock }) {
  const what = { one: 'audit or export', many: 'audits and exports' }
  const rates = createRates({ rateOf: () => maxExpensiveReadsPerMinute, clock, what })
  const slots = createSlots(1)

  /** For one page of an export, never for all of it: a reader who stalls must not keep others waiting. */
  const inTurn: InTurn = (read) => slots.use(read)

  return {
    /** @throws Refusal 429 */
    admit(sub: string): void {
      const limit = rates.take(sub)
      if (limit) throw new Refusal(limit.problem, { 'Retry-After': String(limit.retryAfter) })
    },
    inTurn,
    /** For callers of the API. */
    audit: createShared<readonly AuditedCounter[]>({ clock, inTurn }),
    /** For the page, whose audit is kept with the name of who asked for it. */
    keptAudit: createShared<unknown>({ clock, inTurn }),
  }
}

/** Who asks while one is being made, or shortly after, is given the same result; after a failure the next one tries again. */
function createShared<Result>({ clock, inTurn }: { clock: Clock; inTurn: InTurn }) {
  let latest: { readonly result: Promise<Result>; endedAt?: number } | null = null
  return (read: () => Promise<Result>): Promise<Result> => {
    if (latest && (latest.endedAt === undefined || clock.now() - latest.endedAt < auditSharedMs)) return latest.result
    const made: NonNullable<typeof latest> = { result: inTurn(read) }
    latest = made
    made.result.then(
      () => {
        made.endedAt = clock.now()
      },
      () => {
        latest = null
      },
    )
    return made.result
  }
}
