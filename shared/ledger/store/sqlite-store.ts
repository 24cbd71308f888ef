import type Database from 'libsql'
import type { Clock } from '../../platform/clock.ts'
import { DamagedItem, ItemTooLarge } from '../errors.ts'
import { holds, resultOf } from './conditions.ts'
import { itemSize } from './item-size.ts'
import { runningMs } from './running-time.ts'
import { Damage, damagedItem, seal, sealed, toText, unsealItem } from './sealed.ts'
import { noteIn, type SqliteFile, setNote } from './sqlite-file.ts'
import {
  type Item,
  type Key,
  keyOf,
  type ListPage,
  type ListQuery,
  mustBeDistinct,
  type Position,
  type Store,
  type Write,
} from './store.ts'
import { definitionsKey, expiryAttribute, indexes } from './stored.ts'

// This store follows DynamoDB's rules for sizes, the number of writes, tokens, and the order of texts.

const maxItemBytes = 400 * 1024
const maxWrites = 100

interface Parts {
  readonly clock: Clock
  /** Absent: the ledger is in memory. */
  readonly tableId?: string
  /** Called after each transaction that was applied. */
  readonly onChanges?: () => void
}

const columns = {
  'by-time': { partition: 'listed_in', sort: 'listed_at' },
  open: { partition: 'open_as', sort: 'open_since' },
} as const

/** A ledger in a file. */
export function createSqliteStore({ db, read, write, checkFirst }: SqliteFile, parts: Parts): Store {
  const { clock, tableId, onChanges = () => {} } = parts
  const find = finderIn(db)
  const tokenAt = db.prepare<[string]>('SELECT 1 FROM tokens WHERE token = ?').raw()
  const addToken = db.prepare<[string, number]>('INSERT INTO tokens (token, at) VALUES (?, ?)')
  const addChange = db.prepare<unknown[]>(
    'INSERT INTO changes (change, at, start, people, systems) VALUES (?, ?, ?, ?, ?)',
  )
  const putItem = db.prepare<unknown[]>('INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)')

  /** What a write without a condition replaces may be damaged. */
  function before(write: Write): StoredItem | undefined {
    const found = find(keyOf(write))
    if (found?.damage === undefined) return found
    if (write.kind === 'put' && write.when.length === 0) return undefined
    throw found.damage
  }

  function apply(writes: readonly Write[], token: string): Awaited<ReturnType<Store['transact']>> {
    if (tokenAt.get(token) !== undefined) return { applied: true }
    const stored = writes.map(before)
    const found = writes.map(({ when }, place) => {
      const item = stored[place]?.item
      return when.every((condition) => holds(condition, item)) ? undefined : (item ?? null)
    })
    if (found.some((item) => item !== undefined)) return { applied: false, found }
    const ran = runningMs(db)
    for (const [place, write] of writes.entries()) {
      if (write.kind === 'check') continue
      const old = stored[place]
      const item = resultOf(write, old?.item)
      putItem.run(...rowOf(item), expiresOf(item, old, ran - clock.now()))
      if (item.pk === definitionsKey.pk) setNote(db, 'identity', identityOf(item))
      const change = changeOf(item, old?.item)
      const isFor = readersOf(change)
      if (isFor.some(Boolean))
        addChange.run(seal(JSON.stringify(change)), ran, ...isFor.map((isIts) => (isIts ? 0 : null)))
    }
    addToken.run(token, ran)
    return { applied: true }
  }

  function mustHave(epoch: number, errorOf: (definitions: Item | undefined) => Error): void {
    if ((noteIn(db, 'identity') ?? '0') === String(epoch)) return
    throw errorOf(find(definitionsKey)?.item)
  }

  return {
    place: 'file',
    get: (keys) => read(() => keys.map((key) => find(key)?.item)),

    list: (query) => read(() => list(db, query)),

    transact: async (writes, token, maxWaitMs) => {
      mustBeDistinct(writes)
      if (writes.length > maxWrites) throw new Error(`a transaction has at most ${maxWrites} writes`)
      if (writes.map(keyOf).some(({ pk, sk }) => `${pk}${sk}`.includes('\0'))) throw new Error('a key has no NUL')
      const isKept = ({ applied }: { applied: boolean }) => applied
      const outcome = await write(() => apply(writes, token), { isKept, maxWaitMs })
      if (outcome.applied) onChanges()
      return outcome
    },

    pin: (epoch, errorOf) => checkFirst(() => mustHave(epoch, errorOf)),

    ...(tableId !== undefined && { tableId: async () => tableId }),
  }
}

/** Finds items by their keys. */
export function finderIn(db: Database.Database): (key: Key) => StoredItem | undefined {
  const rowAt = db
    .prepare<[string, string]>(`SELECT ${sealed('item')}, CAST(expires AS INTEGER) FROM items WHERE pk = ? AND sk = ?`)
    .raw()
  return (key) => {
    const row = rowAt.get(key.pk, key.sk) as [unknown, unknown, number | null] | undefined
    if (!row) return undefined
    const [type, bytes, expires] = row
    try {
      return { item: unsealItem(key, type, bytes), expires }
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      return { item: damagedItem(key, error), expires, damage: new DamagedItem(key, error.message) }
    }
  }
}

interface StoredItem {
  readonly item: Item
  /** In milliseconds of running time, not of the clock. */
  readonly expires: number | null
  readonly damage?: DamagedItem
}

/** If the item's expiry does not change, its stored time stays, because the clock may be wrong now. */
function expiresOf({ [expiryAttribute]: at }: Item, before: StoredItem | undefined, sinceEpoch: number): number | null {
  if (typeof at !== 'number') return null
  return before?.item[expiryAttribute] === at ? before.expires : at * 1_000 + sinceEpoch
}

/** The epoch and the replacement. Kept as a note, because each transaction checks both, and the definitions can be large. */
function identityOf(item: Item): string {
  const { epoch = 0, replacedBy = '' } = (item.identity ?? {}) as {
    readonly epoch?: number
    readonly replacedBy?: string
  }
  return `${epoch} ${replacedBy}`.trim()
}

/** Only the members that readers need: with whole items, each change would write a book twice. */
export interface StoredChange {
  readonly isNew: boolean
  readonly item: Item
}

const changeMembers = ['state', 'version', 'openAs', 'approvableUntil', 'doubt', 'subjects', 'traceparent']

const changeOf = (item: Item, before: Item | undefined): StoredChange => ({
  isNew: before === undefined,
  item: { pk: item.pk, sk: item.sk, ...Object.fromEntries(changeMembers.map((name) => [name, item[name]])) },
})

/** Says for each of `start`, `people` and `systems` whether it reads the change, like the stream's filters on AWS. */
function readersOf({ isNew, item: { pk, state, approvableUntil, doubt } }: StoredChange): readonly boolean[] {
  const kind = /^[^#]+/.exec(pk)?.[0]
  const isUpdate = kind === 'update'
  const wasAnnounced = approvableUntil !== undefined || doubt !== undefined
  return [
    isUpdate ? state === 'requested' : isNew && kind === 'slack-event',
    isUpdate ? !isNew && wasAnnounced : kind === 'book' || (isNew && kind === 'announcement'),
    isUpdate || (isNew && (kind === 'announcement' || kind === 'entry')),
  ]
}

function rowOf(item: Item): unknown[] {
  const text = JSON.stringify(item)
  // DynamoDB, like JSON, leaves out undefined members.
  const kept = JSON.parse(text) as Item
  if (itemSize(kept) > maxItemBytes) throw new ItemTooLarge('an item is too large for DynamoDB')
  return [kept.pk, kept.sk, seal(text), ...placesOf(kept)]
}

/** The values of an item's columns for both indexes. */
export const placesOf = (item: Item): (string | null)[] =>
  (['by-time', 'open'] as const).flatMap((index) => {
    const { partition, sort } = indexes[index]
    const [list, place] = [item[partition], item[sort]]
    return typeof list === 'string' && typeof place === 'string' ? [list, place] : [null, null]
  })

/** Texts compare by their bytes, as in DynamoDB. */
function list(db: Database.Database, query: ListQuery): ListPage {
  const { partition, sort } = columns[query.index]
  const { after, from, to, newestFirst, limit } = query
  const rows = db
    .prepare<unknown[]>(
      `SELECT ${['pk', 'sk', sort].map((name) => `CAST(${name} AS BLOB)`)} FROM items WHERE ${partition} = ?
        ${from === undefined ? '' : `AND ${sort} >= ?`} ${to === undefined ? '' : `AND ${sort} <= ?`}
        ${after ? `AND (${sort}, pk, sk) ${newestFirst ? '<' : '>'} (?, ?, ?)` : ''}
        ORDER BY ${[sort, 'pk', 'sk'].map((name) => `${name} ${newestFirst ? 'DESC' : 'ASC'}`).join(', ')} LIMIT ?`,
    )
    .raw()
    .all(query.partition, ...[from, to].filter((bound) => bound !== undefined), ...placeOf(after), limit + 1)
  const positions = (rows as [Buffer, Buffer, Buffer][]).map(positionOf)
  return { positions: positions.slice(0, limit), more: positions.length > limit }
}

function positionOf([pk, sk, sort]: readonly [Buffer, Buffer, Buffer]): Position {
  try {
    return { pk: toText(pk), sk: toText(sk), sort: toText(sort) }
  } catch {
    throw new DamagedItem({ pk: String(pk), sk: String(sk) }, 'its key in a list is not UTF-8')
  }
}

const placeOf = (after: Position | undefined): string[] => (after ? [after.sort, after.pk, after.sk] : [])
