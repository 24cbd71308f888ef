import { setImmediate as idle } from 'node:timers/promises'
import { type Ask, type Choose, death, type Step } from '../step.ts'
import { copyOf, type World } from '../world.ts'
import { one } from './chance.ts'

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
  /** One step in this many fails, so that faults are spread over the day. */
  readonly oneStepOf: number
  /** If this list is missing, every fault of a step may occur. */
  readonly only?: readonly string[]
}

export interface SchedulerOptions {
  readonly world: World
  readonly choose: Choose
  readonly faults: Faults
  /** Called after every step that changed something, with the process that took it. */
  look(before: World, after: World, process: string): void
  failed(process: string, error: unknown): void
}

const maxSteps = 5_000

/**
 * Decides what happens next in one world with any number of processes. It takes one step at a time, with or without a fault, and waits
 * until all processes wait again. The same choices make the same run.
 */
export class Scheduler {
  readonly trace: string[] = []
  readonly #options: SchedulerOptions
  #faultsLeft: number
  #waiting: Waiting[] = []
  #living: Process[] = []
  #taken = 0

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#faultsLeft = options.faults.max
  }

  /** Starts a process with one action, which may end it without notice. */
  async start(name: string, action: (ask: Ask) => Promise<unknown>): Promise<void> {
    const process: Process = { name, waits: 0, hasEnded: false }
    const ask: Ask = <T>(step: Step<T>) =>
      new Promise<T>((resolve, reject) => {
        process.waits++
        this.#waiting.push({ process, step, resolve: resolve as (value: unknown) => void, reject })
      })
    this.#living.push(process)
    action(ask).then(
      () => {
        process.hasEnded = true
      },
      (error: unknown) => {
        process.hasEnded = true
        process.error = error
      },
    )
    await this.#quiet()
  }

  /** A step that no process waits for. The step happens when its turn comes. */
  later(what: string, take: (world: World) => Promise<unknown>): void {
    const process: Process = { name: 'the database', waits: 1, hasEnded: false }
    this.#waiting.push({ process, step: { what, faults: [], reads: false, take }, resolve: () => {}, reject: () => {} })
  }

  /** Takes steps until no process waits. */
  async settle(): Promise<void> {
    const { choose, faults } = this.#options
    while (this.#waiting.length > 0) {
      const alone = this.#waiting.find(({ step }) => step.isLocal)
      const chosen = one(choose, alone ? [alone] : this.#waiting)
      const possible = chosen.step.faults.filter((fault) => faults.only?.includes(fault) !== false)
      const fails = this.#faultsLeft > 0 && possible.length > 0 && choose(faults.oneStepOf) === 0
      await this.#take(chosen, fails ? one(choose, possible) : null)
      await this.#quiet()
    }
  }

  /** Waits until every process waits for a step or has ended. Checking a signature, for example, takes time. */
  async #quiet(): Promise<void> {
    do await idle()
    while (this.#living.some(({ waits, hasEnded }) => waits === 0 && !hasEnded))
    for (const { name, hasEnded, error } of this.#living)
      if (hasEnded && error !== undefined) this.#options.failed(name, error)
    this.#living = this.#living.filter(({ hasEnded }) => !hasEnded)
  }

  async #take({ process, step, resolve, reject }: Waiting, fault: string | null): Promise<void> {
    const { world, look } = this.#options
    this.#waiting = this.#waiting.filter((each) => each.step !== step)
    process.waits--
    this.#taken++
    if (this.#taken > maxSteps) throw new Error('the workload does not end')
    if (fault !== null) this.#faultsLeft--
    this.trace.push(`${process.name} ${step.what}${fault === null ? '' : ` [${fault}]`}`)
    const before = step.reads ? world : copyOf(world)
    const outcome = await step.take(world, fault === death ? null : fault).then(
      (value) => () => resolve(value),
      (error) => () => reject(error),
    )
    if (!step.reads) look(before, world, process.name)
    if (fault === death) this.#bury(process)
    else outcome()
  }

  #bury(process: Process): void {
    this.#waiting = this.#waiting.filter((each) => each.process !== process)
    this.#living = this.#living.filter((each) => each !== process)
  }
}
