import { setImmediate as idle } from 'node:timers/promises'
import { one } from './chance.ts'
import { type Ask, type Choose, death, type Step } from './step.ts'
import { copyOf, type World } from './world.ts'

/**
 * Decides what happens next in one world with any number of processes: one step at a time is taken, with a fault or
 * without, and everything that follows from it runs until all processes wait again. The same choices make the same run.
 */
export interface Scheduler {
  /** A process that does one thing; it may die of it, and nobody hears of that. */
  start(process: string, deed: (ask: Ask) => Promise<unknown>): Promise<void>
  /** Something that nobody waits for happens when its turn comes. */
  later(what: string, take: (world: World) => Promise<unknown>): void
  /** Takes steps until nobody waits for anything. */
  settle(): Promise<void>
  /** What happened, for people. */
  readonly trace: readonly string[]
}

interface Waiting {
  readonly process: Process
  readonly step: Step<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

interface Process {
  readonly name: string
  waits: number
  hasEnded: boolean
  error?: unknown
}

export interface Faults {
  readonly max: number
  /** One step of so many fails, so that faults are spread over the day. */
  readonly oneStepOf: number
  /** Without it, whatever can happen to a step. */
  readonly only?: readonly string[]
}

/** Far above what any run takes. */
const mostSteps = 5_000

/** @param look told of every step that changed something: the world before and after, and who took it. @throws what it throws */
export function createScheduler(options: {
  world: World
  choose: Choose
  faults: Faults
  look: (before: World, after: World, process: string) => void
  failed: (process: string, error: unknown) => void
}): Scheduler {
  const { world, choose, look, failed } = options
  let faultsLeft = options.faults.max
  let waiting: Waiting[] = []
  let living: Process[] = []
  let taken = 0
  const trace: string[] = []

  async function start(name: string, deed: (ask: Ask) => Promise<unknown>): Promise<void> {
    const process: Process = { name, waits: 0, hasEnded: false }
    const ask: Ask = <T>(step: Step<T>) =>
      new Promise<T>((resolve, reject) => {
        process.waits++
        waiting.push({ process, step, resolve: resolve as (value: unknown) => void, reject })
      })
    living.push(process)
    deed(ask).then(
      () => {
        process.hasEnded = true
      },
      (error: unknown) => {
        process.hasEnded = true
        process.error = error
      },
    )
    await quiet()
  }

  /** Until every process waits for a step, or has ended: what one does by itself (checking a signature) takes its time. */
  async function quiet(): Promise<void> {
    do await idle()
    while (living.some(({ waits, hasEnded }) => waits === 0 && !hasEnded))
    for (const { name, hasEnded, error } of living) if (hasEnded && error !== undefined) failed(name, error)
    living = living.filter(({ hasEnded }) => !hasEnded)
  }

  async function settle(): Promise<void> {
    while (waiting.length > 0) {
      const alone = waiting.find(({ step }) => step.isLocal)
      const able = alone ? [alone] : waiting
      const chosen = one(choose, able)
      const faults = chosen.step.faults.filter((fault) => options.faults.only?.includes(fault) !== false)
      const fails = faultsLeft > 0 && faults.length > 0 && choose(options.faults.oneStepOf) === 0
      await take(chosen, fails ? one(choose, faults) : null)
      await quiet()
    }
  }

  async function take({ process, step, resolve, reject }: Waiting, fault: string | null): Promise<void> {
    waiting = waiting.filter((each) => each.step !== step)
    process.waits--
    taken++
    if (taken > mostSteps) throw new Error('this does not come to an end')
    if (fault !== null) faultsLeft--
    trace.push(`${process.name} ${step.what}${fault === null ? '' : ` [${fault}]`}`)
    const before = step.reads ? world : copyOf(world)
    const outcome = await step.take(world, fault === death ? null : fault).then(
      (value) => () => resolve(value),
      (error) => () => reject(error),
    )
    if (!step.reads) look(before, world, process.name)
    if (fault === death) bury(process)
    else outcome()
  }

  function bury(process: Process): void {
    waiting = waiting.filter((each) => each.process !== process)
    living = living.filter((each) => each !== process)
  }

  const later = (what: string, take: (world: World) => Promise<unknown>): void => {
    const process: Process = { name: 'the database', waits: 1, hasEnded: false }
    waiting.push({ process, step: { what, faults: [], reads: false, take }, resolve: () => {}, reject: () => {} })
  }

  return { start, later, settle, trace }
}
