import type { Item } from '../../../shared/ledger/store/store.ts'
import type { Given } from '../audit/agents.ts'
import type { Answered, Handlers } from '../handlers.ts'
import type { Choose } from '../step.ts'
import { dayMs, minuteMs, type World } from '../world.ts'
import { one } from './chance.ts'
import { askedForClient, changeClient, moveProject } from './clients.ts'
import { plans } from './plans.ts'

/** The parts of their day that actions use. */
export interface Day {
  readonly world: World
  readonly chance: Choose
  readonly stream: readonly object[]
  /** Budgets that may be overspent, because their units are removed or spent outside. */
  readonly excused: Set<string>
  readonly quotes: Given[]
  /** Later requests of the process arrive now, so no earlier estimate may admit them. */
  arrives(process: string): void
  asked(request: Asked): void
}

export interface Asked {
  readonly caller: string
  readonly path: string
  readonly key: string
  readonly body: object
}

export type Action = (handlers: Handlers, day: Day) => Promise<Answered | unknown>

export const projects = ['acme', 'globex', 'initech', 'umbrella', 'Acme', 'ACME']
const prices = [4, 30, 40, 60, 90]
const callers = ['ada', 'bob', 'carl']
const people = ['U1ADA', 'U2DORA', 'U3NOBODY']

function keyed({ call }: Handlers, day: Day, caller: string, path: string, key: string, body: object, headers = {}) {
  day.asked({ caller, path, key, body })
  return call(caller, 'POST', path, body, { 'idempotency-key': key, ...headers })
}

export const asks = (handlers: Handlers, day: Day, key: string, body: object, headers = {}) =>
  keyed(handlers, day, one(day.chance, callers), '/updates', key, { kind: 'ranking', ...body }, headers)

const seen = ({ ask }: Handlers): Promise<readonly Item[]> =>
  ask({ what: 'looks around', faults: [], reads: true, take: async ({ items }) => [...items.values()] })

async function idsOf(handlers: Handlers, is: (item: Item) => boolean): Promise<string[]> {
  return (await seen(handlers)).filter((item) => is(item)).map((item) => String(item.id))
}

const isUpdateIn =
  (...states: string[]) =>
  ({ sk, state }: Item): boolean =>
    sk === 'update' && states.includes(String(state))

function batchOf({ stream, chance }: Day): object {
  const from = chance(stream.length + 1)
  const some = stream.slice(from, from + 1 + chance(12))
  return { Records: [...some, ...some.slice(0, chance(3))] }
}

export const runsPlanAgain: Action = async (handlers, { chance }) => {
  const occurrences = (await seen(handlers)).filter(({ sk }) => sk === 'occurrence')
  if (occurrences.length === 0) return
  const { plan, time } = one(chance, occurrences)
  const body = { time: new Date(Number(time)).toISOString(), only: one(chance, ['refused', 'refused', 'unsent']) }
  return handlers.call('root', 'POST', `/plans/${plan}/run`, body)
}

export const changePrice = ({ ask }: Handlers, project: string, price: () => number): Promise<void> =>
  ask({
    what: `the price of ${project} changes`,
    faults: [],
    reads: false,
    take: async (world) => {
      world.prices = { ...world.prices, [project]: price() }
    },
  })

export type Actions = Readonly<Record<string, Action>>

/** Requests by tools and rules, each in its own process. */
export const requests: Actions = {
  asks: (handlers, day) => asks(handlers, day, `key-${day.chance(4)}`, { project: one(day.chance, projects) }),
  'asks of a small budget': (handlers, day) =>
    asks(handlers, day, `small-${day.chance(4)}`, { project: one(day.chance, projects), budget: 'small' }),
  'asks for keyword difficulty': (handlers, day) =>
    asks(handlers, day, `hard-${day.chance(3)}`, {
      kind: 'keyword-difficulty',
      project: one(day.chance, ['1001', '1002', 'acme', 'Acme']),
    }),
  'asks for two': (handlers, day) =>
    asks(handlers, day, `two-${day.chance(2)}`, {
      projects: ['acme', 'globex'],
      whenShort: one(day.chance, ['fit', 'refuse']),
    }),
  'asks where a person grants': (handlers, day) =>
    asks(handlers, day, `short-${day.chance(3)}`, {
      project: one(day.chance, projects),
      budget: 'small',
      whenShort: 'ask',
    }),
  queues: (handlers, day) =>
    asks(handlers, day, `queued-${day.chance(3)}`, { project: one(day.chance, projects) }, { prefer: 'respond-async' }),
  'looks at a price that then changes, and asks': async (handlers, day) => {
    const project = one(day.chance, projects)
    await handlers.call('ada', 'GET', `/estimates?kind=ranking&project=${project}`)
    await changePrice(handlers, project, () => one(day.chance, prices))
    day.arrives(handlers.process)
    return asks(handlers, day, `priced-${day.chance(3)}`, { project, maxUnits: one(day.chance, [10, 50, 100]) })
  },
  'asks for a client': async (handlers, day) => {
    const { caller, body, headers } = askedForClient(day.chance)
    const answer = await keyed(handlers, day, caller, '/updates', `client-${day.chance(6)}`, body, headers)
    // A queued update starts later, in another process.
    if (day.chance(2) === 0) await changeClient(handlers, day.chance)
    return answer
  },
  'queues for a client, whose project then moves': async (handlers, day) => {
    const body = { kind: 'ranking', project: 'hooli' }
    const key = `moving-${day.chance(6)}`
    const answer = await keyed(handlers, day, 'ada', '/updates', key, body, { prefer: 'respond-async' })
    await moveProject(handlers)
    return answer
  },
  'changes a client': (handlers, { chance }) => changeClient(handlers, chance),
  'fires a plan': (handlers, { world, chance }) => {
    const time = Math.floor(world.now / (10 * minuteMs)) * 10 * minuteMs - one(chance, [0, 0, 0, 70]) * minuteMs
    const event = { plan: one(chance, plans).name, time: new Date(time).toISOString() }
    return handlers.triggers.handle(event, handlers.endsAt() + 13 * minuteMs)
  },
  'forces it': (handlers, day) =>
    keyed(handlers, day, 'root', '/updates', `forced-${day.chance(2)}`, {
      kind: 'ranking',
      project: one(day.chance, projects),
      force: true,
      reason: 'it must be',
    }),
}

/** Events of clocks, streams and people. */
export const events: Actions = {
  'reads the stream': (handlers, day) => handlers.reads(batchOf(day), handlers.endsAt()),
  'tells people': (handlers, day) => handlers.tells(batchOf(day), handlers.endsAt()),
  approves: async (handlers, { chance }) => {
    for (const { id, project } of (await seen(handlers)).filter(isUpdateIn('awaiting-approval'))) {
      const upTo = [{}, { units: 35 }, { units: 50 }][String(id).charCodeAt(String(id).length - 1) % 3] ?? {}
      // An update approved up to 50 costs more at its start.
      if (upTo.units === 50) await changePrice(handlers, String(project), () => 60)
      await handlers.call(one(chance, ['dora', 'carl']), 'POST', `/updates/${id}/approve`, upTo)
    }
  },
  rejects: async (handlers) => {
    for (const id of await idsOf(handlers, isUpdateIn('awaiting-approval'))) {
      await handlers.call('dora', 'POST', `/updates/${id}/reject`, {})
    }
  },
  cancels: async (handlers) => {
    for (const id of await idsOf(handlers, isUpdateIn('requested', 'running', 'awaiting-approval'))) {
      await handlers.call('root', 'POST', `/updates/${id}/cancel`, {})
    }
  },
  resolves: async (handlers, { chance }) => {
    for (const id of await idsOf(handlers, isUpdateIn('in-doubt'))) {
      const outcome = one(chance, ['ran', 'did-not-run'])
      await handlers.call('dora', 'POST', `/updates/${id}/resolve`, { outcome, reason: 'as the screen says' })
    }
  },
  sweeps: async (handlers, { world, chance }) => {
    world.now += one(chance, [1, 2, 6, 61]) * minuteMs
    await handlers.triggers.handle({ task: 'sweep' }, handlers.endsAt())
  },
  'changes a price': (handlers, day) => changePrice(handlers, one(day.chance, projects), () => one(day.chance, prices)),
  'lets time pass': async ({ ask }, { chance }) => {
    for (let round = chance(3); round >= 0; round--) {
      const ms = one(chance, [11_000, 31_000])
      const take = async (world: World) => {
        world.now += ms
      }
      await ask({ what: `waits ${ms} ms`, faults: [], reads: false, take })
    }
  },
  'writes the digest': (handlers) => handlers.triggers.handle({ task: 'digest' }, handlers.endsAt()),
  'pauses or resumes a plan': (handlers, { chance }) =>
    handlers.call('root', 'POST', `/plans/nightly/${one(chance, ['pause', 'resume'])}`, { reason: 'a rehearsal' }),
  'changes a limit': (handlers, { chance, excused }) => {
    excused.add('small')
    const units = one(chance, [0, 60, 100, 300])
    const day = chance(2) === 0 ? [{ window: 'day', units: 70 }] : []
    return handlers.call('root', 'PUT', '/budgets/small?release=true', { limits: [{ window: 'month', units }, ...day] })
  },
  'lists a project with its id, or not any more': (handlers, { chance, excused }) => {
    excused.add('small')
    const projects = one(chance, [[], [{ name: 'acme' }], [{ name: 'Acme', id: '1001' }]])
    return handlers.call('root', 'PUT', '/budgets/small?release=true', {
      limits: [{ window: 'month', units: 100 }],
      projects,
    })
  },
  'puts many budgets': (handlers, { chance, excused }) => {
    excused.add('small')
    const limit = (units: number) => ({ limits: [{ window: 'month', units }] as const, parent: 'account' })
    return handlers.guard.applyBudgets(
      [
        { name: 'small', ...limit(50 + 50 * chance(4)) },
        { name: `team-${chance(3)}`, ...limit(100) },
      ] as unknown as Parameters<typeof handlers.guard.applyBudgets>[0],
      { caller: 'root', reason: 'a file' },
      { dryRun: false },
    )
  },
  'deletes a budget': (handlers, { chance }) =>
    handlers.call('root', 'DELETE', `/budgets/${one(chance, ['small', 'team-0', 'team-1', 'squad'])}?release=true`),
  'freezes and thaws': (handlers, { chance }) =>
    handlers.call('root', 'POST', `/budgets/small/${one(chance, ['freeze', 'unfreeze'])}`, { reason: 'a rehearsal' }),
  grants: (handlers, day) =>
    keyed(handlers, day, 'root', '/budgets/small/entries', `grant-${day.chance(3)}`, {
      type: 'grant',
      units: 40,
      window: one(day.chance, ['month', 'day', 'next-month']),
      reason: 'more',
    }),
  transfers: (handlers, day) =>
    keyed(handlers, day, 'root', '/budgets/small/entries', `transfer-${day.chance(3)}`, {
      type: 'transfer',
      units: 15,
      to: one(day.chance, ['account', 'team-0']),
      reason: 'they need it',
    }),
  'books what was spent elsewhere': (handlers, day) => {
    for (const budget of ['account', 'small']) day.excused.add(budget)
    return keyed(handlers, day, 'root', '/budgets/small/entries', `ext-${day.chance(3)}`, {
      type: 'external-spend',
      units: 20,
      reason: 'by hand',
    })
  },
  'corrects an entry': async (handlers, day) => {
    for (const budget of ['account', 'small']) day.excused.add(budget)
    const items = await seen(handlers)
    const ids = items.filter(({ sk }) => sk === 'entry').map(({ id }) => String(id))
    if (ids.length === 0) return
    await keyed(handlers, day, 'root', '/budgets/small/entries', `right-${day.chance(3)}`, {
      type: 'correction',
      units: 10,
      corrects: one(day.chance, ids),
      reason: 'a slip',
    })
    for (const { id, budget } of items.filter(isUpdateIn('settled')).slice(-2)) {
      const units = 5 * (String(id).charCodeAt(String(id).length - 1) % 20)
      await keyed(handlers, day, 'root', `/budgets/${budget}/entries`, `cost-${id}`, {
        type: 'correction',
        units,
        corrects: id,
        reason: 'the bill',
      })
    }
  },
  reconciles: (handlers, day) => {
    day.excused.add('account')
    return keyed(handlers, day, 'root', '/budgets/account/reconcile', `rec-${day.chance(2)}`, {
      unitsLeft: 40 * day.chance(5),
      reason: 'as the screen says',
      difference: 40 * (day.chance(9) - 4),
      doubts: 'ran',
    })
  },
  'types in Slack': (handlers, { chance }) => {
    const text = one(chance, [
      `run ranking ${one(chance, projects)}`,
      `run ranking ${one(chance, projects)} budget=small because of a pitch`,
      'freeze small a rehearsal',
      'unfreeze small a rehearsal',
      'updates',
      `estimate ranking ${one(chance, projects)}`,
    ])
    return handlers.types(one(chance, people), text, `typed-${chance(6)}`)
  },
  confirms: async (handlers, { chance }) => {
    const ids = await idsOf(handlers, ({ sk, kind }) => sk === 'slack-event' && kind === 'command')
    if (ids.length > 0) await handlers.presses(one(chance, people), 'confirm', one(chance, ids), `press-${chance(20)}`)
  },
  'presses a button': async (handlers, { chance }) => {
    const action = one(chance, ['approve', 'approve', 'reject', 'resolve-ran', 'resolve-did-not-run'])
    const ids = await idsOf(handlers, isUpdateIn('awaiting-approval', 'in-doubt', 'settled'))
    if (ids.length > 0) await handlers.presses(one(chance, people), action, one(chance, ids), `press-${chance(20)}`)
  },
  'lists a person': (handlers, { chance }) =>
    handlers.call('root', 'PUT', '/callers/slack:U2DORA', {
      scopes: ['read', 'approve'],
      person: one(chance, ['dora', 'ada']),
      disabled: chance(4) === 0,
    }),
}

export const laterMs = [0, 0, 20 * minuteMs, dayMs / 2, 2 * dayMs, 11 * dayMs]
