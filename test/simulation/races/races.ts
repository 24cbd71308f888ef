import { toUnits } from '../../../shared/platform/words.ts'
import { Broken, rowsOf } from '../audit/stored.ts'
import { createCalm } from '../rest.ts'
import { createWorld, dayMs, minuteMs, noon, type World } from '../world.ts'
import {
  approvesShort,
  ask,
  awaiting,
  begins,
  costs,
  grants,
  leaves,
  limitsSmall,
  passes,
  type Race,
  resolves,
  starts,
  sweepsLate,
} from './actions.ts'

const noAnswer = { kind: 'unknown', from: 'sender', by: 'ada', note: 'no answer' } as const
const didNotRun = { ...noAnswer, kind: 'did-not-run' } as const
const beforeMidnight = Date.parse('2026-11-20T23:59:50Z')

/** The largest races come first. */
export const races = {
  'two updates around midnight': {
    unitsPerMonth: 1_000,
    at: beforeMidnight,
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
  // Keyword difficulty leaves no dates, so only a person's statement is evidence.
  'a late answer, the sweep, and a person': {
    unitsPerMonth: 1_000,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', '1001', { kind: 'keyword-difficulty' }),
      s: async (machine) => {
        await sweepsLate(machine)
        await resolves('did-not-run')(machine)
      },
    },
  },
  'a queued update, started at once and by the sweep': {
    unitsPerMonth: 1_000,
    prepare: (machine) => ask(machine, 'ada', 'queued', 'acme', {}, true),
    processes: {
      a: begins,
      s: async (machine) => {
        await passes(machine, 'three minutes pass', 3 * minuteMs)
        await (await machine.guard.jobs()).sweep(machine.endsAt())
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
  // The first hold uses the id before a budget lists it; the second uses the name afterwards.
  'a late run and the same work again': {
    unitsPerMonth: 1_000,
    at: noon + 2 * dayMs,
    prepare: async (machine) => {
      await leaves(machine, '1001', noAnswer)
      const projects = [{ name: 'acme', id: '1001' }]
      await machine.guard.putBudget({ name: 'seo', parent: 'account', limits: [], projects }, { caller: 'root' })
      await passes(machine, 'a day passes', dayMs)
      await leaves(machine, 'acme', didNotRun)
    },
    processes: {
      p: ({ guard }) => guard.decide('ran', 'upd_left_1001', { caller: 'carl' }, { reason: 'says the screen' }),
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
        if (update && (await guard.decide('approve', update.id, { caller: 'dora' })).kind === 'done')
          await guard.start(update.id, endsAt())
      },
      r: async (machine) => {
        const [update] = await awaiting(machine)
        if (update) await machine.guard.decide('reject', update.id, { caller: 'carl' })
      },
    },
    check: ({ items }) => {
      const granted = [...items.values()].filter(
        ({ sk, type, units }) => sk === 'entry' && type === 'grant' && Number(units) > 0,
      )
      if (granted.length > 1) throw new Broken('what was approved once was granted twice')
    },
  },
  'two updates approved in one go': {
    unitsPerMonth: 1_000,
    prepare: approvesShort('acme', 'globex'),
    processes: { a: starts('globex'), b: starts('acme') },
  },
  'an approved update and a lower limit': {
    unitsPerMonth: 1_000,
    prepare: approvesShort('acme'),
    processes: { a: starts('acme'), b: limitsSmall(49) },
    excused: new Set(['small']),
  },
  'a queued update and a cancellation': {
    unitsPerMonth: 1_000,
    prepare: (machine) => ask(machine, 'ada', 'queued', 'acme', {}, true),
    processes: {
      a: begins,
      c: async ({ guard }) => {
        const { rows } = await guard.ledger.updates({ project: 'acme' }, 1)
        for (const { id } of rows) await guard.decide('cancel', id, { caller: 'ada', isAdmin: false })
      },
    },
  },
  // The same work ran on the day after, and that date proves nothing about the update in doubt.
  'work in doubt, and the same work later': {
    unitsPerMonth: 1_000,
    at: beforeMidnight,
    prepare: async (machine) => {
      await passes(machine, 'the day passes', beforeMidnight - noon)
      await leaves(machine, 'acme', noAnswer, 'ranking')
    },
    processes: {
      a: async ({ guard }) => {
        const update = await guard.ledger.update('upd_left_acme')
        if (update) await guard.ledger.settle(update, didNotRun)
      },
      b: async (machine) => {
        await passes(machine, 'midnight passes', 20_000)
        await ask(machine, 'bob', 'two', 'acme')
        await passes(machine, 'two hours pass', 120 * minuteMs)
        await ask(machine, 'bob', 'three', 'acme')
      },
    },
  },
  'a late answer and a wrong resolution': {
    unitsPerMonth: 1_000,
    leavesEvidence: true,
    processes: {
      a: (machine) => ask(machine, 'ada', 'one', 'acme'),
      p: async (machine) => {
        await passes(machine, 'ten minutes pass', 10 * minuteMs)
        await resolves('did-not-run')(machine)
      },
    },
  },
  'two resolutions of one doubt': {
    unitsPerMonth: 1_000,
    at: noon + 10 * minuteMs,
    prepare: (machine) => leaves(machine, '1001', noAnswer),
    processes: { p: resolves('did-not-run'), q: resolves('ran') },
  },
  'an approval and its approvers': {
    unitsPerMonth: 1_000,
    prepare: async ({ guard }) => {
      const by = { caller: 'root' }
      for (const name of ['ada', 'carl']) await guard.putCaller(name, { person: 'ann' }, by)
      const team = { name: 'team', approvalAbove: toUnits(10), approvers: ['carl', 'dora'] }
      await guard.putBudget({ ...team, parent: 'account', limits: [], projects: [] }, by)
      await guard.putBudget({ name: 'small', parent: 'team', limits: [], projects: [] }, by)
    },
    processes: {
      a: async (machine) => {
        await ask(machine, 'ada', 'one', 'acme', { budget: 'small' })
        await costs(machine, 'acme', 60)
      },
      b: async (machine) => {
        const { guard, endsAt } = machine
        const [update] = await awaiting(machine)
        if (!update) return
        for (const by of ['carl', 'root', 'dora']) await guard.decide('approve', update.id, { caller: by })
        await guard.start(update.id, endsAt())
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
