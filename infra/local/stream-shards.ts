import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  type _Record as TableRecord,
} from '@aws-sdk/client-dynamodb-streams'
import type { StreamRecord } from './stream-event.ts'

const lookEveryMs = 5_000
const longAgo = Number.NEGATIVE_INFINITY
/** As the functions on AWS are to get them. */
const mostRecords = 100

/** A shard that is being read, and how far. */
interface Reading {
  readonly id: string
  readonly parent: string | undefined
  from: 'LATEST' | 'TRIM_HORIZON'
  /** The last record that was taken. */
  after?: string | undefined
  iterator?: string | undefined
}

/**
 * All shards of a stream, each read once, the parts of a divided one after it.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html#Streams.Processing
 */
export function createShards(parts: {
  client: DynamoDBStreamsClient
  stream: string
  take: (batch: readonly StreamRecord[]) => Promise<void>
}) {
  const { client, stream, take } = parts
  const known = new Set<string>()
  const reading = new Map<string, Reading>()
  let lookedAt: number | undefined

  /** The first time those that are open are read from now on; one that appears later is read from its beginning. */
  async function look(): Promise<void> {
    const isFirst = lookedAt === undefined
    for await (const { ShardId: id, ParentShardId: parent, SequenceNumberRange } of listed()) {
      if (id === undefined || known.has(id)) continue
      const isOver = isFirst && SequenceNumberRange?.EndingSequenceNumber !== undefined
      const shard: Reading = { id, parent, from: isFirst ? 'LATEST' : 'TRIM_HORIZON' }
      if (isFirst && !isOver) shard.iterator = await iteratorFor(shard)
      if (!isOver) reading.set(id, shard)
      known.add(id)
    }
    lookedAt = performance.now()
  }

  async function* listed(): AsyncGenerator<Shard> {
    let after: string | undefined
    do {
      const more = after !== undefined && { ExclusiveStartShardId: after }
      const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn: stream, ...more }))
      yield* StreamDescription?.Shards ?? []
      after = StreamDescription?.LastEvaluatedShardId
    } while (after !== undefined)
  }

  /** Takes what is new in each shard, and answers how many records that were. */
  async function read(): Promise<number> {
    if (performance.now() - (lookedAt ?? longAgo) > lookEveryMs) await look()
    let taken = 0
    for (const shard of [...reading.values()]) {
      const isAfterAnother = shard.parent !== undefined && reading.has(shard.parent)
      if (!isAfterAnother) taken += await readShard(shard)
    }
    return taken
  }

  async function readShard(shard: Reading): Promise<number> {
    try {
      shard.iterator ??= await iteratorFor(shard)
      const asked = new GetRecordsCommand({ ShardIterator: shard.iterator, Limit: mostRecords })
      const { Records = [], NextShardIterator } = await client.send(asked)
      const records = Records.flatMap(toStreamRecord)
      if (records.length > 0) await take(records)
      shard.after = records.at(-1)?.dynamodb.SequenceNumber ?? shard.after
      shard.iterator = NextShardIterator
      // It is closed, and read to its end: its children are listed by now.
      if (NextShardIterator === undefined) leave(shard)
      return records.length
    } catch (error) {
      const name = error instanceof Error ? error.name : ''
      if (name === 'ExpiredIteratorException') shard.iterator = undefined
      else if (name === 'TrimmedDataAccessException') Object.assign(shard, beginning)
      else if (name === 'ResourceNotFoundException') leave(shard)
      else throw error
      return 0
    }
  }

  function leave({ id }: Reading): void {
    reading.delete(id)
    lookedAt = longAgo
  }

  async function iteratorFor({ id, from, after }: Reading): Promise<string | undefined> {
    const where =
      after === undefined
        ? { ShardIteratorType: from }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const, SequenceNumber: after }
    const asked = new GetShardIteratorCommand({ StreamArn: stream, ShardId: id, ...where })
    return (await client.send(asked)).ShardIterator
  }

  return { look, read }
}

const beginning = { from: 'TRIM_HORIZON', after: undefined, iterator: undefined } as const

function toStreamRecord({ eventName, dynamodb }: TableRecord): StreamRecord[] {
  if (eventName === undefined || dynamodb?.Keys === undefined || dynamodb.SequenceNumber === undefined) return []
  const { Keys, NewImage, OldImage, SequenceNumber } = dynamodb
  const images = { ...(NewImage && { NewImage }), ...(OldImage && { OldImage }) }
  return [{ eventSource: 'aws:dynamodb', eventName, dynamodb: { Keys, ...images, SequenceNumber } }]
}
