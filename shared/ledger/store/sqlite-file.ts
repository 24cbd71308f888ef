import Database from 'libsql'
import type { Clock } from '../../platform/clock.ts'
import type { Ids } from '../../platform/ids.ts'
import { AnswerLost, Contention, DamagedItem, type DiskFault, LedgerUnavailable } from '../errors.ts'
import { Damage, seal, sealed, unseal } from './sealed.ts'

const usualMaxWaitMs = 10_000
/** The binding blocks the process while it waits, so `wait` sleeps between short attempts. */
const busyTimeoutMs = 20
const maxPauseMs = 50

/** Marks each file as ours, so that the file of another program is not opened as a ledger. */
export const application = 0x55_47_4c_44
const version = 2
/** Its texts have no checksums. It needs no other change. */
const earlierVersion = 1

/** Each reader of changes has a column with its number of attempts. NULL: handled, or not for this reader. */
export const readers = ['start', 'people', 'systems'] as const

const schema = `
  CREATE TABLE items (
    pk TEXT NOT NULL, sk TEXT NOT NULL, item TEXT NOT NULL,
    listed_in TEXT, listed_at TEXT, open_as TEXT, open_since TEXT, expires INTEGER,
    PRIMARY KEY (pk, sk)
  );
  CREATE INDEX by_time ON items (listed_in, listed_at, pk, sk) WHERE listed_in IS NOT NULL;
  CREATE INDEX open ON items (open_as, open_since, pk, sk) WHERE open_as IS NOT NULL;
  CREATE INDEX expiry ON items (expires) WHERE expires IS NOT NULL;
  CREATE TABLE tokens (token TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, change TEXT NOT NULL, at INTEGER NOT NULL,
    ${readers.map((name) => `${name} INTEGER`).join(', ')}
  );
  CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  ${readers.map((name) => `CREATE INDEX to_${name} ON changes (${name}, id) WHERE ${name} IS NOT NULL;`).join('\n  ')}
  PRAGMA application_id = ${application};
  PRAGMA user_version = ${version};
`

/** The file was written by another program or version. */
export class OtherFormat extends Error {
  override readonly name = 'OtherFormat'
}

export const connect = (file: string): Database.Database => new Database(file, { timeout: busyTimeoutMs })

/** @param file `:memory:` keeps the ledger in memory only. @throws OtherFormat */
export function openSqlite(file: string): Database.Database {
  const db = connect(file)
  prepare(db)
  return db
}

/** An earlier version wrote the file, and no process of this version has taken it over. */
export class EarlierFormat extends Error {
  override readonly name = 'EarlierFormat'
}

/**
 * Makes an empty file a ledger.
 *
 * @param takesOver an earlier version can then no longer open its file.
 * @returns whether the file was taken over.
 * @throws OtherFormat, EarlierFormat
 */
export function prepare(db: Database.Database, takesOver = true): boolean {
  // No WAL: in SQLite before 3.51.3, a WAL can lose committed writes when a checkpoint meets a writer.
  db.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL')
  if (formatOf(db) === null) inTransaction(db, toWrite, () => formatOf(db) === null && db.exec(schema))
  const isEarlier = formatOf(db) === `${application} ${earlierVersion}`
  if (isEarlier && !takesOver) throw new EarlierFormat()
  if (isEarlier) db.exec(`PRAGMA user_version = ${version}`)
  const format = formatOf(db)
  if (format !== `${application} ${version}`) throw new OtherFormat(`${format} instead of ${application} ${version}`)
  return isEarlier
}

/** A damaged name of a column would otherwise show only in the first statement that uses it. */
export function hasOurTables(db: Database.Database): boolean {
  const made = db.prepare<unknown[]>('SELECT CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL').raw().all()
  const expected = schema.split(';').filter((statement) => statement.includes('CREATE'))
  const found = (made as [Buffer][]).map(String).filter((sql) => !sql.includes('sqlite_sequence'))
  return inOrder(found) === inOrder(expected)
}

const inOrder = (statements: readonly string[]): string =>
  statements
    .map((sql) => sql.replaceAll(/\s+/g, ' ').trim())
    .sort()
    .join()

/** `null`: the file is empty. */
function formatOf(db: Database.Database): string | null {
  const tables = firstValue(db, 'SELECT count(*) FROM sqlite_master')
  const format = `${firstValue(db, 'PRAGMA application_id')} ${firstValue(db, 'PRAGMA user_version')}`
  return tables === 0 && format === '0 0' ? null : format
}

const rowsOf = (db: Database.Database, sql: string, ...bound: readonly string[]): unknown[][] =>
  reading(
    db,
    () =>
      db
        .prepare<unknown[]>(sql)
        .raw()
        .all(...bound) as unknown[][],
  )

/** @param sql must not read a text of the file, because the binding ends the process if the text is damaged. */
export const firstValue = (...query: Parameters<typeof rowsOf>): unknown => rowsOf(...query)[0]?.[0]

/** A single fact of this machine, such as the time of the last sweep. `null`: not known. @throws DamagedItem */
export function noteIn(db: Database.Database, name: string): string | null {
  const [row] = rowsOf(db, `SELECT ${sealed('value')} FROM notes WHERE name = ?`, name)
  const note = row ? readNote(name, ...row) : lostNote(db, name)
  if (note instanceof Damage) throw new DamagedItem({ pk: 'note', sk: name }, note.message)
  return note
}

/** The content begins with the name, because a damaged name must not hide a note. An earlier version wrote no name. */
export function readNote(name: string, type?: unknown, bytes?: unknown): string | Damage {
  try {
    const text = unseal(type, bytes)
    if (type === 'text') return text
    const [own = ''] = text.split(' ', 1)
    return own === name ? text.slice(name.length + 1) : new Damage(`its content is of the note ${own}`)
  } catch (error) {
    if (error instanceof Damage) return error
    throw error
  }
}

function lostNote(db: Database.Database, name: string): Damage | null {
  const all = rowsOf(db, `SELECT ${sealed('value')} FROM notes`)
  const isThere = all.some((row) => typeof readNote(name, ...row) === 'string' && row[0] === 'blob')
  return isThere ? new Damage('its name is damaged') : null
}

export const setNote = (db: Database.Database, name: string, value: string): void =>
  void db.prepare<[string, Buffer]>('INSERT OR REPLACE INTO notes VALUES (?, ?)').run(name, seal(`${name} ${value}`))

const toWrite = 'BEGIN IMMEDIATE'
/** The SELECT takes the lock first: the binding does not reset a later statement that finds the file busy and so keeps locks. */
const toRead = 'BEGIN; SELECT 1 FROM sqlite_master LIMIT 1'

/** Runs `act` in one transaction. */
export const reading = <T>(db: Database.Database, act: () => T): T =>
  db.inTransaction ? act() : inTransaction(db, toRead, act)

export const sweptAt = 'swept-at'
export const backedUpAt = 'backed-up-at'
export const backupFailedAt = 'backup-failed-at'

export function instantIn(db: Database.Database, name: string): number | null {
  const text = noteIn(db, name)
  return text === null ? null : Number(text)
}

/** `act` is synchronous, so no other code of this process runs inside the transaction. @throws AnswerLost, or an error of SQLite. */
function inTransaction<T>(
  db: Database.Database,
  begin: typeof toWrite | typeof toRead,
  act: () => T,
  isKept: (result: T) => boolean = () => true,
): T {
  let isCommitting = false
  try {
    db.exec(begin)
    const result = act()
    isCommitting = true
    db.exec(isKept(result) ? 'COMMIT' : 'ROLLBACK')
    return result
  } catch (error) {
    if (!db.inTransaction)
      throw isCommitting
        ? new AnswerLost('a write may have been committed', { cause: error, disk: diskFaultOf(error) })
        : error
    rollBack(db)
    throw error
  }
}

/** If the transaction cannot end, closes the connection, because later statements would run inside that transaction. */
function rollBack(db: Database.Database): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    db.close()
  }
}

interface Parts {
  readonly db: Database.Database
  readonly clock: Clock
  readonly ids: Ids
  /** Names the process that locks the file, for the error about a busy file. */
  readonly holder?: () => string
  /** Called when the pages in memory cannot be trusted any more. */
  readonly onDamage?: (error: unknown) => void
}

export type SqliteFile = ReturnType<typeof createSqliteFile>

/** Waits while other processes write. */
export function createSqliteFile({ db, clock, ids, holder = () => 'other processes', onDamage = () => {} }: Parts) {
  /** @throws LedgerUnavailable; Contention if the file stayed busy for `maxWaitMs`. */
  async function wait<T>(act: () => T, maxWaitMs = usualMaxWaitMs): Promise<T> {
    // On a closed file, any call of the binding ends the process.
    if (!db.open) throw new LedgerUnavailable('the file of the ledger was closed')
    const until = clock.now() + maxWaitMs
    for (let round = 1; ; round++) {
      try {
        return act()
      } catch (error) {
        const cause = error instanceof AnswerLost ? error.cause : error
        if (isDamage(cause) || !db.open) onDamage(cause)
        if (!isOfSqlite(error) && db.open) throw error
        if (!isBusy(error))
          throw new LedgerUnavailable('the file of the ledger fails', { cause: error, disk: diskFaultOf(error) })
        if (clock.now() >= until) throw new Contention(`the file of the ledger is busy (${holder()})`)
        await clock.sleep(ids.fraction() * Math.min(maxPauseMs, 2 ** round))
      }
    }
  }

  let check = () => {}
  return {
    db,
    /** @param act may begin transactions. */
    wait,
    read: <T>(act: () => T, maxWaitMs?: number): Promise<T> => wait(() => reading(db, act), maxWaitMs),
    /** @throws the errors of `read`, or AnswerLost. */
    write: <T>(act: () => T, how: { isKept?: (result: T) => boolean; maxWaitMs?: number | undefined } = {}) => {
      const checked = () => {
        check()
        return act()
      }
      return wait(() => inTransaction(db, toWrite, checked, how.isKept), how.maxWaitMs)
    },
    /** Each later write first runs `each`. If `each` throws, nothing is written. */
    checkFirst: (each: () => void): void => {
      check = each
    },
  }
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

const isOfSqlite = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_')
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))
export const isOfDisk = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_IOERR')
function diskFaultOf(error: unknown): DiskFault | null {
  if (codeOf(error) === 'SQLITE_FULL') return 'full'
  return codeOf(error).startsWith('SQLITE_READONLY') ? 'read-only' : null
}
const isDamage = (error: unknown): boolean => isOfDisk(error) || /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))
