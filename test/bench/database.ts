import { setTimeout as sleep } from 'node:timers/promises'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { startDynamoDbLocal } from '../../infra/local/database/dynamodb.ts'
import { createTable } from '../../infra/local/database/table.ts'
import { createDynamoClient } from '../../shared/ledger/store/dynamo-store.ts'
import { systemIds } from '../../shared/platform/ids.ts'

export interface Database {
  readonly endpoint: string
  /** A client whose requests each take so much longer, as a network would have it. */
  connect(delayMs?: number): DynamoDBClient
  /** A client that waits as long as it takes: for what is made ready, and not measured. */
  readonly patient: DynamoDBClient
  /**
   * A new table as the ledger's is; what it is called. It has no stream: DynamoDB fills that beside the writes, DynamoDB
   * Local within them, which is a third of what it does.
   */
  ledgerTable(): Promise<string>
  /** A new table with the key `id` and nothing else. */
  plainTable(): Promise<string>
}

/** Its usual options are for a quick start, and half the speed later. */
const javaOptions = '-Xmx1g -XX:+UseSerialGC'

/** DynamoDB Local, for as long as it is used. */
export async function withDatabase<Result>(use: (database: Database) => Promise<Result>): Promise<Result> {
  const { endpoint, stop } = await startDynamoDbLocal(null, javaOptions)
  try {
    return await use(databaseAt(endpoint))
  } finally {
    await stop()
  }
}

export function databaseAt(endpoint: string): Database {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const patient = new DynamoDBClient({ endpoint, region: 'local', credentials })
  return {
    endpoint,
    patient,
    connect: (delayMs = 0) => {
      const client = createDynamoClient(endpoint)
      if (delayMs > 0) delay(client, delayMs)
      return client
    },
    ledgerTable: async () => {
      const table = `bench-${systemIds.random()}`
      await createTable(patient, table, { stream: false })
      return table
    },
    plainTable: async () => {
      const table = `bench-${systemIds.random()}`
      const key = { AttributeName: 'id' }
      await patient.send(
        new CreateTableCommand({
          TableName: table,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ ...key, AttributeType: 'S' }],
          KeySchema: [{ ...key, KeyType: 'HASH' }],
        }),
      )
      return table
    },
  }
}

function delay(client: DynamoDBClient, delayMs: number): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      await sleep(delayMs)
      return next(args)
    },
    { step: 'finalizeRequest', name: 'delay' },
  )
}
