import { explore, type Failure, replay } from './explore.ts'
import { beginningOf, type Race, type RaceName, races } from './races.ts'
import { runWorkload } from './workload.ts'

/** What one process of the simulation is asked to do. */
export type Task =
  | { readonly do: 'race'; readonly race: RaceName; readonly mostFaults: number }
  | { readonly do: 'workloads'; readonly from: number; readonly count: number }
  | { readonly do: 'replay'; readonly race: RaceName; readonly mostFaults: number; readonly choices: readonly number[] }

export interface Outcome {
  readonly schedules: number
  /** Of a race: the different states that its schedules lead through, and the steps that were taken. */
  readonly states: number
  readonly steps: number
  readonly ms: number
  readonly failure: Shown | null
}

/** A broken promise, how it came about, and the command that shows it again. */
interface Shown extends Omit<Failure, 'choices'> {
  readonly again: string
}

/** Runs a task; the first broken promise ends it. */
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
      const { race, mostFaults } = task
      const { failure, ...explored } = await explore(races[race], await beginningOf(races[race]), mostFaults)
      return { ...explored, failure: failure && shown(failure, task) }
    }
    case 'replay': {
      const { mostFaults, choices } = task
      const race: Race = races[task.race]
      const failure = await replay(race, await beginningOf(race), mostFaults, choices)
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
  { race, mostFaults }: { race: RaceName; mostFaults: number },
): Shown => ({
  promise,
  trace,
  again: `npm run sim -- --race '${race}' --faults ${mostFaults} --choices ${choices.join()}`,
})
