import { attempt, type Task } from './trial.ts'

/** One process of the simulation: does the tasks that it is sent, one after the other. */
process.on('message', async (task: Task) => {
  process.send?.(await attempt(task))
})
