/**
 * Decides what happens next. Everything that a process waits for (the ledger, the service, a pause) is a step that is
 * asked for here; one step at a time is taken, with or without a fault, and everything that follows from it runs until
 * all processes wait again. The same choices give the same run, so a failure can be replayed.
 */
export interface Scheduler {
  /** Resolves or rejects once the step was taken; never, if its process has died. */
  step<T>(step: Step<T>): Promise<T>
  /** Takes steps until nobody waits for anything. */
  settle(): Promise<void>
  kill(process: string): void
  isDead(process: string): boolean
  /** What happened, for people. */
  readonly trace: readonly string[]
}

interface Step<T> {
  readonly process: string
  readonly what: string
  /** Steps of two processes that read only may be taken in either order: one order is enough. */
  readonly reads: boolean
  /** Whether the order to other processes' steps matters at all. */
  readonly isLocal: boolean
  readonly faults: readonly string[]
  /** Without a fault, or with one of those named. */
  take(fault: string | null): Promise<T>
}

/** Chooses one of `of` possibilities; `what` names them only when somebody reads the trace. */
export type Choose = (of: number) => number

interface Waiting {
  readonly step: Step<unknown>
  readonly since: number
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** The process that sets the scene and clears up: nothing happens to it. */
export const calm = 'calm'

/** Far above what any run takes. */
const mostSteps = 2_000

export const deaths = { before: 'dies before', after: 'dies after' } as const

export function createScheduler(options: { choose: Choose; mostFaults: number }): Scheduler {
  const { choose } = options
  let faultsLeft = options.mostFaults
  let waiting: Waiting[] = []
  let taken = 0
  let last: { process: string; reads: boolean; at: number } | null = null
  const dead = new Set<string>()
  const trace: string[] = []

  function step<T>(wanted: Step<T>): Promise<T> {
    if (dead.has(wanted.process)) return new Promise(() => {})
    return new Promise<T>((resolve, reject) => {
      waiting.push({
        step: wanted as Step<unknown>,
        since: taken,
        resolve: resolve as (value: unknown) => void,
        reject,
      })
    })
  }

  /** Every step that may come next, without those whose other order is looked at anyway. */
  function candidates(): Waiting[] {
    const local = waiting.filter(({ step }) => step.isLocal)
    if (local[0]) return [local[0]]
    const apart = waiting.filter(({ step, since }) => {
      const wasWaiting = last !== null && since < last.at
      return !(last?.reads && step.reads && wasWaiting && step.process < last.process)
    })
    return apart.length > 0 ? apart : waiting
  }

  async function settle(): Promise<void> {
    for (;;) {
      await new Promise(setImmediate)
      if (waiting.length === 0) return
      const able = candidates()
      const possible = able.flatMap((each) => [
        { each, fault: null },
        ...(faultsLeft > 0 && each.step.process !== calm ? each.step.faults.map((fault) => ({ each, fault })) : []),
      ])
      const chosen = possible[possible.length === 1 ? 0 : choose(possible.length)]
      if (!chosen) throw new Error('nothing to choose from')
      await take(chosen.each, chosen.fault)
    }
  }

  async function take(chosen: Waiting, fault: string | null): Promise<void> {
    const { step } = chosen
    waiting = waiting.filter((each) => each !== chosen)
    taken++
    if (taken > mostSteps) throw new Error('this does not come to an end')
    last = { process: step.process, reads: step.reads && fault === null, at: taken }
    if (fault !== null) faultsLeft--
    trace.push(`${step.process}: ${step.what}${fault === null ? '' : ` [${fault}]`}`)
    if (fault === deaths.before) return kill(step.process)
    try {
      const value = await step.take(fault)
      if (fault === deaths.after) return kill(step.process)
      chosen.resolve(value)
    } catch (error) {
      if (fault === deaths.after) return kill(step.process)
      chosen.reject(error)
    }
  }

  function kill(process: string): void {
    dead.add(process)
    waiting = waiting.filter(({ step }) => step.process !== process)
  }

  return { step, settle, kill, isDead: (process) => dead.has(process), trace }
}
