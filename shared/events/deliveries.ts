import type { DamagedItem } from '../ledger/errors.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { byKind, instant, type Of, optional, record, text, whole } from '../ledger/store/stored.ts'
import { type Queue, type TaskKind, taskMembers } from '../ledger/updates/queue.ts'

/** Names the record from which an event is built. The event can be built again from it at any time. */
const eventReference = byKind({
  /** `version` is the place of a line in the update's history. */
  update: { update: text, version: whole },
  announcement: { id: text },
  /** A change of several budgets is one entry. Each budget (`subject`) has its own event. */
  entry: { id: text, subject: text },
})
export type EventReference = Of<typeof eventReference>

/** An event that its target did not accept at the first attempt. */
const storedDelivery = record({
  ...taskMembers,
  target: text,
  event: eventReference,
  /** Failed attempts. */
  tries: whole,
  nextAt: instant,
  givenUp: optional(text),
  /** The event's type, so that lists of dead events need not read the record. */
  type: optional(text),
})
export type Delivery = Of<typeof storedDelivery>

const openIn = (target: string) => `delivery#${target}`
const deadIn = (target: string) => `dead-delivery#${target}`

/** Each target has its own list, in the order of the next attempt, so a dead target delays no other. */
export const deliveries: TaskKind<Delivery> = {
  name: 'delivery',
  stored: storedDelivery,
  // Lists dead events for people.
  listed: ({ target, doneAt, givenUp }) =>
    doneAt === undefined || givenUp === undefined ? undefined : { in: deadIn(target), at: doneAt },
  open: ({ target, nextAt }) => ({ as: openIn(target), since: nextAt }),
  keptForDays: 30,
}

export const deliveryId = (target: string, eventId: string): string => `${target}#${eventId}`

type DueHow = readonly [now: number, limit: number, onDamage: (damage: DamagedItem) => void]

export interface Deliveries extends Pick<Queue<Delivery>, 'add' | 'get' | 'change'> {
  /** The delivery that has been due longest comes first. */
  due(target: string, ...how: DueHow): Promise<readonly Delivery[]>
  waiting(target: string): Promise<WaitingDeliveries>
  dead(target: string): Promise<DeadDeliveries>
}

/** What pages and commands show of waiting events. */
export interface WaitingDeliveries {
  /** At most 1,000. */
  readonly count: number
  /** `null`: no event waits. */
  readonly oldestAt: number | null
  /** Not all waiting events were read, so an older event may wait. */
  readonly mayBeOlder: boolean
}

export interface DeadDeliveries {
  /** At most 1,000, of the last 30 days. */
  readonly count: number
  /** The newest first. */
  readonly latest: readonly Delivery[]
}

const maxCounted = 1_000
const maxWaitingRead = 100
const maxDeadShown = 20

/** Events that are not yet delivered to a target. */
export function deliveriesIn(ledger: Pick<Ledger, 'queue'>): Deliveries {
  const { add, get, change, due, counted } = ledger.queue(deliveries)
  return {
    add,
    get,
    change,
    due: (target, ...how) => due(openIn(target), ...how),
    waiting: async (target) => {
      const { count, first } = await counted('open', openIn(target), { count: maxCounted, read: maxWaitingRead })
      const times = first.filter(({ doneAt }) => doneAt === undefined).map(({ createdAt }) => createdAt)
      return {
        count,
        oldestAt: times.length === 0 ? null : Math.min(...times),
        mayBeOlder: count > maxWaitingRead,
      }
    },
    dead: async (target) => {
      const { count, first } = await counted('by-time', deadIn(target), { count: maxCounted, read: maxDeadShown })
      return { count, latest: first }
    },
  }
}
