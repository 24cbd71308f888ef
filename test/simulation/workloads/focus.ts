import type { Choose } from '../step.ts'
import { type Action, type Actions, events, requests, runsPlanAgain } from './actions.ts'
import { one } from './chance.ts'
import { ruleEvents, ruleRequests } from './rule-actions.ts'
import type { Faults } from './scheduler.ts'

/** One day in this many has one subject, with few actions that meet each other. */
const focusedDays = 4

interface Focus {
  readonly requests: Actions
  readonly events: Actions
  readonly isRuled?: true
  readonly clocksDiffer?: true
  readonly faults?: Faults
}

export const some = (actions: Actions, ...names: readonly string[]): Actions =>
  Object.fromEntries(
    names.map((name) => {
      const action = actions[name]
      if (!action) throw new Error(`there is no action ${name}`)
      return [name, action]
    }),
  )

/** Shorter than a lease, so that only an overdue sender may be given up. */
const sweepsSoon: Action = async (handlers, { chance }) => {
  const ms = one(chance, [11_000, 15_000, 19_000])
  await handlers.ask({
    what: `waits ${ms} ms`,
    faults: [],
    reads: false,
    take: async (world) => {
      world.now += ms
    },
  })
  await handlers.triggers.handle({ task: 'sweep' }, handlers.endsAt())
}

const focuses: readonly Focus[] = [
  {
    requests: some(requests, 'fires a plan', 'asks of a small budget', 'asks'),
    events: {
      ...some(events, 'pauses or resumes a plan', 'changes a limit', 'freezes and thaws', 'grants', 'sweeps'),
      'runs a plan again': runsPlanAgain,
      'runs one again': runsPlanAgain,
      'runs another one again': runsPlanAgain,
    },
  },
  {
    requests: { ...some(requests, 'asks where a person grants', 'asks for keyword difficulty'), ...ruleRequests },
    events: {
      ...some(events, 'approves', 'presses a button', 'reads the stream'),
      ...some(ruleEvents, 'changes the rules of a deep budget'),
    },
    isRuled: true,
  },
  {
    requests: some(requests, 'asks', 'asks for keyword difficulty'),
    events: { 'sweeps soon': sweepsSoon },
    clocksDiffer: true,
  },
  {
    requests: some(requests, 'asks', 'forces it'),
    events: some(events, 'sweeps'),
    // Only the service fails.
    faults: { max: 12, oneStepOf: 3, only: ['sent, does not run', 'unreadable'] },
  },
  {
    requests: some(requests, 'queues'),
    events: some(events, 'sweeps', 'cancels'),
  },
]

export const focusOf = (seed: number, chance: Choose): Focus | null =>
  seed % focusedDays === 0 ? one(chance, focuses) : null
