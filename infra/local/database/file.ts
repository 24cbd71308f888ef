import { closeSync, openSync, readFileSync, readSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'libsql'
import { storedForm } from '../../../shared/ledger/definitions/definitions-item.ts'
import { Contention, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import {
  connect,
  createSqliteFile,
  EarlierFormat,
  hasOurTables,
  isOfDisk,
  OtherFormat,
  prepare,
  reading,
} from '../../../shared/ledger/store/sqlite-file.ts'
import { finderIn } from '../../../shared/ledger/store/sqlite-store.ts'
import { definitionsKey } from '../../../shared/ledger/store/stored.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { makePrivateFile, sizeOf } from '../data-directory.ts'
import { CannotContinue, reasonOf } from '../failures.ts'
import { ledgerFile } from '../settings.ts'
import { faultsOfFile } from './damage.ts'
import { fileMarker } from './marker-store.ts'
import { holderOf } from './server-lock.ts'

export const sandboxFile = 'sandbox.db'

/**
 * Opens a file, or makes it.
 *
 * @param how.mustCheck reads the whole file first. After a process that was killed, the file is always read.
 * @param how.takesOver a file of an earlier version, which then refuses it. Default: true.
 * @param how.onDamage gets a sentence about later damage. Without `onDamage`, the sentence is thrown.
 * @returns the file with its id. A copy of the file has another id.
 * @throws CannotContinue if the file or its folder cannot be used.
 */
export async function openFile(
  directory: string,
  name: string,
  how: { mustCheck?: boolean; takesOver?: boolean; onDamage?: (sentence: string) => void } = {},
) {
  await refuseJournal(directory, name)
  const path = await makePrivateFile(directory, name)
  refuseSharedDisk(directory)
  refuseHead(path)
  const mustCheck = how.mustCheck || (await sizeOf(`${path}-journal`)) > 0
  const end = (sentence: string) => {
    throw new CannotContinue(sentence)
  }
  let isOpen = false
  const file = createSqliteFile({
    db: connect(path),
    clock: systemClock,
    ids: systemIds,
    holder: () => processesWith(path) ?? holderOf(directory),
    onDamage: (error) => {
      const sentence = isOfDisk(error) ? ofDisk(path, reasonOf(error)) : damaged(path, reasonOf(error))
      if (!isOpen || !how.onDamage) return end(sentence)
      how.onDamage(sentence)
    },
  })
  try {
    await file.wait(() => {
      if (prepare(file.db, how.takesOver) && name === ledgerFile) console.error(`unit-guard: ${path} ${noWayBack}`)
      reading(file.db, () => {
        if (!hasOurTables(file.db)) end(damaged(path, 'its tables are not those of a ledger'))
        const faults = mustCheck ? faultsOfFile(file.db) : []
        if (faults.length > 0) end(damaged(path, faults.slice(0, maxFaults).join('; ')))
        mustHaveOurForm(file.db)
      })
    })
  } catch (error) {
    if (error instanceof EarlierFormat) throw new CannotContinue(`${path} ${ofEarlierVersion}`)
    if (error instanceof OtherFormat) throw new CannotContinue(`${path} ${ofAnotherFormat} (${error.message})`)
    if (!(error instanceof LedgerUnavailable) || error instanceof Contention) throw error
    throw new CannotContinue(ofDisk(path, reasonOf(error)))
  }
  isOpen = true
  return { file, id: idOf(path) }
}

const maxFaults = 3

/** Damaged definitions pass: the guard then answers 503 with their key. @throws OtherFormat */
function mustHaveOurForm(db: Database.Database): void {
  const found = finderIn(db)(definitionsKey)
  if (found === undefined || found.damage) return
  const { form } = found.item
  if (form !== storedForm) throw new OtherFormat(`form ${form ?? 'none'} instead of ${storedForm}`)
}

function idOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true })
  return `${ino}@${birthtimeNs}`
}

const ofAnotherFormat =
  'was written by another program or version: use that one, or set DATA_DIR to another folder, where a new ledger begins'

const ofEarlierVersion =
  'was written by an earlier version: run this command with that version, or start this one (npm start or npm run serve), after which the earlier version refuses the file'

const noWayBack =
  'was written by an earlier version, which now refuses it: to go back, restore a backup that the earlier version made (docs/one-machine.md, "Upgrade")'

const damaged = (path: string, reason: string): string =>
  `${path} is damaged (${reason}): keep it, restore a backup (npm run restore -- from <file>), or set DATA_DIR to another folder, where a new ledger begins`

const ofDisk = (path: string, reason: string): string =>
  `${path} cannot be read or written (${reason}): check its disk and make room there, then start again`

/** Reads the locks of Linux, because SQLite does not know which process has a lock. */
function processesWith(path: string): string | null {
  try {
    const { ino } = statSync(path)
    const locks = [...readFileSync('/proc/locks', 'utf8').matchAll(/ (\d+) [\da-f]+:[\da-f]+:(\d+) /g)]
    const others = locks
      .filter(([, pid, inode]) => Number(inode) === ino && Number(pid) !== process.pid)
      .map(([, pid]) => `process ${pid}`)
    return others.length > 0 ? [...new Set(others)].join(', ') : null
  } catch {
    return null
  }
}

/** Where a journal has the file's number of pages before the change, which is 0 for a new file. */
const pagesAt = 16

/** SQLite replays the journal of a killed process over any file that now has the old file's name. */
async function refuseJournal(directory: string, name: string): Promise<void> {
  const path = join(directory, name)
  const journal = `${path}-journal`
  if ((await sizeOf(journal)) === 0) return
  if ((await sizeOf(path)) === 0) {
    if (headOf(journal)?.readUInt32BE(pagesAt) === 0) return
    throw new CannotContinue(`${journal} is there, but its file ${path} is missing: put that file back, ${orRestore}`)
  }
  const marker = name === ledgerFile ? await fileMarker(directory).read() : null
  if (marker === null || marker.table === idOf(path)) return
  throw new CannotContinue(
    `${journal} belongs to another file than ${path}, and SQLite would replay it over this one: put the other file back, ${orRestore}; if both were copied together, let sqlite3 ${path} "PRAGMA quick_check" replay it, and accept the file with npm run restore -- accept`,
  )
}

const orRestore = 'or restore a backup with npm run restore -- from <file>, which moves both away'

/** File systems whose locks are not reliable: NFS, SMB (three), 9p, FUSE and virtiofs. */
const unsoundLocks = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546]

function refuseSharedDisk(directory: string): void {
  if (!unsoundLocks.includes(statfsSync(directory).type)) return
  throw new CannotContinue(
    `${directory} is on a network or shared disk, where two processes can lock one file: set DATA_DIR to a folder on a disk of this machine`,
  )
}

const headBytes = 72
const walByte = 2
export const applicationOffset = 68
/** Replaces the ledger's own id in the header of a backup, so that no process serves it. */
export const backupApplication = 0x55_47_4c_42

const isMarked = (head: Buffer): boolean => head.readUInt32BE(applicationOffset) === backupApplication

export const isBackup = (path: string): boolean => isMarked(headOf(path) ?? Buffer.alloc(headBytes))

function headOf(path: string): Buffer | null {
  const handle = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(headBytes)
    return readSync(handle, buffer, 0, headBytes, 0) === 0 ? null : buffer
  } finally {
    closeSync(handle)
  }
}

/** Runs before SQLite opens the file, because opening changes the file. */
function refuseHead(path: string): void {
  const buffer = headOf(path)
  if (buffer === null) return
  if (!buffer.toString('latin1').startsWith('SQLite format 3\0'))
    throw new CannotContinue(damaged(path, 'it is not a file of SQLite'))
  if (isMarked(buffer))
    throw new CannotContinue(
      `${path} is a backup, which lacks what ran since: move it out of the folder, and run npm run restore -- from <file>`,
    )
  if (buffer[18] === walByte || buffer[19] === walByte)
    throw new CannotContinue(
      `${path} is in WAL mode, in which SQLite can lose updates: stop all programs that have it open, and run sqlite3 ${path} "PRAGMA journal_mode=DELETE"`,
    )
}
