import type { Item, Value } from '../store/store.ts'
import {
  expiryOf,
  instant,
  keptForDays,
  map,
  oneOf,
  orNull,
  readItem,
  record,
  sortKeyOf,
  text,
  whole,
} from '../stored.ts'

/** A create or an update of a project that went through the gateway. It moves no units, but what updates will cost. */
export interface ProjectChange {
  readonly id: string
  readonly operation: 'create' | 'update'
  readonly project: string
  readonly caller: string
  readonly at: number
  /** How many of each were named; keywords and websites of an update are what it sets. */
  readonly added: Readonly<Record<string, number>>
  readonly removed: Readonly<Record<string, number>>
  /** What the service answered; `null` while it has not, and where its answer is unknown. */
  readonly status: number | null
}

export const changesListedIn = (month: string) => `changes#${month}`

export const toProjectChangeItem = (change: ProjectChange): Item => ({
  ...changeKey(change.id),
  ...(change as unknown as Record<string, Value>),
  listedIn: changesListedIn(new Date(change.at).toISOString().slice(0, 7)),
  listedAt: sortKeyOf(change.at, change.id),
  ...expiryOf(change.at, keptForDays),
})

const storedChange = record<ProjectChange>({
  id: text,
  operation: oneOf(['create', 'update']),
  project: text,
  caller: text,
  at: instant,
  added: map(whole),
  removed: map(whole),
  status: orNull(whole),
})

const changeKey = (id: string) => ({ pk: `project-change#${id}`, sk: 'project-change' })

export const fromProjectChangeItem = (item: Item): ProjectChange =>
  readItem(item, storedChange, ({ id }) => changeKey(id))
