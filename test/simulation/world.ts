import type { Item, Store } from '../../shared/ledger/store/store.ts'
import type { Kind } from '../../shared/tracking/kinds.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/** Everything outside of the processes. */
export interface World {
  readonly items: Map<string, Item>
  /** The table also remembers applied transactions. */
  readonly applied: Set<string>
  readonly store: Store
  /** The prices, dates and runs are never changed, only replaced. */
  prices: Readonly<Record<string, number>>
  dates: Readonly<Record<string, readonly string[]>>
  runs: readonly Run[]
  now: number
}

export interface Run {
  readonly kind: Kind
  readonly project: string
  readonly process: string
  readonly ran: boolean
  /** The estimated units, which a guard can know without an answer. */
  readonly units: number
  readonly stated?: number
}

export const noon = Date.parse('2026-11-20T12:00:00Z')
export const minuteMs = 60_000
export const dayMs = 24 * 60 * minuteMs

export const createWorld = (given: {
  items?: ReadonlyMap<string, Item>
  prices?: World['prices']
  now: number
}): World => worldOf({ items: new Map(given.items), applied: new Set(), prices: given.prices ?? {}, now: given.now })

/** Items are never changed, only replaced, so a copy is cheap. */
export const copyOf = (world: World): World =>
  worldOf({ ...world, items: new Map(world.items), applied: new Set(world.applied) })

type Contents = Pick<World, 'items' | 'applied' | 'prices' | 'now'> & Partial<Pick<World, 'dates' | 'runs'>>

const worldOf = ({ items, applied, prices, dates = {}, runs = [], now }: Contents): World => ({
  items,
  applied,
  prices,
  dates,
  runs,
  now,
  store: createMemoryStore(items, applied),
})

export const priceOf = ({ prices }: World, project: string): number => prices[project] ?? 40

/** The service has data of today after a ranking update ran. */
export function receiveRun(world: World, run: Run): void {
  const today = new Date(world.now).toISOString().slice(0, 10)
  const known = world.dates[run.project] ?? []
  world.runs = [...world.runs, run]
  if (run.ran && run.kind === 'ranking' && !known.includes(today))
    world.dates = { ...world.dates, [run.project]: [...known, today].toSorted() }
}

/** Gives the process the answer to its last request for the project. */
export function tellUnits(world: World, { process, project }: Pick<Run, 'process' | 'project'>, stated: number): void {
  const index = world.runs.findLastIndex((run) => run.process === process && run.project === project)
  world.runs = world.runs.map((run, at) => (at === index ? { ...run, stated } : run))
}
