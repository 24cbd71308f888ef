import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { copyFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ifUnavailable } from '../../../shared/ledger/errors.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger, type Ledger } from '../../../shared/ledger/ledger.ts'
import {
  application,
  backedUpAt,
  backupFailedAt,
  connect,
  createSqliteFile,
  firstValue,
  isBusy,
  noteIn,
  prepare,
  type SqliteFile,
  setNote,
} from '../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { synced, syncFolder } from '../data-directory.ts'
import { CannotContinue, fileFault } from '../failures.ts'
import { ledgerFile } from '../settings.ts'
import { damageIn, faultsOfFile, remedyOfDamage } from './damage.ts'
import { applicationOffset, backupApplication, isBackup } from './file.ts'

/**
 * Copies a ledger that other processes use. Their writes wait while SQLite reads it.
 *
 * @returns the contents of the backup, which has everything before `at`. `isNoted`: the ledger knows when it was backed up.
 * @throws CannotContinue; then no target file was made.
 */
export async function backUp(file: SqliteFile, target: string) {
  if (existsSync(target)) throw new CannotContinue(`${target} exists: a backup replaces nothing, so name a new file`)
  // A full disk of the ledger takes no note, and spoils no copy on another disk.
  const note = (name: string, at: number) => file.write(() => setNote(file.db, name, String(at)))
  const noteFailure = () => note(backupFailedAt, systemClock.now())
  try {
    const made = await copyTo(file, target)
    const noting = made.damaged.length > 0 ? noteFailure() : note(backedUpAt, made.at)
    return { ...made, isNoted: await settles(noting) }
  } catch (error) {
    await settles(noteFailure())
    throw error
  }
}

const settles = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

async function copyTo(file: SqliteFile, target: string) {
  const copy = `${target}.new`
  const fails = (cause: unknown) => new CannotContinue(`${target} could not be made (${fileFault(cause)})`, { cause })
  try {
    // The copy gets new indexes, so it would hide damage of the file's own.
    const at = await file.read(() => (faultsOfFile(file.db).length > 0 ? null : copyInto(file, copy, fails)))
    if (at === null) throw new CannotContinue(notCopied(await damageIn(file)))
    const opened = openCopy(copy, fails)
    setNote(opened.db, backedUpAt, String(at))
    const found = await lookInto(opened)
    opened.db.close()
    await stamp(copy, backupApplication)
    await rename(copy, target)
    await syncFolder(dirname(target))
    return { ...found, at, bytes: (await stat(target)).size }
  } finally {
    await rm(copy, { force: true })
  }
}

const notCopied = (damaged: readonly string[]): string =>
  [`no backup is made, because the ledger is damaged. ${remedyOfDamage}:`, ...damaged].join('\n  ')

function copyInto(file: SqliteFile, copy: string, fails: (cause: unknown) => Error): number {
  const at = systemClock.now()
  // A separate connection, because SQLite refuses VACUUM while a statement that met a busy file is open.
  const db = connect(String(firstValue(file.db, 'SELECT file FROM pragma_database_list')))
  try {
    rmSync(copy, { force: true })
    closeSync(openSync(copy, 'wx', 0o600))
    db.prepare<[string]>('VACUUM INTO ?').run(copy)
    return at
  } catch (error) {
    throw isBusy(error) ? error : fails(error)
  } finally {
    db.close()
  }
}

function ledgerOf(file: SqliteFile): Ledger {
  const store = createSqliteStore(file, { clock: systemClock })
  return createLedger({ store, clock: systemClock, account: usualAccount, begins: false })
}

async function lookInto(file: SqliteFile) {
  const ledger = ledgerOf(file)
  const damaged = await damageIn(file)
  const view = await ledger.view().catch(ifUnavailable(null))
  const countOf = (kind: string) =>
    Number(firstValue(file.db, `SELECT count(*) FROM items WHERE pk >= '${kind}#' AND pk < '${kind}$'`))
  return {
    ledger: view?.definitions.identity?.ledger ?? 'a ledger',
    updates: countOf('update'),
    entries: countOf('entry'),
    damaged,
    audited: damaged.length > 0 ? [] : await ledger.audit(),
  }
}

/** Opens and checks a copy that no other process uses. @throws what `fails` makes of a damaged copy. */
function openCopy(path: string, fails: (cause: unknown) => Error): SqliteFile {
  const db = connect(path)
  try {
    prepare(db)
    // Leaves no journal beside the copy.
    db.pragma('journal_mode = MEMORY')
    const [fault] = faultsOfFile(db)
    if (fault !== undefined) throw new Error(fault)
  } catch (error) {
    db.close()
    throw fails(error)
  }
  return createSqliteFile({ db, clock: systemClock, ids: systemIds })
}

/** Writes the kind of a file into its header, and syncs the whole file to the disk. */
async function stamp(path: string, as: number): Promise<void> {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(as)
  await synced(path, 'r+', (handle) => handle.write(bytes, 0, bytes.length, applicationOffset))
}

/** Copies a backup as a ledger. @throws CannotContinue */
export async function unpackBackup(backup: string, copy: string) {
  const fails = (cause: unknown) =>
    new CannotContinue(`${backup} cannot be restored (${fileFault(cause)}): take another backup`, { cause })
  try {
    if (!isBackup(backup)) throw new CannotContinue(`${backup} was not made by npm run backup, so it is not restored`)
    await rm(copy, { force: true })
    await copyFile(backup, copy)
    await stamp(copy, application)
  } catch (error) {
    throw error instanceof CannotContinue ? error : fails(error)
  }
  const opened = openCopy(copy, fails)
  const { identity } = (await ledgerOf(opened).view()).definitions
  const at = Number(noteIn(opened.db, backedUpAt))
  const damaged = await damageIn(opened)
  opened.db.close()
  if (!identity) throw fails(new Error('its ledger knows no service'))
  return { identity, at, damaged }
}

/**
 * Replaces the ledger by an unpacked backup. The old file and its journal get another name. SQLite would replay the journal
 * over the backup, and without its journal the old file may be damaged.
 *
 * @returns the name of the old file, if there is one.
 */
export async function replaceLedger(folder: string, copy: string): Promise<string | null> {
  const names = await readdir(folder)
  const fresh = `${ledgerFile}.before-${new Date(systemClock.now()).toISOString().replaceAll(/[:.]/g, '-')}`
  const earlier = names.filter((name) => /^ledger\.db\.before-[\dTZ-]+$/.test(name)).toSorted()
  // A restore that was killed may have left the journal.
  const aside = names.includes(ledgerFile) ? fresh : earlier.at(-1)
  // Renames the file before its journal. A file without its journal would be opened as if it was complete.
  for (const end of ['', '-journal', '-wal', '-shm'])
    if (names.includes(`${ledgerFile}${end}`))
      await rename(join(folder, `${ledgerFile}${end}`), join(folder, `${aside ?? fresh}${end}`))
  await rename(copy, join(folder, ledgerFile))
  await syncFolder(folder)
  return aside ?? null
}
