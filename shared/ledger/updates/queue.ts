import { type Clock, toRfc3339 } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { DamagedItem, ifUnavailable } from '../errors.ts'
import { type ItemKeys, itemKey, type Narrowed } from '../store/item-kind.ts'
import { openFrom, type Page, walk } from '../store/pages.ts'
import type { Index, Item, Key, Store, Value, Write } from '../store/store.ts'
import {
  type Check,
  type Content,
  expiryOf,
  instant,
  keptForDays,
  optional,
  prefixOf,
  readItem,
  sortKeyOf,
  text,
  whole,
} from '../store/stored.ts'

/** A task is open until it is done, and is kept afterwards. */
export const taskMembers = {
  id: text,
  /** Every change is conditional on this version. */
  version: whole,
  createdAt: instant,
  doneAt: optional(instant),
}
export type Task = Content<typeof taskMembers>

export interface TaskKind<T extends Task> {
  /** The key of a task is `name#id`, and the grants of functions derive from it. No two kinds have one name. */
  readonly name: string
  readonly stored: Check<T>
  readonly narrowed?: Narrowed<'get' | 'latest'>
  /** The task's place in a list of open tasks. Absent: the list of its kind, by the time of its creation. */
  open?(task: T): { readonly as: string; readonly since: number }
  readonly keptForDays?: number
  /** `undefined`: this task is not listed. */
  listed?(task: T): { readonly in: string; readonly at: number } | undefined
}

export interface Queue<T extends Task> {
  /** `false`: the id exists already. */
  add(task: T, also?: readonly Write[]): Promise<boolean>
  get(id: string): Promise<T | null>
  /** `false`: the task has changed since `seen`. */
  change(task: T, seen: T, also?: readonly Write[]): Promise<boolean>
  /** The newest first. @param onDamage gets the tasks that cannot be read; absent: the first one is thrown. */
  open(limit: number, cursor?: string, onDamage?: (damage: DamagedItem) => void): Promise<Page<T>>
  round: Round<T>
  latest(partition: string, limit: number): Promise<readonly T[]>
  /** The tasks of an open list whose time has come, the oldest first. */
  due(as: string, now: number, limit: number, onDamage: (damage: DamagedItem) => void): Promise<readonly T[]>
  /** Counts a list in the index, which lags, and reads its first tasks: the oldest open, or the newest listed. */
  counted(index: Index, list: string, max: { count: number; read: number }): Promise<CountedTasks<T>>
}

interface CountedTasks<T> {
  readonly count: number
  readonly first: readonly T[]
}

export function createQueue<T extends Task>(
  kind: TaskKind<T>,
  { store, rotation }: { store: Store; rotation: Rotation },
): Queue<T> {
  const read = (item: Item) => fromTaskItem(kind, item)

  return {
    add: createAdd(kind, store),
    get: async (id) => {
      const [item] = await store.get([taskKey(kind, id)])
      return item ? read(item) : null
    },
    change: (task, seen, also = []) =>
      write(store, [
        {
          kind: 'put',
          item: toTaskItem(kind, { ...task, version: seen.version + 1 }),
          when: [{ kind: 'equal', path: ['version'], value: seen.version }],
        },
        ...also,
      ]),
    open: (limit, cursor, onDamage) => walk(store, { index: 'open', first: kind.name, limit, cursor, read, onDamage }),
    round: (...how) => rotation.round({ name: kind.name, read }, ...how),
    latest: async (partition, limit) => (await walk(store, { index: 'by-time', first: partition, limit, read })).rows,
    due: async (as, now, limit, onDamage) => {
      const bounds = { from: '0', to: `${toRfc3339(now)}~` }
      // The index lags.
      const keep = (task: T) => task.doneAt === undefined && openPlaceOf(kind, task).since <= now
      const due = { index: 'open', first: as, oldestFirst: true, limit, bounds, read, keep, onDamage } as const
      return (await walk(store, due)).rows
    },
    counted: async (index, partition, max) => {
      const { positions } = await store.list({ index, partition, newestFirst: index === 'by-time', limit: max.count })
      const keys = positions.slice(0, max.read)
      const items = keys.length === 0 ? [] : await store.get(keys)
      return { count: positions.length, first: items.flatMap((item) => (item ? [read(item)] : [])) }
    },
  }
}

/** A queue's `add`, for a function that only adds. */
export const createAdd =
  <T extends Task>(kind: TaskKind<T>, store: Store): Queue<T>['add'] =>
  (task, also = []) =>
    write(store, [addTask(kind, task), ...also])

const write = async (store: Store, writes: readonly Write[]): Promise<boolean> =>
  (await store.transact(writes, digest('task', JSON.stringify(writes)))).applied

export const addTask = <T extends Task>(kind: TaskKind<T>, task: T): Write => ({
  kind: 'put',
  item: toTaskItem(kind, task),
  when: [{ kind: 'absent-item' }],
})

export const taskKey = (kind: { readonly name: string }, id: string) => ({ pk: prefixOf(kind) + id, sk: kind.name })

const openPlaceOf = <T extends Task>(kind: TaskKind<T>, task: T) =>
  kind.open?.(task) ?? { as: kind.name, since: task.createdAt }

function toTaskItem<T extends Task>(kind: TaskKind<T>, task: T): Item {
  const listed = kind.listed?.(task)
  const open = openPlaceOf(kind, task)
  return {
    ...taskKey(kind, task.id),
    ...(task as unknown as Record<string, Value>),
    ...(task.doneAt === undefined && { openAs: open.as, openSince: sortKeyOf(open.since, task.id) }),
    ...(listed && { listedIn: listed.in, listedAt: sortKeyOf(listed.at, task.id) }),
    ...expiryOf(task.createdAt, kind.keptForDays ?? keptForDays),
  }
}

export const fromTaskItem = <T extends Task>(kind: TaskKind<T>, item: Item): T =>
  readItem(item, kind.stored, ({ id }) => taskKey(kind, id))

/**
 * Calls `handle` once for each open row, the oldest first, starting after the last row of the previous round. A handler
 * calls `mayTake` before its work: `false` means that no time is left, and the next round starts with this row.
 * @param handle may end the round with `enough`.
 * @param onDamage gets the rows that cannot be read, and the round continues.
 */
export type Round<Row> = (
  hasTime: () => boolean,
  handle: (row: Row, mayTake: () => boolean) => Promise<unknown>,
  onDamage: (damage: DamagedItem) => void,
) => Promise<void>

export interface Rotation {
  round<Row>(
    list: { readonly name: string; readonly read: (item: Item) => Row },
    ...how: Parameters<Round<Row>>
  ): Promise<void>
}

/** Where a sweep over a list stopped. */
export const placeKeys = {
  name: 'sweep',
  restOf: (list) => list,
  sortOf: () => 'place',
} as const satisfies ItemKeys<string>

export const enough = Symbol('enough')

/** The place is stored, because the next sweep may run in another process. */
export function createRotation({ store, clock }: { store: Store; clock: Clock }): Rotation {
  /** A lost place costs one repeated round, so a damaged one is replaced. */
  async function placeOf(key: Key): Promise<string | null> {
    const [kept] = await store.get([key])
    try {
      return typeof kept?.place === 'string' ? kept.place : null
    } catch (error) {
      return ifUnavailable(null)(error)
    }
  }

  return {
    async round({ name, read }, hasTime, handle, onDamage) {
      const key = itemKey(placeKeys, name)
      const after = await placeOf(key)
      let last = after
      let wasCut = false
      for await (const { row, place } of openFrom(store, name, after, read)) {
        if (row instanceof DamagedItem) {
          onDamage(row)
          continue
        }
        const mayTake = () => {
          if (!hasTime()) wasCut = true
          else last = place
          return !wasCut
        }
        if ((await handle(row, mayTake)) === enough) break
      }
      const place = wasCut ? last : null
      if (place === after) return
      const token = digest('place', name, after ?? '', place ?? '', String(clock.now()))
      // A lost place costs one repeated round.
      await store.transact([{ kind: 'put', item: { ...key, place }, when: [] }], token).catch(() => undefined)
    },
  }
}
