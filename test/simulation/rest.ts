import type { Plan } from '../../shared/guard/plans-file.ts'
import type { Log } from '../../shared/platform/log.ts'
import { lookAtConsumption, lookAtStep } from './audit/auditor.ts'
import { Broken } from './audit/stored.ts'
import { createMachine, type Machine } from './machine.ts'
import type { Ask } from './step.ts'
import { copyOf, dayMs, minuteMs, type World } from './world.ts'

/** Called after every step that changed something. */
type Look = (before: World, after: World) => void

/**
 * A process without faults. It takes and checks each step as soon as it is requested.
 * @param told receives what breaks, since the code that it is thrown at may catch it.
 */
export function createCalm(
  world: World,
  given: {
    process: string
    unitsPerMonth: number
    excused?: ReadonlySet<string>
    told: (broken: Broken) => void
    look?: Look
    plans?: readonly Plan[]
    log?: Log
  },
): Promise<Machine> {
  const ask: Ask = async (step) => {
    if (step.reads) return step.take(world, null)
    const before = copyOf(world)
    const value = await step.take(world, null)
    try {
      lookAtStep(before, world, given.excused)
      given.look?.(before, world)
    } catch (error) {
      if (error instanceof Broken) given.told(error)
      throw error
    }
    return value
  }
  return createMachine({ ...given, ask, now: () => world.now, world })
}

/** Each round comes after the end of a lease, the flight, a queue, or all doubt. */
const roundsAfterMs = [
  3 * minuteMs,
  9 * minuteMs,
  61 * minuteMs,
  dayMs,
  4 * dayMs,
  8 * dayMs,
  8 * dayMs + minuteMs,
  16 * dayMs,
]

/** Sweeps as time passes, until nothing is open. */
export async function comeToRest(
  world: World,
  given: {
    process: string
    unitsPerMonth: number
    known: World['items']
    excused?: ReadonlySet<string>
    strictly?: boolean
    look?: Look
  },
): Promise<void> {
  let first: Broken | null = null
  const told = (error: Broken) => {
    first ??= error
  }
  const { guard, endsAt } = await createCalm(world, { ...given, told })
  const isOpen = () => [...world.items.values()].some(({ openAs, sk }) => sk === 'update' && openAs !== undefined)
  const from = world.now
  for (const after of roundsAfterMs) {
    if (!isOpen()) break
    world.now = from + after
    await (await guard.jobs()).sweep(endsAt()).catch(() => {})
    if (first) throw first
  }
  if (isOpen()) throw new Broken('something is open after sixteen days of sweeping')
  const wrong = (await guard.ledger.audit()).find(({ ok }) => ok !== true)
  if (wrong) throw new Broken(`the audit disagrees about ${wrong.window} of ${wrong.budget}`)
  lookAtConsumption(world, given.known, given)
}
