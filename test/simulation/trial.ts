import type { Race } from './races/actions.ts'
import { explore, type Failure, replay } from './races/explore.ts'
import { beginningOf, type RaceName, races } from './races/races.ts'
import { runWorkload } from './workloads/workload.ts'

export type Task =
  | { readonly do: 'race'; readonly race: RaceName; readonly maxFaults: number }
  | { readonly do: 'workloads'; readonly from: number; readonly count: number }
  | { readonly do: 'replay'; readonly race: RaceName; readonly maxFaults: number; readonly choices: readonly number[] }

export interface Outcome {
  readonly schedules: number
  readonly states: number
  readonly steps: number
  readonly ms: number
  readonly failure: Shown | null
}

interface Shown extends Omit<Failure, 'choices'> {
  readonly again: string
}

export async function attempt(task: Task): Promise<Outcome> {
  const from = performance.now()
  const outcome = await did(task).catch((error: Error) => ({
    ...none,
    failure: { promise: error.stack ?? error.message, trace: [], again: JSON.stringify(task) },
  }))
  return { ...outcome, ms: performance.now() - from }
}

const none = { schedules: 0, states: 0, steps: 0 }

async function did(task: Task): Promise<Omit<Outcome, 'ms'>> {
  switch (task.do) {
    case 'race': {
      const { race, maxFaults } = task
      const { failure, ...explored } = await explore(races[race], await beginningOf(races[race]), maxFaults)
      return { ...explored, failure: failure && shown(failure, task) }
    }
    case 'replay': {
      const { maxFaults, choices } = task
      const race: Race = races[task.race]
      const failure = await replay(race, await beginningOf(race), maxFaults, choices)
      return { ...none, schedules: 1, failure: failure && shown(failure, task) }
    }
    case 'workloads': {
      for (let seed = task.from; seed < task.from + task.count; seed++) {
        const failure = await runWorkload(seed)
        if (failure)
          return {
            ...none,
            schedules: seed - task.from + 1,
            failure: { ...failure, again: `npm run sim -- --seed ${seed}` },
          }
      }
      return { ...none, schedules: task.count, failure: null }
    }
  }
}

const shown = (
  { promise, trace, choices }: Failure,
  { race, maxFaults }: { race: RaceName; maxFaults: number },
): Shown => ({
  promise,
  trace,
  again: `npm run sim -- --race '${race}' --faults ${maxFaults} --choices ${choices.join()}`,
})
