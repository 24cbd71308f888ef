import { setTimeout as sleep } from 'node:timers/promises'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createDynamoClient } from '../../shared/ledger/store/dynamo-store.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { startDynamoDbLocal } from '../support/dynamodb/dynamodb.ts'
import { createTable } from '../support/dynamodb/table.ts'

export interface Database {
  readonly endpoint: string
  /** A client with this delay for each request, as over a network. */
  connect(delayMs?: number): DynamoDBClient
  /** A client without deadlines, for preparations that are not measured. */
  readonly patient: DynamoDBClient
  /** A new table like the ledger's, but without a stream, because the stream slows the writes of DynamoDB Local. */
  ledgerTable(): Promise<string>
  /** A new table with the key `id`. */
  plainTable(): Promise<string>
}

/** The default options start quickly but halve the speed later. */
const javaOptions = '-Xmx1g -XX:+UseSerialGC'

export async function withDatabase<Result>(use: (database: Database) => Promise<Result>): Promise<Result> {
  const { endpoint, stop } = await startDynamoDbLocal(javaOptions)
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
