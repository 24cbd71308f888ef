import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { mutants } from './mutants.ts'
import type { races } from './scenarios.ts'
import { attempt, type Outcome, type Task } from './trial.ts'
import { createWorkers, type Worker } from './workers.ts'

const usage = `Runs the guard against every fault that we can think of, and a guard with bugs in it as well.

  npm run sim                    every schedule of the small races, workloads by chance, and every bug
  npm run sim -- --bugs          the bugs alone
  npm run sim -- --long <minutes>  workloads by chance for so long
  npm run sim -- --seed <number>   one workload again, told step by step`

type Race = keyof typeof races
const raceNames: readonly Race[] = [
  'two requests for the same work',
  'two updates racing for the last units',
  'two deliveries of one update',
  'two updates around midnight',
  'an update and a freeze',
  'a late answer, the sweep, and a person',
]
const mostFaults = 2
const workloads = 20_000
const workloadsAtOnce = 1_000
const say = (line: string) => process.stdout.write(`${line}\n`)

/** Hands tasks to as many processes as there are, until they are done or something breaks. */
async function doAll(tasks: readonly Task[], workers: readonly Worker[]): Promise<readonly Outcome[]> {
  const left = [...tasks]
  const outcomes: Outcome[] = []
  await Promise.all(
    workers.map(async (worker) => {
      for (let task = left.shift(); task; task = left.shift()) {
        const outcome = await worker.do(task)
        outcomes.push(outcome)
        if (outcome.failure) left.length = 0
      }
    }),
  )
  return outcomes
}

const chunks = (from: number, count: number): Task[] =>
  Array.from({ length: Math.ceil(count / workloadsAtOnce) }, (_, index) => ({
    do: 'workloads' as const,
    from: from + index * workloadsAtOnce,
    count: workloadsAtOnce,
  }))

function tell(outcomes: readonly Outcome[]): boolean {
  const failure = outcomes.find((outcome) => outcome.failure)?.failure
  if (!failure) return true
  say(`BROKEN: ${failure.promise}\n  by ${failure.what}`)
  for (const line of failure.trace) say(`    ${line}`)
  return false
}

const total = (outcomes: readonly Outcome[]) => outcomes.reduce((sum, { schedules }) => sum + schedules, 0)

async function everything(): Promise<boolean> {
  const from = performance.now()
  const all = await createWorkers()
  try {
    const file = await all.bundle()
    const workers = Array.from({ length: availableParallelism() }, () => all.start(file))
    const tasks: Task[] = raceNames.flatMap((race) =>
      [mostFaults, 1, 0].map((faults) => ({ do: 'race' as const, race, mostFaults: faults })),
    )
    const outcomes = await doAll([...tasks, ...chunks(1, workloads)], workers)
    for (const worker of workers) worker.stop()
    const isSound = tell(outcomes) && outcomes.every(({ isComplete }) => isComplete)
    say(
      `${total(outcomes)} schedules in ${seconds(from)} s: ${isSound ? 'every promise was kept' : 'a promise was broken'}`,
    )
    return isSound && (await everyBug(all))
  } finally {
    await all.clear()
  }
}

/** What finds most of the bugs soonest comes first. */
const hunt: readonly Task[] = [
  ...raceNames.map((race) => ({ do: 'race' as const, race, mostFaults: 0 })),
  { do: 'workloads', from: 1, count: 250 },
  ...raceNames.map((race) => ({ do: 'race' as const, race, mostFaults: 1 })),
  { do: 'workloads', from: 251, count: 4_000 },
]

async function everyBug(all: Awaited<ReturnType<typeof createWorkers>>): Promise<boolean> {
  const from = performance.now()
  const left = [...mutants]
  const survivors: string[] = []
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let mutant = left.shift(); mutant; mutant = left.shift()) {
        const worker = all.start(await all.bundle(mutant))
        let caught: Outcome['failure'] = null
        for (const task of hunt) if (!caught) caught = (await worker.do(task)).failure
        worker.stop()
        if (!caught) survivors.push(mutant.bug)
        say(`${caught ? 'caught  ' : 'SURVIVED'}  ${mutant.bug}${caught ? `: ${caught.promise}` : ''}`)
      }
    }),
  )
  say(`${mutants.length - survivors.length} of ${mutants.length} bugs caught in ${seconds(from)} s`)
  return survivors.length === 0
}

async function bugsAlone(): Promise<boolean> {
  const all = await createWorkers()
  return everyBug(all).finally(all.clear)
}

async function forLong(minutes: number): Promise<boolean> {
  const from = performance.now()
  const all = await createWorkers()
  try {
    const file = await all.bundle()
    const workers = Array.from({ length: availableParallelism() }, () => all.start(file))
    let schedules = 0
    let isSound = true
    for (let seed = 1_000_000; isSound && performance.now() - from < minutes * 60_000; seed += 10 * workloadsAtOnce) {
      const outcomes = await doAll(chunks(seed, 10 * workloadsAtOnce), workers)
      schedules += total(outcomes)
      isSound = tell(outcomes)
      say(`${schedules} workloads in ${seconds(from)} s`)
    }
    for (const worker of workers) worker.stop()
    return isSound
  } finally {
    await all.clear()
  }
}

async function again(seed: number): Promise<boolean> {
  return tell([await attempt({ do: 'workloads', from: seed, count: 1 })])
}

const seconds = (from: number): string => ((performance.now() - from) / 1000).toFixed(1)

const { values } = parseArgs({
  options: { bugs: { type: 'boolean' }, long: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } },
})
if (values.help) say(usage)
else {
  const isSound = await (values.long !== undefined
    ? forLong(Number(values.long))
    : values.seed !== undefined
      ? again(Number(values.seed))
      : values.bugs
        ? bugsAlone()
        : everything())
  process.exit(isSound ? 0 : 1)
}
