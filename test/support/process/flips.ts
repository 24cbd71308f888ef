import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { backUp } from '../../../infra/local/database/backup.ts'
import { readChange } from '../../../infra/local/database/changes.ts'
import { damageIn } from '../../../infra/local/database/damage.ts'
import { openFile } from '../../../infra/local/database/file.ts'
import { DamagedItem } from '../../../shared/ledger/errors.ts'
import { Damage, sealed } from '../../../shared/ledger/store/sealed.ts'
import { noteIn, type SqliteFile } from '../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'

// Opens copies of `sound.db` with one flipped bit each, and prints what each copy became. A test looks whether this process lives.

export interface Flipped {
  readonly number: number
  /** The sentence that ends a process which serves this file. */
  readonly ended?: string
  /** What reads name as damaged. */
  readonly damaged: readonly string[]
  /** What differs without being named. */
  readonly silent: readonly string[]
  /** The lines or the sentence of both commands. */
  readonly doctor: readonly string[]
  readonly backup: readonly string[]
}

const [folder = '', first = '0'] = process.argv.slice(2)
const bits: readonly number[] = JSON.parse(await readFile(join(folder, 'bits.json'), 'utf8'))
const sound = await readFile(join(folder, 'sound.db'))
const { file } = await openFile(await inFolder('sound', sound), 'ledger.db')
const rowsOf = (sql: string) => file.db.prepare(sql).raw().all() as string[][]
const stored = {
  keys: rowsOf('SELECT pk, sk FROM items'),
  byTime: rowsOf('SELECT DISTINCT listed_in FROM items WHERE listed_in IS NOT NULL'),
  open: rowsOf('SELECT DISTINCT open_as FROM items WHERE open_as IS NOT NULL'),
  notes: rowsOf('SELECT name FROM notes'),
}
const expected = await readAll(file)
file.db.close()

for (let number = Number(first); number < bits.length; number++) {
  const bytes = Buffer.from(sound)
  const bit = bits[number] ?? 0
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  const directory = await inFolder(String(number), bytes)
  process.stdout.write(`${JSON.stringify({ number, ...(await outcomeOf(directory)) } satisfies Flipped)}\n`)
  await rm(directory, { recursive: true })
}

async function inFolder(name: string, bytes: Buffer): Promise<string> {
  const directory = join(folder, name)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(join(directory, 'ledger.db'), bytes, { mode: 0o600 })
  return directory
}

async function outcomeOf(directory: string): Promise<Omit<Flipped, 'number'>> {
  const found = await opened(directory, { mustCheck: true }, readAll)
  const differing = typeof found === 'string' ? [] : [...expected].filter(([name, text]) => found.get(name) !== text)
  if (typeof found !== 'string' && differing.length === 0) return { damaged: [], silent: [], doctor: [], backup: [] }
  const doctor = await opened(directory, {}, damageIn)
  const backup = await opened(directory, {}, (flipped) => backUp(flipped, join(directory, 'backup.db')))
  const lines = (of: readonly string[] | string) => (typeof of === 'string' ? [of] : of)
  const named = { doctor: lines(doctor), backup: lines(typeof backup === 'string' ? backup : backup.damaged) }
  if (typeof found === 'string') return { ended: found, damaged: [], silent: [], ...named }
  const names = differing.map(([name]) => name)
  return {
    damaged: names.filter((name) => found.get(name) === 'damaged'),
    silent: names.filter((name) => found.get(name) !== 'damaged'),
    ...named,
  }
}

/** @returns the sentence for the operator if the file or a part of it cannot be used. An error without one is thrown. */
async function opened<T>(directory: string, how: object, work: (file: SqliteFile) => Promise<T>): Promise<T | string> {
  try {
    const { file: flipped } = await openFile(directory, 'ledger.db', how)
    // The test needs no copy that survives a power cut.
    flipped.db.exec('PRAGMA synchronous = OFF')
    return await work(flipped).finally(() => flipped.db.open && flipped.db.close())
  } catch (error) {
    if (error instanceof Error && ['CannotContinue', 'DamagedItem'].includes(error.name)) return error.message
    throw error
  }
}

/** Everything that the guard reads from a ledger, by name. */
async function readAll(of: SqliteFile): Promise<Map<string, string>> {
  const store = createSqliteStore(of, { clock: systemClock })
  const all = new Map<string, string>()
  const put = async (name: string, read: () => unknown) => {
    try {
      all.set(name, JSON.stringify(await read()))
    } catch (error) {
      if (!(error instanceof DamagedItem)) throw error
      all.set(name, 'damaged')
    }
  }
  for (const [pk = '', sk = ''] of stored.keys)
    await put(`${pk} (${sk})`, async () => {
      const [item] = await store.get([{ pk, sk }])
      return item && { ...item }
    })
  for (const index of ['by-time', 'open'] as const)
    for (const [partition = ''] of stored[index === 'open' ? 'open' : 'byTime'])
      await put(`list ${partition}`, () => store.list({ index, partition, newestFirst: true, limit: 5_000 }))
  for (const [name = ''] of stored.notes) await put(`note ${name}`, () => noteIn(of.db, name))
  const changes = of.db
    .prepare(`SELECT id, ${sealed('change')} FROM changes`)
    .raw()
    .all() as unknown[][]
  for (const [id, type, bytes] of changes) {
    const change = readChange(type, bytes)
    all.set(`change ${id}`, change instanceof Damage ? 'damaged' : JSON.stringify(change))
  }
  return all
}
