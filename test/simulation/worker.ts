import { attempt, type Task } from './trial.ts'

// Thousands of simulated faults: nobody reads where they were made.
Error.stackTraceLimit = 0

/** One process of the simulation: does the tasks that it is sent, one after the other. */
process.on('message', async (task: Task) => {
  process.send?.(await attempt(task))
})
