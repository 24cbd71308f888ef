import { digest } from '../../platform/ids.ts'
import type { Condition, Item, Store, Value } from '../store/store.ts'
import {
  expiryOf,
  instant,
  keptForDays,
  map,
  type Of,
  oneOf,
  orNull,
  readItem,
  record,
  sortKeyOf,
  text,
  whole,
} from '../store/stored.ts'

/** A change of a project through the gateway. It moves no units, but changes the cost of updates. */
const storedChange = record({
  id: text,
  operation: oneOf(['create', 'update']),
  project: text,
  caller: text,
  at: instant,
  /** If the operation is `update`: what the request sets. */
  added: map(whole),
  removed: map(whole),
  /** `null`: no answer yet, or an unknown one. */
  status: orNull(whole),
})
export type ProjectChange = Of<typeof storedChange>

export const changesListedIn = (month: string) => `changes#${month}`

const toProjectChangeItem = (change: ProjectChange): Item => ({
  ...changeKey(change.id),
  ...(change as unknown as Record<string, Value>),
  listedIn: changesListedIn(new Date(change.at).toISOString().slice(0, 7)),
  listedAt: sortKeyOf(change.at, change.id),
  ...expiryOf(change.at, keptForDays),
})

/** Notes a change before its request is sent, and again with the answer. */
export async function noteProjectChange(store: Store, change: ProjectChange): Promise<void> {
  const isNew: Condition = { kind: change.status === null ? 'absent-item' : 'present-item' }
  const write = { kind: 'put', item: toProjectChangeItem(change), when: [isNew] } as const
  await store.transact([write], digest('project-change', JSON.stringify(change)))
}

const changeKey = (id: string) => ({ pk: `project-change#${id}`, sk: 'project-change' })

export const fromProjectChangeItem = (item: Item): ProjectChange =>
  readItem(item, storedChange, ({ id }) => changeKey(id))
