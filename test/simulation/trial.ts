import { explore, replaying } from './explore.ts'
import { chanceOf, workload } from './random.ts'
import { races, toScenario } from './scenarios.ts'

/** What one process of the simulation is asked to do. */
export type Task =
  | { readonly do: 'race'; readonly race: keyof typeof races; readonly mostFaults: number; readonly most?: number }
  | { readonly do: 'workloads'; readonly from: number; readonly count: number }

export interface Outcome {
  readonly schedules: number
  readonly isComplete: boolean
  readonly failure: { readonly what: string; readonly promise: string; readonly trace: readonly string[] } | null
}

/** Runs a task; the first broken promise ends it, with the seed or the choices that break it again. */
export async function attempt(task: Task): Promise<Outcome> {
  if (task.do === 'race') {
    const scenario = toScenario(races[task.race], task.mostFaults)
    const { schedules, failure, isComplete } = await explore(scenario, task.most)
    if (!failure) return { schedules, isComplete, failure: null }
    const what = `${task.race}, ${task.mostFaults} faults, choices ${JSON.stringify(failure.choices)}`
    const trace = await traceOf(() => toScenario(races[task.race], task.mostFaults)(replaying(failure.choices)))
    return { schedules, isComplete, failure: { what, promise: failure.error.message, trace } }
  }
  for (let seed = task.from; seed < task.from + task.count; seed++) {
    try {
      await workload(seed)(chanceOf(seed * 7919))
    } catch (error) {
      const failure = {
        what: `seed ${seed}`,
        promise: (error as Error).message,
        trace: await traceOf(() => workload(seed)(chanceOf(seed * 7919))),
      }
      return { schedules: seed - task.from + 1, isComplete: true, failure }
    }
  }
  return { schedules: task.count, isComplete: true, failure: null }
}

async function traceOf(run: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await run()
  } catch (error) {
    return (error as { trace?: readonly string[] }).trace ?? []
  }
}
