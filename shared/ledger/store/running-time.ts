import type Database from 'libsql'
import { minuteMs } from '../../platform/clock.ts'
import { noteIn, setNote } from './sqlite-file.ts'

// Expiry counts only the time during which processes ran on the file. A clock that is set forward deletes nothing early.

export const passEveryMs = minuteMs
/** A longer gap means that no process ran, the machine slept, or its clock was set. */
const maxGapMs = 5 * minuteMs

/** DynamoDB keeps a token for ten minutes. */
const tokenMs = 60 * minuteMs
const maxSwept = 1_000

/** How long processes have run on the file, to the minute. */
export const runningMs = (db: Database.Database): number => Number(noteIn(db, 'ran-ms') ?? 0)

/** Counts the time since the last call and deletes expired rows. After a gap it does neither. */
export function passTime(db: Database.Database, now: number): void {
  const gap = now - Number(noteIn(db, 'ran-until') ?? now)
  setNote(db, 'ran-until', String(now))
  if (gap <= 0 || gap > maxGapMs) return
  const ran = runningMs(db) + gap
  setNote(db, 'ran-ms', String(ran))
  db.prepare<[number]>('DELETE FROM tokens WHERE at < ?').run(ran - tokenMs)
  // A damaged index may lead to a row that has not expired, so the row is checked, too.
  db.prepare<[number, number]>(
    `DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE expires < ? LIMIT ${maxSwept})
      AND expires < ?`,
  ).run(ran, ran)
}
