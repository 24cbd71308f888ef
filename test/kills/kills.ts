import { setTimeout as sleep } from 'node:timers/promises'
import { inParallel } from '../../shared/platform/parallel.ts'
import { chanceOf } from '../simulation/workloads/chance.ts'
import { readOptions, say } from '../support/process/command-line.ts'
import { type Ask, createAsks, isFinal, makeBudgets, plans, send } from './asks.ts'
import { changedAnswers, compare, missingMessages, sum, type Told } from './comparison.ts'
import { createScenario, type Running } from './scenario.ts'
import { type Step, stepNames } from './steps.ts'

const usage = `Kills the product (SIGKILL), starts it again, and asks again; compares the ledger with what the service saw, and with what
other systems and Slack were told.

  npm run kills                     200 kills at random moments, with the ledger in a file and further commands on it
  npm run kills -- --ledger table   34 kills, two at each step of an update's life, with the ledger in DynamoDB Local
  npm run kills -- --kills <number> --seed <number>`

const values = readOptions(usage, { ledger: 'file', kills: '', seed: String(Date.now() % 1_000_000) })
const isFile = values.ledger === 'file'

/** The number of open requests that a life repeats, beside new ones. */
const askedAgain = 10
/** The number that a busy machine answers within the service's deadline. */
const askedAtOnce = 10
const maxRounds = 4
const maxLifeMs = 2_500
const maxStartMs = 1_000

const began = performance.now()
const seconds = () => Math.round((performance.now() - began) / 1000)
const kills = Number(values.kills || (isFile ? 200 : 2 * stepNames.length))
const chance = chanceOf(Number(values.seed))
const scenario = await createScenario(chance, isFile ? 'file' : 'table')
const { asks, more, open } = createAsks(chance)
const { runs } = scenario.service
const killed = new Map<Step | 'at rest' | 'at random' | 'while it starts', number>()
const broken: string[] = []
let commands = 0

const sendAll = (which: readonly Ask[], running: Running) =>
  inParallel(which, askedAtOnce, async (ask) => {
    const heard = await send(ask, running.url, running.tokens)
    const isOurFault = heard && heard.status >= 500 && heard.status !== 502 && heard.status !== 503
    if (isOurFault) broken.push(`${ask.name}: answered ${heard.status} ${JSON.stringify(heard.body)}`)
  })

async function live(step: Step): Promise<void> {
  const running = await scenario.up()
  scenario.service.setMood(step.includes('doubt') ? 'doubtful' : 'well')
  scenario.trap.set(step, 1 + chance(3))
  const waiting = open()
  const from = chance(waiting.length)
  await sendAll(waiting.slice(from, from + askedAgain), running)
  for (let round = 0; round < maxRounds && !scenario.trap.hasSprung(); round++)
    await sendAll(more({ withPlan: step.startsWith('an occurrence') }), running)
  await scenario.kill()
  const at = scenario.trap.hasSprung() ? step : 'at rest'
  killed.set(at, (killed.get(at) ?? 0) + 1)
}

/** Compares the ledger at each start. Other processes use it before, during and after the kill. */
async function liveAtRandom(life: number): Promise<void> {
  const count = (what: 'at random' | 'while it starts') => killed.set(what, (killed.get(what) ?? 0) + 1)
  if (chance(6) === 0) {
    await scenario.killStarting(chance(maxStartMs))
    return void count('while it starts')
  }
  const running = await scenario.up()
  await check(`at the start of life ${life}`, running)
  let isOver = false
  const killing = scenario.killAfter(chance(maxLifeMs)).then(() => {
    isOver = true
  })
  const others = commandsBeside(life)
  const waiting = open()
  const from = chance(waiting.length)
  await sendAll(waiting.slice(from, from + askedAgain), running)
  while (!isOver) {
    await sendAll(more({ withPlan: chance(3) === 0 }), running)
    await sleep(chance(100))
  }
  await killing
  count('at random')
  await others
}

async function commandsBeside(life: number): Promise<void> {
  const all = [['sweep'], ['budgets', 'export'], ['plan', plans.at(-1 - (life % 50))?.name ?? '']]
  await Promise.all(
    all.map(async (args) => {
      if (chance(2) === 0) return
      const { text } = await scenario.command(args)
      commands++
      // A sentence is a valid answer, and a stack trace is not.
      if (/^\s+at /m.test(text)) broken.push(`${args.join(' ')} failed in life ${life}:\n${text}`)
    }),
  )
}

async function check(when: string, running: Running) {
  const compared = await compare(running, runs)
  broken.push(...compared.broken.map((what) => `${when}: ${what}`))
  return compared
}

/** Brings everything to its end with a clock that runs ahead, and repeats every request twice. */
async function finish(running: Running): Promise<void> {
  await check('after the kills', running)
  // A running update of a dead process blocks the rest of its request until it is in doubt.
  await scenario.sweep('+3m')
  // A busy machine answers some requests with 502 or 503 without a record, and these are repeated.
  for (let round = 0; round < 5; round++) await sendAll(open(), running)
  for (const at of ['+6m', '+20m', '+40m', '+2h', '+26h']) await scenario.sweep(at)
  const swept = await check('after a day', running)
  say(`after a day:     ${countsOf(swept.updates)}`)
  const doubted = swept.updates.filter(({ state }) => state === 'in-doubt')
  if (swept.account.held > 0) broken.push(`after a day: ${swept.account.held} units are still held`)
  await scenario.sweep('+9d')
  const end = await check('at the end', running)
  say(`after nine days: ${countsOf(end.updates)}`)
  if (end.account.inDoubt > 0) broken.push(`at the end: ${end.account.inDoubt} units are still in doubt`)

  for (let times = 0; times < 2; times++) await sendAll(asks, running)
  for (const ask of asks)
    if (!isFinal(ask, ask.heard.at(-1)))
      broken.push(`${ask.name} has no final answer: ${JSON.stringify(ask.heard.at(-1))}`)
  broken.push(...changedAnswers(asks))
  const after = await check('asked again', running)
  const known = new Set(end.updates.map(({ id }) => id))
  for (const { id, kind, project } of after.updates)
    if (!known.has(id)) broken.push(`asking again made another update: ${id}, ${kind} of ${project}`)
  broken.push(...(await scenario.leaks(JSON.stringify(asks.map(({ heard }) => heard)))))
  // A follower of a table begins at the end of the stream, and does not know the position of the dead process.
  if (isFile) broken.push(...(await untold(after.updates, doubted)))
  tell(after.updates, after.account.spent)
}

/** The sweep announces what was set aside or waits. */
async function untold(updates: readonly Told[], doubted: readonly Told[]): Promise<readonly string[]> {
  const missing = () => missingMessages(updates, doubted, scenario.received)
  for (let round = 0; missing().length > 0 && round < 10; round++) {
    await scenario.sweep('+9d')
    await sleep(1_000)
  }
  return missing()
}

const countsOf = (updates: readonly Told[]): string =>
  [...new Set(updates.map(({ state }) => state))]
    .map((state) => `${updates.filter((update) => update.state === state).length} ${state}`)
    .join(', ')

function tell(updates: readonly Told[], spent: number): void {
  say('\nkilled                                  times')
  for (const [step, times] of killed) say(`  ${step.padEnd(36)} ${String(times).padStart(5)}`)
  say(`  ${'in all'.padEnd(36)} ${String(sum([...killed.values()])).padStart(5)}`)
  say(`\n${asks.length} requests, ${sum(asks.map(({ heard }) => heard.length))} answers; ${updates.length} updates`)
  const taken = sum(runs.map(({ consumed }) => consumed))
  const { events, messages } = scenario.received
  say(`${commands} further commands; ${events.size} events and ${messages.length} messages arrived`)
  say(`the service saw ${runs.length} runs and took ${taken} units; the ledger charges ${spent}`)
}

say(`seed ${values.seed}`)
try {
  await makeBudgets(await scenario.up())
  await scenario.kill()
  for (let life = 1; life <= kills; life++) {
    const step = stepNames[life % stepNames.length]
    if (isFile) await liveAtRandom(life)
    else if (step !== undefined) await live(step)
    if (life % stepNames.length === 0 || life === kills)
      say(`${life} kills, ${asks.length} requests, ${runs.length} runs, ${seconds()} s`)
  }
  say('\nThe last start has no faults of connections or the service.')
  scenario.makeGood()
  await finish(await scenario.up())
} finally {
  await scenario.close()
}

if (broken.length > 0) {
  say(`\nBROKEN (${broken.length}):`)
  for (const what of broken.slice(0, 40)) say(`  ${what}`)
  process.exit(1)
}
say(`\nNothing is broken: nothing ran twice, every unit is counted, every key kept its answer. ${seconds()} s`)
