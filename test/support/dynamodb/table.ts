import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { sandboxTableKey } from '../../../functions/sandbox/settings.ts'
import { indexes, tableKey } from '../../../shared/ledger/store/stored.ts'

interface TableKey {
  readonly partition: string
  readonly sort: string
}

export function createTable(client: DynamoDBClient, table: string, { stream = true } = {}): Promise<void> {
  return createUnlessThere(client, {
    ...onDemand(table, [tableKey, ...Object.values(indexes)]),
    KeySchema: schema(tableKey),
    GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, key]) => ({
      IndexName,
      KeySchema: schema(key),
      Projection: { ProjectionType: 'KEYS_ONLY' as const },
    })),
    ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } }),
  })
}

export function createSandboxTable(client: DynamoDBClient, table: string): Promise<void> {
  return createUnlessThere(client, { ...onDemand(table, [sandboxTableKey]), KeySchema: schema(sandboxTableKey) })
}

const onDemand = (table: string, keys: readonly TableKey[]) => ({
  TableName: table,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: keys
    .flatMap(({ partition, sort }) => [partition, sort])
    .map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
})

const schema = ({ partition, sort }: TableKey) => [
  { AttributeName: partition, KeyType: 'HASH' as const },
  { AttributeName: sort, KeyType: 'RANGE' as const },
]

const firstAnswerWithinMs = 20_000

async function createUnlessThere(client: DynamoDBClient, table: CreateTableCommandInput): Promise<void> {
  try {
    await client.send(new CreateTableCommand(table), { requestTimeout: firstAnswerWithinMs })
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
  }
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: table.TableName })
}
