import type { Item, Value } from './store.ts'
import { contentOf, expiryOf, keptForDays, sortKeyOf } from './table.ts'

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
  /** What the service answered; `null` while it has not, and where nobody knows. */
  readonly status: number | null
}

export const changesListedIn = (month: string) => `changes#${month}`

export const toProjectChangeItem = (change: ProjectChange): Item => ({
  pk: `project-change#${change.id}`,
  sk: 'project-change',
  ...(change as unknown as Record<string, Value>),
  listedIn: changesListedIn(new Date(change.at).toISOString().slice(0, 7)),
  listedAt: sortKeyOf(change.at, change.id),
  ...expiryOf(change.at, keptForDays),
})

export function fromProjectChangeItem(item: Item): ProjectChange {
  const change = contentOf(item)
  if (item.pk !== `project-change#${change.id}`) throw new Error(`the project change ${item.pk} is damaged`)
  return change as unknown as ProjectChange
}
