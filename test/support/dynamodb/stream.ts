import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  type _Record as TableRecord,
} from '@aws-sdk/client-dynamodb-streams'
import type { BatchAnswer } from '../../../functions/outbox/readers.ts'
import type { StreamEvent, StreamRecord } from '../../../infra/local/database/changes.ts'
import { createBackgroundTasks } from '../../../infra/local/shutdown.ts'
import { createDynamoClient } from '../../../shared/ledger/store/dynamo-store.ts'
import type { Log } from '../../../shared/platform/log.ts'
import { createSlots } from '../../../shared/platform/parallel.ts'
import { standIn } from '../../../shared/platform/settings.ts'

type Take = (batch: readonly StreamRecord[]) => Promise<void>

interface TablePlace {
  readonly endpoint: string
  readonly accessKey?: string | undefined
  readonly table: string
}

const pollEveryMs = 200
const retryAfterMs = 1_000
const connectWithinMs = 3_000
const answerWithinMs = 5_000

/** If the database goes away, the reader retries and continues where it stopped. */
export async function followTable(place: TablePlace, { take, log }: { take: Take; log: Log }) {
  const client = createStreamsClient(place)
  const reader: StreamReader = { client, stream: await streamOf(place), take, known: new Set(), open: new Map() }
  await listShards(reader)
  const { table } = place
  const tasks = createBackgroundTasks()

  async function poll(): Promise<void> {
    let isAway = false
    while (!tasks.isStopping()) {
      try {
        const taken = await readShards(reader)
        if (isAway) log.info('stream-read-again', { table })
        isAway = false
        if (taken === 0) await tasks.pause(pollEveryMs)
      } catch (cause) {
        // Logged once for each outage of the database.
        if (!isAway && !tasks.isStopping()) log.error('stream-not-read', { table, cause })
        isAway = true
        await tasks.pause(retryAfterMs)
      }
    }
  }

  void tasks.add(poll())
  return {
    stop: async (patience: Promise<void>): Promise<void> => {
      await tasks.stop(patience)
      client.destroy()
    },
  }
}

const createStreamsClient = ({ endpoint, accessKey }: TablePlace): DynamoDBStreamsClient =>
  new DynamoDBStreamsClient({
    ...standIn(endpoint, accessKey),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: connectWithinMs,
      requestTimeout: answerWithinMs,
      throwOnRequestTimeout: true,
    },
  })

async function streamOf({ endpoint, accessKey, table }: TablePlace): Promise<string> {
  const client = createDynamoClient(endpoint, accessKey)
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
    if (Table?.LatestStreamArn !== undefined && Table.StreamSpecification?.StreamEnabled) return Table.LatestStreamArn
    throw new Error(`the table ${table} at ${endpoint} has no stream; enable one with new images`)
  } finally {
    client.destroy()
  }
}

/**
 * Reads the children of a divided shard after it.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html#Streams.Processing
 */
interface StreamReader {
  readonly client: DynamoDBStreamsClient
  readonly stream: string
  readonly take: Take
  readonly known: Set<string>
  readonly open: Map<string, ShardPlace>
  listedAt?: number
}

interface ShardPlace {
  readonly id: string
  readonly parent: string | undefined
  from: 'LATEST' | 'TRIM_HORIZON'
  after?: string | undefined
  iterator?: string | undefined
}

const listEveryMs = 5_000
const longAgo = Number.NEGATIVE_INFINITY
const maxRecords = 100

/** Shards of the first listing are read from now on, later ones from their beginning. */
async function listShards(reader: StreamReader): Promise<void> {
  const { known, open } = reader
  const isFirst = reader.listedAt === undefined
  for await (const { ShardId: id, ParentShardId: parent, SequenceNumberRange } of shardsOf(reader)) {
    if (id === undefined || known.has(id)) continue
    const isOver = isFirst && SequenceNumberRange?.EndingSequenceNumber !== undefined
    const shard: ShardPlace = { id, parent, from: isFirst ? 'LATEST' : 'TRIM_HORIZON' }
    if (isFirst && !isOver) shard.iterator = await iteratorFor(reader, shard)
    if (!isOver) open.set(id, shard)
    known.add(id)
  }
  reader.listedAt = performance.now()
}

async function* shardsOf({ client, stream }: StreamReader): AsyncGenerator<Shard> {
  let after: string | undefined
  do {
    const more = after !== undefined && { ExclusiveStartShardId: after }
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn: stream, ...more }))
    yield* StreamDescription?.Shards ?? []
    after = StreamDescription?.LastEvaluatedShardId
  } while (after !== undefined)
}

async function readShards(reader: StreamReader): Promise<number> {
  const { open } = reader
  if (performance.now() - (reader.listedAt ?? longAgo) > listEveryMs) await listShards(reader)
  let taken = 0
  for (const shard of [...open.values()]) {
    const isAfterAnother = shard.parent !== undefined && open.has(shard.parent)
    if (!isAfterAnother) taken += await readShard(reader, shard)
  }
  return taken
}

async function readShard(reader: StreamReader, shard: ShardPlace): Promise<number> {
  try {
    shard.iterator ??= await iteratorFor(reader, shard)
    const command = new GetRecordsCommand({ ShardIterator: shard.iterator, Limit: maxRecords })
    const { Records = [], NextShardIterator } = await reader.client.send(command)
    const records = Records.flatMap(toStreamRecord)
    if (records.length > 0) await reader.take(records)
    shard.after = records.at(-1)?.dynamodb.SequenceNumber ?? shard.after
    shard.iterator = NextShardIterator
    if (NextShardIterator === undefined) leave(reader, shard)
    return records.length
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    if (name === 'ExpiredIteratorException') shard.iterator = undefined
    else if (name === 'TrimmedDataAccessException') Object.assign(shard, beginning)
    else if (name === 'ResourceNotFoundException') leave(reader, shard)
    else throw error
    return 0
  }
}

const beginning = { from: 'TRIM_HORIZON', after: undefined, iterator: undefined } as const

function leave(reader: StreamReader, { id }: ShardPlace): void {
  reader.open.delete(id)
  reader.listedAt = longAgo
}

async function iteratorFor({ client, stream }: StreamReader, shard: ShardPlace): Promise<string | undefined> {
  const where =
    shard.after === undefined
      ? { ShardIteratorType: shard.from }
      : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const, SequenceNumber: shard.after }
  return (await client.send(new GetShardIteratorCommand({ StreamArn: stream, ShardId: shard.id, ...where })))
    .ShardIterator
}

function toStreamRecord({ eventName, dynamodb }: TableRecord): StreamRecord[] {
  if (eventName === undefined || dynamodb?.Keys === undefined || dynamodb.SequenceNumber === undefined) return []
  const { Keys, NewImage, SequenceNumber } = dynamodb
  return [{ eventSource: 'aws:dynamodb', eventName, dynamodb: { Keys, ...(NewImage && { NewImage }), SequenceNumber } }]
}

const maxRepeats = 3
const repeatsAfterMs = 1_000

/**
 * Passes batches of a stream to a reader as AWS does. A failed record is repeated a few times with all records after it.
 *
 * @param parts.repeatsAfterMs the first pause; each further one is twice as long.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export function createDelivery(parts: {
  read: (event: StreamEvent) => Promise<BatchAnswer>
  name: string
  batchesAtOnce: number
  repeatsAfterMs?: number
  log: Log
}) {
  const { read, name, batchesAtOnce, log } = parts
  const slots = createSlots(batchesAtOnce)
  const tasks = createBackgroundTasks()

  async function deliver(batch: readonly StreamRecord[]): Promise<void> {
    let left = batch
    for (let repeats = 0; ; repeats++) {
      left = await failedOf(left)
      if (left.length === 0) return
      if (repeats === maxRepeats) return log.error('stream-records-given-up', { reader: name, records: left.length })
      await tasks.pause((parts.repeatsAfterMs ?? repeatsAfterMs) * 2 ** repeats)
      if (tasks.isStopping()) return
    }
  }

  async function failedOf(records: readonly StreamRecord[]): Promise<readonly StreamRecord[]> {
    try {
      const failed = new Set((await read({ Records: records })).batchItemFailures.map((each) => each.itemIdentifier))
      if (failed.size === 0) return []
      const first = records.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber))
      // If the reader names an unknown record, AWS repeats the whole batch.
      return records.slice(Math.max(0, first))
    } catch (cause) {
      log.error('stream-reader-failed', { reader: name, cause })
      return records
    }
  }

  return {
    /** Resolves when the batch starts, not when it is read. A stopped delivery takes no more batches. */
    take: async (batch: readonly StreamRecord[]): Promise<void> => {
      await slots.take()
      if (tasks.isStopping()) return slots.give()
      void tasks.add(deliver(batch).finally(slots.give))
    },
    stop: tasks.stop,
  }
}
