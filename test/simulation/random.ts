import type { Guard } from '../../shared/guard/guard.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { Broken } from './auditor.ts'
import type { Scenario } from './explore.ts'
import { ask } from './scenarios.ts'
import type { Choose } from './scheduler.ts'
import { createWorld, functionLifeMs, type World } from './world.ts'

/** A small generator of well-known quality (mulberry32): the same seed is the same chance. */
export function chanceOf(seed: number): Choose {
  let state = seed >>> 0
  return (of) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % of
  }
}

const projects = ['acme', 'globex', 'initech', 'umbrella']
const callers = ['ada', 'bob', 'carl']
const minuteMs = 60_000

type Deed = (guard: Guard, world: World, chance: Choose) => Promise<unknown>

const one = <T>(chance: Choose, of: readonly T[]): T => {
  const chosen = of[chance(of.length)]
  if (chosen === undefined) throw new Error('nothing to choose from')
  return chosen
}

/** What tools, clocks and people do, each in a process of its own. */
const deeds: Readonly<Record<string, Deed>> = {
  asks: (guard, world, chance) => ask(guard, world, one(chance, callers), `key-${chance(4)}`, one(chance, projects)),
  'asks of a small budget': (guard, world, chance) =>
    ask(guard, world, one(chance, callers), `small-${chance(4)}`, one(chance, projects), { budget: 'small' }),
  'asks for keyword difficulty': (guard, world, chance) =>
    ask(guard, world, one(chance, callers), `hard-${chance(3)}`, one(chance, ['1001', '1002']), {
      kind: 'keyword-difficulty',
    }),
  'asks for two': (guard, world, chance) =>
    ask(guard, world, one(chance, callers), `two-${chance(2)}`, 'acme', {
      projects: ['acme', 'globex'],
      whenShort: 'fit',
    }),
  'asks where a person grants': (guard, world, chance) =>
    ask(guard, world, 'bob', `short-${chance(3)}`, one(chance, projects), { budget: 'small', whenShort: 'ask' }),
  queues: (guard, world, chance) =>
    ask(guard, world, one(chance, callers), `queued-${chance(3)}`, one(chance, projects), {}, true),
  'begins what is queued': async (guard, world) => {
    for (const { id, state } of world.auditor.records().values()) {
      if (state === 'requested') await guard.start(id, world.clock.now() + functionLifeMs)
    }
  },
  'approves and rejects': async (guard, world, chance) => {
    for (const { id, state } of world.auditor.records().values()) {
      if (state !== 'awaiting-approval') continue
      await (chance(3) > 0 ? guard.approve(id, 'dora') : guard.reject(id, 'dora'))
    }
  },
  cancels: async (guard, world, chance) => {
    const ids = [...world.auditor.records().keys()]
    if (ids.length > 0) await guard.cancel(one(chance, ids), { caller: 'root', isAdmin: true })
  },
  sweeps: async (guard, world, chance) => {
    world.clock.advance(one(chance, [1, 2, 6, 61]) * minuteMs)
    await guard.sweep(world.clock.now() + functionLifeMs)
  },
  resolves: async (guard, world, chance) => {
    for (const { id, state } of world.auditor.records().values()) {
      if (state !== 'in-doubt') continue
      const outcome = chance(2) === 0 ? 'ran' : 'did-not-run'
      await guard.resolve(id, 'dora', { outcome, reason: 'as the screen says' })
    }
  },
  'changes a limit': async (guard, world, chance) => {
    const units = toUnits(one(chance, [0, 60, 100, 300]))
    // What is spent already may be more than a lowered limit.
    world.auditor.excuse('small')
    const limits = [{ window: 'month', units } as const]
    await guard.putBudget(
      { name: 'small', parent: 'account', limits, projects: [] },
      { caller: 'root', reason: 'changed' },
    )
  },
  'freezes and thaws': async (guard, _world, chance) => {
    const by = { caller: 'root', reason: 'a rehearsal' }
    await (chance(2) === 0 ? guard.freeze('small', by) : guard.unfreeze('small', by))
  },
  grants: (guard, _world, chance) =>
    guard.ledger.enter({
      ...{ type: 'grant', budget: 'small', units: 1 + chance(80), window: 'month', wholeChain: false },
      ...{ id: `ent_grant${chance(5)}`, content: 'c', reason: 'more', by: 'root' },
    }),
  'books what was spent elsewhere': (guard, world, chance) => {
    world.auditor.excuse('account')
    return guard.ledger.enter({
      ...{ type: 'external-spend', budget: 'account', units: 1 + chance(20) },
      ...{ id: `ent_ext${chance(3)}`, content: 'c', reason: 'by hand', by: 'root' },
    })
  },
}

/** A handful of processes at once, all day long: up to four faults in each wave, and peace at the end. */
export const workload =
  (seed: number): Scenario =>
  async (choose) => {
    const chance = chanceOf(seed)
    // Some days begin late in the evening, and some of those end the month.
    const at = Date.parse(one(chance, ['2026-11-20T12:00:00Z', '2026-11-20T23:30:00Z', '2026-11-30T23:30:00Z']))
    const world = await createWorld({ choose, mostFaults: 4, unitsPerMonth: 200, prices: { umbrella: 90 }, at })
    const limits = [{ window: 'month', units: toUnits(100) } as const]
    await world.calm.putBudget(
      { name: 'small', parent: 'account', limits, projects: [] },
      { caller: 'root', reason: 'new' },
    )
    const names = Object.keys(deeds)
    for (let wave = 0; wave < 3; wave++) {
      const count = 2 + chance(4)
      for (let index = 0; index < count; index++) {
        const name = one(chance, names)
        const deed = deeds[name]
        if (deed) await world.start(`${wave}${'abcdef'[index]} ${name}`, (guard) => deed(guard, world, chance))
      }
      await world.settle()
      // Between two waves, because no process lives as long: to the next day, or to the next month.
      world.clock.advance(one(chance, [0, 0, 12 * 60, 11 * 24 * 60]) * minuteMs)
    }
    await world.rest()
    await mustAgree(world)
    return world.scheduler.trace
  }

/** At rest: the ledger's own audit agrees, and a key that was used answers without a run. */
async function mustAgree(world: World): Promise<void> {
  const rows = await world.calm.ledger.audit()
  const wrong = rows.find(({ ok }) => ok !== true)
  if (wrong) throw new Broken(`the audit disagrees about ${wrong.window} of ${wrong.budget}`)
}
