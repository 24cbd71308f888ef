import type { Condition, Item, Key, Value, Write } from './store.ts'
import { type Check, expiryOf, keptForDays, prefixOf, readItem, sortKeyOf } from './stored.ts'

/**
 * What a caller who reads only some budgets may do with the items of a kind. Absent: nothing. `own`: everything, because
 * a face keeps the items for itself and never shows them. Otherwise the named reads.
 */
export type Narrowed<Read> = 'own' | readonly Read[]

export interface ItemKeys<Id> {
  /** The partition key is `name#rest`, and the grants of functions derive from the name. No two kinds share a key. */
  readonly name: string
  restOf(id: Id): string
  /** Absent: the sort key is the name. */
  sortOf?(id: Id): string
}

/** Items that only one feature reads and writes. The feature describes them in its own room. */
export interface ItemKind<Functions extends object, Content, Id> extends ItemKeys<Id> {
  readonly stored: Check<Content>
  /** The id that the content implies. It must be the item's id. */
  idOf?(content: Content): Id
  readonly keptForDays?: number
  /** The named functions return what they read unchanged, so they must show nothing of another budget. */
  readonly narrowed?: Narrowed<keyof Functions>
  /** What the feature does with its items. */
  functions(items: Items<Content, Id>): Functions
}

export interface Items<Content, Id> {
  /** In the order of the ids. `null`: not stored. @throws LedgerUnavailable, DamagedItem */
  read(ids: readonly Id[]): Promise<(Content | null)[]>
  /** Writes all or nothing. `false`: a condition failed. @param token a repeated token is applied once. */
  write(writes: readonly ItemWrite<Content, Id>[], token: string): Promise<boolean>
  /** The items that were written with `openSince`, the oldest first. */
  open(limit: number): Promise<readonly Content[]>
}

export type ItemWrite<Content, Id> = {
  readonly id: Id
  readonly when: readonly Condition[]
  /** The item's place in the list of open items. A `put` without it leaves the list. */
  readonly openSince?: { readonly at: number; readonly id: string }
  /** The item is kept for the days of its kind from this time. A `put` without it is kept permanently. */
  readonly keptFrom?: number
} & ({ readonly put: Content } | { readonly set: Partial<Content> })

export type StoredKind<Content, Id> = Pick<
  ItemKind<object, Content, Id>,
  keyof ItemKeys<Id> | 'stored' | 'idOf' | 'keptForDays'
>

export const fromItem = <Content, Id>(kind: StoredKind<Content, Id>, item: Item): Content => {
  const { stored, idOf } = kind
  return readItem(item, stored, idOf && ((content) => itemKey(kind, idOf(content))))
}

export const itemKey = <Id>(kind: ItemKeys<Id>, id: Id): Key => ({
  pk: prefixOf(kind) + kind.restOf(id),
  sk: kind.sortOf?.(id) ?? kind.name,
})

/** For transactions of this room that also write an item of a feature. */
export function itemWrite<Content, Id>(
  kind: ItemKeys<Id> & { readonly keptForDays?: number },
  write: ItemWrite<Content, Id>,
): Write {
  const { id, when, openSince, keptFrom } = write
  const key = itemKey(kind, id)
  const members = {
    ...(('put' in write ? write.put : write.set) as Readonly<Record<string, Value>>),
    ...(openSince && { openAs: kind.name, openSince: sortKeyOf(openSince.at, openSince.id) }),
    ...(keptFrom !== undefined && expiryOf(keptFrom, kind.keptForDays ?? keptForDays)),
  }
  if ('put' in write) return { kind: 'put', item: { ...key, ...members }, when }
  const set = Object.entries(members).map(([name, value]) => [[name], value] as const)
  return { kind: 'update', key, set, add: [], when }
}
