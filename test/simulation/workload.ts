import { marshall } from '@aws-sdk/util-dynamodb'
import type { Item } from '../../shared/ledger/store/store.ts'
import { createLog } from '../../shared/platform/log.ts'
import { lookAtConsumption, lookAtPrice, lookAtStep } from './auditor.ts'
import { chanceOf, one } from './chance.ts'
import { type Asked, asking, laterMs, minding, plans, type Scene } from './deeds.ts'
import type { Failure } from './explore.ts'
import { isExpected } from './faults.ts'
import { focusOf } from './focus.ts'
import { createMachine, serviceToken } from './machine.ts'
import { listClients } from './payers.ts'
import type { Estimated } from './ports.ts'
import { comeToRest, createCalm } from './rest.ts'
import { type Answered, createRooms, type Rooms, secrets } from './rooms.ts'
import { askingByRules, mindingRules, rulesOfAda, rulesOfTeam } from './rule-deeds.ts'
import { lookAtRules } from './rules.ts'
import { createScheduler } from './scheduler.ts'
import type { Ask } from './step.ts'
import { Broken } from './stored.ts'
import { createWorld, dayMs, minuteMs, type World } from './world.ts'

const unitsPerMonth = 200
const waves = 3
const mostFaults = 4
const oneStepOf = 12
/** How many writes an index may be behind. */
const mostLag = 4
const kindsOfMinding = 4

/**
 * A handful of processes at once, all day long: up to four faults, and peace at the end.
 *
 * @returns what was broken, and how; `null`: every promise was kept.
 */
export async function runWorkload(seed: number): Promise<Omit<Failure, 'choices'> | null> {
  const day = await beginDay(seed)
  try {
    await day.pass()
    return null
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { promise: error instanceof Broken ? error.message : (error.stack ?? error.message), trace: day.trace }
  }
}

async function beginDay(seed: number) {
  const chance = chanceOf(seed)
  // Some days begin late in the evening, and some of those end the month.
  const now = Date.parse(one(chance, ['2026-11-20T12:00:00Z', '2026-11-20T23:30:00Z', '2026-11-30T23:30:00Z']))
  const world = createWorld({ now, prices: { umbrella: 90 } })
  // Of its own, so that other days stay as they were.
  const nature = chanceOf(seed * 104_729)
  const focus = focusOf(seed, chanceOf(seed * 15_485_863))
  const isRuled = nature(2) === 0 || focus?.isRuled === true
  const skewMs = Math.max(one(nature, [0, 0, 5_000]), focus?.clocksDiffer ? 5_000 : 0)
  const clocks = new Map<string, number>()
  let recent: readonly World[] = []
  const lagging = () => (recent[0] ?? world).store
  const stream: object[] = []
  const said: string[] = []
  const asked = new Map<string, Asked>()
  const excused = new Set<string>()
  let estimates: readonly Estimated[] = []
  const estimated = (estimate: Estimated) => {
    estimates = [...estimates, estimate]
  }
  const scene: Scene = {
    ...{ world, chance, stream, excused },
    // What a process was told before does not count any more.
    arrives: (process) => {
      estimates = estimates.filter((each) => each.process !== process)
    },
    asked: (request) => void asked.set(JSON.stringify(request), request),
  }
  let first: Broken | null = null
  const told = (error: Broken) => {
    first ??= error
  }
  const check = () => {
    if (first) throw first
  }
  const log = createLog({ write: (line) => void said.push(line), now: () => world.now })
  log.hide(serviceToken)

  const scheduler = createScheduler({
    world,
    choose: chanceOf(seed * 7919),
    faults: focus?.faults ?? { max: mostFaults, oneStepOf },
    look: (before, after, process) => {
      recent = [...recent.slice(-mostLag + 1), before]
      lookAtStep(before, after, excused, clocks)
      lookAtRules(before, after)
      lookAtPrice(before, after, estimates)
      if (process.endsWith('tells people')) lookAtTeller(before, after)
      stream.push(...changesBetween(before, after, stream.length))
    },
    failed: (process, error) => {
      if (!isExpected(error)) throw new Broken(`${process} fails: ${error instanceof Error ? error.stack : error}`)
    },
  })

  const roomsOf = async (process: string, ask: Ask): Promise<Rooms> => {
    const aheadMs = (nature(3) - 1) * skewMs
    clocks.set(process, aheadMs)
    const machine = await createMachine({
      process,
      ask,
      now: () => world.now + aheadMs,
      aheadMs,
      world,
      late: { lagging, lands: scheduler.later },
      unitsPerMonth,
      plans,
      log,
      estimated,
    })
    return createRooms(machine, (message) => void said.push(message))
  }

  let calms = 0
  const newCalm = () => `calm${++calms}`

  async function calm(): Promise<Rooms> {
    const machine = await createCalm(world, { process: newCalm(), unitsPerMonth, excused, told, plans, log })
    return createRooms(machine, (message) => void said.push(message))
  }

  async function setTheScene(): Promise<void> {
    const rooms = await calm()
    await rooms.call('root', 'PUT', '/budgets/small', { limits: [{ window: 'month', units: 100 }] })
    await listClients(rooms)
    const scopes = ['read', 'run', 'approve', 'admin']
    await rooms.call('root', 'PUT', '/callers/slack:U1ADA', { scopes, budgets: '*', person: 'ada' })
    await rooms.call('root', 'PUT', '/callers/slack:U2DORA', { scopes: ['read', 'approve'], person: 'dora' })
    // Who proposes as bob must not approve it as carl.
    await rooms.call('root', 'PUT', '/callers/carl', { person: 'bob' })
    if (isRuled) {
      const limits = [{ window: 'month', units: 90 }]
      await rooms.call('root', 'PUT', '/budgets/team', { parent: 'small', limits, ...one(nature, rulesOfTeam) })
      await rooms.call('root', 'PUT', '/budgets/squad', { parent: 'team', limits })
      await rooms.call('root', 'PUT', '/callers/ada', one(nature, rulesOfAda))
    }
    check()
  }

  async function live(process: string, deed: (rooms: Rooms) => Promise<unknown>): Promise<void> {
    await scheduler.start(process, async (ask) => {
      const answer = await deed(await roomsOf(process, ask))
      if (isAnswer(answer)) lookAtAnswer(process, answer)
    })
  }

  function lookAtAnswer(process: string, { status, text }: Answered): void {
    said.push(text)
    if (status >= 500 && status !== 503 && status !== 502) throw new Broken(`${process} is answered ${status}: ${text}`)
    // A request whose key is at work is not refused: a part of it may have been run by this very process.
    if (status < 400 || status >= 500 || (status === 409 && text.includes('/problems/in-progress'))) return
    if (world.runs.some((run) => run.process === process))
      throw new Broken(`${process} is refused with ${status}, and ran`)
  }

  /** At rest, the same question has the same answer for ever. */
  async function askAgain(): Promise<void> {
    await answersToAll()
    await rest()
    const before = await answersToAll()
    const runs = world.runs.length
    world.now += 45 * dayMs
    const now = await answersToAll()
    for (const [request, answer] of before) {
      // An entry that was refused is not recorded: nothing was booked, and the key may try again.
      if (request.path !== '/updates' && !answer.startsWith('20')) continue
      if (now.get(request) !== answer)
        throw new Broken(`${request.caller} is answered anew about ${request.key}: ${answer} and ${now.get(request)}`)
    }
    if (world.runs.length !== runs) throw new Broken('who asks again has something run')
    lookAtKeys(now)
  }

  async function answersToAll(): Promise<ReadonlyMap<Asked, string>> {
    const answers = new Map<Asked, string>()
    const { call } = await calm()
    for (const request of asked.values()) {
      const { caller, path, key, body } = request
      const { status, text } = await call(caller, 'POST', path, body, { 'idempotency-key': key })
      check()
      said.push(text)
      answers.set(request, `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`)
    }
    return answers
  }

  async function rest(): Promise<void> {
    await comeToRest(world, { process: newCalm(), unitsPerMonth, known: new Map(), excused })
    const rooms = await calm()
    for (let round = 0; round < mostRounds && openTasks(world).length > 0; round++) {
      // First while a plan still tries again, then behind all of its rounds.
      world.now += (round < 3 ? 6 : 61) * minuteMs
      await rooms.triggers.handle({ task: 'sweep' }, rooms.endsAt() + 13 * minuteMs)
      check()
    }
    const [open] = openTasks(world)
    if (open) throw new Broken(`${open.pk} stays open`)
    // What a plan has left may have been begun, and not been answered.
    await comeToRest(world, { process: newCalm(), unitsPerMonth, known: new Map(), excused })
  }

  async function pass(): Promise<void> {
    await setTheScene()
    // Few kinds of deeds a day, and each of them often: so they meet.
    const toAsk = Object.entries(focus?.asking ?? { ...asking, ...(isRuled && askingByRules) })
    const toMind = Object.entries(focus?.minding ?? { ...minding, ...(isRuled && mindingRules) })
    const minded = focus ? toMind : Array.from({ length: kindsOfMinding }, () => one(chance, toMind))
    for (let wave = 0; wave < waves; wave++) {
      const count = 2 + chance(4)
      for (let index = 0; index < count; index++) {
        const [name, deed] = one(chance, chance(2) === 0 ? toAsk : minded)
        await live(`${wave}${'abcdef'[index]} ${name}`, (rooms) => deed(rooms, scene))
      }
      await scheduler.settle()
      lookAtConsumption(world, new Map())
      // Between two waves, because no process lives as long: to the next day, or to the next month.
      world.now += one(chance, laterMs)
    }
    await rest()
    await askAgain()
    lookForSecrets([...said, ...[...world.items.values()].map((item) => JSON.stringify(item))])
  }

  return { pass, trace: scheduler.trace }
}

const mostRounds = 12

/** A key stands for one request: whatever else is sent with it is refused. */
function lookAtKeys(answers: ReadonlyMap<Asked, string>): void {
  const taken = new Set<string>()
  for (const [{ caller, path, key }, answer] of answers) {
    if (!/^20[012]/.test(answer)) continue
    const name = [caller, path, key].join(' ')
    if (taken.has(name)) throw new Broken(`two requests are answered under the key ${name}`)
    taken.add(name)
  }
}

const openTasks = ({ items }: World): Item[] =>
  [...items.values()].filter(
    ({ openAs }) => openAs === 'announcement' || openAs === 'slack-event' || openAs === 'occurrence',
  )

const isAnswer = (answer: unknown): answer is Answered =>
  typeof answer === 'object' && answer !== null && 'status' in answer && 'text' in answer

/** Whoever tells people moves no units, whatever goes wrong with it. */
function lookAtTeller(before: World, after: World): void {
  for (const [name, item] of after.items) {
    if (item !== before.items.get(name) && (item.pk === 'book' || item.sk === 'update'))
      throw new Broken(`who tells people has changed ${item.pk}`)
  }
}

/** What the table's stream tells of a step. */
function changesBetween(before: World, after: World, told: number): object[] {
  const changed = [...after.items].filter(([name, item]) => item !== before.items.get(name))
  return changed.map(([name, { pk, sk, state, openAs }], index) => ({
    eventSource: 'aws:dynamodb',
    eventName: before.items.has(name) ? 'MODIFY' : 'INSERT',
    dynamodb: {
      Keys: marshall({ pk, sk }),
      NewImage: marshall({ state, openAs }, { removeUndefinedValues: true }),
      SequenceNumber: String(told + index).padStart(21, '0'),
    },
  }))
}

function lookForSecrets(texts: readonly string[]): void {
  for (const secret of [...secrets, serviceToken]) {
    const found = texts.find((text) => text.includes(secret))
    if (found !== undefined) throw new Broken(`a secret shows in ${found}`)
  }
}
