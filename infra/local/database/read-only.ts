import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Contention, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { Damage, parse, sealed, unseal } from '../../../shared/ledger/store/sealed.ts'
import {
  backedUpAt,
  connect,
  createSqliteFile,
  firstValue,
  noteIn,
  type SqliteFile,
} from '../../../shared/ledger/store/sqlite-file.ts'
import type { Item } from '../../../shared/ledger/store/store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { CannotContinue, fileFault } from '../failures.ts'
import { ledgerFile } from '../settings.ts'
import { isBackup } from './file.ts'

/** A file of a ledger that is only read: a backup, the ledger that a guard serves, or one that was set aside. */
export interface ReadOnlyLedger {
  readonly path: string
  /** The time of a backup. `null`: the file is not a backup. */
  readonly backedUpAt: number | null
  /** Every item that can be read, with its text. */
  items(): AsyncGenerator<{ readonly item: Item; readonly text: string }, void>
  /** What `items` could not read so far. */
  readonly unread: ReadonlySet<string>
}

/** Opens a file that may be damaged or in use, and never writes to it. @throws CannotContinue */
export async function readLedger<T>(path: string, read: (ledger: ReadOnlyLedger) => Promise<T>): Promise<T> {
  if (!existsSync(path)) throw new CannotContinue(`${path} cannot be read: it is not there`)
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-read-'))
  try {
    const file = await open(path, join(folder, ledgerFile))
    try {
      return await read(readerOf(file, path))
    } finally {
      if (file.db.open) file.db.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function open(path: string, copy: string): Promise<SqliteFile> {
  try {
    return await opened(`${pathToFileURL(path).href}?mode=ro`).catch(async (error) => {
      if (codeOf(error) !== 'SQLITE_READONLY_ROLLBACK') throw error
      // SQLite completes the file of a killed process from its journal, so it gets a copy of both.
      for (const end of ['', '-journal']) await copyFile(`${path}${end}`, `${copy}${end}`)
      return opened(copy)
    })
  } catch (error) {
    throw new CannotContinue(`${path} cannot be read (${fileFault(error)})`, { cause: error })
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof LedgerUnavailable && error.cause instanceof Error && 'code' in error.cause && error.cause.code

async function opened(path: string): Promise<SqliteFile> {
  const file = createSqliteFile({ db: connect(path), clock: systemClock, ids: systemIds })
  try {
    const tables = await file.read(() => firstValue(file.db, "SELECT count(*) FROM sqlite_master WHERE name = 'items'"))
    if (tables === 0) throw new Error('it is not a ledger')
    return file
  } catch (error) {
    file.db.close()
    throw error
  }
}

function readerOf(file: SqliteFile, path: string): ReadOnlyLedger {
  const unread = new Set<string>()
  return {
    path,
    backedUpAt: isBackup(path) ? Number(noteIn(file.db, backedUpAt)) : null,
    unread,
    async *items() {
      for await (const [, type, bytes, pk, sk] of readableRows(file, (line) => unread.add(line))) {
        try {
          const text = unseal(type, bytes)
          yield { item: parse(text) as Item, text }
        } catch (error) {
          if (!(error instanceof Damage)) throw error
          unread.add(`${pk} (${sk}): ${error.message}`)
        }
      }
    },
  }
}

const rowsAtATime = 500
/** A damaged number of a row may be far away. */
const maxSkipped = 1_000_000

/** Reads as `damageIn` does, but skips what SQLite cannot read. */
async function* readableRows(file: SqliteFile, onLost: (line: string) => void): AsyncGenerator<readonly unknown[]> {
  const page = file.db
    .prepare<[number, number]>(
      `SELECT rowid, ${sealed('item')}, CAST(pk AS BLOB), CAST(sk AS BLOB) FROM items NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT ?`,
    )
    .raw()
  const last = await lastRow(file)
  let size = rowsAtATime
  let skipped = 0
  let isWhole = true
  for (let at = 0; at < last && skipped < maxSkipped; ) {
    const rows = (await file.read(() => page.all(at, size)).catch(ifDamaged(null))) as unknown[][] | null
    if (rows !== null) {
      yield* rows
      if (rows.length < size) break
      at = Number(rows.at(-1)?.[0])
      size = rowsAtATime
    } else {
      if (size === 1) {
        at++
        skipped++
      }
      size = Math.ceil(size / 2)
      isWhole = false
    }
  }
  if (!isWhole) onLost('some pages of the file')
}

async function lastRow(file: SqliteFile): Promise<number> {
  const read = (from: string) => file.read(() => Number(firstValue(file.db, `SELECT max(rowid) FROM ${from}`)))
  return await read('items NOT INDEXED').catch(() => read('items INDEXED BY sqlite_autoindex_items_1'))
}

const ifDamaged =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof LedgerUnavailable && !(error instanceof Contention)) return value
    throw error
  }
