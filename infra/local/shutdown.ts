import { setTimeout as sleep } from 'node:timers/promises'

/** For running work; the whole stop has to fit into five seconds. */
const patienceMs = 2_000

type Step = (patience: Promise<void>) => Promise<unknown>

export type Shutdown = ReturnType<typeof createShutdown>

/** Reverse order of the start: the API before its ledger. */
export function createShutdown() {
  const steps: Step[] = []
  let stopping: Promise<void> | undefined

  async function run(): Promise<void> {
    const patience = sleep(patienceMs)
    for (const step of steps.toReversed()) {
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
    /** Ctrl-C arrives twice, from the terminal and from npm; the second has no effect. */
    onSignal: () => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(signal, () => {
          if (!stopping) console.log('\nstopping …')
          void stop().then(() => process.exit(0))
        })
      }
    },
  }
}

/** Runs `work`, and stops its parts when it ends or a signal comes. */
export async function withShutdown<Result>(work: (shutdown: Shutdown) => Promise<Result>): Promise<Result> {
  const shutdown = createShutdown()
  shutdown.onSignal()
  try {
    return await work(shutdown)
  } finally {
    await shutdown.stop()
  }
}

export function createBackgroundTasks() {
  const all = new Set<Promise<void>>()
  const stopping = new AbortController()
  const { signal } = stopping

  return {
    isStopping: (): boolean => signal.aborted,
    /** @param work must not fail. */
    add: (work: Promise<unknown>): Promise<void> => {
      const added: Promise<void> = work.then(() => void all.delete(added))
      all.add(added)
      return added
    },
    pause: (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {}),
    stop: async (patience: Promise<void>): Promise<void> => {
      stopping.abort()
      await Promise.race([Promise.all(all), patience])
    },
  }
}
