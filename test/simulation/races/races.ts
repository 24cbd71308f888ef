import { budgetFor } from '../../../shared/guard/update/projects.ts'
import { runningRecord } from '../../../shared/guard/update/records.ts'
import type { UpdatesRequest } from '../../../shared/guard/update/submit.ts'
import { chainOf } from '../../../shared/ledger/book/definitions.ts'
import type { RunOutcome } from '../../../shared/ledger/book/outcome.ts'
import { type Scope, toUnits } from '../../../shared/platform/words.ts'
import { Broken, rowsOf } from '../audit/stored.ts'
import { type Machine, options } from '../machine.ts'
import { createCalm } from '../rest.ts'
import { createWorld, dayMs, minuteMs, noon, type World } from '../world.ts'

const scopes: ReadonlySet<Scope> = new Set(['run', 'admin'])

const ask = (
  { guard, endsAt }: Machine,
  caller: string,
  key: string,
  project: string,
  more: Partial<UpdatesRequest> = {},
  respondAsync = false,
) =>
  guard.submit(
    { caller, token: { scopes, budgets: '*' }, via: 'http', route: 'POST /updates', key },
    { kind: 'ranking', projects: [project], whenShort: 'refuse', ...more },
    { respondAsync, endsAt: endsAt() },
  )

export type Action = (machine: Machine) => Promise<unknown>

export interface Race {
  readonly unitsPerMonth: number
  readonly at?: number
  readonly prepare?: Action
  readonly processes: Readonly<Record<string, Action>>
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

const sweepsLate: Action = async (machine) => {
  // Past the lease and the flight, while the sender may still wait for its answer.
  await passes(machine, 'ten minutes pass', 10 * minuteMs)
  await (await machine.guard.background()).sweep(machine.endsAt())
}

const grants: Action = ({ guard }) =>
  guard.ledger.enter({
    ...{ type: 'grant', budget: 'account', units: 40, window: 'month', wholeChain: false },
    ...{ id: 'ent_one', content: 'the same', reason: 'more', by: 'root' },
  })

const begins: Action = async ({ guard, endsAt }) => {
  const { rows } = await guard.ledger.open('requested', 10)
  for (const { id } of rows) await guard.start(id, endsAt())
}

const awaiting = async ({ guard }: Machine) => (await guard.ledger.open('awaiting-approval', 10)).rows

/** Holds an update and closes it with this outcome. */
async function leaves({ guard, endsAt }: Machine, project: string, outcome: RunOutcome): Promise<string> {
  const kind = 'keyword-difficulty'
  const view = await guard.ledger.view([{ work: { kind, project } }])
  const [asked] = view.results
  if (!asked) throw new Error('nothing was shown')
  const id = `upd_left_${project}`
  const content = { digest: id, count: 1 }
  const budget = budgetFor(view.definitions, {}, project)
  const request = {
    id,
    kind,
    project,
    budget,
    caller: 'ada',
    via: 'http',
    content,
    createdAt: view.now,
  } as const
  const quote = { units: toUnits(40), dates: null }
  const how = { counters: chainOf(view.definitions, budget), attempt: id, endsAt: endsAt(), options }
  const update = runningRecord({ view, asked, request, quote }, how)
  await guard.ledger.hold(view, { update: null, works: asked.works, runs: [] }, update)
  await guard.ledger.settle(update, outcome)
  return id
}

/** The largest first. */
export const races = {
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
  'a late answer and the evidence': {
    unitsPerMonth: 1_000,
    processes: { a: (machine) => ask(machine, 'ada', 'one', 'acme'), s: sweepsLate },
  },
  // Keyword difficulty leaves no dates, so only a person's word is evidence.
  'a late answer, the sweep, and a person': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', '1001', { kind: 'keyword-difficulty' }),
      s: async (machine) => {
        const { guard } = machine
        await sweepsLate(machine)
        const { rows } = await guard.ledger.open('in-doubt', 10)
        for (const { id } of rows) {
          await guard.resolve(id, 'carl', { outcome: 'did-not-run', reason: 'says the screen' })
        }
      },
    },
  },
  'what is queued, begun at once and by the sweep': {
    unitsPerMonth: 1_000,
    prepare: (machine) => ask(machine, 'ada', 'queued', 'acme', {}, true),
    processes: {
      a: begins,
      s: async (machine) => {
        await passes(machine, 'three minutes pass', 3 * minuteMs)
        await (await machine.guard.background()).sweep(machine.endsAt())
      },
    },
    check: ({ runs }) => {
      if (runs.length > 1) throw new Broken(`${runs.length} runs of one update`)
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
  // Held by its id, before a budget listed it; held by its name, after.
  'a run that comes to light, and the same work again': {
    unitsPerMonth: 1_000,
    at: noon + 2 * dayMs,
    prepare: async (machine) => {
      const said = { by: 'ada', note: 'no answer' }
      await leaves(machine, '1001', { kind: 'unknown', from: 'sender', ...said })
      const projects = [{ name: 'acme', id: '1001' }]
      await machine.guard.putBudget({ name: 'seo', parent: 'account', limits: [], projects }, { caller: 'root' })
      await passes(machine, 'a day passes', dayMs)
      await leaves(machine, 'acme', { kind: 'did-not-run', from: 'sender', ...said })
    },
    processes: {
      p: ({ guard }) => guard.resolve('upd_left_1001', 'carl', { outcome: 'ran', reason: 'says the screen' }),
      c: (machine) => ask(machine, 'ada', 'again', 'ACME', { kind: 'keyword-difficulty' }),
    },
  },
  'two updates racing for the last units': {
    unitsPerMonth: 100,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      b: (machine) => ask(machine, 'bob', 'two', 'globex'),
    },
  },
  'two updates of a caller that has a limit': {
    unitsPerMonth: 1_000,
    prepare: ({ guard }) => {
      const limits = [{ window: 'month', units: toUnits(60) } as const]
      return guard.putCaller('eve', { limits }, { caller: 'root' })
    },
    processes: {
      a: (machine) => ask(machine, 'eve', 'one', 'acme'),
      b: (machine) => ask(machine, 'eve', 'two', 'globex'),
    },
  },
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
  'two requests under one key': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'same', 'acme'),
      q: (machine) => ask(machine, 'ada', 'same', 'globex', {}, true),
    },
    check: ({ items }) => {
      if (rowsOf(items).length > 2) throw new Broken('one key made two records')
    },
  },
  'an approval that grants, and a rejection': {
    unitsPerMonth: 1_000,
    prepare: async (machine) => {
      const limits = [{ window: 'month', units: toUnits(10) } as const]
      await machine.guard.putBudget({ name: 'small', parent: 'account', limits, projects: [] }, { caller: 'root' })
      await ask(machine, 'ada', 'short', 'acme', { budget: 'small', whenShort: 'ask' })
    },
    processes: {
      a: async (machine) => {
        const { guard, endsAt } = machine
        const [update] = await awaiting(machine)
        if (update && (await guard.approve(update.id, 'dora')).kind === 'done') await guard.start(update.id, endsAt())
      },
      r: async (machine) => {
        const [update] = await awaiting(machine)
        if (update) await machine.guard.reject(update.id, 'carl')
      },
    },
    check: ({ items }) => {
      const granted = [...items.values()].filter(({ sk, type }) => sk === 'entry' && type === 'grant')
      if (granted.length > 1) throw new Broken('what was approved once was granted twice')
    },
  },
  'what is queued, and a cancellation': {
    unitsPerMonth: 1_000,
    prepare: (machine) => ask(machine, 'ada', 'queued', 'acme', {}, true),
    processes: {
      a: begins,
      c: async ({ guard }) => {
        const { rows } = await guard.ledger.updates({ project: 'acme' }, 1)
        for (const { id } of rows) await guard.cancel(id, { caller: 'ada', isAdmin: false })
      },
    },
  },
  'two deliveries of one entry': {
    unitsPerMonth: 1_000,
    processes: {
      a: grants,
      b: async (machine) => {
        await passes(machine, 'a minute passes', minuteMs)
        await grants(machine)
      },
    },
    check: ({ items }) => {
      if ([...items.values()].filter(({ sk, type }) => sk === 'entry' && type === 'grant').length > 1)
        throw new Broken('one key made two entries')
    },
  },
  'an update and a freeze': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      b: ({ guard }) => guard.freeze('account', { caller: 'root', reason: 'stop' }),
    },
  },
} as const satisfies Record<string, Race>

/** One update is settled already, so that the books of month and day exist. */
export async function beginningOf({ unitsPerMonth, at = noon, prepare }: Race): Promise<World> {
  const world = createWorld({ now: noon })
  const told = (error: Broken) => {
    throw error
  }
  const machine = await createCalm(world, { process: 'before', unitsPerMonth, told })
  await ask(machine, 'ada', 'before', 'initech')
  await prepare?.(machine)
  return createWorld({ items: world.items, now: at })
}

export type RaceName = keyof typeof races
export const raceNames = Object.keys(races) as RaceName[]
