import Database from 'libsql'
import type { Clock } from '../../platform/clock.ts'
import type { Ids } from '../../platform/ids.ts'
import { AnswerLost, Contention, ItemTooLarge, LedgerUnavailable } from '../errors.ts'
import { indexes } from '../stored.ts'
import { holds, resultOf } from './conditions.ts'
import { itemSize } from './item-size.ts'
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

// Where SQLite and DynamoDB differ, DynamoDB is right: sizes, the number of writes, tokens, the order of bytes.

const maxItemBytes = 400 * 1024
const maxWrites = 100
const usualMaxWaitMs = 10_000
/** The binding blocks the process while it waits, so the store waits itself. */
const busyTimeoutMs = 20
const maxPauseMs = 50
/** DynamoDB knows a token for ten minutes. */
const tokenMs = 60 * 60_000
const sweepEvery = 1_000

interface Parts {
  readonly db: Database.Database
  readonly clock: Clock
  readonly ids: Ids
}

/** @param file `:memory:`: forgotten at the end. */
export function openSqlite(file: string): Database.Database {
  const db = new Database(file, { timeout: busyTimeoutMs })
  // WAL can lose what was committed where a checkpoint meets a writer, in SQLite before 3.51.3.
  db.pragma('journal_mode = TRUNCATE')
  db.pragma('synchronous = FULL')
  db.exec(schema)
  return db
}

const schema = `
  CREATE TABLE IF NOT EXISTS items (
    pk TEXT NOT NULL, sk TEXT NOT NULL, item TEXT NOT NULL,
    listed_in TEXT, listed_at TEXT, open_as TEXT, open_since TEXT,
    PRIMARY KEY (pk, sk)
  );
  CREATE INDEX IF NOT EXISTS by_time ON items (listed_in, listed_at, pk, sk) WHERE listed_in IS NOT NULL;
  CREATE INDEX IF NOT EXISTS open ON items (open_as, open_since, pk, sk) WHERE open_as IS NOT NULL;
  CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, change TEXT NOT NULL, at INTEGER NOT NULL, start INTEGER, tell INTEGER
  );
  CREATE INDEX IF NOT EXISTS to_start ON changes (start, id) WHERE start IS NOT NULL;
  CREATE INDEX IF NOT EXISTS to_tell ON changes (tell, id) WHERE tell IS NOT NULL;
`

const columns = {
  'by-time': { partition: 'listed_in', sort: 'listed_at' },
  open: { partition: 'open_as', sort: 'open_since' },
} as const

/** A ledger in a file. */
export function createSqliteStore({ db, clock, ids }: Parts): Store {
  const itemAt = db.prepare<[string, string]>('SELECT item FROM items WHERE pk = ? AND sk = ?').raw()
  const tokenAt = db.prepare<[string]>('SELECT at FROM tokens WHERE token = ?').raw()
  const addToken = db.prepare<[string, number]>('INSERT INTO tokens (token, at) VALUES (?, ?)')
  const forget = db.prepare<[number]>('DELETE FROM tokens WHERE at < ?')
  const addChange = db.prepare<unknown[]>('INSERT INTO changes (change, at, start, tell) VALUES (?, ?, ?, ?)')
  const putItem = db.prepare<unknown[]>('INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?)')
  let written = 0

  const find = ({ pk, sk }: Key): Item | undefined => {
    const row = itemAt.get(pk, sk) as [string] | undefined
    return row && (JSON.parse(row[0]) as Item)
  }

  function apply(writes: readonly Write[], token: string): Awaited<ReturnType<Store['transact']>> {
    if (tokenAt.get(token) !== undefined) return { applied: true }
    const stored = writes.map((write) => find(keyOf(write)))
    const found = writes.map(({ when }, place) => {
      const item = stored[place]
      return when.every((condition) => holds(condition, item)) ? undefined : (item ?? null)
    })
    if (found.some((item) => item !== undefined)) return { applied: false, found }
    for (const [place, write] of writes.entries()) {
      if (write.kind === 'check') continue
      const item = resultOf(write, stored[place])
      putItem.run(...rowOf(item))
      const readers = readersOf(item)
      if (readers.some((each) => each !== null))
        addChange.run(JSON.stringify(changeOf(item, stored[place])), clock.now(), ...readers)
    }
    addToken.run(token, clock.now())
    if (written++ % sweepEvery === 0) forget.run(clock.now() - tokenMs)
    return { applied: true }
  }

  /** Everything between BEGIN and COMMIT is one turn of this process. */
  function attempt(writes: readonly Write[], token: string) {
    db.exec('BEGIN IMMEDIATE')
    let isCommitting = false
    try {
      const outcome = apply(writes, token)
      isCommitting = true
      db.exec(outcome.applied ? 'COMMIT' : 'ROLLBACK')
      return outcome
    } catch (error) {
      if (!db.inTransaction)
        throw isCommitting ? new AnswerLost('the end of a write is unknown', { cause: error }) : error
      rollBack(db, error)
      throw error
    }
  }

  /** @throws LedgerUnavailable, or Contention if other processes kept the file until the time was over. */
  async function unlessBusy<T>(act: () => T, maxWaitMs: number): Promise<T> {
    const until = clock.now() + maxWaitMs
    for (let round = 1; ; round++) {
      try {
        return act()
      } catch (error) {
        if (!isOfSqlite(error)) throw error
        if (!isBusy(error)) throw new LedgerUnavailable('the file of the ledger fails', { cause: error })
        if (clock.now() >= until) throw new Contention('other processes write the ledger', { cause: error })
        await clock.sleep(ids.fraction() * Math.min(maxPauseMs, 2 ** round))
      }
    }
  }

  return {
    get: (keys) => unlessBusy(() => keys.map(find), usualMaxWaitMs),

    list: (query) => unlessBusy(() => list(db, query), usualMaxWaitMs),

    transact: async (writes, token, maxWaitMs = usualMaxWaitMs) => {
      mustBeDistinct(writes)
      if (writes.length > maxWrites) throw new Error(`a transaction has at most ${maxWrites} writes`)
      if (writes.map(keyOf).some(({ pk, sk }) => `${pk}${sk}`.includes('\0'))) throw new Error('a key has no NUL')
      return unlessBusy(() => attempt(writes, token), maxWaitMs)
    },
  }
}

/** Nothing may follow on a connection whose transaction does not end. */
function rollBack(db: Database.Database, cause: unknown): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    db.close()
    throw new LedgerUnavailable('the ledger’s file had to be closed', { cause })
  }
}

/** What readers need of it, and not the whole item: a book would be written twice. */
export interface StoredChange {
  readonly isNew: boolean
  readonly item: Item
}

const changeMembers = ['state', 'version', 'openAs', 'approvableUntil', 'doubt', 'subjects', 'traceparent']

const changeOf = (item: Item, before: Item | undefined): StoredChange => ({
  isNew: before === undefined,
  item: { pk: item.pk, sk: item.sk, ...Object.fromEntries(changeMembers.map((name) => [name, item[name]])) },
})

/** How often each of `start` and `tell` has tried it; `null`: the change is not for that reader. */
const readersOf = ({ pk }: Item) =>
  [/^(update|slack-event)#/, /^((update|announcement|entry)#|book$)/].map((of) => (of.test(pk) ? 0 : null))

function rowOf(item: Item): unknown[] {
  const text = JSON.stringify(item)
  // What JSON leaves out, DynamoDB does not keep either.
  const kept = JSON.parse(text) as Item
  if (itemSize(kept) > maxItemBytes) throw new ItemTooLarge('an item is too large for DynamoDB')
  const sorted = (['by-time', 'open'] as const).flatMap((index) => {
    const { partition, sort } = indexes[index]
    const isListed = typeof kept[partition] === 'string' && typeof kept[sort] === 'string'
    return isListed ? [kept[partition], kept[sort]] : [null, null]
  })
  return [kept.pk, kept.sk, text, ...sorted]
}

/** Texts compare by their bytes, as in DynamoDB. */
function list(db: Database.Database, query: ListQuery): ListPage {
  const { partition, sort } = columns[query.index]
  const { after, from, to, newestFirst, limit } = query
  const rows = db
    .prepare<unknown[]>(
      `SELECT pk, sk, ${sort} FROM items WHERE ${partition} = ?
        ${from === undefined ? '' : `AND ${sort} >= ?`} ${to === undefined ? '' : `AND ${sort} <= ?`}
        ${after ? `AND (${sort}, pk, sk) ${newestFirst ? '<' : '>'} (?, ?, ?)` : ''}
        ORDER BY ${[sort, 'pk', 'sk'].map((name) => `${name} ${newestFirst ? 'DESC' : 'ASC'}`).join(', ')} LIMIT ?`,
    )
    .raw()
    .all(query.partition, ...[from, to].filter((bound) => bound !== undefined), ...placeOf(after), limit + 1)
  const positions = (rows as [string, string, string][]).map(([pk, sk, at]): Position => ({ pk, sk, sort: at }))
  return { positions: positions.slice(0, limit), more: positions.length > limit }
}

const placeOf = (after: Position | undefined): string[] => (after ? [after.sort, after.pk, after.sk] : [])

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

const isOfSqlite = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_')
const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))
