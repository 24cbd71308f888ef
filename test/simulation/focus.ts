import { one } from './chance.ts'
import { asking, type Deed, type Deeds, minding, runsPlanAgain } from './deeds.ts'
import { askingByRules, mindingRules } from './rule-deeds.ts'
import type { Faults } from './scheduler.ts'
import type { Choose } from './step.ts'

/** One day of so many is about one thing, with few deeds that meet each other there. */
const focusedDays = 4

interface Focus {
  readonly asking: Deeds
  readonly minding: Deeds
  readonly isRuled?: true
  readonly clocksDiffer?: true
  readonly faults?: Faults
}

const some = (deeds: Deeds, ...names: readonly string[]): Deeds =>
  Object.fromEntries(
    names.map((name) => {
      const deed = deeds[name]
      if (!deed) throw new Error(`there is no deed ${name}`)
      return [name, deed]
    }),
  )

/** Shorter than a lease: only a sender that has lost its time may be given up. */
const sweepsSoon: Deed = async (rooms, { chance }) => {
  const ms = one(chance, [11_000, 15_000, 19_000])
  await rooms.ask({
    what: `waits ${ms} ms`,
    faults: [],
    reads: false,
    take: async (world) => {
      world.now += ms
    },
  })
  await rooms.triggers.handle({ task: 'sweep' }, rooms.endsAt())
}

const focuses: readonly Focus[] = [
  {
    asking: some(asking, 'fires a plan', 'asks of a small budget', 'asks'),
    minding: {
      ...some(minding, 'pauses or resumes a plan', 'changes a limit', 'freezes and thaws', 'grants', 'sweeps'),
      'runs a plan again': runsPlanAgain,
      'runs one again': runsPlanAgain,
      'runs another one again': runsPlanAgain,
    },
  },
  {
    asking: { ...some(asking, 'asks where a person grants', 'asks for keyword difficulty'), ...askingByRules },
    minding: {
      ...some(minding, 'approves', 'presses a button', 'reads the stream'),
      ...some(mindingRules, 'changes the rules of a deep budget'),
    },
    isRuled: true,
  },
  {
    asking: some(asking, 'asks', 'asks for keyword difficulty'),
    minding: { 'sweeps soon': sweepsSoon },
    clocksDiffer: true,
  },
  {
    asking: some(asking, 'asks', 'forces it'),
    minding: some(minding, 'sweeps'),
    // Only the service fails.
    faults: { max: 12, oneStepOf: 3, only: ['sent, does not run', 'unreadable'] },
  },
  {
    asking: some(asking, 'queues'),
    minding: some(minding, 'sweeps', 'cancels'),
  },
]

/** What this day is about; `null`: everything. Other days stay as they were. */
export const focusOf = (seed: number, chance: Choose): Focus | null =>
  seed % focusedDays === 0 ? one(chance, focuses) : null
