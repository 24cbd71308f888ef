export interface Store {
  /** Reads up to 100 items, consistently. */
  get(keys: readonly Key[]): Promise<(Item | undefined)[]>
  /** Indexes lag, so read the items before you trust a position. */
  list(query: ListQuery): Promise<ListPage>
  /**
   * Applies all writes or none, and repeats the request if its answer is lost. `found` has the item of each write whose
   * condition failed (`null`: absent), and `undefined` for the others.
   * @param token 1–36 characters; a repeated token is applied once.
   * @param maxWaitMs how long to retry after conflicts and throttling.
   * @throws LedgerUnavailable, Contention or ItemTooLarge if it was certainly not applied.
   * @throws AnswerLost if it may have been applied.
   */
  transact(writes: readonly Write[], token: string, maxWaitMs?: number): Promise<Outcome>
  /** A new table of the same name has another id. */
  readonly tableId?: () => Promise<string>
  /** The word for the store in errors. Absent: `table`. */
  readonly place?: Place
  /** From now on, every transaction throws the error of the stored definitions if they have another epoch or were replaced. */
  readonly pin?: (epoch: number, errorOf: (definitions: Item | undefined) => Error) => void
}

export type Place = 'table' | 'file'

export interface Key {
  readonly pk: string
  readonly sk: string
}

export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value | undefined }
export type Item = Key & { readonly [name: string]: Value | undefined }

export type Path = readonly [string, ...string[]]

export type Condition =
  | { readonly kind: 'absent-item' }
  | { readonly kind: 'present-item' }
  | { readonly kind: 'equal'; readonly path: Path; readonly value: Value }
  | { readonly kind: 'at-least'; readonly path: Path; readonly value: number }
  | { readonly kind: 'at-most'; readonly path: Path; readonly value: number }
  | { readonly kind: 'before'; readonly path: Path; readonly value: string }
  | { readonly kind: 'absent'; readonly path: Path }

export type Write =
  | { readonly kind: 'put'; readonly item: Item; readonly when: readonly Condition[] }
  | {
      readonly kind: 'update'
      readonly key: Key
      /** The parent of each path must exist. */
      readonly set: readonly (readonly [Path, Value])[]
      /** Adds only to numbers that exist. */
      readonly add: readonly (readonly [Path, number])[]
      readonly when: readonly Condition[]
    }
  | { readonly kind: 'check'; readonly key: Key; readonly when: readonly Condition[] }

type Outcome =
  | { readonly applied: true }
  | { readonly applied: false; readonly found: readonly (Item | null | undefined)[] }

export type Index = 'by-time' | 'open'

export interface ListQuery {
  readonly index: Index
  readonly partition: string
  readonly newestFirst: boolean
  /** Both bounds are inclusive. */
  readonly from?: string
  readonly to?: string
  readonly limit: number
  readonly after?: Position
}

export interface Position extends Key {
  readonly sort: string
}

export interface ListPage {
  readonly positions: readonly Position[]
  readonly more: boolean
}

export async function getAll(store: Pick<Store, 'get'>, keys: readonly Key[]): Promise<(Item | undefined)[]> {
  const found: (Item | undefined)[] = []
  for (let from = 0; from < keys.length; from += maxKeys) {
    found.push(...(await store.get(keys.slice(from, from + maxKeys))))
  }
  return found
}

const maxKeys = 100

export const keyOf = (write: Write): Key => (write.kind === 'put' ? write.item : write.key)

export const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk])

/** DynamoDB refuses two writes of one item. DynamoDB Local accepts them, so tests would miss the mistake. */
export function mustBeDistinct(writes: readonly Write[]): void {
  const names = new Set(writes.map((write) => nameOf(keyOf(write))))
  if (names.size < writes.length) throw new Error('one transaction writes an item twice')
}
