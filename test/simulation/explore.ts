import { lookAtConsumption, lookAtStep } from './auditor.ts'
import { isExpected } from './faults.ts'
import { createLocals, type Local, type Locals, type Outcome } from './locals.ts'
import { nameOf, nameOfFixed } from './naming.ts'
import type { Race } from './races.ts'
import { comeToRest } from './rest.ts'
import { death, type Step } from './step.ts'
import { Broken } from './stored.ts'
import { copyOf, type World } from './world.ts'

export interface Explored {
  /** Every order of all steps, with every choice of faults: how many there are, all of them decided. */
  readonly schedules: number
  /** The different states that they lead through. */
  readonly states: number
  /** The steps that were taken to know that. */
  readonly steps: number
  readonly failure: Failure | null
}

export interface Failure {
  readonly promise: string
  /** Which of the possible steps was taken, one after the other: whoever chooses the same sees the same. */
  readonly choices: readonly number[]
  readonly trace: readonly string[]
}

interface State {
  readonly world: World
  readonly locals: readonly Local[]
  readonly faults: number
  readonly mostFaults: number
}

interface Possible {
  readonly local: Local
  readonly number: number
  readonly step: Step<unknown>
  readonly fault: string | null
}

/** Far above what any race takes. */
const mostSteps = 200

/**
 * Every schedule of a race, with every choice of up to so many faults. A state (the world, what each process was told,
 * the faults left) that was reached before has the same future, so it is not looked into again, but counted.
 */
export async function explore(race: Race, beginning: World, mostFaults: number): Promise<Explored> {
  const { start, follow, possible, end } = await createRaceway(race, beginning)
  const schedulesFrom = new Map<string, number>()
  const path: { choice: number; told: string }[] = []
  let steps = 0

  async function visit(state: State): Promise<number> {
    const name = nameOfState(state)
    const known = schedulesFrom.get(name)
    if (known !== undefined) return known
    const able = possible(state)
    if (able.length === 0) await end(state)
    if (path.length > mostSteps) throw new Broken('this does not come to an end')
    let schedules = able.length === 0 ? 1 : 0
    for (const [choice, each] of able.entries()) {
      path.push({ choice, told: tell(each) })
      steps++
      schedules += await visit(await follow(state, each))
      path.pop()
    }
    schedulesFrom.set(name, schedules)
    return schedules
  }

  try {
    const schedules = await visit(start(mostFaults))
    return { schedules, states: schedulesFrom.size, steps, failure: null }
  } catch (error) {
    if (!(error instanceof Broken)) throw error
    const failure = {
      promise: error.message,
      choices: path.map(({ choice }) => choice),
      trace: path.map(({ told }) => told),
    }
    return { schedules: 0, states: schedulesFrom.size, steps, failure }
  }
}

/** One schedule again. */
export async function replay(
  race: Race,
  beginning: World,
  mostFaults: number,
  choices: readonly number[],
): Promise<Failure | null> {
  const { start, follow, possible, end } = await createRaceway(race, beginning)
  const trace: string[] = []
  try {
    let state = start(mostFaults)
    for (let able = possible(state); able.length > 0; able = possible(state)) {
      const chosen = able[choices[trace.length] ?? 0]
      if (!chosen) throw new Error(`there is no choice ${choices[trace.length]} after ${trace.length} steps`)
      trace.push(tell(chosen))
      state = await follow(state, chosen)
    }
    await end(state)
    return null
  } catch (error) {
    if (!(error instanceof Broken)) throw error
    return { promise: error.message, choices, trace }
  }
}

const tell = ({ local, step, fault }: Possible): string =>
  `${local.process} ${step.what}${fault === null ? '' : ` [${fault}]`}`

/** The states of one race and the ways between them. */
async function createRaceway(race: Race, beginning: World) {
  const { unitsPerMonth } = race
  const processes = new Map<string, Locals>()
  const firsts: Local[] = []
  for (const [process, deed] of Object.entries(race.processes)) {
    const locals = createLocals({ process, deed, beginning, unitsPerMonth })
    processes.set(process, locals)
    firsts.push(await locals.first())
  }
  const atRest = new Set<string>()

  const start = (mostFaults: number): State => ({ world: beginning, locals: firsts, faults: 0, mostFaults })

  function possible({ locals, faults, mostFaults }: State): Possible[] {
    const waiting = locals.flatMap((local) => local.waiting.map((each) => ({ local, ...each })))
    const alone = waiting.find(({ step }) => step.isLocal)
    return (alone ? [alone] : waiting).flatMap((each) => [
      { ...each, fault: null },
      ...(faults < mostFaults ? each.step.faults.map((fault) => ({ ...each, fault })) : []),
    ])
  }

  async function follow(state: State, { local, number, step, fault }: Possible): Promise<State> {
    const world = step.reads ? state.world : copyOf(state.world)
    const outcome = await outcomeOf(step, world, fault === death ? null : fault)
    if (!step.reads) lookAtStep(state.world, world)
    const own = processes.get(local.process)
    if (!own) throw new Error(`there is no process ${local.process}`)
    const next = fault === death ? own.dead : await own.after(local, { number, outcome, now: world.now })
    if (next.error !== undefined && !isExpected(next.error)) throw new Broken(`${local.process} fails: ${next.error}`)
    const locals = state.locals.map((each) => (each === local ? next : each))
    return { ...state, world, locals, faults: state.faults + (fault === null ? 0 : 1) }
  }

  /** Both have ended, and then there is peace. What becomes of the world from there follows from the world. */
  async function end({ world, faults }: State): Promise<void> {
    // Where nothing has failed, even a person's mistake is repaired.
    const strictly = faults === 0
    const name = `${nameOfWorld(world)} ${strictly}`
    if (atRest.has(name)) return
    atRest.add(name)
    race.check?.(world)
    lookAtConsumption(world, beginning.items)
    await comeToRest(copyOf(world), { process: 'rest', unitsPerMonth, known: beginning.items, strictly })
  }

  return { start, possible, follow, end }
}

async function outcomeOf(step: Step<unknown>, world: World, fault: string | null): Promise<Outcome> {
  try {
    return { value: await step.take(world, fault) }
  } catch (error) {
    return { error }
  }
}

const nameOfState = ({ world, locals, faults }: State): string =>
  `${locals.map(({ id }) => id).join()} ${faults} ${nameOfWorld(world)}`

const worldNames = new WeakMap<World, string>()

/** A world is named when it is not changed any more. */
function nameOfWorld(world: World): string {
  const known = worldNames.get(world)
  if (known !== undefined) return known
  const { items, applied, dates, runs, now } = world
  const stored = [...items.values()].map(nameOfFixed).sort((a, b) => a - b)
  const name = `${stored.join()} ${[...applied].sort().join()} ${now} ${nameOf(dates)} ${runs
    .map(nameOfFixed)
    .sort((a, b) => a - b)
    .join()}`
  worldNames.set(world, name)
  return name
}
