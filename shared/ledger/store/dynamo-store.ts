import {
  BatchGetItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { Clock } from '../../platform/clock.ts'
import { digest, type Ids } from '../../platform/ids.ts'
import { noteCount } from '../../platform/log.ts'
import { standIn } from '../../platform/settings.ts'
import { AnswerLost, Contention, ItemTooLarge, LedgerUnavailable } from '../errors.ts'
import { faultOf, toTransactItem } from './dynamo-transaction.ts'
import {
  type Item,
  type Key,
  type ListPage,
  type ListQuery,
  mustBeDistinct,
  nameOf,
  type Store,
  type Write,
} from './store.ts'
import { indexes, tableKey } from './stored.ts'

const maxAttempts = 4
const usualMaxWaitMs = 10_000
const firstPauseMs = 20
/** Conflicts end within milliseconds. */
const conflictPauseMs = 4
const maxPauseMs = 400

interface Parts {
  readonly client: DynamoDBClient
  readonly table: string
  readonly clock: Clock
  readonly ids: Ids
}

/** The client must not retry, because the store decides which requests to repeat. */
export const createDynamoStore = (parts: Parts): Store => ({
  get: (keys) => getItems(parts, keys),
  list: (query) => listPositions(parts, query),
  tableId: () => tableIdOf(parts),
  transact: (writes, token, maxWaitMs) => transact(parts, writes, token, maxWaitMs),
})

async function getItems(parts: Parts, keys: readonly Key[]): Promise<(Item | undefined)[]> {
  const { client, table } = parts
  const found = new Map<string, Item>()
  // DynamoDB refuses repeated keys. An index may list an item twice while the item moves in it.
  const distinct = new Map(keys.map((key) => [nameOf(key), key])).values()
  let missing = Array.from(distinct, ({ pk, sk }) => marshall({ pk, sk }))
  for (let round = 0; missing.length > 0; round++) {
    if (round === maxAttempts) throw new LedgerUnavailable('DynamoDB leaves keys unprocessed')
    if (round > 0) await pause(parts, round)
    const answer = await read(parts, () =>
      client.send(new BatchGetItemCommand({ RequestItems: { [table]: { Keys: missing, ConsistentRead: true } } })),
    )
    for (const item of answer.Responses?.[table] ?? []) {
      const plain = unmarshall(item) as Item
      found.set(nameOf(plain), plain)
    }
    missing = answer.UnprocessedKeys?.[table]?.Keys ?? []
  }
  return keys.map((key) => found.get(nameOf(key)))
}

async function listPositions(parts: Parts, query: ListQuery): Promise<ListPage> {
  const { partition, sort } = indexes[query.index]
  const { after } = query
  const bounds = query.from !== undefined || query.to !== undefined
  const answer = await read(parts, () =>
    parts.client.send(
      new QueryCommand({
        TableName: parts.table,
        IndexName: query.index,
        KeyConditionExpression: bounds ? '#p = :p AND #s BETWEEN :from AND :to' : '#p = :p',
        ExpressionAttributeNames: { '#p': partition, ...(bounds && { '#s': sort }) },
        ExpressionAttributeValues: marshall({
          ':p': query.partition,
          ...(bounds && { ':from': query.from ?? ' ', ':to': query.to ?? '\u{10ffff}' }),
        }),
        ScanIndexForward: !query.newestFirst,
        Limit: query.limit,
        ...(after && {
          ExclusiveStartKey: marshall({
            pk: after.pk,
            sk: after.sk,
            [partition]: query.partition,
            [sort]: after.sort,
          }),
        }),
      }),
    ),
  )
  const positions = (answer.Items ?? []).map((row) => {
    const item = unmarshall(row)
    return { pk: String(item[tableKey.partition]), sk: String(item[tableKey.sort]), sort: String(item[sort]) }
  })
  return { positions, more: answer.LastEvaluatedKey !== undefined }
}

async function tableIdOf(parts: Parts): Promise<string> {
  const { client, table } = parts
  const { Table } = await read(parts, () => client.send(new DescribeTableCommand({ TableName: table })))
  // DynamoDB Local has no table ids.
  const { TableId, TableArn = table, CreationDateTime } = Table ?? {}
  return TableId ?? `${TableArn}@${CreationDateTime?.toISOString()}`
}

async function transact(parts: Parts, writes: readonly Write[], token: string, maxWaitMs = usualMaxWaitMs) {
  const { client, table, clock } = parts
  mustBeDistinct(writes)
  const command = {
    TransactItems: writes.map((write) => toTransactItem(write, table)),
    // All tables of an AWS account share their tokens.
    ClientRequestToken: digest(table, token),
  }
  const until = clock.now() + maxWaitMs
  let lost = 0
  for (let round = 1; ; round++) {
    try {
      await client.send(new TransactWriteItemsCommand(command))
      return { applied: true } as const
    } catch (error) {
      const fault = faultOf(error)
      if (fault.kind === 'decided') return { applied: false, found: fault.found } as const
      if (fault.kind === 'too-large') throw new ItemTooLarge('an item is too large for DynamoDB', { cause: error })
      if (fault.kind === 'broken') throw error
      if (fault.kind === 'lost') lost++
      if (fault.kind === 'conflict') noteCount('Conflicts', 1)
      if (lost === maxAttempts || clock.now() >= until) {
        if (lost > 0) throw new AnswerLost('the answer of DynamoDB was lost', { cause: error })
        if (fault.kind === 'conflict') throw new Contention('other transactions were in the way', { cause: error })
        throw new LedgerUnavailable('DynamoDB refuses for now', { cause: error })
      }
      await pause(parts, round, fault.kind === 'conflict' ? conflictPauseMs : firstPauseMs)
    }
  }
}

async function read<T>(parts: Parts, send: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await send()
    } catch (error) {
      if (faultOf(error).kind === 'broken') throw error
      if (round === maxAttempts) throw new LedgerUnavailable('DynamoDB does not answer', { cause: error })
      await pause(parts, round)
    }
  }
}

const pause = ({ clock, ids }: Parts, round: number, first = firstPauseMs) =>
  clock.sleep(ids.fraction() * Math.min(maxPauseMs, first * 2 ** round))

const maxSockets = 200

/** @param withinMs the limit for the connection, and again for the answer. */
export function createDynamoClient(endpoint?: string, accessKey?: string, withinMs = 3_000): DynamoDBClient {
  const agent = { maxSockets: maxSockets, keepAlive: true }
  const client = new DynamoDBClient({
    maxAttempts: 1,
    // Otherwise the SDK builds its middleware for each request.
    cacheMiddleware: true,
    requestHandler: {
      connectionTimeout: withinMs,
      requestTimeout: withinMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...standIn(endpoint, accessKey),
  })
  // This middleware copies each request for a logger that does not exist.
  client.middlewareStack.remove('loggerMiddleware')
  return client
}
