import { availableParallelism } from 'node:os'
import { readOrExit, say } from '../support/process/command-line.ts'
import { checkFigures } from './doubts/search.ts'
import type { Mutant } from './mutant.ts'
import { mutants } from './mutants.ts'
import { type RaceName, raceNames } from './races/races.ts'
import { attempt, type Outcome, type Task } from './trial.ts'
import { createWorkers, type Worker, type Workers } from './workers.ts'
import { checkWorks } from './works/search.ts'

const usage = `Runs the guard against every known kind of fault, and also a guard with planted bugs.

  npm run sim                    every schedule of the small races, 20,000 random workloads, and every bug
  npm run sim -- --check         the same with 150 workloads: part of npm run check
  npm run sim -- --bugs [words]  only the bugs, or those with these words in their names
  npm run sim -- --long [minutes]  random workloads for this time, or until it is stopped
  npm run sim -- --works [rule]  only the rules of one work, and a broken promise without each
  npm run sim -- --doubts [rule]  only the vendor's figure and doubts, and a broken promise without each rule
  npm run sim -- --seed <number>   one workload again, printed step by step
  npm run sim -- --race <name> --faults <number> --choices <numbers>   one schedule of a race again`

const maxFaults = 2
const usualWorkloads = 20_000
const checkedWorkloads = 150
const workloadsAtOnce = 50

async function doAll(tasks: readonly Task[], workers: readonly Worker[], told: (task: Task, outcome: Outcome) => void) {
  const left = [...tasks]
  const outcomes: Outcome[] = []
  await Promise.all(
    workers.map(async (worker) => {
      for (let task = left.shift(); task; task = left.shift()) {
        const outcome = await worker.do(task)
        outcomes.push(outcome)
        told(task, outcome)
        if (outcome.failure) left.length = 0
      }
    }),
  )
  return outcomes
}

function racesWith(maxFaults: number): Task[] {
  return raceNames.map((race) => ({ do: 'race', race, maxFaults }))
}

const workloads = (from: number, count: number): Task[] =>
  Array.from({ length: Math.ceil(count / workloadsAtOnce) }, (_, index) => ({
    do: 'workloads' as const,
    from: from + index * workloadsAtOnce,
    count: Math.min(workloadsAtOnce, count - index * workloadsAtOnce),
  }))

/** The largest races come first, so that no worker waits for a large race at the end. */
const everyRace = racesWith(maxFaults)

function tellRace(task: Task, { schedules, states, steps, ms, failure }: Outcome): void {
  if (task.do !== 'race' || failure) return
  const size = `${count(schedules)} schedules, through ${count(states)} states by ${count(steps)} steps`
  say(`complete  ${task.race}, up to ${task.maxFaults} faults: ${size}, ${seconds(ms)} s`)
}

function isSound(outcomes: readonly Outcome[]): boolean {
  const failure = outcomes.find((outcome) => outcome.failure)?.failure
  if (!failure) return true
  say(`BROKEN: ${failure.promise}`)
  for (const line of failure.trace) say(`    ${line}`)
  say(`  again: ${failure.again}`)
  return false
}

const total = (outcomes: readonly Outcome[]) => outcomes.reduce((sum, { schedules }) => sum + schedules, 0)

async function withWorkers(run: (all: Workers, workers: readonly Worker[]) => Promise<boolean>): Promise<boolean> {
  const all = await createWorkers()
  try {
    const file = await all.bundle()
    const workers = Array.from({ length: availableParallelism() }, () => all.start(file))
    return await run(all, workers).finally(() => {
      for (const worker of workers) worker.stop()
    })
  } finally {
    await all.clear()
  }
}

const everything = (howManyWorkloads: number): Promise<boolean> =>
  withWorkers(async (all, workers) => {
    const from = performance.now()
    const outcomes = await doAll([...everyRace, ...workloads(1, howManyWorkloads)], workers, tellRace)
    if (!isSound(outcomes)) return false
    say(
      `${count(total(outcomes))} schedules, ${count(howManyWorkloads)} of them workloads, in ${since(from)} s: every promise was kept`,
    )
    return everyBug(all, mutants)
  })

const hunt: readonly Task[] = [
  ...racesWith(0).toReversed(),
  { do: 'workloads', from: 1, count: 60 },
  ...racesWith(1).toReversed(),
  { do: 'workloads', from: 61, count: 940 },
]

/** A bug with a race has this race as its only task. */
function tasksFor({ seed, race: found }: Mutant): readonly Task[] {
  if (!found) return [...(seed === undefined ? [] : workloads(seed, 1)), ...hunt]
  const [race, maxFaults] = found
  return [{ do: 'race', race, maxFaults }]
}

async function everyBug(all: Workers, bugs: typeof mutants): Promise<boolean> {
  const from = performance.now()
  const left = [...bugs]
  const survivors: string[] = []
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let mutant = left.shift(); mutant; mutant = left.shift()) {
        const worker = all.start(await all.bundle(mutant))
        const start = performance.now()
        let caught: Outcome['failure'] = null
        for (const task of tasksFor(mutant)) if (!caught) caught = (await worker.do(task)).failure
        worker.stop()
        const isCaught = caught?.promise.includes(mutant.race?.[2] ?? '') === true
        if (!isCaught) survivors.push(mutant.bug)
        const how = `${isCaught ? 'caught  ' : 'SURVIVED'}  ${mutant.bug}: ${caught?.promise.split('\n')[0] ?? 'no task'}`
        say(`${how} (${since(start)} s)`)
      }
    }),
  )
  say(`${bugs.length - survivors.length} of ${bugs.length} bugs caught in ${since(from)} s`)
  return survivors.length === 0
}

const forLong = (minutes: number): Promise<boolean> =>
  withWorkers(async (_all, workers) => {
    const from = performance.now()
    const atOnce = workers.length * 4 * workloadsAtOnce
    let done = 0
    for (let seed = 1_000_000; performance.now() - from < minutes * 60_000; seed += atOnce) {
      const outcomes = await doAll(workloads(seed, atOnce), workers, () => {})
      done += total(outcomes)
      if (!isSound(outcomes)) return false
      say(`${count(done)} workloads in ${since(from)} s: every promise was kept`)
    }
    return true
  })

const again = async (task: Task): Promise<boolean> => {
  const outcome = await attempt(task)
  if (!outcome.failure) say('every promise was kept')
  return isSound([outcome])
}

function isRace(name: string): name is RaceName {
  return raceNames.some((each) => each === name)
}

const count = (number: number): string => number.toLocaleString('en')
const seconds = (ms: number): string => (ms / 1000).toFixed(1)
const since = (from: number): string => seconds(performance.now() - from)

const { flags: values, texts: positionals } = readOrExit({
  usage,
  takes: ['[words]', '[words]', '[words]'],
  flags: {
    check: { type: 'boolean' },
    bugs: { type: 'boolean' },
    long: { type: 'boolean' },
    works: { type: 'boolean' },
    doubts: { type: 'boolean' },
    seed: { type: 'string' },
    race: { type: 'string' },
    faults: { type: 'string' },
    choices: { type: 'string' },
  },
})

async function run(): Promise<boolean> {
  const { seed, race, faults = maxFaults, choices = '' } = values
  if (seed !== undefined) return again({ do: 'workloads', from: Number(seed), count: 1 })
  if (race !== undefined) {
    if (!isRace(race)) {
      say(`There is no race ${race}; there are: ${raceNames.join('; ')}.`)
      process.exit(2)
    }
    const chosen = choices === '' ? [] : choices.split(',').map(Number)
    return again({ do: 'replay', race, maxFaults: Number(faults), choices: chosen })
  }
  if (values.works) return checkWorks(say, positionals[0])
  if (values.doubts) return checkFigures(say, positionals[0])
  if (values.long) return forLong(Number(positionals[0] ?? Number.POSITIVE_INFINITY))
  if (values.bugs) {
    const wanted = mutants.filter(
      ({ bug }) => positionals.length === 0 || positionals.some((words) => bug.includes(words)),
    )
    return withWorkers((all) => everyBug(all, wanted))
  }
  return everything(values.check ? checkedWorkloads : usualWorkloads)
}

process.exit((await run()) ? 0 : 1)
