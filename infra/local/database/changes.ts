import { marshall } from '@aws-sdk/util-dynamodb'
import type Database from 'libsql'
import type { BatchAnswer } from '../../../functions/outbox/readers.ts'
import type { StoredChange } from '../../../shared/ledger/store/sqlite-store.ts'
import { type Clock, hourMs } from '../../../shared/platform/clock.ts'
import type { Log } from '../../../shared/platform/log.ts'
import { createSlots } from '../../../shared/platform/parallel.ts'
import { createBackgroundTasks } from '../shutdown.ts'
import type { StreamEvent, StreamRecord } from './stream.ts'

/** A change in the file, with how often its reader has tried it. */
interface Row {
  readonly id: number
  readonly record: StreamRecord
  readonly tries: number
  readonly at: number
}

interface Reader {
  readonly name: 'start' | 'tell'
  readonly read: (event: StreamEvent) => Promise<BatchAnswer>
  readonly batchSize: number
  readonly batchesAtOnce: number
  /** The first pause after a failure; each further one is twice as long. */
  readonly repeatsAfterMs?: number
}

const pollEveryMs = 200
const maxTries = 4
const maxAgeMs = hourMs
const setAside = -1

/**
 * Passes changes to a reader as AWS does: a batch that fails is taken apart, and a record is set aside after three more
 * tries or an hour. What was handled is noted in the file, so a killed process repeats at most a batch.
 */
export function followChanges({ db, clock, log }: { db: Database.Database; clock: Clock; log: Log }, reader: Reader) {
  const { name, read, batchSize, batchesAtOnce, repeatsAfterMs = 1_000 } = reader
  const next = db
    .prepare<unknown[]>(`SELECT id, change, at, ${name} FROM changes WHERE ${name} >= 0 ORDER BY id LIMIT ?`)
    .raw()
  const note = db.prepare<unknown[]>(`UPDATE changes SET ${name} = ? WHERE id = ?`)
  const forget = db.prepare('DELETE FROM changes WHERE start IS NULL AND tell IS NULL')
  const slots = createSlots(batchesAtOnce)
  const tasks = createBackgroundTasks()
  const taken = new Set<number>()

  /** Ids of the rows that failed. */
  async function failuresOf(rows: readonly Row[]): Promise<ReadonlySet<number>> {
    try {
      const { batchItemFailures } = await read({ Records: rows.map(({ record }) => record) })
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
      return new Set(rows.filter(({ record }) => failed.has(record.dynamodb.SequenceNumber)).map(({ id }) => id))
    } catch (cause) {
      log.error('stream-reader-failed', { reader: name, cause })
      return new Set(rows.map(({ id }) => id))
    }
  }

  async function handle(rows: readonly Row[]): Promise<void> {
    const failed = await failuresOf(rows)
    for (const { id } of rows) if (!failed.has(id)) note.run(null, id)
    forget.run()
    for (const row of rows) if (failed.has(row.id)) await retry(row)
    for (const { id } of rows) taken.delete(id)
  }

  async function retry(row: Row): Promise<void> {
    for (let { tries } = row; ; ) {
      tries++
      const isOver = tries >= maxTries || clock.now() - row.at > maxAgeMs
      note.run(isOver ? setAside : tries, row.id)
      if (isOver) return log.error('stream-records-given-up', { reader: name, records: 1 })
      await tasks.pause(repeatsAfterMs * 2 ** (tries - 1))
      if (tasks.isStopping()) return
      if ((await failuresOf([row])).size > 0) continue
      note.run(null, row.id)
      forget.run()
      return
    }
  }

  async function takeNext(): Promise<number> {
    const rows = (next.all(batchSize * batchesAtOnce + taken.size) as [number, string, number, number][])
      .filter(([id]) => !taken.has(id))
      .map(([id, change, at, tries]): Row => ({ id, at, tries, record: recordOf(id, JSON.parse(change)) }))
    for (let from = 0; from < rows.length; from += batchSize) {
      const batch = rows.slice(from, from + batchSize)
      for (const { id } of batch) taken.add(id)
      await slots.take()
      if (tasks.isStopping()) break
      void tasks.add(
        handle(batch)
          .catch((cause) => log.error('stream-not-read', { reader: name, cause }))
          .finally(slots.give),
      )
    }
    return rows.length
  }

  async function follow(): Promise<void> {
    while (!tasks.isStopping()) if ((await takeNext()) === 0) await tasks.pause(pollEveryMs)
  }

  void tasks.add(follow().catch((cause) => log.error('stream-not-read', { reader: name, cause })))
  return { stop: tasks.stop }
}

const recordOf = (id: number, { item, isNew }: StoredChange): StreamRecord => ({
  eventSource: 'aws:dynamodb',
  eventName: isNew ? 'INSERT' : 'MODIFY',
  dynamodb: {
    Keys: marshall({ pk: item.pk, sk: item.sk }),
    NewImage: marshall(item, { removeUndefinedValues: true, convertClassInstanceToMap: true }),
    SequenceNumber: String(id),
  },
})
