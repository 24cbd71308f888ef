import { attempt, type Task } from './trial.ts'

// Stack traces of thousands of simulated faults would take time.
Error.stackTraceLimit = 0

process.on('message', async (task: Task) => {
  process.send?.(await attempt(task))
})
