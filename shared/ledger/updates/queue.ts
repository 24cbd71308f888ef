import type { Clock } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import type { Item, Store, Value, Write } from '../store/store.ts'
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
} from '../stored.ts'
import { openFrom, type Page, walk } from '../views/pages.ts'

/** A task is open until it is done, and is kept afterwards. */
export const taskMembers = {
  id: text,
  /** Every change is conditional on this version. */
  version: whole,
  createdAt: instant,
  doneAt: optional(instant),
}
export type Task = Content<typeof taskMembers>

/**
 * What a caller who reads only some budgets may do with the items of a kind. Absent: nothing. `own`: everything, because
 * a face keeps the items for itself and never shows them. Otherwise the named reads.
 */
export type Narrowed<Read> = 'own' | readonly Read[]

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
  /** The newest first. */
  open(limit: number, cursor?: string): Promise<Page<T>>
  round: Round<T>
  latest(partition: string, limit: number): Promise<readonly T[]>
}

export function createQueue<T extends Task>(
  kind: TaskKind<T>,
  { store, rotation }: { store: Store; rotation: Rotation },
): Queue<T> {
  const write = async (writes: readonly Write[]) =>
    (await store.transact(writes, digest('task', JSON.stringify(writes)))).applied
  const read = (item: Item) => fromTaskItem(kind, item)

  return {
    add: (task, also = []) => write([addTask(kind, task), ...also]),
    get: async (id) => {
      const [item] = await store.get([taskKey(kind, id)])
      return item ? read(item) : null
    },
    change: (task, seen, also = []) =>
      write([
        {
          kind: 'put',
          item: toTaskItem(kind, { ...task, version: seen.version + 1 }),
          when: [{ kind: 'equal', path: ['version'], value: seen.version }],
        },
        ...also,
      ]),
    open: (limit, cursor) => walk(store, { index: 'open', first: kind.name, limit, cursor, read }),
    round: (hasTime, handle) => rotation.round({ name: kind.name, read }, hasTime, handle),
    latest: async (partition, limit) => (await walk(store, { index: 'by-time', first: partition, limit, read })).rows,
  }
}

export const addTask = <T extends Task>(kind: TaskKind<T>, task: T): Write => ({
  kind: 'put',
  item: toTaskItem(kind, task),
  when: [{ kind: 'absent-item' }],
})

export const taskKey = (kind: { readonly name: string }, id: string) => ({ pk: prefixOf(kind) + id, sk: kind.name })

function toTaskItem<T extends Task>(kind: TaskKind<T>, task: T): Item {
  const listed = kind.listed?.(task)
  const open = kind.open?.(task) ?? { as: kind.name, since: task.createdAt }
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
 */
export type Round<Row> = (
  hasTime: () => boolean,
  handle: (row: Row, mayTake: () => boolean) => Promise<unknown>,
) => Promise<void>

export interface Rotation {
  round<Row>(
    list: { readonly name: string; readonly read: (item: Item) => Row },
    ...how: Parameters<Round<Row>>
  ): Promise<void>
}

export const enough = Symbol('enough')

/** The place is stored, because the next sweep may run in another process. */
export function createRotation({ store, clock }: { store: Store; clock: Clock }): Rotation {
  return {
    async round({ name, read }, hasTime, handle) {
      const key = { pk: `sweep#${name}`, sk: 'place' }
      const [kept] = await store.get([key])
      const after = typeof kept?.place === 'string' ? kept.place : null
      let last = after
      let wasCut = false
      for await (const { row, place } of openFrom(store, name, after, read)) {
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
