import type { Plan } from '../../shared/guard/plan.ts'
import { parsePlans } from '../../shared/guard/plan.ts'
import { rowsOf } from './auditor.ts'
import { one } from './chance.ts'
import type { Answered, Rooms } from './rooms.ts'
import type { Choose } from './step.ts'
import { dayMs, minuteMs, type World } from './world.ts'

/** What a day looks like to those who do something in it. */
export interface Scene {
  readonly world: World
  readonly chance: Choose
  /** What the table's stream has told so far. */
  readonly stream: readonly object[]
  /** Budgets of which more may be spent than they have: somebody takes units away, or spends them elsewhere. */
  readonly excused: Set<string>
  /** Keeps what was asked with a key, to be asked again. */
  asked(request: Asked): void
}

export interface Asked {
  readonly caller: string
  readonly path: string
  readonly key: string
  readonly body: object
}

type Deed = (rooms: Rooms, scene: Scene) => Promise<Answered | unknown>

export const plans: readonly Plan[] = parsePlans(
  JSON.stringify([
    { name: 'nightly', kind: 'ranking', projects: ['acme', 'globex', 'umbrella'], schedule: 'rate(1 day)' },
    {
      name: 'small',
      kind: 'ranking',
      projects: ['initech', 'acme'],
      budget: 'small',
      schedule: 'rate(1 hour)',
      whenShort: 'ask',
    },
    { name: 'modest', kind: 'keyword-difficulty', projects: ['1001'], leave: 30, schedule: 'rate(1 hour)' },
  ]),
)

const projects = ['acme', 'globex', 'initech', 'umbrella']
const callers = ['ada', 'bob', 'carl']
const people = ['U1ADA', 'U2DORA', 'U3NOBODY']

function keyed({ call }: Rooms, scene: Scene, caller: string, path: string, key: string, body: object, headers = {}) {
  scene.asked({ caller, path, key, body })
  return call(caller, 'POST', path, body, { 'idempotency-key': key, ...headers })
}

const asks = (rooms: Rooms, scene: Scene, key: string, body: object, headers = {}) =>
  keyed(rooms, scene, one(scene.chance, callers), '/updates', key, { kind: 'ranking', ...body }, headers)

const idsOf = ({ world }: Scene, state: string): string[] =>
  rowsOf(world.items).flatMap((row) => (row.state === state ? [row.id] : []))

/** A few of what the stream has told, from anywhere, and some of it twice. */
function batchOf({ stream, chance }: Scene): object {
  const from = chance(stream.length + 1)
  const some = stream.slice(from, from + 1 + chance(12))
  return { Records: [...some, ...some.slice(0, chance(3))] }
}

/** What tools, clocks and people do, each in a process of its own. */
export const deeds: Readonly<Record<string, Deed>> = {
  asks: (rooms, scene) => asks(rooms, scene, `key-${scene.chance(4)}`, { project: one(scene.chance, projects) }),
  'asks of a small budget': (rooms, scene) =>
    asks(rooms, scene, `small-${scene.chance(4)}`, { project: one(scene.chance, projects), budget: 'small' }),
  'asks for keyword difficulty': (rooms, scene) =>
    asks(rooms, scene, `hard-${scene.chance(3)}`, {
      kind: 'keyword-difficulty',
      project: one(scene.chance, ['1001', '1002']),
    }),
  'asks for two': (rooms, scene) =>
    asks(rooms, scene, `two-${scene.chance(2)}`, {
      projects: ['acme', 'globex'],
      whenShort: one(scene.chance, ['fit', 'refuse']),
    }),
  'asks where a person grants': (rooms, scene) =>
    asks(rooms, scene, `short-${scene.chance(3)}`, {
      project: one(scene.chance, projects),
      budget: 'small',
      whenShort: 'ask',
    }),
  queues: (rooms, scene) =>
    asks(
      rooms,
      scene,
      `queued-${scene.chance(3)}`,
      { project: one(scene.chance, projects) },
      { prefer: 'respond-async' },
    ),
  'forces it': (rooms, scene) =>
    keyed(rooms, scene, 'root', '/updates', `forced-${scene.chance(2)}`, {
      ...{ kind: 'ranking', project: one(scene.chance, projects), force: true, reason: 'it must be' },
    }),
  'reads the stream': (rooms, scene) => rooms.reads(batchOf(scene), rooms.endsAt()),
  'reads the stream again': (rooms, scene) => rooms.reads(batchOf(scene), rooms.endsAt()),
  'tells people': (rooms, scene) => rooms.tells(batchOf(scene), rooms.endsAt()),
  approves: async (rooms, scene) => {
    for (const id of idsOf(scene, 'awaiting-approval')) {
      await rooms.call(one(scene.chance, ['dora', 'carl', 'dora']), 'POST', `/updates/${id}/approve`, {})
    }
  },
  rejects: async (rooms, scene) => {
    for (const id of idsOf(scene, 'awaiting-approval')) await rooms.call('dora', 'POST', `/updates/${id}/reject`, {})
  },
  cancels: async (rooms, scene) => {
    const ids = rowsOf(scene.world.items).map(({ id }) => id)
    if (ids.length > 0) await rooms.call('root', 'POST', `/updates/${one(scene.chance, ids)}/cancel`, {})
  },
  resolves: async (rooms, scene) => {
    for (const id of idsOf(scene, 'in-doubt')) {
      const outcome = one(scene.chance, ['ran', 'did-not-run'])
      await rooms.call('dora', 'POST', `/updates/${id}/resolve`, { outcome, reason: 'as the screen says' })
    }
  },
  sweeps: async (rooms, { world, chance }) => {
    world.now += one(chance, [1, 2, 6, 61]) * minuteMs
    await rooms.triggers.handle({ task: 'sweep' }, rooms.endsAt())
  },
  'writes the digest': (rooms) => rooms.triggers.handle({ task: 'digest' }, rooms.endsAt()),
  'fires a plan': (rooms, { world, chance }) => {
    const time = Math.floor(world.now / (10 * minuteMs)) * 10 * minuteMs - one(chance, [0, 0, 0, 70]) * minuteMs
    const event = { plan: one(chance, plans).name, time: new Date(time).toISOString() }
    return rooms.triggers.handle(event, rooms.endsAt() + 13 * minuteMs)
  },
  'pauses or resumes a plan': (rooms, { chance }) =>
    rooms.call('root', 'POST', `/plans/nightly/${one(chance, ['pause', 'resume'])}`, { reason: 'a rehearsal' }),
  'changes a limit': (rooms, { chance, excused }) => {
    excused.add('small')
    const units = one(chance, [0, 60, 100, 300])
    const day = chance(2) === 0 ? [{ window: 'day', units: 70 }] : []
    return rooms.call('root', 'PUT', '/budgets/small', { limits: [{ window: 'month', units }, ...day] })
  },
  'puts many budgets': (rooms, { chance, excused }) => {
    excused.add('small')
    const limit = (units: number) => ({ limits: [{ window: 'month', units }] as const, parent: 'account' })
    return rooms.guard.applyBudgets(
      [
        { name: 'small', ...limit(50 + 50 * chance(4)) },
        { name: `team-${chance(3)}`, ...limit(100) },
      ] as unknown as Parameters<typeof rooms.guard.applyBudgets>[0],
      { caller: 'root', reason: 'a file' },
      { dryRun: false },
    )
  },
  'deletes a budget': (rooms, { chance }) =>
    rooms.call('root', 'DELETE', `/budgets/${one(chance, ['small', 'team-0', 'team-1'])}`),
  'freezes and thaws': (rooms, { chance }) =>
    rooms.call('root', 'POST', `/budgets/small/${one(chance, ['freeze', 'unfreeze'])}`, { reason: 'a rehearsal' }),
  grants: (rooms, scene) =>
    keyed(rooms, scene, 'root', '/budgets/small/entries', `grant-${scene.chance(3)}`, {
      ...{ type: 'grant', units: 40, window: one(scene.chance, ['month', 'day', 'next-month']), reason: 'more' },
    }),
  transfers: (rooms, scene) =>
    keyed(rooms, scene, 'root', '/budgets/small/entries', `transfer-${scene.chance(3)}`, {
      ...{ type: 'transfer', units: 15, to: one(scene.chance, ['account', 'team-0']), reason: 'they need it' },
    }),
  'books what was spent elsewhere': (rooms, scene) => {
    for (const budget of ['account', 'small']) scene.excused.add(budget)
    return keyed(rooms, scene, 'root', '/budgets/small/entries', `ext-${scene.chance(3)}`, {
      ...{ type: 'external-spend', units: 20, reason: 'by hand' },
    })
  },
  'corrects an entry': async (rooms, scene) => {
    for (const budget of ['account', 'small']) scene.excused.add(budget)
    const ids = [...scene.world.items.values()].flatMap((item) => (item.sk === 'entry' ? [String(item.id)] : []))
    if (ids.length === 0) return
    await keyed(rooms, scene, 'root', '/budgets/small/entries', `right-${scene.chance(3)}`, {
      ...{ type: 'correction', units: 10, corrects: one(scene.chance, ids), reason: 'a slip' },
    })
  },
  reconciles: (rooms, scene) => {
    scene.excused.add('account')
    return keyed(rooms, scene, 'root', '/budgets/account/reconcile', `rec-${scene.chance(2)}`, {
      ...{ unitsLeft: 40 * scene.chance(5), reason: 'as the screen says' },
    })
  },
  'types in Slack': (rooms, { chance }) => {
    const text = one(chance, [
      `run ranking ${one(chance, projects)}`,
      `run ranking ${one(chance, projects)} budget=small because of a pitch`,
      'freeze small a rehearsal',
      'unfreeze small a rehearsal',
      'updates',
      `estimate ranking ${one(chance, projects)}`,
    ])
    return rooms.types(one(chance, people), text, `typed-${chance(6)}`)
  },
  confirms: async (rooms, { world, chance }) => {
    const ids = [...world.items.values()].flatMap((item) => (item.sk === 'slack-event' ? [String(item.id)] : []))
    if (ids.length > 0) await rooms.presses(one(chance, people), 'confirm', one(chance, ids), `press-${chance(20)}`)
  },
  'presses a button': async (rooms, scene) => {
    const { chance, world } = scene
    const rows = rowsOf(world.items)
    if (rows.length === 0) return
    const action = one(chance, ['approve', 'approve', 'reject', 'resolve-ran', 'resolve-did-not-run'])
    await rooms.presses(one(chance, people), action, one(chance, rows).id, `press-${chance(20)}`)
  },
  'lists a person': (rooms, { chance }) =>
    rooms.call('root', 'PUT', '/callers/slack:U2DORA', {
      ...{ scopes: ['read', 'approve'], person: one(chance, ['dora', 'ada']), disabled: chance(4) === 0 },
    }),
}

export const laterMs = [0, 0, 20 * minuteMs, dayMs / 2, 11 * dayMs]
