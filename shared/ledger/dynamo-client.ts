import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

const connectWithinMs = 1_000
const answerWithinMs = 3_000
const mostSockets = 200

/**
 * The client for the store. It never retries by itself: whether a failed transaction may be sent again is the
 * store's decision.
 *
 * @param endpoint a DynamoDB that is not AWS's own, with whose credentials nobody cares.
 */
export function createDynamoClient(endpoint?: string): DynamoDBClient {
  const agent = { maxSockets: mostSockets, keepAlive: true }
  return new DynamoDBClient({
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: connectWithinMs,
      requestTimeout: answerWithinMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...(endpoint !== undefined && {
      endpoint,
      region: 'local',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
  })
}
