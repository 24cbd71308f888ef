import { type Plan, parsePlans } from '../../shared/guard/plans/plans-file.ts'
import type { Item } from '../../shared/ledger/store/store.ts'
import { one } from './chance.ts'
import { askedForClient, changeClient, moveProject } from './payers.ts'
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
  /** What a process asks for from now on has arrived now: no earlier estimate may admit it. */
  arrives(process: string): void
  /** Keeps what was asked with a key, to be asked again. */
  asked(request: Asked): void
}

export interface Asked {
  readonly caller: string
  readonly path: string
  readonly key: string
  readonly body: object
}

export type Deed = (rooms: Rooms, scene: Scene) => Promise<Answered | unknown>

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

export const projects = ['acme', 'globex', 'initech', 'umbrella', 'Acme', 'ACME']
const callers = ['ada', 'bob', 'carl']
const people = ['U1ADA', 'U2DORA', 'U3NOBODY']

function keyed({ call }: Rooms, scene: Scene, caller: string, path: string, key: string, body: object, headers = {}) {
  scene.asked({ caller, path, key, body })
  return call(caller, 'POST', path, body, { 'idempotency-key': key, ...headers })
}

export const asks = (rooms: Rooms, scene: Scene, key: string, body: object, headers = {}) =>
  keyed(rooms, scene, one(scene.chance, callers), '/updates', key, { kind: 'ranking', ...body }, headers)

/** What somebody sees in the table by the time that they look. */
const seen = ({ ask }: Rooms): Promise<readonly Item[]> =>
  ask({ what: 'looks around', faults: [], reads: true, take: async ({ items }) => [...items.values()] })

async function idsOf(rooms: Rooms, is: (item: Item) => boolean): Promise<string[]> {
  return (await seen(rooms)).flatMap((item) => (is(item) ? [String(item.id)] : []))
}

const isUpdateIn =
  (...states: string[]) =>
  ({ sk, state }: Item): boolean =>
    sk === 'update' && states.includes(String(state))

/** A few of what the stream has told, from anywhere, and some of it twice. */
function batchOf({ stream, chance }: Scene): object {
  const from = chance(stream.length + 1)
  const some = stream.slice(from, from + 1 + chance(12))
  return { Records: [...some, ...some.slice(0, chance(3))] }
}

/** What a person has begun again of an occurrence of a plan. */
export const runsPlanAgain: Deed = async (rooms, { chance }) => {
  const occurrences = (await seen(rooms)).filter(({ sk }) => sk === 'occurrence')
  if (occurrences.length === 0) return
  const { plan, time } = one(chance, occurrences)
  const body = { time: new Date(Number(time)).toISOString(), only: one(chance, ['refused', 'refused', 'unsent']) }
  return rooms.call('root', 'POST', `/plans/${plan}/run`, body)
}

const changePrice = ({ ask }: Rooms, { chance }: Scene, project: string): Promise<void> =>
  ask({
    what: `the price of ${project} changes`,
    faults: [],
    reads: false,
    take: async (world) => {
      world.prices = { ...world.prices, [project]: one(chance, [4, 30, 40, 60, 90]) }
    },
  })

export type Deeds = Readonly<Record<string, Deed>>

/** What tools and rules do, each in a process of its own. */
export const asking: Deeds = {
  asks: (rooms, scene) => asks(rooms, scene, `key-${scene.chance(4)}`, { project: one(scene.chance, projects) }),
  'asks of a small budget': (rooms, scene) =>
    asks(rooms, scene, `small-${scene.chance(4)}`, { project: one(scene.chance, projects), budget: 'small' }),
  'asks for keyword difficulty': (rooms, scene) =>
    asks(rooms, scene, `hard-${scene.chance(3)}`, {
      kind: 'keyword-difficulty',
      project: one(scene.chance, ['1001', '1002', 'acme', 'Acme']),
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
  'looks at a price that then changes, and asks': async (rooms, scene) => {
    const project = one(scene.chance, projects)
    await rooms.call('ada', 'GET', `/estimates?kind=ranking&project=${project}`)
    await changePrice(rooms, scene, project)
    scene.arrives(rooms.process)
    return asks(rooms, scene, `priced-${scene.chance(3)}`, { project, maxUnits: one(scene.chance, [10, 50, 100]) })
  },
  'asks for a client': async (rooms, scene) => {
    const { caller, body, headers } = askedForClient(scene.chance)
    const answer = await keyed(rooms, scene, caller, '/updates', `client-${scene.chance(6)}`, body, headers)
    // What is queued by then is begun by somebody else, later.
    if (scene.chance(2) === 0) await changeClient(rooms, scene.chance)
    return answer
  },
  'queues for a client, whose project then moves': async (rooms, scene) => {
    const body = { kind: 'ranking', project: 'hooli' }
    const key = `moving-${scene.chance(6)}`
    const answer = await keyed(rooms, scene, 'ada', '/updates', key, body, { prefer: 'respond-async' })
    await moveProject(rooms)
    return answer
  },
  'changes a client': (rooms, { chance }) => changeClient(rooms, chance),
  'fires a plan': (rooms, { world, chance }) => {
    const time = Math.floor(world.now / (10 * minuteMs)) * 10 * minuteMs - one(chance, [0, 0, 0, 70]) * minuteMs
    const event = { plan: one(chance, plans).name, time: new Date(time).toISOString() }
    return rooms.triggers.handle(event, rooms.endsAt() + 13 * minuteMs)
  },
  'forces it': (rooms, scene) =>
    keyed(rooms, scene, 'root', '/updates', `forced-${scene.chance(2)}`, {
      ...{ kind: 'ranking', project: one(scene.chance, projects), force: true, reason: 'it must be' },
    }),
}

/** What clocks, streams and people do. */
export const minding: Deeds = {
  'reads the stream': (rooms, scene) => rooms.reads(batchOf(scene), rooms.endsAt()),
  'tells people': (rooms, scene) => rooms.tells(batchOf(scene), rooms.endsAt()),
  approves: async (rooms, { chance }) => {
    for (const id of await idsOf(rooms, isUpdateIn('awaiting-approval'))) {
      await rooms.call(one(chance, ['dora', 'carl']), 'POST', `/updates/${id}/approve`, {})
    }
  },
  rejects: async (rooms) => {
    for (const id of await idsOf(rooms, isUpdateIn('awaiting-approval'))) {
      await rooms.call('dora', 'POST', `/updates/${id}/reject`, {})
    }
  },
  cancels: async (rooms) => {
    for (const id of await idsOf(rooms, isUpdateIn('requested', 'running', 'awaiting-approval'))) {
      await rooms.call('root', 'POST', `/updates/${id}/cancel`, {})
    }
  },
  resolves: async (rooms, { chance }) => {
    for (const id of await idsOf(rooms, isUpdateIn('in-doubt'))) {
      const outcome = one(chance, ['ran', 'did-not-run'])
      await rooms.call('dora', 'POST', `/updates/${id}/resolve`, { outcome, reason: 'as the screen says' })
    }
  },
  sweeps: async (rooms, { world, chance }) => {
    world.now += one(chance, [1, 2, 6, 61]) * minuteMs
    await rooms.triggers.handle({ task: 'sweep' }, rooms.endsAt())
  },
  'changes a price': (rooms, scene) => changePrice(rooms, scene, one(scene.chance, projects)),
  'lets time pass': async ({ ask }, { chance }) => {
    for (let round = chance(3); round >= 0; round--) {
      const ms = one(chance, [11_000, 31_000])
      const take = async (world: World) => {
        world.now += ms
      }
      await ask({ what: `waits ${ms} ms`, faults: [], reads: false, take })
    }
  },
  'writes the digest': (rooms) => rooms.triggers.handle({ task: 'digest' }, rooms.endsAt()),
  'pauses or resumes a plan': (rooms, { chance }) =>
    rooms.call('root', 'POST', `/plans/nightly/${one(chance, ['pause', 'resume'])}`, { reason: 'a rehearsal' }),
  'changes a limit': (rooms, { chance, excused }) => {
    excused.add('small')
    const units = one(chance, [0, 60, 100, 300])
    const day = chance(2) === 0 ? [{ window: 'day', units: 70 }] : []
    return rooms.call('root', 'PUT', '/budgets/small', { limits: [{ window: 'month', units }, ...day] })
  },
  'lists a project with its id, or not any more': (rooms, { chance, excused }) => {
    excused.add('small')
    const projects = one(chance, [[], [{ name: 'acme' }], [{ name: 'Acme', id: '1001' }]])
    return rooms.call('root', 'PUT', '/budgets/small', { limits: [{ window: 'month', units: 100 }], projects })
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
    rooms.call('root', 'DELETE', `/budgets/${one(chance, ['small', 'team-0', 'team-1', 'squad'])}`),
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
    const ids = await idsOf(rooms, ({ sk }) => sk === 'entry')
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
  confirms: async (rooms, { chance }) => {
    const ids = await idsOf(rooms, ({ sk, kind }) => sk === 'slack-event' && kind === 'command')
    if (ids.length > 0) await rooms.presses(one(chance, people), 'confirm', one(chance, ids), `press-${chance(20)}`)
  },
  'presses a button': async (rooms, { chance }) => {
    const action = one(chance, ['approve', 'approve', 'reject', 'resolve-ran', 'resolve-did-not-run'])
    const ids = await idsOf(rooms, isUpdateIn('awaiting-approval', 'in-doubt', 'settled'))
    if (ids.length > 0) await rooms.presses(one(chance, people), action, one(chance, ids), `press-${chance(20)}`)
  },
  'lists a person': (rooms, { chance }) =>
    rooms.call('root', 'PUT', '/callers/slack:U2DORA', {
      ...{ scopes: ['read', 'approve'], person: one(chance, ['dora', 'ada']), disabled: chance(4) === 0 },
    }),
}

export const laterMs = [0, 0, 20 * minuteMs, dayMs / 2, 2 * dayMs, 11 * dayMs]
