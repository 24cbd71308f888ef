import { setTimeout as sleep } from 'node:timers/promises'
import { minuteMs } from '../../shared/platform/clock.ts'

/** Longer than a run and its settlement. Unlike a function on AWS, this process has no deadline. */
export const workLastsMs = 5 * minuteMs

/** How a process stops; by default the whole stop fits into five seconds. */
interface How {
  /** How long running work may take. */
  readonly patienceMs: number
  readonly tell: () => void
  /** Whether a second signal ends running work. */
  readonly mayEnd: boolean
}

const usual: How = { patienceMs: 2_000, tell: () => console.log('\nstopping …'), mayEnd: false }
/** Ctrl-C arrives twice at once, from the terminal and from npm. */
const sameSignalMs = 1_000

type Step = (patience: Promise<void>) => Promise<unknown>

export type Shutdown = ReturnType<typeof createShutdown>

/** Stops parts in the reverse order of their start: the API before its ledger. */
export function createShutdown() {
  const steps: Step[] = []
  let how = usual
  let stopping: Promise<void> | undefined

  async function run(): Promise<void> {
    const patience = sleep(how.patienceMs)
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
    change: (other: Partial<How>) => {
      how = { ...how, ...other }
    },
    onSignal: () => {
      let first = 0
      const onSignal = () => {
        if (how.mayEnd && stopping && performance.now() - first > sameSignalMs) process.exit(1)
        if (stopping) return
        how.tell()
        first = performance.now()
        void stop().then(() => process.exit(0))
      }
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
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

/** Starts a server and waits for a signal. If the start fails, the parts that have started are stopped. */
export const untilStopped = (start: (shutdown: Shutdown) => Promise<void>): Promise<never> =>
  withShutdown(async (shutdown) => {
    // A closed terminal or pipe must not end running updates.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    await start(shutdown)
    return new Promise<never>(() => {})
  })

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
