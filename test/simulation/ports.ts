import type { CloudEvent } from '../../shared/events/event.ts'
import { failed, type Sender, tooLate } from '../../shared/events/sender.ts'
import { AnswerLost, LedgerUnavailable } from '../../shared/ledger/errors.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Ids } from '../../shared/platform/ids.ts'
import { toUnits } from '../../shared/platform/words.ts'
import type { SlackClient } from '../../shared/slack/tell/client.ts'
import { updatePath } from '../../shared/tracking/kinds.ts'
import { createFlights, type EstimateReading, type RunResult, type Tracking } from '../../shared/tracking/tracking.ts'
import { type Ask, death } from './step.ts'
import { priceOf, receiveRun, tellUnits, type World } from './world.ts'

/** The database, the service and the clock of one process, each through steps. */

export const clockThrough = (ask: Ask, now: () => number): Clock => ({
  now,
  sleep: (ms) =>
    ask({
      what: `sleeps ${Math.round(ms)} ms`,
      faults: [],
      reads: false,
      take: async (world) => {
        world.now += Math.max(1, Math.round(ms))
      },
    }),
})

export function createIds(process: string): Ids {
  let count = 0
  return { random: () => `${process}-${++count}`, fraction: () => 0.5 }
}

export interface Lateness {
  /** An index that is some writes behind. */
  lagging(): Store
  /** A transaction with a lost answer is applied when its turn comes. */
  lands(what: string, write: (world: World) => Promise<unknown>): void
}

const landsWithinMs = 60_000

export const storeThrough = (ask: Ask, late?: Lateness): Store => ({
  get: (keys) =>
    ask({
      what: `reads ${keys.map(({ pk }) => pk).join(', ')}`,
      faults: ['unavailable'],
      reads: true,
      // Only an interrupted sweep writes its position, and no race has two sweeps.
      isLocal: !late && keys.every(({ pk }) => pk.startsWith('sweep#')),
      take: async ({ store }, fault) => {
        if (fault !== null) throw new LedgerUnavailable('simulated')
        return store.get(keys)
      },
    }),
  list: (query) =>
    ask({
      what: `lists ${query.partition}`,
      faults: ['unavailable', ...(late ? ['as it was'] : [])],
      reads: true,
      take: async ({ store }, fault) => {
        if (fault === 'unavailable') throw new LedgerUnavailable('simulated')
        return (fault !== null && late ? late.lagging() : store).list(query)
      },
    }),
  transact: (writes, token) =>
    ask({
      what: `writes ${writes.map((write) => (write.kind === 'put' ? write.item.pk : write.key.pk)).join(', ')}`,
      faults: [
        'unavailable',
        'answer lost, not applied',
        'answer lost, applied',
        ...(late ? ['lands late'] : []),
        death,
      ],
      reads: false,
      take: async ({ store, now }, fault) => {
        if (fault === 'unavailable') throw new LedgerUnavailable('simulated')
        if (fault === 'lands late') {
          late?.lands('lands late', async (world) => {
            if (world.now <= now + landsWithinMs) await world.store.transact(writes, token)
          })
          throw new AnswerLost('simulated')
        }
        if (fault === 'answer lost, not applied') throw new AnswerLost('simulated')
        const outcome = await store.transact(writes, token)
        if (fault === 'answer lost, applied') throw new AnswerLost('simulated')
        return outcome
      },
    }),
})

const moreUnits = 7
const targetTimeoutMs = 5_000

export interface Estimated {
  readonly process: string
  readonly project: string
  readonly units: number
  readonly at: number
}

interface Surroundings {
  estimated(estimate: Estimated): void
  datesFail: boolean
  aheadMs: number
}

/** The request and the answer of a run are two steps, so that anything may happen in between. */
export function trackingThrough(
  ask: Ask,
  process: string,
  now: () => number,
  { estimated = () => {}, datesFail = false, aheadMs = 0 }: Partial<Surroundings> = {},
): Tracking {
  const known = new Map<string, number>()
  const learns = (project: string, units: number) => known.set(project, units)
  return {
    estimate: estimateThrough(ask, { process, aheadMs, estimated, learns }),
    dates: ({ segment }) =>
      ask({
        what: `dates of ${segment}`,
        faults: datesFail ? ['unreadable'] : [],
        reads: true,
        take: async ({ dates }, fault) =>
          fault === null
            ? { kind: 'dates', dates: dates[segment] ?? [] }
            : { kind: 'unreadable', reason: 'simulated', shape: 'simulated' },
      }),
    run: async ({ kind, segment }, { timeoutMs }) => {
      // A timer measures elapsed time, even if the clock is wrong.
      const deadline = now() - aheadMs + timeoutMs
      const result = await ask({
        what: `runs ${segment}`,
        faults: ['not sent', 'refused', 'sent, does not run', 'costs more', death],
        reads: false,
        take: async (world, fault) => {
          // After its deadline the sender has given up and sends nothing.
          if (world.now > deadline) return unknown
          if (fault === 'not sent') return didNotRun(null)
          const ran = fault === null || fault === 'costs more'
          const units = priceOf(world, segment)
          receiveRun(world, {
            kind,
            project: segment,
            process,
            ran,
            units: Math.min(units, known.get(segment) ?? units),
          })
          if (fault === 'refused') return didNotRun(429)
          return ran ? ranFor(fault === null ? units : units + moreUnits) : unknown
        },
      })
      return ask({
        what: `is answered about ${segment}`,
        faults: result.kind === 'ran' ? ['answer lost'] : [],
        reads: result.kind !== 'ran',
        take: async (world, fault) => {
          if (fault !== null) return unknown
          if (result.kind === 'ran' && result.stated)
            tellUnits(world, { process, project: segment }, result.stated.units)
          return result
        },
      })
    },
    projects: async () => [],
    readingOf: () => ({ pointer: undefined }),
    open: () => Promise.reject(new Error('nothing is passed through here')),
  }
}

/** Uses the product's own sharing of estimates within a process. */
function estimateThrough(
  ask: Ask,
  given: {
    process: string
    aheadMs: number
    estimated: (estimate: Estimated) => void
    learns: (project: string, units: number) => void
  },
): Tracking['estimate'] {
  const { process, aheadMs, estimated, learns } = given
  const join = createFlights<EstimateReading>()
  return (target) =>
    join(updatePath(target, 'estimate'), (onSend) => {
      const reading = ask<EstimateReading>({
        what: `estimates ${target.segment}`,
        faults: ['unreachable'],
        reads: true,
        // The guard does nothing after the estimate before the dates, which it reads at the same time, have arrived.
        isLocal: target.kind === 'ranking',
        take: async (world, fault) => {
          onSend()
          if (fault !== null) return { kind: 'unreachable', reason: 'simulated', status: null }
          const units = toUnits(priceOf(world, target.segment))
          estimated({ process, project: target.segment, units, at: world.now + aheadMs })
          return { kind: 'units', units, source: 'simulated' }
        },
      })
      // Records what the process has read, since a race does not repeat a step.
      reading.then((read) => read.kind === 'units' && learns(target.segment, read.units)).catch(() => {})
      return reading
    })
}

/** @param told called with every message that arrived, even if its answer was lost. */
export const slackThrough = (ask: Ask, told: (message: string) => void): SlackClient => ({
  call: () => Promise.reject(new Error('there is no bot token')),
  send: (_url, message) =>
    ask({
      what: 'tells Slack',
      faults: ['does not take it', 'refuses it', 'takes it, answer lost', death],
      reads: true,
      take: async (_world, fault) => {
        if (fault === 'does not take it') return { kind: 'try-again', afterMs: 60_000, reason: 'simulated' }
        if (fault === 'refuses it') return { kind: 'refused', status: 400, reason: 'simulated' }
        told(JSON.stringify(message))
        return fault === null ? { kind: 'sent' } : { kind: 'try-again', afterMs: 60_000, reason: 'simulated' }
      },
    }),
})

export const targetFaults = [
  'does not take it',
  'is not reached',
  'takes it, answer lost',
  'takes it, answers too late',
]

/** @param arrived called with every event that arrived, even if its answer was lost. */
export const targetThrough = (ask: Ask, arrived: (event: CloudEvent) => void): Sender => ({
  send: (event) =>
    ask({
      what: `sends ${event.id}`,
      faults: [...targetFaults, death],
      reads: false,
      take: async (world, fault) => {
        if (fault === 'does not take it') return { kind: 'failed', reason: 'simulated', status: 503 }
        if (fault === 'is not reached') return failed('simulated')
        arrived(event)
        if (fault === 'takes it, answers too late') world.now += targetTimeoutMs
        return fault === null ? { kind: 'delivered' } : failed(tooLate)
      },
    }),
})

const ranFor = (units: number): RunResult => ({
  kind: 'ran',
  stated: { units, source: 'simulated', by: 'pointer' },
  answer: { status: 200, contentType: 'application/json', body: '{}', truncated: false },
})

const unknown: RunResult = { kind: 'unknown', reason: 'no answer', status: null, answer: null }

const didNotRun = (status: number | null): RunResult => ({
  kind: 'did-not-run',
  reason: 'simulated',
  status,
  answer: null,
})
