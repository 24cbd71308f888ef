import { createLog, type Log } from '../../../shared/platform/log.ts'
import type { Given } from '../audit/agents.ts'
import { lookAtAnswer, lookAtKeys, lookAtReplays, lookAtTeller, lookForSecrets } from '../audit/answers.ts'
import { lookAtConsumption, lookAtPrice, lookAtStep } from '../audit/auditor.ts'
import { lookAtRules } from '../audit/rules.ts'
import { Broken } from '../audit/stored.ts'
import { isExpected } from '../faults.ts'
import { createHandlers, type Handlers, isAnswer, secrets } from '../handlers.ts'
import { createMachine, serviceToken } from '../machine.ts'
import type { Estimated } from '../ports.ts'
import type { Failure } from '../races/explore.ts'
import { comeToRest, createCalm } from '../rest.ts'
import type { Ask, Choose } from '../step.ts'
import { createWorld, dayMs, minuteMs, type World } from '../world.ts'
import { type Action, type Asked, type Day, events, laterMs, requests } from './actions.ts'
import { agentEvents, agentRequests, agentsAtOnce, isAgentDay, requests as requestsByAgent } from './agents.ts'
import { chanceOf, one } from './chance.ts'
import { listClients } from './clients.ts'
import { EventsOfDay, isEventDay } from './events-of-day.ts'
import { focusOf } from './focus.ts'
import { plans } from './plans.ts'
import {
  observedEvents,
  observedRequests,
  putObserved,
  ruleEvents,
  ruleRequests,
  rulesOfAda,
  rulesOfTeam,
} from './rule-actions.ts'
import { Scheduler } from './scheduler.ts'
import { changesBetween, openTasks } from './stream.ts'

const unitsPerMonth = 200
const waves = 3
const maxFaults = 4
const oneStepOf = 12
const maxLag = 4
const eventKinds = 4
const maxRounds = 12
/** One day in this many has an observed budget below one that is enforced. */
const observedDays = 16

/** A few processes at once all day, with up to four faults, and peace at the end. @returns `null` if every promise was kept. */
export async function runWorkload(seed: number): Promise<Omit<Failure, 'choices'> | null> {
  const day = new WorkloadDay(seed)
  try {
    await day.pass()
    return null
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { promise: error instanceof Broken ? error.message : (error.stack ?? error.message), trace: day.trace }
  }
}

/** Seeds of known bugs depend on the order of steps, and on the order of draws from each generator. */
class WorkloadDay implements Day {
  readonly chance: Choose
  readonly world: World
  readonly stream: object[] = []
  readonly excused = new Set<string>()
  readonly quotes: Given[] = []
  /** A separate generator, so that other days stay as they were. */
  readonly #nature: Choose
  readonly #focus: ReturnType<typeof focusOf>
  readonly #isRuled: boolean
  readonly #isObserved: boolean
  readonly #isOfAgents: boolean
  readonly #skewMs: number
  readonly #clocks = new Map<string, number>()
  readonly #asked = new Map<string, Asked>()
  readonly #said: string[] = []
  readonly #log: Log
  readonly #scheduler: Scheduler
  readonly #events: EventsOfDay | null
  #recent: readonly World[] = []
  #estimates: readonly Estimated[] = []
  #broken: Broken | null = null
  #calms = 0

  constructor(seed: number) {
    this.chance = chanceOf(seed)
    // Some days begin late in the evening, and some of those end the month.
    const starts = ['2026-11-20T12:00:00Z', '2026-11-20T23:30:00Z', '2026-11-30T23:30:00Z']
    this.world = createWorld({ now: Date.parse(one(this.chance, starts)), prices: { umbrella: 90 } })
    this.#nature = chanceOf(seed * 104_729)
    this.#focus = focusOf(seed, chanceOf(seed * 15_485_863))
    this.#isRuled = this.#nature(2) === 0 || this.#focus?.isRuled === true
    this.#isObserved = seed % observedDays === observedDays - 1
    this.#isOfAgents = isAgentDay(seed)
    this.#skewMs = Math.max(one(this.#nature, [0, 0, 5_000]), this.#focus?.clocksDiffer ? 5_000 : 0)
    this.#log = createLog({ write: (line) => void this.#said.push(line), now: () => this.world.now })
    this.#log.hide(serviceToken)
    const told = (message: string) => void this.#said.push(message)
    this.#events = isEventDay(seed) ? new EventsOfDay({ seed, unitsPerMonth, log: this.#log, told }) : null
    this.#scheduler = new Scheduler({
      world: this.world,
      choose: chanceOf(seed * 7919),
      faults: this.#focus?.faults ?? { max: maxFaults, oneStepOf },
      look: (before, after, process) => this.#look(before, after, process),
      failed: (process, error) => {
        if (error instanceof Broken) throw error
        if (!isExpected(error)) throw new Broken(`${process} fails: ${error instanceof Error ? error.stack : error}`)
      },
    })
  }

  get trace(): readonly string[] {
    return [...this.#scheduler.trace, ...(this.#events?.trace ?? [])]
  }

  /** Earlier answers to the process no longer count. */
  arrives(process: string): void {
    this.#estimates = this.#estimates.filter((each) => each.process !== process)
  }

  asked(request: Asked): void {
    this.#asked.set(JSON.stringify(request), request)
  }

  async pass(): Promise<void> {
    await this.#prepare()
    // Few kinds of events a day, but each of them often, so that they meet.
    const requestsToday = Object.entries(
      (this.#isOfAgents ? agentRequests : this.#focus?.requests) ?? {
        ...requests,
        ...(this.#isRuled && ruleRequests),
        ...(this.#isObserved && observedRequests),
      },
    )
    const someEvents = Object.entries(
      (this.#isOfAgents ? agentEvents : this.#focus?.events) ?? {
        ...events,
        ...(this.#isRuled && ruleEvents),
        ...(this.#isObserved && observedEvents),
      },
    )
    const eventsToday = this.#focus
      ? someEvents
      : Array.from({ length: eventKinds }, () => one(this.chance, someEvents))
    for (let wave = 0; wave < waves; wave++) {
      const count = this.#isOfAgents ? agentsAtOnce : 2 + this.chance(4)
      for (let index = 0; index < count; index++) {
        const [name, action] = one(this.chance, this.chance(2) === 0 ? requestsToday : eventsToday)
        await this.#live(`${wave}${'abcdefghij'[index]} ${name}`, action)
      }
      await this.#scheduler.settle()
      lookAtConsumption(this.world, new Map())
      await this.#events?.arrive(this.world)
      // Time passes between waves, because no process lives that long.
      this.world.now += one(this.chance, laterMs)
    }
    await this.#rest()
    await this.#askAgain()
    await this.#events?.arrive(this.world)
    const items = [...this.world.items.values()].map((item) => JSON.stringify(item))
    lookForSecrets([...this.#said, ...items], [...secrets, serviceToken])
  }

  async #prepare(): Promise<void> {
    const handlers = await this.#calm()
    await handlers.call('root', 'PUT', '/budgets/small', { limits: [{ window: 'month', units: 100 }] })
    await listClients(handlers)
    const scopes = ['read', 'run', 'approve', 'admin']
    await handlers.call('root', 'PUT', '/callers/slack:U1ADA', { scopes, budgets: '*', person: 'ada' })
    await handlers.call('root', 'PUT', '/callers/slack:U2DORA', { scopes: ['read', 'approve'], person: 'dora' })
    // Bob proposes updates, and must not approve them as carl.
    await handlers.call('root', 'PUT', '/callers/carl', { person: 'bob' })
    if (this.#isObserved) {
      await putObserved(handlers)
      // The excess over its limit stays when the limit is enforced again.
      this.excused.add('watched')
    }
    if (this.#isRuled) {
      const limits = [{ window: 'month', units: 90 }]
      const rules = one(this.#nature, rulesOfTeam)
      await handlers.call('root', 'PUT', '/budgets/team', { parent: 'small', limits, ...rules })
      await handlers.call('root', 'PUT', '/budgets/squad', { parent: 'team', limits })
      await handlers.call('root', 'PUT', '/callers/ada', one(this.#nature, rulesOfAda))
    }
    this.#check()
  }

  async #live(process: string, action: Action): Promise<void> {
    await this.#scheduler.start(process, async (ask) => {
      const answer = await action(await this.#handlersOf(process, ask), this)
      if (!isAnswer(answer)) return
      this.#said.push(answer.text)
      lookAtAnswer(this.world, process, answer)
    })
  }

  async #handlersOf(process: string, ask: Ask): Promise<Handlers> {
    const { world } = this
    const aheadMs = (this.#nature(3) - 1) * this.#skewMs
    this.#clocks.set(process, aheadMs)
    const machine = await createMachine({
      process,
      ask,
      aheadMs,
      world,
      unitsPerMonth,
      plans,
      log: this.#log,
      now: () => world.now + aheadMs,
      late: {
        lagging: () => (this.#recent[0] ?? world).store,
        lands: (what, write) => this.#scheduler.later(what, write),
      },
      estimated: (estimate) => {
        this.#estimates = [...this.#estimates, estimate]
      },
    })
    return createHandlers(machine, (message) => void this.#said.push(message))
  }

  #look(before: World, after: World, process: string): void {
    this.#recent = [...this.#recent.slice(-maxLag + 1), before]
    lookAtStep(before, after, this.excused, this.#clocks)
    lookAtRules(before, after)
    lookAtPrice(before, after, this.#estimates)
    if (process.endsWith('tells people')) lookAtTeller(before, after)
    this.stream.push(...changesBetween(before, after, this.stream.length))
    this.#events?.see(before, after)
  }

  async #calm(): Promise<Handlers> {
    const told = (error: Broken) => {
      this.#broken ??= error
    }
    const machine = await createCalm(this.world, {
      process: this.#newCalm(),
      unitsPerMonth,
      excused: this.excused,
      told,
      plans,
      log: this.#log,
      look: this.#see,
    })
    return createHandlers(machine, (message) => void this.#said.push(message))
  }

  readonly #see = (before: World, after: World): void => this.#events?.see(before, after)

  #newCalm(): string {
    return `calm${++this.#calms}`
  }

  #check(): void {
    if (this.#broken) throw this.#broken
  }

  async #askAgain(): Promise<void> {
    const { world } = this
    await this.#answersToAll()
    await this.#rest()
    const before = await this.#answersToAll()
    const runs = world.runs.length
    world.now += 45 * dayMs
    const now = await this.#answersToAll()
    lookAtReplays(before, now)
    if (world.runs.length !== runs) throw new Broken('a repeated request caused a run')
    lookAtKeys(now)
  }

  async #answersToAll(): Promise<ReadonlyMap<Asked, string>> {
    const answers = new Map<Asked, string>()
    const handlers = await this.#calm()
    const { call } = handlers
    for (const given of this.quotes) await requestsByAgent(handlers, this, given)
    for (const request of this.#asked.values()) {
      const { caller, path, key, body } = request
      const { status, text } = await call(caller, 'POST', path, body, { 'idempotency-key': key })
      this.#check()
      this.#said.push(text)
      answers.set(request, `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`)
    }
    return answers
  }

  async #rest(): Promise<void> {
    await this.#comeToRest()
    const handlers = await this.#calm()
    for (let round = 0; round < maxRounds && openTasks(this.world).length > 0; round++) {
      // First while a plan still retries, then after all its rounds.
      this.world.now += (round < 3 ? 6 : 61) * minuteMs
      await handlers.triggers.handle({ task: 'sweep' }, handlers.endsAt() + 13 * minuteMs)
      this.#check()
    }
    const [open] = openTasks(this.world)
    if (open) throw new Broken(`${open.pk} stays open`)
    // A plan may have started a project whose answer did not come.
    await this.#comeToRest()
  }

  async #comeToRest(): Promise<void> {
    const { world, excused } = this
    await comeToRest(world, { process: this.#newCalm(), unitsPerMonth, known: new Map(), excused, look: this.#see })
  }
}
