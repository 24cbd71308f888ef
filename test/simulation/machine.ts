import { createGuard } from '../../shared/guard/guard.ts'
import type { GuardOptions } from '../../shared/guard/options.ts'
import type { Plan } from '../../shared/guard/plans-file.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import type { Log } from '../../shared/platform/log.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { clockThrough, createIds, type Estimated, type Lateness, storeThrough, trackingThrough } from './ports.ts'
import type { Ask } from './step.ts'
import { minuteMs, type World } from './world.ts'

const functionLifeMs = 2 * minuteMs

export const serviceToken = 'canary-service-token-7f3a9c'

const silent: Log = { info: () => {}, error: () => {}, hide: () => {} }

export const options: GuardOptions = {
  serviceTimeoutMs: 20_000,
  serviceFlightMs: 5 * minuteMs,
  cooldown: { ranking: 'day', 'keyword-difficulty': '7d' },
}

export type Machine = Awaited<ReturnType<typeof createMachine>>

/**
 * One process with the real guard and ledger, in which every wait is a step. It starts before the day, so its initial reads are not steps.
 */
export async function createMachine(given: {
  process: string
  ask: Ask
  now: () => number
  world: World
  unitsPerMonth: number
  plans?: readonly Plan[]
  log?: Log
  estimated?: (estimate: Estimated) => void
  /** The lead of `now` over the world's time. */
  aheadMs?: number
  late?: Lateness
}) {
  const { process, ask, now, plans = [], log = silent } = given
  let store = given.world.store
  const clock = clockThrough(ask, now)
  const ledger = createLedger({
    store: {
      get: (keys) => store.get(keys),
      list: (query) => store.list(query),
      transact: (writes, token) => store.transact(writes, token),
    },
    clock,
    account: {
      unitsPerMonth: toUnits(given.unitsPerMonth),
      usedAtStart: toUnits(0),
      renewal: { day: 1, time: '00:00', zone: 'UTC' },
    },
  })
  await ledger.view()
  store = storeThrough(ask, given.late)
  const guard = createGuard({
    ledger,
    clock,
    options,
    log,
    plans: async () => plans,
    tracking: trackingThrough(ask, process, now, {
      ...(given.estimated && { estimated: given.estimated }),
      datesFail: given.late !== undefined,
      aheadMs: given.aheadMs ?? 0,
    }),
    serviceToken: async () => serviceToken,
    ids: createIds(process),
  })
  return { process, guard, ask, clock, log, endsAt: () => now() + functionLifeMs }
}
