import { setImmediate as idle } from 'node:timers/promises'
import { createMachine } from '../machine.ts'
import type { Ask, Step } from '../step.ts'
import type { World } from '../world.ts'
import type { Action } from './actions.ts'
import { nameOf } from './names.ts'

export type Outcome = { readonly value: unknown } | { readonly error: unknown }

export interface Local {
  readonly id: number
  readonly process: string
  readonly waiting: readonly Waiting[]
  readonly error?: unknown
}

interface Waiting {
  /** Counts the steps that this process has requested. */
  readonly number: number
  readonly step: Step<unknown>
}

interface Told {
  readonly number: number
  readonly outcome: Outcome
  readonly now: number
}

/** A process that has ended or died has no future, so all of them share one id. */
const ended = 0

/**
 * Every state that a process can be in. Its next step follows only from the answers that it got, their order and their times, so a known
 * state is not computed again. To continue a state in another way, the process is started again and gets all answers again.
 */
export function createLocals(given: { process: string; action: Action; beginning: World; unitsPerMonth: number }) {
  const { process } = given
  interface Node extends Local {
    readonly told: readonly Told[]
    readonly next: Map<string, Node>
  }
  const dead: Local = { id: ended, process, waiting: [] }
  let ids = ended
  let last: { readonly node: Node; readonly living: Living } | null = null

  function keep(living: Living, told: readonly Told[]): Node {
    const { waiting, error } = living.state()
    const id = waiting.length === 0 ? ended : ++ids
    const node: Node = { id, process, waiting, told, next: new Map(), ...(error !== undefined && { error }) }
    last = { node, living }
    return node
  }

  async function reach(node: Node): Promise<Living> {
    if (last?.node === node) return last.living
    const living = await begin(given)
    for (const each of node.told) await living.tell(each)
    return living
  }

  return {
    first: async (): Promise<Local> => keep(await begin(given), []),
    dead,
    async after(local: Local, told: Told): Promise<Local> {
      const node = local as Node
      const name = `${told.number} ${told.now} ${nameOf(told.outcome)}`
      const known = node.next.get(name)
      if (known) return known
      const living = await reach(node)
      await living.tell(told)
      const reached = keep(living, [...node.told, told])
      node.next.set(name, reached)
      return reached
    },
  }
}

export type Locals = ReturnType<typeof createLocals>

type Living = Awaited<ReturnType<typeof begin>>

async function begin(given: { process: string; action: Action; beginning: World; unitsPerMonth: number }) {
  const { process, action, beginning, unitsPerMonth } = given
  let { now } = beginning
  let asked = 0
  let hasEnded = false
  let error: unknown
  const waiting = new Map<number, Waiting & { settle: (outcome: Outcome) => void }>()
  const ask: Ask = <T>(step: Step<T>) =>
    new Promise<T>((resolve, reject) => {
      const settle = (outcome: Outcome) =>
        'error' in outcome ? reject(outcome.error as Error) : resolve(outcome.value as T)
      waiting.set(asked, { number: asked, step, settle })
      asked++
    })
  const machine = await createMachine({ process, ask, now: () => now, world: beginning, unitsPerMonth })
  action(machine)
    .catch((cause: unknown) => {
      error = cause
    })
    .finally(() => {
      hasEnded = true
    })
  await quiet()

  /** Returns when the process waits for a step or has ended. Loading a module, for example, takes time. */
  async function quiet(): Promise<void> {
    do await idle()
    while (!hasEnded && waiting.size === 0)
  }

  return {
    async tell({ number, outcome, now: heardAt }: Told): Promise<void> {
      const found = waiting.get(number)
      if (!found) throw new Error(`${process} does not do the same after the same answers`)
      waiting.delete(number)
      now = heardAt
      found.settle(outcome)
      await quiet()
    },
    state: () => ({ waiting: [...waiting.values()], error }),
  }
}
