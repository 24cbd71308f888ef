import { setTimeout as sleep } from 'node:timers/promises'
import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { readChanges } from '../../functions/outbox/stream-event.ts'
import { withStream } from '../../infra/local/database/memory-stream.ts'
import type { StreamEvent, StreamRecord } from '../../infra/local/database/stream.ts'
import { createDelivery, followTable } from '../../infra/local/database/stream.ts'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { hasJava } from '../support/process/local.ts'
import { type Answer, type Recorded, startScriptedService } from '../support/scripted-service.ts'
import { createLocalTable } from '../support/store/stores.ts'

/** A log that a test can look into. */
function createTestLog() {
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  return { events, log: { info: note, error: note, hide() {} } }
}

const over = Promise.resolve()

/** Waits for what happens in its own time. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10)
}

const keysOf = (records: readonly StreamRecord[]) => records.map(({ dynamodb }) => dynamodb.Keys.pk?.S)

const record = (number: number): StreamRecord => ({
  eventSource: 'aws:dynamodb',
  eventName: 'INSERT',
  dynamodb: { Keys: { pk: { S: `item#${number}` }, sk: { S: 'item' } }, SequenceNumber: String(number) },
})

describe('a store with a stream', () => {
  const key = { pk: 'update#upd_1', sk: 'update' }
  const isNew = [{ kind: 'absent-item' }] as const

  test('a store with a stream emits the items that a transaction put and updated', async () => {
    const told: StreamEvent[] = []
    const store = withStream(createMemoryStore(), (event) => told.push(event))
    const item = { ...key, state: 'requested', units: 40, note: undefined }
    const book = { pk: 'book', sk: 'month', held: 0 }
    await store.transact([{ kind: 'put', item: book, when: isNew }], 'before')
    await store.transact(
      [
        { kind: 'put', item, when: isNew },
        { kind: 'update', key: { pk: 'book', sk: 'month' }, set: [], add: [[['held'], 40]], when: [] },
        { kind: 'check', key: { pk: 'definitions', sk: 'definitions' }, when: isNew },
      ],
      'once',
    )
    expect(told, 'the write waits for no one').toEqual([])
    await until(() => told.length === 2)
    expect(told[1]?.Records).toEqual([
      {
        eventSource: 'aws:dynamodb',
        eventName: 'INSERT',
        dynamodb: {
          Keys: { pk: { S: 'update#upd_1' }, sk: { S: 'update' } },
          NewImage: {
            pk: { S: 'update#upd_1' },
            sk: { S: 'update' },
            state: { S: 'requested' },
            units: { N: '40' },
          },
          SequenceNumber: '000000000000000000002',
        },
      },
      {
        eventSource: 'aws:dynamodb',
        eventName: 'MODIFY',
        dynamodb: {
          Keys: { pk: { S: 'book' }, sk: { S: 'month' } },
          NewImage: { pk: { S: 'book' }, sk: { S: 'month' }, held: { N: '40' } },
          SequenceNumber: '000000000000000000003',
        },
      },
    ])
    expect(readChanges(told[1])).toMatchObject([{ pk: 'update#upd_1', state: 'requested' }, { pk: 'book' }])
  })

  test('a store with a stream emits no refused transaction, and a failing listener fails no write', async () => {
    let told = 0
    const store = withStream(createMemoryStore(), () => {
      told++
      throw new Error('no one listens')
    })
    const put = { kind: 'put', item: key, when: isNew } as const
    expect(await store.transact([put], 'first')).toEqual({ applied: true })
    expect(await store.transact([put], 'second')).toMatchObject({ applied: false })
    await until(() => told > 0)
    await sleep(20)
    expect(told).toBe(1)
    expect(await store.get([key])).toEqual([key])
  })
})

describe('delivery to a reader', () => {
  const setUp = (read: (event: StreamEvent) => Promise<string[]>, batchesAtOnce = 1) => {
    const { events, log } = createTestLog()
    const seen: unknown[] = []
    const delivery = createDelivery({
      ...{ name: 'test', batchesAtOnce, repeatsAfterMs: 1, log },
      read: async (event) => {
        seen.push(keysOf(event.Records))
        return { batchItemFailures: (await read(event)).map((itemIdentifier) => ({ itemIdentifier })) }
      },
    })
    onTestFinished(() => delivery.stop(over))
    return { delivery, seen, events }
  }

  test('a failed record is delivered again with all that follow it', async () => {
    const failures = [['2'], ['2', '3'], []]
    const { delivery, seen, events } = setUp(async () => failures.shift() ?? [])
    await delivery.take([record(1), record(2), record(3)])
    await until(() => seen.length === 3)
    expect(seen).toEqual([
      ['item#1', 'item#2', 'item#3'],
      ['item#2', 'item#3'],
      ['item#2', 'item#3'],
    ])
    expect(events).toEqual([])
  })

  test('a reader that always fails gets a batch four times, then the next one', async () => {
    const { delivery, seen, events } = setUp(async ({ Records }) => {
      if (Records.length > 1) throw new Error('no')
      return []
    })
    await delivery.take([record(1), record(2)])
    await delivery.take([record(3)])
    await until(() => seen.length === 5)
    expect(seen).toEqual([...Array(4).fill(['item#1', 'item#2']), ['item#3']])
    expect(events).toEqual([...Array(4).fill('stream-reader-failed'), 'stream-records-given-up'])
  })

  test('a slow batch does not delay other batches while slots are free', async () => {
    const { delivery, seen } = setUp(async ({ Records }) => {
      if (Records[0]?.dynamodb.SequenceNumber === '1') await sleep(60_000, undefined, { ref: false })
      return []
    }, 2)
    for (const number of [1, 2, 3]) await delivery.take([record(number)])
    await until(() => seen.length === 3)
  })

  test('a stopped delivery finishes running batches and takes no more', async () => {
    let end = () => {}
    const { delivery, seen } = setUp(() => new Promise((resolve) => (end = () => resolve([]))))
    await delivery.take([record(1)])
    let isStopped = false
    const stopped = delivery.stop(sleep(10_000, undefined, { ref: false })).then(() => {
      isStopped = true
    })
    await sleep(20)
    expect(isStopped).toBe(false)
    end()
    await stopped
    await delivery.take([record(2)])
    expect(seen).toEqual([['item#1']])
  })
})

async function follow(endpoint: string, table: string) {
  const { events, log } = createTestLog()
  const taken: StreamRecord[] = []
  const take = async (batch: readonly StreamRecord[]) => void taken.push(...batch)
  const following = await followTable({ endpoint, table }, { take, log })
  onTestFinished(() => following.stop(over))
  return { taken, events, stop: following.stop }
}

describe.skipIf(!hasJava())('the stream of a table', () => {
  async function setUp() {
    const { client, table } = await createLocalTable({ stream: true })
    const endpoint = inject('dynamodb') ?? ''
    const put = (pk: string, state = 'new') =>
      client.send(
        new PutItemCommand({ TableName: table, Item: { pk: { S: pk }, sk: { S: 's' }, state: { S: state } } }),
      )
    return { put, follow: () => follow(endpoint, table) }
  }

  test('each follower of a table gets every later change once and in order', async () => {
    const { put, follow } = await setUp()
    await put('before')
    const [first, second] = await Promise.all([follow(), follow()])
    const names = Array.from({ length: 250 }, (_, number) => `item#${number}`)
    for (const name of names) await put(name)
    await put('item#0', 'changed')
    const wanted = [...names, 'item#0']
    for (const { taken, events } of [first, second]) {
      await until(() => taken.length >= wanted.length)
      expect(keysOf(taken)).toEqual(wanted)
      expect(events).toEqual([])
    }
    expect(first.taken[0]).toEqual({
      eventSource: 'aws:dynamodb',
      eventName: 'INSERT',
      dynamodb: {
        Keys: { pk: { S: 'item#0' }, sk: { S: 's' } },
        NewImage: { pk: { S: 'item#0' }, sk: { S: 's' }, state: { S: 'new' } },
        SequenceNumber: expect.stringMatching(/^\d+$/),
      },
    })
    const { eventName, dynamodb } = Object(first.taken.at(-1))
    expect([eventName, Object.keys(dynamodb).sort()]).toEqual(['MODIFY', ['Keys', 'NewImage', 'SequenceNumber']])
    expect(dynamodb.NewImage.state).toEqual({ S: 'changed' })
    expect(readChanges({ Records: first.taken }).at(-1)).toMatchObject({ pk: 'item#0', isNew: false })
  })

  test('a stopped follower gets no changes', async () => {
    const { put, follow } = await setUp()
    const { taken, stop } = await follow()
    await put('first')
    await until(() => taken.length === 1)
    await stop(sleep(1_000, undefined, { ref: false }))
    await put('second')
    await sleep(400)
    expect(keysOf(taken)).toEqual(['first'])
  })
})

describe('a database that fails now and then', () => {
  /** DynamoDB as far as a follower asks it; `records` answers in turn for each iterator, the last one again and again. */
  async function setUp(options: { shards: () => object[]; records: Record<string, readonly [Answer, ...Answer[]]> }) {
    const asked: string[] = []
    const answers = new Map(Object.entries(options.records).map(([iterator, all]) => [iterator, [...all]]))
    const answer = ({ headers, body }: Recorded): Answer => {
      const input = JSON.parse(body)
      switch (String(headers['x-amz-target']).split('.').at(-1)) {
        case 'DescribeTable':
          return amz({ Table: { LatestStreamArn: stream, StreamSpecification: { StreamEnabled: true } } })
        case 'DescribeStream':
          return amz({ StreamDescription: { StreamArn: stream, Shards: options.shards() } })
        case 'GetShardIterator': {
          const { ShardId, ShardIteratorType, SequenceNumber } = input
          const iterator = [ShardId, ShardIteratorType, SequenceNumber].filter(Boolean).join(' ')
          asked.push(iterator)
          return amz({ ShardIterator: iterator })
        }
        default: {
          const left = answers.get(input.ShardIterator) ?? []
          return (left.length > 1 ? left.shift() : left[0]) ?? amz({ Records: [], NextShardIterator: 'idle' })
        }
      }
    }
    const database = await startScriptedService({ fallback: answer })
    onTestFinished(() => database.close())
    return { asked, ...(await follow(database.baseUrl, 'ledger')) }
  }

  const stream = 'arn:aws:dynamodb:local:000000000000:table/ledger/stream/2026-11-20T00:00:00.000'
  const amz = (body: object, status = 200): Answer => ({
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: JSON.stringify(body),
  })
  const records = (next: string | undefined, ...numbers: number[]) =>
    amz({ Records: numbers.map(record), ...(next !== undefined && { NextShardIterator: next }) })
  const idle = records('idle')

  test('a follower logs an unavailable database once and continues where it stopped', async () => {
    const { taken, events } = await setUp({
      shards: () => [{ ShardId: 'shardId-one-000000000000000001' }],
      records: {
        'shardId-one-000000000000000001 LATEST': [records('second', 1)],
        second: [{ kind: 'reset' }, amz({ __type: 'InternalServerError' }, 500), records('idle', 2)],
        idle: [idle],
      },
    })
    await until(() => taken.length === 2)
    expect(keysOf(taken)).toEqual(['item#1', 'item#2'])
    expect(events).toEqual(['stream-not-read', 'stream-read-again'])
  })

  test('a follower replaces an expired iterator behind the last record', async () => {
    const { taken, asked, events } = await setUp({
      shards: () => [{ ShardId: 'shardId-one-000000000000000001' }],
      records: {
        'shardId-one-000000000000000001 LATEST': [records('old', 7)],
        old: [amz({ __type: 'com.amazonaws.dynamodb.v20120810#ExpiredIteratorException' }, 400)],
        'shardId-one-000000000000000001 AFTER_SEQUENCE_NUMBER 7': [records('idle', 8)],
        idle: [idle],
      },
    })
    await until(() => taken.length === 2)
    expect(keysOf(taken)).toEqual(['item#7', 'item#8'])
    expect(asked).toHaveLength(2)
    expect(events).toEqual([])
  })

  test('a follower reads a closed shard to its end, then its child from the beginning', async () => {
    const one = 'shardId-one-000000000000000001'
    const two = 'shardId-two-000000000000000002'
    const gone = 'shardId-old-000000000000000000'
    const closed = { ShardId: gone, SequenceNumberRange: { StartingSequenceNumber: '1', EndingSequenceNumber: '2' } }
    let looks = 0
    const { taken, asked } = await setUp({
      shards: () => [
        closed,
        { ShardId: one, ParentShardId: gone },
        ...(++looks > 1 ? [{ ShardId: two, ParentShardId: one }] : []),
      ],
      records: {
        [`${one} LATEST`]: [records('end', 1)],
        end: [records(undefined, 2)],
        [`${two} TRIM_HORIZON`]: [records('idle', 3)],
        idle: [idle],
      },
    })
    await until(() => taken.length === 3)
    expect(keysOf(taken)).toEqual(['item#1', 'item#2', 'item#3'])
    expect(asked).toEqual([`${one} LATEST`, `${two} TRIM_HORIZON`])
  })
})
