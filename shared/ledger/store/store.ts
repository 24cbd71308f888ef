/**
 * What the ledger asks of a database: consistent reads, lists, and conditional transactions. Two stores answer it,
 * DynamoDB and one in memory; one contract suite holds both to the same behaviour. All rules are above this line.
 */
export interface Store {
  /** Reads up to 100 items consistently, each as of some moment during the call; absent items are `undefined`. */
  get(keys: readonly Key[]): Promise<(Item | undefined)[]>
  /** Keys of one partition of an index, in order of its sort key. Indexes lag: read the items before trusting them. */
  list(query: ListQuery): Promise<ListPage>
  /**
   * All writes or none, each under its own condition.
   *
   * Sends the same transaction again, under the same token, when its answer was lost. `applied: false` carries for
   * each write whose condition failed the item as it was found (`null`: absent), and `undefined` for the others.
   *
   * @param token 1–36 characters; the same token with the same writes is applied once.
   * @param maxWaitMs how long it is sent again where other transactions are in the way, or the database throttles.
   * @throws LedgerUnavailable when it was certainly not applied; Contention, when other transactions were in the way;
   * ItemTooLarge, when an item would be larger than the database takes.
   * @throws AnswerLost when it may have been.
   */
  transact(writes: readonly Write[], token: string, maxWaitMs?: number): Promise<Outcome>
  /** What tells this table from every other one, of the same name too; absent where there is no such thing. */
  readonly tableId?: () => Promise<string>
}

export interface Key {
  readonly pk: string
  readonly sk: string
}

export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value | undefined }
export type Item = Key & { readonly [name: string]: Value | undefined }

/** Where a value is inside an item, from the outside in. */
export type Path = readonly [string, ...string[]]

export type Condition =
  | { readonly kind: 'absent-item' }
  | { readonly kind: 'present-item' }
  | { readonly kind: 'equal'; readonly path: Path; readonly value: Value }
  | { readonly kind: 'at-least'; readonly path: Path; readonly value: number }
  | { readonly kind: 'before'; readonly path: Path; readonly value: string }
  | { readonly kind: 'absent'; readonly path: Path }

export type Write =
  | { readonly kind: 'put'; readonly item: Item; readonly when: readonly Condition[] }
  | {
      readonly kind: 'update'
      readonly key: Key
      /** The parent of every path must exist. */
      readonly set: readonly (readonly [Path, Value])[]
      /** Adds to numbers that exist. */
      readonly add: readonly (readonly [Path, number])[]
      readonly when: readonly Condition[]
    }
  | { readonly kind: 'check'; readonly key: Key; readonly when: readonly Condition[] }

type Outcome =
  | { readonly applied: true }
  | { readonly applied: false; readonly found: readonly (Item | null | undefined)[] }

/** The two indexes: everything that is listed by time, and what is not finished yet. */
export type Index = 'by-time' | 'open'

export interface ListQuery {
  readonly index: Index
  readonly partition: string
  readonly newestFirst: boolean
  /** Bounds of the sort key, both inclusive. */
  readonly from?: string
  readonly to?: string
  readonly limit: number
  readonly after?: Position
}

/** Where a page of an index ended. */
export interface Position extends Key {
  readonly sort: string
}

export interface ListPage {
  readonly positions: readonly Position[]
  readonly more: boolean
}

/** As `get`, of any number of items. */
export async function getAll(store: Store, keys: readonly Key[]): Promise<(Item | undefined)[]> {
  const found: (Item | undefined)[] = []
  for (let from = 0; from < keys.length; from += maxKeys) {
    found.push(...(await store.get(keys.slice(from, from + maxKeys))))
  }
  return found
}

const maxKeys = 100

export const keyOf = (write: Write): Key => (write.kind === 'put' ? write.item : write.key)

export const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk])

/** DynamoDB takes one write of each item in a transaction. DynamoDB Local takes more: there it would come out too late. */
export function mustBeDistinct(writes: readonly Write[]): void {
  const names = new Set(writes.map((write) => nameOf(keyOf(write))))
  if (names.size < writes.length) throw new Error('one transaction writes an item twice')
}
