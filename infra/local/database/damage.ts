import type Database from 'libsql'
import { Damage, parse, sealed, unseal } from '../../../shared/ledger/store/sealed.ts'
import { readNote, type SqliteFile } from '../../../shared/ledger/store/sqlite-file.ts'
import { placesOf } from '../../../shared/ledger/store/sqlite-store.ts'
import type { Item } from '../../../shared/ledger/store/store.ts'
import { readChange } from './changes.ts'

const rowsAtATime = 500
/** The order of `placesOf`, after the key. */
const columns = ['pk', 'sk', 'listed_in', 'listed_at', 'open_as', 'open_since']
const columnsOfItem = `${sealed('item')}, ${columns.map((name) => `CAST(${name} AS BLOB)`)}`
const indexesOfItems = ['sqlite_autoindex_items_1', 'by_time', 'open', 'expiry']

type Row = readonly unknown[]

/** A repaired index could hide which of two keys is right, so damage is not repaired in the file. */
export const remedyOfDamage =
  'Keep the earlier backups and restore one without this damage (npm run restore -- from <file>)'

/** What SQLite finds in the whole file. Names the items of rows that an index does not have. */
export function faultsOfFile(db: Database.Database): string[] {
  // As bytes, because the message may contain a damaged name.
  const found = rowsOf(db, 'SELECT CAST(integrity_check AS BLOB) FROM pragma_integrity_check')
  const messages = found.map(([message]) => String(message).trim().split('\n').at(-1) ?? '')
  return messages.flatMap((message) => {
    if (message === 'ok') return []
    const [, place, index = ''] = /^row (\d+) missing from index (\S+)$/.exec(message) ?? []
    if (!indexesOfItems.includes(index)) return [message]
    // SQLite counts the rows, and does not say their numbers.
    const [row] = rowsOf(db, `SELECT ${columnsOfItem} FROM items NOT INDEXED LIMIT 1 OFFSET ?`, Number(place) - 1)
    return [row ? `${nameOf(row)}: the index ${index} lacks it` : message]
  })
}

/**
 * Reads every row. SQLite does not check contents, so it finds only a part of the damage.
 *
 * @returns a line for each damaged row, with its key.
 */
export async function damageIn(file: SqliteFile): Promise<readonly string[]> {
  const { db, read } = file
  const faults = await read(() => faultsOfFile(db))
  for await (const row of allRows(file, `SELECT rowid, ${columnsOfItem} FROM items NOT INDEXED WHERE rowid`)) {
    const fault = faultOfItem(row.slice(1))
    if (fault !== null) faults.push(`${nameOf(row.slice(1))}: ${fault}`)
  }
  for await (const [id, type, bytes] of allRows(file, `SELECT id, ${sealed('change')} FROM changes WHERE id`)) {
    const change = readChange(type, bytes)
    if (change instanceof Damage) faults.push(`change ${id}: ${change.message}`)
  }
  const notes = await read(() => rowsOf(db, `SELECT CAST(name AS BLOB), ${sealed('value')} FROM notes`))
  for (const [name, type, bytes] of notes) {
    const note = readNote(String(name), type, bytes)
    if (note instanceof Damage) faults.push(`note ${name}: ${note.message}`)
  }
  return faults
}

/** @param sql ends with the column of the row's number. */
async function* allRows({ db, read }: SqliteFile, sql: string): AsyncGenerator<Row, void> {
  const column = sql.split(' ').at(-1)
  for (let last = 0; ; ) {
    const rows = await read(() => rowsOf(db, `${sql} > ? ORDER BY ${column} LIMIT ${rowsAtATime}`, last))
    yield* rows
    if (rows.length < rowsAtATime) return
    last = Number(rows.at(-1)?.[0])
  }
}

const rowsOf = (db: Database.Database, sql: string, ...bound: readonly unknown[]): Row[] =>
  db
    .prepare<unknown[]>(sql)
    .raw()
    .all(...bound) as Row[]

function faultOfItem([type, bytes, ...found]: Row): string | null {
  try {
    const item = parse(unseal(type, bytes)) as Item
    const expected = [item.pk, item.sk, ...placesOf(item)]
    const wrong = columns.filter((_, place) => textOf(found[place]) !== expected[place])
    return wrong.length === 0 ? null : `its content has another ${wrong.join(', ')}`
  } catch (error) {
    if (error instanceof Damage) return error.message
    throw error
  }
}

/** The key in the content, because a damaged column has another key. Without content, the key of the columns. */
function nameOf([type, bytes, pk, sk]: Row): string {
  try {
    const item = parse(unseal(type, bytes)) as Item
    return `${item.pk} (${item.sk})`
  } catch {
    return `${textOf(pk)} (${textOf(sk)})`
  }
}

const textOf = (bytes: unknown): string | null => (bytes === null ? null : String(bytes))
