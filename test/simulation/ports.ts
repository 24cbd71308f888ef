import type { Store } from '../../shared/ledger/store.ts'
import { AnswerLost, LedgerUnavailable } from '../../shared/ledger/store.ts'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Ids } from '../../shared/platform/ids.ts'
import { toUnits } from '../../shared/platform/words.ts'
import type { RunResult, Tracking } from '../../shared/tracking/tracking.ts'
import { deaths, type Scheduler } from './scheduler.ts'
import type { SimulatedService } from './service.ts'

/** A clock that moves when somebody sleeps, or when the run says so. */
export interface SimulatedClock extends Clock {
  advance(ms: number): void
}

export function createClock(start: number): SimulatedClock {
  let now = start
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
    sleep: async (ms) => {
      now += Math.max(1, Math.round(ms))
    },
  }
}

/** Names that say which process made them; chance is always the same. */
export function createIds(process: string): Ids {
  let count = 0
  return { random: () => `${process}-${++count}`, fraction: () => 0.5 }
}

/** The ledger's database as one process reaches it. */
export function faultyStore(store: Store, process: string, scheduler: Scheduler, after: (what: string) => void): Store {
  return {
    get: (keys) =>
      scheduler.step({
        process,
        what: `reads ${keys.map(({ pk }) => pk).join(', ')}`,
        reads: true,
        isLocal: false,
        faults: ['unavailable', deaths.before],
        take: async (fault) => {
          if (fault === 'unavailable') throw new LedgerUnavailable('simulated')
          return store.get(keys)
        },
      }),
    list: (query) => store.list(query),
    transact: (writes, token) => {
      const what = `writes ${writes.map((write) => (write.do === 'put' ? write.item.pk : write.key.pk)).join(', ')}`
      return scheduler.step({
        process,
        what,
        reads: false,
        isLocal: false,
        faults: ['unavailable', 'answer lost, not applied', 'answer lost, applied', deaths.before, deaths.after],
        take: async (fault) => {
          if (fault === 'unavailable') throw new LedgerUnavailable('simulated')
          if (fault === 'answer lost, not applied') throw new AnswerLost('simulated')
          const outcome = await store.transact(writes, token)
          after(`${process}: ${what}`)
          if (fault === 'answer lost, applied') throw new AnswerLost('simulated')
          return outcome
        },
      })
    },
  }
}

/** The service as one process reaches it. A run's request and its answer are two steps: anything may come between. */
export function faultyTracking(
  service: SimulatedService,
  process: string,
  scheduler: Scheduler,
  clock: Clock,
): Tracking {
  const local = { process, reads: true, isLocal: true }
  return {
    estimate: ({ segment }) =>
      scheduler.step({
        ...local,
        what: `estimates ${segment}`,
        faults: ['unreachable'],
        take: async (fault) =>
          fault === null
            ? { kind: 'units', units: toUnits(service.priceOf(segment)), source: 'simulated' }
            : { kind: 'unreachable', reason: 'simulated', status: null },
      }),
    dates: ({ segment }) =>
      scheduler.step({
        ...local,
        what: `dates of ${segment}`,
        faults: [],
        take: async () => ({ kind: 'dates', dates: service.datesOf(segment) }),
      }),
    run: async ({ segment }, { timeoutMs }) => {
      const deadline = clock.now() + timeoutMs
      const { run, result } = await scheduler.step({
        process,
        what: `runs ${segment}`,
        reads: false,
        isLocal: false,
        faults: ['not sent', 'refused', 'sent, does not run', 'costs more', deaths.before, deaths.after],
        take: async (fault) => {
          // Whoever has waited past its deadline has given up: nothing is sent any more.
          if (clock.now() > deadline) return { run: null, result: unknown }
          if (fault === 'not sent') return { run: null, result: didNotRun(null) }
          const ran = fault === null || fault === deaths.after || fault === 'costs more'
          const run = service.run(segment, process, { ran, more: fault === 'costs more' ? 7 : 0 })
          return {
            run,
            result: fault === 'refused' ? didNotRun(429) : ran ? ranFor(service.priceOf(segment)) : unknown,
          }
        },
      })
      return scheduler.step({
        process,
        what: `is answered about ${segment}`,
        reads: false,
        isLocal: result.kind !== 'ran',
        faults: result.kind === 'ran' ? ['answer lost', deaths.before] : [],
        take: async (fault) => {
          if (fault === 'answer lost') return unknown
          if (run && result.kind === 'ran' && result.stated) run.stated = result.stated.units
          return result
        },
      })
    },
    open: () => Promise.reject(new Error('nothing is passed through here')),
  }
}

const ranFor = (units: number): RunResult => ({
  kind: 'ran',
  stated: { units, source: 'simulated', byPointer: true },
  answer: { status: 200, contentType: 'application/json', body: '{}', truncated: false },
})

const unknown: RunResult = { kind: 'unknown', reason: 'no answer', status: null, answer: null }

const didNotRun = (status: number | null): RunResult => ({
  kind: 'did-not-run',
  reason: 'simulated',
  status,
  answer: null,
})
