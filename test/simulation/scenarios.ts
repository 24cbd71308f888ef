import type { UpdatesRequest } from '../../shared/guard/asking.ts'
import type { Guard } from '../../shared/guard/guard.ts'
import type { Item } from '../../shared/ledger/store.ts'
import type { Scope } from '../../shared/platform/words.ts'
import { Broken } from './auditor.ts'
import type { Scenario } from './explore.ts'
import { createWorld, functionLifeMs, noon, type World } from './world.ts'

const scopes: ReadonlySet<Scope> = new Set(['run', 'admin'])

export const ask = (
  guard: Guard,
  world: Pick<World, 'clock'>,
  caller: string,
  key: string,
  project: string,
  more: Partial<UpdatesRequest> = {},
  respondAsync = false,
) =>
  guard.ask(
    { caller, token: { scopes, budgets: '*' }, via: 'http', route: 'POST /updates', key },
    { kind: 'ranking', projects: [project], whenShort: 'refuse', ...more },
    { respondAsync, endsAt: world.clock.now() + functionLifeMs },
  )

type Settled = (choose: Parameters<Scenario>[0], mostFaults: number) => Promise<World>

/** The three races of the design, each small enough to be looked at in every order. */
export const races = {
  'two deliveries of one update': async (choose, mostFaults) => {
    const world = await opened({ choose, mostFaults, unitsPerMonth: 1_000 })
    await world.start('a', (guard) => ask(guard, world, 'ada', 'same', 'acme'))
    await world.start('b', (guard) => ask(guard, world, 'ada', 'same', 'acme'))
    await world.settle()
    mustHaveRunAtMost(world, 1)
    if (world.auditor.records().size > 2) throw new Broken('one key made two records')
    return world
  },
  'two requests for the same work': async (choose, mostFaults) => {
    const world = await opened({ choose, mostFaults, unitsPerMonth: 1_000 })
    await world.start('a', (guard) => ask(guard, world, 'ada', 'one', 'acme'))
    await world.start('b', (guard) => ask(guard, world, 'bob', 'two', 'acme'))
    await world.settle()
    if (world.service.runs.filter(({ ran }) => ran).length > 1) throw new Broken('the same work was done twice')
    return world
  },
  'two updates racing for the last units': async (choose, mostFaults) => {
    const world = await opened({ choose, mostFaults, unitsPerMonth: 100 })
    await world.start('a', (guard) => ask(guard, world, 'ada', 'one', 'acme'))
    await world.start('b', (guard) => ask(guard, world, 'bob', 'two', 'globex'))
    await world.settle()
    return world
  },
  'two updates around midnight': async (choose, mostFaults) => {
    const world = await opened({ choose, mostFaults, unitsPerMonth: 1_000, at: Date.parse('2026-11-20T23:59:50Z') })
    const midnight = { process: 'b', what: 'midnight passes', reads: false, isLocal: false, faults: [] }
    await world.start('a', (guard) => ask(guard, world, 'ada', 'one', 'acme'))
    await world.start('b', async (guard) => {
      await world.scheduler.step({ ...midnight, take: async () => world.clock.advance(20_000) })
      return ask(guard, world, 'bob', 'two', 'globex')
    })
    await world.settle()
    return world
  },
  'an update and a freeze': async (choose, mostFaults) => {
    const world = await opened({ choose, mostFaults, unitsPerMonth: 1_000 })
    await world.start('a', (guard) => ask(guard, world, 'ada', 'one', 'acme'))
    await world.start('b', (guard) => guard.freeze('account', { caller: 'root', reason: 'stop' }))
    await world.settle()
    return world
  },
  'a late answer, the sweep, and a person': async (choose, mostFaults) => {
    const world = await opened({ choose, mostFaults, unitsPerMonth: 1_000 })
    await world.start('a', (guard) => ask(guard, world, 'ada', 'one', 'acme'))
    await world.start('s', async (guard) => {
      // Past the lease and past everything that can be in flight, while the sender may still wait for its answer.
      const later = { process: 's', what: 'ten minutes pass', reads: false, isLocal: false, faults: [] }
      await world.scheduler.step({ ...later, take: async () => world.clock.advance(10 * 60_000) })
      await guard.sweep(world.clock.now() + functionLifeMs)
      for (const { id, state } of world.auditor.records().values()) {
        if (state === 'in-doubt') await guard.resolve(id, 'carl', { outcome: 'did-not-run', reason: 'says the screen' })
      }
    })
    await world.settle()
    return world
  },
} as const satisfies Record<string, Settled>

const tables = new Map<number, ReadonlyMap<string, Item>>()

/** One update has been settled already, so that the books of the month and of the day are there: once for all runs. */
async function opened(given: Parameters<typeof createWorld>[0]): Promise<World> {
  const table = tables.get(given.unitsPerMonth) ?? (await prepared(given.unitsPerMonth))
  tables.set(given.unitsPerMonth, table)
  return createWorld({ ...given, table })
}

async function prepared(unitsPerMonth: number): Promise<ReadonlyMap<string, Item>> {
  const world = await createWorld({ choose: () => 0, mostFaults: 0, unitsPerMonth, at: noon })
  const first = ask(world.calm, world, 'ada', 'before', 'initech')
  // What breaks in it is kept by the auditor.
  await Promise.race([world.settle(), first.catch(() => {})])
  await world.settle()
  return world.items
}

function mustHaveRunAtMost(world: World, most: number): void {
  const { length } = world.service.runs
  if (length > most) throw new Broken(`${length} runs, and at most ${most} may be`)
}

/** A race, and then peace: every update has to reach its end, and the same questions get the same answers. */
export const toScenario =
  (race: Settled, mostFaults: number): Scenario =>
  async (choose) => {
    const world = await race(choose, mostFaults)
    await world.rest()
    if (mostFaults === 0) world.auditor.lookAtConsumption(world.service.runs, { strictly: true })
    return world.scheduler.trace
  }
