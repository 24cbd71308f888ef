import type { UpdatesRequest } from '../../shared/guard/asking.ts'
import type { Scope } from '../../shared/platform/words.ts'
import { Broken, rowsOf } from './auditor.ts'
import type { Machine } from './machine.ts'
import { createCalm } from './rest.ts'
import { createWorld, minuteMs, noon, type World } from './world.ts'

const scopes: ReadonlySet<Scope> = new Set(['run', 'admin'])

export const ask = (
  { guard, endsAt }: Machine,
  caller: string,
  key: string,
  project: string,
  more: Partial<UpdatesRequest> = {},
  respondAsync = false,
) =>
  guard.ask(
    { caller, token: { scopes, budgets: '*' }, via: 'http', route: 'POST /updates', key },
    { kind: 'ranking', projects: [project], whenShort: 'refuse', ...more },
    { respondAsync, endsAt: endsAt() },
  )

/** What one process does. */
export type Deed = (machine: Machine) => Promise<unknown>

/** Two processes, small enough to be looked at in every order. */
export interface Race {
  readonly unitsPerMonth: number
  readonly at?: number
  readonly processes: Readonly<Record<string, Deed>>
  /** What has to hold when both have ended, besides what always has to. */
  check?(world: World): void
}

const passes = ({ ask }: Machine, what: string, ms: number) =>
  ask({
    what,
    faults: [],
    reads: false,
    take: async (world) => {
      world.now += ms
    },
  })

export const races = {
  'two deliveries of one update': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'same', 'acme'),
      b: (machine) => ask(machine, 'ada', 'same', 'acme'),
    },
    check: ({ runs, items }) => {
      if (runs.length > 1) throw new Broken(`${runs.length} runs of one update`)
      if (rowsOf(items).length > 2) throw new Broken('one key made two records')
    },
  },
  'two requests for the same work': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      b: (machine) => ask(machine, 'bob', 'two', 'acme'),
    },
    check: ({ runs }) => {
      if (runs.filter(({ ran }) => ran).length > 1) throw new Broken('the same work was done twice')
    },
  },
  'two updates racing for the last units': {
    unitsPerMonth: 100,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      b: (machine) => ask(machine, 'bob', 'two', 'globex'),
    },
  },
  'two updates around midnight': {
    unitsPerMonth: 1_000,
    at: Date.parse('2026-11-20T23:59:50Z'),
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      b: async (machine) => {
        await passes(machine, 'midnight passes', 20_000)
        await ask(machine, 'bob', 'two', 'globex')
      },
    },
  },
  'an update and a freeze': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      b: ({ guard }) => guard.freeze('account', { caller: 'root', reason: 'stop' }),
    },
  },
  'a late answer, the sweep, and a person': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      s: async (machine) => {
        const { guard, endsAt } = machine
        // Past the lease and past everything that can be in flight, while the sender may still wait for its answer.
        await passes(machine, 'ten minutes pass', 10 * minuteMs)
        await guard.sweep(endsAt())
        const { rows } = await guard.ledger.open('in-doubt', 10)
        for (const { id } of rows) {
          await guard.resolve(id, 'carl', { outcome: 'did-not-run', reason: 'says the screen' })
        }
      },
    },
  },
} as const satisfies Record<string, Race>

/** One update has been settled already, so that the books of the month and of the day are there. */
export async function beginningOf({ unitsPerMonth, at = noon }: Race): Promise<World> {
  const world = createWorld({ now: noon })
  const told = (error: Broken) => {
    throw error
  }
  await ask(await createCalm(world, { process: 'before', unitsPerMonth, told }), 'ada', 'before', 'initech')
  return createWorld({ items: world.items, now: at })
}

export type RaceName = keyof typeof races
export const raceNames = Object.keys(races) as RaceName[]
