import type { Guard } from '../guard/guard.ts'
import { problem } from '../guard/problems.ts'
import type { Problem } from '../ledger/updates/update.ts'
import type { AuditedCounter } from '../ledger/views/audit.ts'
import { type Clock, minuteMs } from '../platform/clock.ts'
import { createSlots } from '../platform/parallel.ts'
import { Refusal } from './refusal.ts'

const maxCallers = 10_000

/** Limits the requests of each caller in this process. The ledger limits units. */
export function createRates(parts: {
  rateOf: (caller: string) => number | undefined
  clock: Clock
  what: { readonly one: string; readonly many: string }
}) {
  const { rateOf, clock, what } = parts
  const minutes = new Map<string, { from: number; requests: number }>()

  function take(caller: string): { problem: Problem; retryAfter: number } | null {
    const maxRequests = rateOf(caller)
    if (maxRequests === undefined) return null
    const now = clock.now()
    const minute = minutes.get(caller)
    if (!minute || now - minute.from >= minuteMs) {
      if (minutes.size >= maxCallers) minutes.clear()
      minutes.set(caller, { from: now, requests: 1 })
      return null
    }
    minute.requests++
    if (minute.requests <= maxRequests) return null
    const retryAfter = Math.ceil((minute.from + minuteMs - now) / 1000)
    const detail = `${caller} may make ${maxRequests} ${maxRequests === 1 ? what.one : what.many} a minute; the next one in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`
    return { problem: problem('too-many-requests', detail, { ratePerMinute: maxRequests }), retryAfter }
  }

  return { take }
}

export const createRequestRates = ({ guard, clock }: { guard: Pick<Guard, 'rateOf'>; clock: Clock }) =>
  createRates({ rateOf: (caller) => guard.rateOf(caller), clock, what: { one: 'request', many: 'requests' } })

const maxExpensiveReadsPerMinute = 10
const auditSharedMs = 10_000

export type ExpensiveReads = ReturnType<typeof createExpensiveReads>
type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>

/** Audits and exports read months of records, so each process runs one read at a time. */
export function createExpensiveReads({ clock }: { clock: Clock }) {
  const what = { one: 'audit or export', many: 'audits and exports' }
  const rates = createRates({ rateOf: () => maxExpensiveReadsPerMinute, clock, what })
  const slots = createSlots(1)

  /** An export takes one turn for each page, so that a stalled reader does not block others. */
  const inTurn: InTurn = (read) => slots.use(read)

  return {
    /** @throws Refusal 429 */
    admit(sub: string): void {
      const limit = rates.take(sub)
      if (limit) throw new Refusal(limit.problem, { 'Retry-After': String(limit.retryAfter) })
    },
    inTurn,
    audit: createShared<readonly AuditedCounter[]>({ clock, inTurn }),
    keptAudit: createShared<unknown>({ clock, inTurn }),
  }
}

/** Shares one result among callers while it is read, and for ten seconds. A failure is not shared. */
function createShared<Result>({ clock, inTurn }: { clock: Clock; inTurn: InTurn }) {
  let latest: { readonly result: Promise<Result>; endedAt?: number } | null = null
  return (read: () => Promise<Result>): Promise<Result> => {
    if (latest && (latest.endedAt === undefined || clock.now() - latest.endedAt < auditSharedMs)) return latest.result
    const shared: NonNullable<typeof latest> = { result: inTurn(read) }
    latest = shared
    shared.result.then(
      () => {
        shared.endedAt = clock.now()
      },
      () => {
        latest = null
      },
    )
    return shared.result
  }
}
