import type { AuditedCounter } from '../ledger/book/audit.ts'
import type { Clock } from '../platform/clock.ts'
import { createSlots } from '../platform/parallel.ts'
import { createRates } from './rates.ts'
import { Refusal } from './refusal.ts'

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
