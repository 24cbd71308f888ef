import { createGuard, type Guard } from '../../shared/guard/guard.ts'
import type { Plan } from '../../shared/guard/plan.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import { createMemoryStore } from '../../shared/ledger/memory-store.ts'
import type { Item, Store } from '../../shared/ledger/store.ts'
import type { Log } from '../../shared/platform/log.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { Broken, createAuditor } from './auditor.ts'
import { createClock, createIds, faultyStore, faultyTracking } from './ports.ts'
import { type Choose, calm, createScheduler } from './scheduler.ts'
import { createService } from './service.ts'

export const noon = Date.parse('2026-11-20T12:00:00Z')
const minuteMs = 60_000
const dayMs = 24 * 3600_000
export const functionLifeMs = 2 * minuteMs

const silent: Log = { info: () => {}, error: () => {}, hide: () => {} }

const options = {
  serviceTimeoutMs: 20_000,
  serviceFlightMs: 5 * minuteMs,
  cooldown: { ranking: 'day', 'keyword-difficulty': 7 * dayMs },
} as const

export type World = Awaited<ReturnType<typeof createWorld>>

/**
 * The real guard and ledger over a table in memory and a simulated service, in as many processes as there are. `calm`
 * is for whoever sets the scene and clears up: no step of it can fail.
 */
export async function createWorld(given: {
  choose: Choose
  mostFaults: number
  unitsPerMonth: number
  prices?: Readonly<Record<string, number>>
  plans?: readonly Plan[]
  /** A table that was prepared before: items are never changed, so many worlds may begin with the same ones. */
  table?: ReadonlyMap<string, Item>
  /** When the scene begins. */
  at?: number
}) {
  const items = new Map<string, Item>(given.table)
  const store = createMemoryStore(items)
  const clock = createClock(given.at ?? noon)
  const scheduler = createScheduler(given)
  const auditor = createAuditor(() => items.values())
  const service = createService({
    prices: given.prices ?? {},
    today: () => new Date(clock.now()).toISOString().slice(0, 10),
    arrived: auditor.arrived,
  })
  const account = {
    unitsPerMonth: toUnits(given.unitsPerMonth),
    usedAtStart: toUnits(0),
    renewal: { day: 1, time: '00:00', zone: 'UTC' },
  }
  const failures: unknown[] = []

  /** Nothing fails, but everything is looked at. */
  const calmStore: Store = {
    ...store,
    transact: async (writes, token) => {
      const outcome = await store.transact(writes, token)
      auditor.look()
      return outcome
    },
  }

  /** A process has started before the scene begins: what it reads once is none of the steps. */
  async function guardOf(process: string, isCalm: boolean): Promise<Guard> {
    let own = calmStore
    const ledger = createLedger({
      store: {
        get: (keys) => own.get(keys),
        list: (query) => own.list(query),
        transact: (writes, token) => own.transact(writes, token),
      },
      clock,
      account,
    })
    await ledger.view()
    if (!isCalm) own = faultyStore(store, process, scheduler, () => auditor.look())
    const tracking = faultyTracking(service, process, scheduler, clock)
    const serviceToken = async () => 'token'
    const ids = createIds(process)
    return createGuard({
      ledger,
      tracking,
      serviceToken,
      clock,
      ids,
      log: silent,
      options,
      plans: async () => given.plans ?? [],
    })
  }

  const calmGuard = await guardOf(calm, true)

  /** A process that does one thing; it may die of it, and nobody hears of that. */
  async function start<T>(
    process: string,
    work: (guard: Guard) => Promise<T>,
  ): Promise<{ readonly answer: () => T | undefined }> {
    let answer: T | undefined
    work(await guardOf(process, false)).then(
      (value) => {
        answer = value
      },
      (error) => {
        if (error instanceof Broken) failures.push(error)
      },
    )
    return { answer: () => answer }
  }

  /** Takes every step that there is, and looks at everything afterwards. */
  async function settle(): Promise<void> {
    await scheduler.settle()
    const broken = auditor.first() ?? failures[0]
    if (broken) throw broken
    auditor.look()
    auditor.lookAtConsumption(service.runs)
  }

  /** Time passes and the sweep goes round, until nothing is open: every update has to reach its end. */
  async function rest(): Promise<void> {
    const isOpen = () => [...items.values()].some(({ openAs, sk }) => sk === 'update' && openAs !== undefined)
    for (let round = 0; isOpen() && round < 24; round++) {
      clock.advance(round < 12 ? 3 * minuteMs : dayMs)
      let isDone = false
      const finish = () => {
        isDone = true
      }
      // What breaks in it is kept by the auditor.
      const swept = calmGuard.sweep(clock.now() + functionLifeMs).then(finish, finish)
      await Promise.race([swept, scheduler.settle()])
      await scheduler.settle()
      if (!isDone) throw new Broken('the sweep does not come to an end')
      auditor.look()
    }
    const broken = auditor.first()
    if (broken) throw broken
    if (isOpen()) throw new Broken('something is open after nine days of sweeping')
    auditor.lookAtConsumption(service.runs)
  }

  return { items, clock, scheduler, auditor, service, calm: calmGuard, start, settle, rest }
}
