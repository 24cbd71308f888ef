import type { BatchAnswer } from '../../../functions/outbox/readers.ts'
import { deliveriesIn } from '../../../shared/events/deliveries.ts'
import { type CloudEvent, createEventReader } from '../../../shared/events/event.ts'
import { channelOf } from '../../../shared/events/events.ts'
import { createReceiver, type EventParts } from '../../../shared/events/receiver.ts'
import { sweep } from '../../../shared/events/sweep.ts'
import { targetStates } from '../../../shared/events/target-states.ts'
import type { Target } from '../../../shared/events/targets-file.ts'
import { tell } from '../../../shared/events/tell.ts'
import type { Log } from '../../../shared/platform/log.ts'
import type { Channel } from '../../../shared/services/channel.ts'
import type { Services } from '../../../shared/services/services.ts'
import { lookAtTeller } from '../audit/answers.ts'
import { lookAtEvents } from '../audit/events.ts'
import { Broken } from '../audit/stored.ts'
import { isExpected } from '../faults.ts'
import { createHandlers, type Handlers } from '../handlers.ts'
import { createMachine } from '../machine.ts'
import { createIds, targetFaults, targetThrough } from '../ports.ts'
import { type Ask, type Choose, death } from '../step.ts'
import { copyOf, minuteMs, type World } from '../world.ts'
import { chanceOf, one } from './chance.ts'
import { type Faults, Scheduler } from './scheduler.ts'
import { changesBetween, type StreamRecord } from './stream.ts'

const target: Target = {
  name: 'warehouse',
  url: 'https://warehouse.example/hook',
  secret: '',
  types: ['update.*'],
}

/** One day in this many has events. The number is prime, so that days of each kind have events. */
const eventDays = 7
const faults: readonly Faults[] = [
  { max: 8, oneStepOf: 5 },
  // If the target rejects an event, recording it fails, too.
  { max: 20, oneStepOf: 2, only: [...targetFaults, 'answer lost, not applied'] },
  { max: 20, oneStepOf: 3, only: [...targetFaults, death] },
  // Only the target fails, again and again.
  { max: 20, oneStepOf: 2, only: targetFaults },
]
const maxBatch = 10
const maxRounds = 60
const maxLag = 4
/** This is real time, because only targets are late in the simulation. */
const withinMs = 60_000

export const isEventDay = (seed: number): boolean => seed % eventDays === 0

interface Given {
  readonly seed: number
  readonly unitsPerMonth: number
  readonly log: Log
  readonly told: (message: string) => void
}

type Batch = readonly StreamRecord[]

/** Sends the day's updates to a target, with faults, in copies of its world, so that the day itself does not change. */
export class EventsOfDay {
  readonly trace: string[] = []
  readonly #given: Given
  readonly #chance: Choose
  readonly #arrived: CloudEvent[] = []
  #untold: StreamRecord[] = []
  #told = 0
  #processes = 0

  constructor(given: Given) {
    this.#given = given
    this.#chance = chanceOf(given.seed * 32_452_843)
  }

  see(before: World, after: World): void {
    const changes = changesBetween(before, after, this.#told)
    this.#told += changes.length
    this.#untold.push(...changes.filter(({ dynamodb }) => dynamodb.Keys.sk?.S === 'update'))
  }

  /** Delivers until the stream has nothing left and nothing is to be repeated. @throws Broken */
  async arrive(day: World): Promise<void> {
    const world = copyOf(day)
    const life = this.#lifeIn(world)
    let batches = this.#batches()
    for (let round = 0; batches.length > 0 || waits(world); round++) {
      if (round === maxRounds) throw new Broken('an event still waits although nothing fails any more')
      const left: (() => Batch)[] = []
      for (const batch of batches) left.push(await life.tells(batch))
      if (batches.length === 0 || this.#chance(2) === 0) await life.sweeps()
      await life.settle()
      world.now += one(this.#chance, [minuteMs, 20 * minuteMs])
      batches = left.map((each) => each()).filter((batch) => batch.length > 0)
    }
    lookAtEvents(day, this.#arrived)
  }

  /** The batches in order. Some come twice: a record in its batch, or a whole batch at once. */
  #batches(): readonly Batch[] {
    const batches: Batch[] = []
    for (let from = 0; from < this.#untold.length; from += maxBatch) {
      const batch = this.#untold.slice(from, from + maxBatch)
      batches.push([...batch, ...batch.slice(0, this.#chance(3))])
    }
    this.#untold = []
    return this.#chance(3) === 0 && batches.length > 0 ? [...batches, one(this.#chance, batches)] : batches
  }

  #lifeIn(world: World) {
    const { seed, log, told, unitsPerMonth } = this.#given
    let recent: readonly World[] = []
    const scheduler = new Scheduler({
      world,
      faults: one(this.#chance, faults),
      choose: chanceOf(seed * 49_979_687 + this.#processes),
      look: (before, after) => {
        recent = [...recent.slice(-maxLag + 1), before]
        lookAtTeller(before, after)
      },
      failed: (process, error) => {
        if (!isExpected(error)) throw new Broken(`${process} fails: ${error instanceof Error ? error.stack : error}`)
      },
    })
    const start = (what: string, action: (handlers: Handlers) => Promise<unknown>) => {
      const process = `event${++this.#processes} ${what}`
      return scheduler.start(process, async (ask) => {
        const machine = await createMachine({
          process,
          ask,
          world,
          unitsPerMonth,
          log,
          now: () => world.now,
          late: {
            lagging: () => (recent[0] ?? world).store,
            lands: (what, write) => scheduler.later(what, write),
          },
        })
        await action(createHandlers(machine, told, (services) => this.#eventsOf(services, ask, process)))
      })
    }
    return {
      /** @returns the records that the stream has to repeat, once all has settled. */
      tells: async (batch: Batch): Promise<() => Batch> => {
        // Without an answer, everything is repeated.
        let left = batch
        await start('tells targets', async ({ tells, endsAt }) => {
          left = leftOf(batch, await tells({ Records: batch }, endsAt()))
        })
        return () => left
      },
      sweeps: () => start('sweeps', ({ events, endsAt }) => events.sweep(endsAt())),
      settle: () => scheduler.settle().finally(() => this.trace.push(...scheduler.trace.splice(0))),
    }
  }

  /** The product's own events, except for the connection to the target. */
  #eventsOf(services: Services, ask: Ask, process: string): Channel {
    const { guard, clock, log } = services
    const { ledger } = guard
    const { troubles } = services
    const own = { targetStates: ledger.item(targetStates), troubles, clock, log }
    const sender = targetThrough(ask, (event) => {
      this.#arrived.push(event)
      this.#given.told(JSON.stringify(event))
    })
    const parts: EventParts = {
      ...own,
      deliveries: deliveriesIn(ledger),
      withinMs,
      eventOf: createEventReader(services),
      ids: createIds(process),
      receivers: [createReceiver(target, sender, own)],
    }
    return channelOf(async () => ({
      tell: (references) => tell(parts, references),
      sweep: (endsAt) => sweep(parts, endsAt),
    }))
  }
}

const waits = ({ items }: World): boolean =>
  [...items.values()].some(({ openAs }) => openAs === `delivery#${target.name}`)

/** Lambda repeats everything from the first failed record on. */
function leftOf(batch: Batch, { batchItemFailures }: BatchAnswer): Batch {
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
  const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber))
  return first === -1 ? [] : batch.slice(first)
}
