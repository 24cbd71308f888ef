import { problem } from '../guard/problems.ts'
import type { AuditedCounter } from '../ledger/book/audit.ts'
import type { Problem } from '../ledger/updates/update.ts'
import { type Clock, minuteMs } from '../platform/clock.ts'
import { createSlots } from '../platform/parallel.ts'
import { Refusal } from './refusal.ts'

const maxCallers = 10_000

/**
 * Limits a caller's requests a minute (429), counted in this process. It slows loops down; units are limited by the
 * ledger.
 */
export function createRates(parts: {
  rateOf: (caller: string) => number | undefined
  clock: Clock
  what: { readonly one: string; readonly many: string }
}) {
  const { rateOf, clock, what } = parts
  const counted = new Map<string, { from: number; requests: number }>()

  /** `null`: within the limit. */
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

/** Per caller and process, API and pages together. */
const maxExpensiveReadsPerMinute = 10
const auditSharedMs = 10_000

export type ExpensiveReads = ReturnType<typeof createExpensiveReads>
type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>

/** Audits and exports read months of records, so a process makes one at a time and a caller few a minute. */
export function createExpensiveReads({ clock }: { clock: Clock }) {
  const what = { one: 'audit or export', many: 'audits and exports' }
  const rates = createRates({ rateOf: () => maxExpensiveReadsPerMinute, clock, what })
  const slots = createSlots(1)

  /** For one page of an export: a stalled reader must not block others. */
  const inTurn: InTurn = (read) => slots.use(read)

  return {
    /** @throws Refusal 429 */
    admit(sub: string): void {
      const limit = rates.take(sub)
      if (limit) throw new Refusal(limit.problem, { 'Retry-After': String(limit.retryAfter) })
    },
    inTurn,
    audit: createShared<readonly AuditedCounter[]>({ clock, inTurn }),
    /** For the page, whose audit keeps the name of its caller. */
    keptAudit: createShared<unknown>({ clock, inTurn }),
  }
}

/** Callers share one result until `auditSharedMs` after it; a failure is not shared. */
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
