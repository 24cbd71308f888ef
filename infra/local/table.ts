import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { indexes, tableKey } from '../../shared/ledger/table.ts'

/** Creates the ledger table, as the deployed one is, unless it is there. */
export async function createTable(client: DynamoDBClient, table: string): Promise<void> {
  const keys = [tableKey, ...Object.values(indexes)]
  const schema = ({ partition, sort }: { partition: string; sort: string }) => [
    { AttributeName: partition, KeyType: 'HASH' as const },
    { AttributeName: sort, KeyType: 'RANGE' as const },
  ]
  try {
    await client.send(
      new CreateTableCommand({
        TableName: table,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: schema(tableKey),
        AttributeDefinitions: keys
          .flatMap(({ partition, sort }) => [partition, sort])
          .map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
        GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, key]) => ({
          IndexName,
          KeySchema: schema(key),
          Projection: { ProjectionType: 'KEYS_ONLY' as const },
        })),
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    )
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
  }
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: table })
}
