import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { ConditionalCheckFailedException, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { Context } from 'aws-lambda'
import { connect, type Ground, number, type Rival } from './rival.ts'

const counterKey = { id: { S: 'counter' } }

/**
 * Four requests: the key's record, the units taken if there are enough, the units settled, the record's answer. If a run's outcome is
 * unknown, the units stay taken and the key remembers it.
 */
export async function composition({ database, client, serviceUrl, units }: Ground): Promise<Rival> {
  const service = connect(serviceUrl)
  const TableName = await database.plainTable()
  const counter = { ...counterKey, available: number(units), held: number(0), spent: number(0) }
  await client.send(new PutItemCommand({ TableName, Item: counter }))
  const move = (UpdateExpression: string, by: number, ConditionExpression?: string) =>
    client.send(
      new UpdateItemCommand({
        TableName,
        Key: counterKey,
        UpdateExpression,
        ExpressionAttributeValues: { ':units': number(by) },
        ...(ConditionExpression !== undefined && { ConditionExpression }),
      }),
    )

  async function guarded({ project }: { project: string; key: string }) {
    const estimate = await service.estimate(project)
    try {
      await move('SET available = available - :units, held = held + :units', estimate, 'available >= :units')
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return { state: 'refused' }
      throw error
    }
    try {
      await service.run(project)
    } catch {
      return { state: 'in doubt', units: estimate }
    }
    await move('SET held = held - :units, spent = spent + :units', estimate)
    return { state: 'settled', units: estimate }
  }

  const config = new IdempotencyConfig({ eventKeyJmesPath: 'key', expiresAfterSeconds: 24 * 3600 })
  config.registerLambdaContext(lambdaContext)
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName: TableName, awsSdkV3Client: client })
  const update = makeIdempotent(guarded, { persistenceStore, config })
  return { update: (project, key) => update({ project, key }) }
}

/** The record of the key expires when the function must have ended. */
const lambdaContext: Context = {
  callbackWaitsForEmptyEventLoop: false,
  functionName: 'composition',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:composition',
  memoryLimitInMB: '512',
  awsRequestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
  logGroupName: 'composition',
  logStreamName: 'composition',
  getRemainingTimeInMillis: () => 120_000,
  done: () => {},
  fail: () => {},
  succeed: () => {},
}
