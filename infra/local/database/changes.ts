import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type Database from 'libsql'
import type { BatchAnswer } from '../../../functions/outbox/readers.ts'
import { runningMs } from '../../../shared/ledger/store/running-time.ts'
import { Damage, parse, sealed, unseal } from '../../../shared/ledger/store/sealed.ts'
import { firstValue, readers, type SqliteFile } from '../../../shared/ledger/store/sqlite-file.ts'
import type { StoredChange } from '../../../shared/ledger/store/sqlite-store.ts'
import { hourMs } from '../../../shared/platform/clock.ts'
import type { Log } from '../../../shared/platform/log.ts'
import { createSlots } from '../../../shared/platform/parallel.ts'
import { createBackgroundTasks } from '../shutdown.ts'

type Image = Readonly<Record<string, AttributeValue>>

export interface StreamRecord {
  readonly eventSource: 'aws:dynamodb'
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  readonly dynamodb: { readonly Keys: Image; readonly NewImage?: Image; readonly SequenceNumber: string }
}

/** @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html */
export interface StreamEvent {
  readonly Records: readonly StreamRecord[]
}

export interface Reader {
  readonly name: (typeof readers)[number]
  readonly read: (event: StreamEvent) => Promise<BatchAnswer>
  readonly batchSize: number
  readonly batchesAtOnce: number
}

export type Follow = (parts: { log: Log }, reader: Reader) => Promise<{ stop(patience: Promise<void>): Promise<void> }>

/** A change in the file, and how often its reader has tried to handle it. */
interface Row {
  readonly id: number
  readonly record: StreamRecord
  readonly tries: number
  /** The time of the change in running milliseconds, which leave out the time in which no process had the file open. */
  readonly at: number
}

const pollEveryMs = 200
const usualRepeatsAfterMs = 1_000
const maxDoublings = 6
const maxTries = 4
const maxAgeMs = hourMs
const setAside = -1

/** Wakes the readers of this process; other processes' changes are found by polling. */
export function createBell() {
  const waiting = new Set<() => void>()
  return {
    ring: (): void => {
      for (const wake of waiting) wake()
    },
    wait: (ms: number) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          waiting.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        waiting.add(wake)
      }),
  }
}

interface Parts {
  readonly file: SqliteFile
  readonly bell: ReturnType<typeof createBell>
  readonly log: Log
  /** The first pause after a failure; each further pause is twice as long. */
  readonly repeatsAfterMs?: number
}

/**
 * Passes changes to a reader as AWS does. The failed records of a batch are retried one by one, and set aside after three
 * retries or an hour. Handled changes are marked in the file, so a killed process repeats at most a batch.
 */
export function followChanges(parts: Parts, reader: Reader) {
  const { file, bell, log, repeatsAfterMs = usualRepeatsAfterMs } = parts
  const { name, batchSize, batchesAtOnce } = reader
  const next = file.db

    .prepare<unknown[]>(
      `SELECT id, ${sealed('change')}, CAST(at AS INTEGER), CAST(${name} AS INTEGER) FROM changes WHERE ${name} >= 0 ORDER BY id LIMIT ?`,
    )
    .raw()
  const slots = createSlots(batchesAtOnce)
  const tasks = createBackgroundTasks()
  const handle = createHandler(parts, reader, tasks)
  const taken = new Set<number>()
  let failures = 0
  // On a full disk, handled changes cannot be marked in the file, so the reader handles them again after a pause.
  const failed = (cause: unknown) => {
    log.error('stream-not-read', { reader: name, cause })
    return tasks.pause(repeatsAfterMs * 2 ** Math.min(failures++, maxDoublings))
  }

  async function takeNext(): Promise<number> {
    const limit = batchSize * batchesAtOnce + taken.size
    const found = (await file.read(() => next.all(limit))) as [number, unknown, unknown, number, number][]
    const rows: Row[] = []
    for (const [id, type, bytes, at, tries] of found) {
      if (taken.has(id)) continue
      const change = readChange(type, bytes)
      if (change instanceof Damage) await handle.giveUp(id, change)
      else rows.push({ id, at, tries, record: recordOf(id, change) })
    }
    for (let from = 0; from < rows.length; from += batchSize) {
      const batch = rows.slice(from, from + batchSize)
      await slots.take()
      if (tasks.isStopping()) break
      for (const id of idsOf(batch)) taken.add(id)
      const handled = handle.batch(batch).then(() => {
        failures = 0
      }, failed)
      const done = handled.finally(() => {
        for (const id of idsOf(batch)) taken.delete(id)
        slots.give()
      })
      void tasks.add(done)
    }
    return rows.length
  }

  async function follow(): Promise<void> {
    while (!tasks.isStopping()) {
      const count = await takeNext().catch(failed)
      if (!count) await bell.wait(pollEveryMs)
    }
  }

  void tasks.add(follow())
  return {
    stop: (patience: Promise<void>): Promise<void> => {
      const stopped = tasks.stop(patience)
      bell.ring()
      return stopped
    },
  }
}

function createHandler(
  { file, log, repeatsAfterMs = usualRepeatsAfterMs }: Parts,
  { name, read }: Reader,
  tasks: ReturnType<typeof createBackgroundTasks>,
) {
  const mark = file.db.prepare<unknown[]>(`UPDATE changes SET ${name} = ? WHERE id = ?`)
  const forget = file.db.prepare<[number]>(`DELETE FROM changes WHERE id = ? AND coalesce(${readers}) IS NULL`)

  const note = (ids: readonly number[], tries: number | null): Promise<void> =>
    file.write(() => {
      for (const id of ids) {
        mark.run(tries, id)
        forget.run(id)
      }
    })

  const ageOf = (row: Row): Promise<number> => file.read(() => runningMs(file.db) - row.at)

  /** Returns the rows that failed. */
  async function failuresOf(rows: readonly Row[]): Promise<readonly Row[]> {
    try {
      const { batchItemFailures } = await read({ Records: rows.map(({ record }) => record) })
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
      return rows.filter(({ record }) => failed.has(record.dynamodb.SequenceNumber))
    } catch (cause) {
      log.error('stream-reader-failed', { reader: name, cause })
      return rows
    }
  }

  async function retry(row: Row): Promise<void> {
    for (let tries = row.tries + 1; !tasks.isStopping(); tries++) {
      const isOver = tries >= maxTries || (await ageOf(row)) > maxAgeMs
      await note([row.id], isOver ? setAside : tries)
      if (isOver) return log.error('stream-records-given-up', { reader: name, records: 1 })
      await tasks.pause(repeatsAfterMs * 2 ** (tries - 1))
      if (tasks.isStopping()) return
      if ((await failuresOf([row])).length === 0) return note([row.id], null)
    }
  }

  return {
    batch: async (rows: readonly Row[]): Promise<void> => {
      const failed = await failuresOf(rows)
      const done = rows.filter((row) => !failed.includes(row))
      if (done.length > 0) await note(idsOf(done), null)
      for (const row of failed) await retry(row)
    },
    giveUp: async (id: number, cause: Damage): Promise<void> => {
      await note([id], setAside)
      log.error('stream-records-given-up', { reader: name, records: 1, cause })
    },
  }
}

export function readChange(type: unknown, bytes: unknown): StoredChange | Damage {
  try {
    return parse(unseal(type, bytes)) as StoredChange
  } catch (error) {
    if (error instanceof Damage) return error
    throw error
  }
}

/** The number of changes that a reader could not handle. */
export const setAsideIn = (db: Database.Database): number =>
  Number(firstValue(db, `SELECT count(*) FROM changes WHERE ${setAside} IN (${readers})`))

/** Gives changes that were set aside to their readers again. @returns the number of these changes. */
export function tryAgain({ db, write }: SqliteFile): Promise<number> {
  return write(() => {
    const count = setAsideIn(db)
    for (const name of readers) db.exec(`UPDATE changes SET ${name} = 0 WHERE ${name} = ${setAside}`)
    return count
  })
}

const idsOf = (rows: readonly Row[]): number[] => rows.map(({ id }) => id)

const recordOf = (id: number, { item, isNew }: StoredChange): StreamRecord => ({
  eventSource: 'aws:dynamodb',
  eventName: isNew ? 'INSERT' : 'MODIFY',
  dynamodb: {
    Keys: marshall({ pk: item.pk, sk: item.sk }),
    NewImage: marshall(item, { removeUndefinedValues: true, convertClassInstanceToMap: true }),
    SequenceNumber: String(id),
  },
})
