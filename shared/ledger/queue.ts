import { digest } from '../platform/ids.ts'
import type { Lists, Page } from './lists.ts'
import type { Rotation, Round } from './rotation.ts'
import type { Item, Store, Value, Write } from './store.ts'
import { contentOf, expiryOf, keptForDays, sortKeyOf } from './table.ts'

/** Something that waits to be done. It is listed as open until it is, and kept afterwards: it is done once. */
export interface Task {
  readonly id: string
  /** Counts the changes; every change is conditioned on it. */
  readonly version: number
  readonly createdAt: number
  readonly doneAt?: number
}

/** A kind of task: its name in keys and in the index of what is open, and where it is listed afterwards, if anywhere. */
export interface TaskKind<T extends Task> {
  readonly name: 'announcement' | 'slack-event' | 'occurrence'
  listed?(task: T): { readonly in: string; readonly at: number }
}

/**
 * The tasks of one kind. The table is the queue: its stream tells of a new task at once, and the list of what is open
 * finds what the stream has missed.
 */
export interface Queue<T extends Task> {
  /** Whether it was new: what has the same id is the same task. `also` is written with it, or not at all. */
  add(task: T, also?: readonly Write[]): Promise<boolean>
  get(id: string): Promise<T | null>
  /** Whether it was still as it was seen. */
  change(task: T, seen: T, also?: readonly Write[]): Promise<boolean>
  /** What is not done, the latest first. */
  open(limit: number, cursor?: string): Promise<Page<T>>
  /** The same, the oldest first and each in its turn: for what has to be done in its order. */
  round: Round<T>
  /** What was listed in this partition last, up to this many. */
  latest(partition: string, limit: number): Promise<readonly T[]>
}

export function createQueue<T extends Task>(
  kind: TaskKind<T>,
  { store, lists, rotation }: { store: Store; lists: Lists; rotation: Rotation },
): Queue<T> {
  const write = async (writes: readonly Write[]) =>
    (await store.transact(writes, digest('task', JSON.stringify(writes)))).applied
  const read = (item: Item) => fromTaskItem<T>(kind, item)

  return {
    add: (task, also = []) => write([addTask(kind, task), ...also]),
    get: async (id) => {
      const [item] = await store.get([taskKey(kind, id)])
      return item ? read(item) : null
    },
    change: (task, seen, also = []) =>
      write([
        {
          do: 'put',
          item: toTaskItem(kind, { ...task, version: seen.version + 1 }),
          when: [{ is: 'equal', path: ['version'], value: seen.version }],
        },
        ...also,
      ]),
    open: (limit, cursor) => lists.walk({ index: 'open', first: kind.name, limit, cursor, read }),
    round: (hasTime, handle) => rotation.round({ name: kind.name, read }, hasTime, handle),
    latest: async (partition, limit) => (await lists.walk({ index: 'by-time', first: partition, limit, read })).rows,
  }
}

/** The write that adds a task to whatever it comes from, in the same transaction. */
export const addTask = <T extends Task>(kind: TaskKind<T>, task: T): Write => ({
  do: 'put',
  item: toTaskItem(kind, task),
  when: [{ is: 'absent-item' }],
})

const taskKey = ({ name }: TaskKind<never>, id: string) => ({ pk: `${name}#${id}`, sk: name })

function toTaskItem<T extends Task>(kind: TaskKind<T>, task: T): Item {
  const listed = kind.listed?.(task)
  return {
    ...taskKey(kind, task.id),
    ...(task as unknown as Record<string, Value>),
    ...(task.doneAt === undefined && { openAs: kind.name, openSince: sortKeyOf(task.createdAt, task.id) }),
    ...(listed && { listedIn: listed.in, listedAt: sortKeyOf(listed.at, task.id) }),
    ...expiryOf(task.createdAt, keptForDays),
  }
}

function fromTaskItem<T extends Task>({ name }: TaskKind<T>, item: Item): T {
  const task = contentOf(item)
  const isSound = item.pk === `${name}#${task.id}` && Number.isSafeInteger(task.version)
  if (!isSound) throw new Error(`the task ${item.pk} is damaged`)
  return task as unknown as T
}
