import { lookAtConsumption, lookAtStep } from '../audit/auditor.ts'
import { lookAtRules } from '../audit/rules.ts'
import { Broken } from '../audit/stored.ts'
import { isExpected } from '../faults.ts'
import { comeToRest } from '../rest.ts'
import { death, type Step } from '../step.ts'
import { copyOf, type World } from '../world.ts'
import type { Race } from './actions.ts'
import { createLocals, type Local, type Locals, type Outcome } from './locals.ts'
import { nameOf, nameOfFixed } from './names.ts'

export interface Explored {
  /** The number of orders of all steps, with every choice of faults. */
  readonly schedules: number
  readonly states: number
  readonly steps: number
  readonly failure: Failure | null
}

export interface Failure {
  readonly promise: string
  /** The index of each step taken, in order. The same choices make the same run. */
  readonly choices: readonly number[]
  readonly trace: readonly string[]
}

interface State {
  readonly world: World
  readonly locals: readonly Local[]
  readonly faults: number
  readonly maxFaults: number
}

interface Possible {
  readonly local: Local
  readonly number: number
  readonly step: Step<unknown>
  readonly fault: string | null
}

const maxSteps = 200

/**
 * Explores every schedule of a race with every choice of at most `maxFaults` faults. A state (world, answers to each process, faults left)
 * has one future, so a known state is counted and not explored again.
 */
export async function explore(race: Race, beginning: World, maxFaults: number): Promise<Explored> {
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
    if (path.length > maxSteps) throw new Broken('the schedule does not end')
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
    const schedules = await visit(start(maxFaults))
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

export async function replay(
  race: Race,
  beginning: World,
  maxFaults: number,
  choices: readonly number[],
): Promise<Failure | null> {
  const { start, follow, possible, end } = await createRaceway(race, beginning)
  const trace: string[] = []
  try {
    let state = start(maxFaults)
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

async function createRaceway(race: Race, beginning: World) {
  const { unitsPerMonth, excused = new Set<string>() } = race
  const processes = new Map<string, Locals>()
  const firsts: Local[] = []
  for (const [process, action] of Object.entries(race.processes)) {
    const locals = createLocals({ process, action, beginning, unitsPerMonth })
    processes.set(process, locals)
    firsts.push(await locals.first())
  }
  const atRest = new Set<string>()

  const start = (maxFaults: number): State => ({ world: beginning, locals: firsts, faults: 0, maxFaults })

  function possible({ locals, faults, maxFaults }: State): Possible[] {
    const waiting = locals.flatMap((local) => local.waiting.map((each) => ({ local, ...each })))
    const alone = waiting.find(({ step }) => step.isLocal)
    return (alone ? [alone] : waiting).flatMap((each) => [
      { ...each, fault: null },
      ...(faults < maxFaults ? each.step.faults.map((fault) => ({ ...each, fault })) : []),
    ])
  }

  async function follow(state: State, { local, number, step, fault }: Possible): Promise<State> {
    const world = step.reads ? state.world : copyOf(state.world)
    const outcome = await outcomeOf(step, world, fault === death ? null : fault)
    if (!step.reads) {
      lookAtStep(state.world, world, excused)
      lookAtRules(state.world, world)
    }
    const own = processes.get(local.process)
    if (!own) throw new Error(`there is no process ${local.process}`)
    const next = fault === death ? own.dead : await own.after(local, { number, outcome, now: world.now })
    if (next.error !== undefined && !isExpected(next.error)) throw new Broken(`${local.process} fails: ${next.error}`)
    const locals = state.locals.map((each) => (each === local ? next : each))
    return { ...state, world, locals, faults: state.faults + (fault === null ? 0 : 1) }
  }

  /** The outcome of a world at rest follows from this world alone. */
  async function end({ world, faults }: State): Promise<void> {
    // If nothing has failed, even a person's mistake is repaired.
    const strictly = faults === 0 || race.leavesEvidence === true
    const name = `${nameOfWorld(world)} ${strictly}`
    if (atRest.has(name)) return
    atRest.add(name)
    race.check?.(world)
    lookAtConsumption(world, beginning.items)
    await comeToRest(copyOf(world), { process: 'rest', unitsPerMonth, excused, known: beginning.items, strictly })
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

/** Names a world after its last change. */
function nameOfWorld(world: World): string {
  const known = worldNames.get(world)
  if (known !== undefined) return known
  const { items, applied, dates, prices, runs, now } = world
  const stored = [...items.values()].map(nameOfFixed).sort((a, b) => a - b)
  const name = `${stored.join()} ${[...applied].sort().join()} ${now} ${nameOf(dates)} ${nameOf(prices)} ${runs
    .map(nameOfFixed)
    .sort((a, b) => a - b)
    .join()}`
  worldNames.set(world, name)
  return name
}
