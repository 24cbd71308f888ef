import { hostname } from 'node:os'
import { join } from 'node:path'
import type Database from 'libsql'
import { connect, firstValue, isBusy } from '../../../shared/ledger/store/sqlite-file.ts'
import { makePrivateFile } from '../data-directory.ts'
import { CannotContinue, reasonOf } from '../failures.ts'

const serverFile = 'server.db'
/** The words of a serving process begin with this word. */
const server = 'process'

/**
 * Lets one process serve a folder. The lock is an open transaction, because a transaction ends with its process. Process
 * ids would not be enough, because they repeat in containers.
 *
 * @param as the name of a command.
 * @returns `before`: words about an earlier process that was killed, or nothing. `release` writes the words that the
 * next process finds: nothing after a clean end.
 * @throws CannotContinue
 */
export async function takeServer(directory: string, as = '') {
  const path = await makePrivateFile(directory, serverFile)
  const db = connect(path)
  const own = `${as}${server} ${process.pid} on ${hostname()}`
  const lock = () => db.exec('BEGIN IMMEDIATE')
  try {
    db.exec('CREATE TABLE IF NOT EXISTS holder (words TEXT NOT NULL)')
    lock()
    const before = holderIn(db)
    // Another start may write between the end of one transaction and the next.
    do {
      note(db, own)
      db.exec('COMMIT')
      lock()
    } while (holderIn(db) !== own)
    return {
      before,
      release: (words = '') => {
        try {
          note(db, words)
          db.exec('COMMIT')
        } catch {
          // The disk is full. The next start finds this process and checks the file.
        }
        db.close()
      },
    }
  } catch (error) {
    throw new CannotContinue(
      isBusy(error)
        ? `another Unit Guard is using ${directory} (${holderOf(directory)}); stop it, or set DATA_DIR`
        : `${path} cannot be used (${reasonOf(error)}): make room on its disk, or delete this file, which is only a lock`,
    )
  }
}

/** Runs a command as the only process of the folder. After a killed process, the next start still checks the file. */
export async function whileNotServed<T>(
  directory: string,
  as: string,
  work: (killed: string | null) => Promise<T>,
): Promise<T> {
  const { before, release } = await takeServer(directory, `${as}, `)
  try {
    return await work(before.startsWith(server) ? before : null)
  } finally {
    release(before)
  }
}

/** The process that has the folder, in words. */
export function holderOf(directory: string): string {
  try {
    const db = connect(join(directory, serverFile))
    const words = holderIn(db)
    db.close()
    return words || 'other processes'
  } catch {
    return 'other processes'
  }
}

const holderIn = (db: Database.Database): string =>
  String(firstValue(db, 'SELECT CAST(words AS BLOB) FROM holder') ?? '')

function note(db: Database.Database, words: string): void {
  db.exec('DELETE FROM holder')
  db.prepare<[string]>('INSERT INTO holder VALUES (?)').run(words)
}
