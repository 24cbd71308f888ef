import { setTimeout as sleep } from 'node:timers/promises'

/** How long work under way may go on once everything stops. Everything together has to be over in five seconds. */
const patienceMs = 2_000

type Step = (patience: Promise<void>) => Promise<unknown>

export type Shutdown = ReturnType<typeof createShutdown>

/**
 * Collects what has to be stopped, and stops it once, what was started last first: the API before the ledger it writes,
 * the sandbox last, because answers may still come from it.
 */
export function createShutdown() {
  const steps: Step[] = []
  let stopping: Promise<void> | undefined

  async function run(): Promise<void> {
    const patience = sleep(patienceMs)
    for (const step of steps.toReversed()) {
      // One part that does not stop must not keep the others alive.
      await step(patience).catch((error) => console.error('unit-guard: while stopping:', error))
    }
  }

  const stop = (): Promise<void> => {
    stopping ??= run()
    return stopping
  }

  return {
    onStop: (step: Step) => void steps.push(step),
    isStopping: () => stopping !== undefined,
    stop,
    /** Ctrl-C reaches this process twice, from the terminal and from npm: the second time changes nothing. */
    onSignal: (tell: () => void) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(signal, () => {
          if (!stopping) tell()
          void stop().then(() => process.exit(0))
        })
      }
    },
  }
}
