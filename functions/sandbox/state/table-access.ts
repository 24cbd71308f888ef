import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { Clock } from '../../../shared/platform/clock.ts'
import type { Ids } from '../../../shared/platform/ids.ts'
import { standIn } from '../../../shared/platform/settings.ts'

export type Key = { readonly pk: string; readonly sk: string }
type Values = Readonly<Record<string, unknown>>

/** The SDK gives each transaction a token, so a client may repeat a transaction. */
const maxAttempts = 4
const maxConflicts = 12
const pauseMs = 50

export function createTableClient(endpoint?: string, accessKey?: string): DynamoDBClient {
  return new DynamoDBClient({
    maxAttempts,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
    ...standIn(endpoint, accessKey),
  })
}

export type TableAccess = ReturnType<typeof createTableAccess>

export function createTableAccess(options: { client: DynamoDBClient; table: string; clock: Clock; ids: Ids }) {
  const { client, table, clock, ids } = options

  async function get(key: Key): Promise<Values | undefined> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: marshall(key), ConsistentRead: true }),
    )
    return Item && unmarshall(Item)
  }

  async function list(pk: string): Promise<Values[]> {
    const items: Values[] = []
    let start: Record<string, AttributeValue> | undefined
    do {
      const page = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: marshall({ ':pk': pk }),
          ConsistentRead: true,
          ...(start && { ExclusiveStartKey: start }),
        }),
      )
      items.push(...(page.Items ?? []).map((item) => unmarshall(item)))
      start = page.LastEvaluatedKey
    } while (start)
    return items
  }

  /** All writes or none; returns which conditions held. */
  async function write(...writes: readonly TransactWriteItem[]): Promise<readonly boolean[]> {
    for (let round = 1; ; round++) {
      try {
        await client.send(new TransactWriteItemsCommand({ TransactItems: [...writes] }))
        return writes.map(() => true)
      } catch (error) {
        const codes = reasonsOf(error)
        if (codes.includes('ConditionalCheckFailed')) return codes.map((code) => code !== 'ConditionalCheckFailed')
        // Another process wrote the item at the same moment.
        if (!codes.includes('TransactionConflict') || round === maxConflicts) throw error
        await clock.sleep(ids.fraction() * pauseMs * round)
      }
    }
  }

  const put = (item: Key & Values, condition?: string, values?: Values): TransactWriteItem => ({
    Put: {
      TableName: table,
      Item: marshall(item, { removeUndefinedValues: true }),
      ...(condition !== undefined && { ConditionExpression: condition }),
      ...(values && { ExpressionAttributeValues: marshall(values) }),
    },
  })

  const update = (key: Key, expression: string, values: Values, condition?: string): TransactWriteItem => ({
    Update: {
      TableName: table,
      Key: marshall(key),
      UpdateExpression: expression,
      ExpressionAttributeValues: marshall(values),
      ...(condition !== undefined && { ConditionExpression: condition }),
    },
  })

  return { get, list, write, put, update }
}

function reasonsOf(error: unknown): string[] {
  if (!(error instanceof Error) || error.name !== 'TransactionCanceledException') return []
  const { CancellationReasons = [] } = error as { CancellationReasons?: { Code?: string }[] }
  return CancellationReasons.map(({ Code }) => Code ?? 'None')
}
