import { toRfc3339 } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import type { Item, Key, Store, Value } from '../store/store.ts'
import { byKind, instant, type Of, optional, readItem, record, text, whole } from '../stored.ts'
import { walk } from '../views/pages.ts'
import { createQueue, fromTaskItem, type Queue, type Rotation, type TaskKind, taskMembers } from './queue.ts'

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
const deliveries: TaskKind<Delivery> = {
  name: 'delivery',
  stored: storedDelivery,
  // Lists dead events for people.
  listed: ({ target, doneAt, givenUp }) =>
    doneAt === undefined || givenUp === undefined ? undefined : { in: deadIn(target), at: doneAt },
  open: ({ target, nextAt }) => ({ as: openIn(target), since: nextAt }),
  keptForDays: 30,
}

export const deliveryId = (target: string, eventId: string): string => `${target}#${eventId}`

export interface Deliveries extends Pick<Queue<Delivery>, 'add' | 'get' | 'change'> {
  /** The delivery that has been due longest comes first. */
  due(target: string, now: number, limit: number): Promise<readonly Delivery[]>
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

function createDeliveries({ store, rotation }: { store: Store; rotation: Rotation }): Deliveries {
  const { add, get, change } = createQueue(deliveries, { store, rotation })
  return {
    ...{ add, get, change },
    due: async (target, now, limit) => {
      const page = await walk(store, {
        ...{ index: 'open', first: openIn(target), oldestFirst: true, limit },
        bounds: { from: '0', to: `${toRfc3339(now)}~` },
        read: (item) => fromTaskItem(deliveries, item),
        // The index lags.
        keep: ({ doneAt, nextAt }) => doneAt === undefined && nextAt <= now,
      })
      return page.rows
    },
    waiting: async (target) => {
      const from = { index: 'open', partition: openIn(target), newestFirst: false, limit: maxCounted } as const
      const { positions } = await store.list(from)
      const read = await readAll(store, positions.slice(0, maxWaitingRead))
      const times = read.flatMap(({ doneAt, createdAt }) => (doneAt === undefined ? [createdAt] : []))
      return {
        count: positions.length,
        oldestAt: times.length === 0 ? null : Math.min(...times),
        mayBeOlder: positions.length > maxWaitingRead,
      }
    },
    dead: async (target) => {
      const from = { index: 'by-time', partition: deadIn(target), newestFirst: true, limit: maxCounted } as const
      const { positions } = await store.list(from)
      return { count: positions.length, latest: await readAll(store, positions.slice(0, maxDeadShown)) }
    },
  }
}

async function readAll(store: Store, keys: readonly Key[]): Promise<readonly Delivery[]> {
  const items = keys.length === 0 ? [] : await store.get(keys)
  return items.flatMap((item) => (item ? [fromTaskItem(deliveries, item)] : []))
}

const targetNote = {
  at: instant,
  /** The event's id. */
  event: text,
}

/** The last success and failure of a target, for people. */
const storedState = record({
  delivered: optional(record(targetNote)),
  /** The last failed attempt. */
  failed: optional(record({ ...targetNote, reason: text })),
})
export type TargetState = Of<typeof storedState>

export interface TargetStates {
  read(target: string): Promise<TargetState>
  /** Replaces the given members, and keeps the others. */
  note(target: string, state: TargetState): Promise<void>
}

const targetKey = (target: string) => ({ pk: `event-target#${target}`, sk: 'event-target' })

function createTargetStates({ store }: { store: Store }): TargetStates {
  return {
    read: async (target) => {
      const [item] = await store.get([targetKey(target)])
      return item ? readState(item) : {}
    },
    note: async (target, state) => {
      const set = Object.entries(state).map(([name, note]): readonly [[string], Value] => [[name], note])
      const token = digest('event-target', target, JSON.stringify(state))
      await store.transact([{ kind: 'update', key: targetKey(target), set, add: [], when: [] }], token)
    },
  }
}

const readState = (item: Item): TargetState => readItem(item, storedState)

export const createEventTasks = (parts: { store: Store; rotation: Rotation }) => ({
  deliveries: createDeliveries(parts),
  eventTargets: createTargetStates(parts),
})
