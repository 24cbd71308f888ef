import { setTimeout as sleep } from 'node:timers/promises'

/** For work under way; the whole stop has to fit into five seconds. */
const patienceMs = 2_000

type Step = (patience: Promise<void>) => Promise<unknown>

export type Shutdown = ReturnType<typeof createShutdown>

/** Stops everything once, in the reverse order of its start: the API before the ledger that it writes to. */
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
    /** Ctrl-C arrives twice, from the terminal and from npm: the second changes nothing. */
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

/** Work that no request waits for. A stop lets it end. */
export function createBackgroundTasks() {
  const all = new Set<Promise<void>>()
  const stopping = new AbortController()
  const { signal } = stopping

  return {
    isStopping: (): boolean => signal.aborted,
    /** @param work never fails: the caller says what a failure means. */
    add: (work: Promise<unknown>): Promise<void> => {
      const added: Promise<void> = work.then(() => void all.delete(added))
      all.add(added)
      return added
    },
    /** Cut short by the stop. */
    pause: (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {}),
    /** Waits for the tasks, until `patience` ends. */
    stop: async (patience: Promise<void>): Promise<void> => {
      stopping.abort()
      await Promise.race([Promise.all(all), patience])
    },
  }
}
