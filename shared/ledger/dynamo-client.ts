import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { standIn } from '../platform/stand-in.ts'

const connectWithinMs = 3_000
const answerWithinMs = 3_000
const mostSockets = 200

/**
 * The client for the store. It never retries by itself: whether a failed transaction may be sent again is the
 * store's decision.
 *
 * @param endpoint a DynamoDB that is not AWS's own.
 */
export function createDynamoClient(endpoint?: string, accessKey?: string): DynamoDBClient {
  const agent = { maxSockets: mostSockets, keepAlive: true }
  const client = new DynamoDBClient({
    maxAttempts: 1,
    // Nobody changes the stack once it was used: without this it is put together anew for each request.
    cacheMiddleware: true,
    requestHandler: {
      connectionTimeout: connectWithinMs,
      requestTimeout: answerWithinMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...standIn(endpoint, accessKey),
  })
  // It copies what is sent and answered for a log that nobody keeps.
  client.middlewareStack.remove('loggerMiddleware')
  return client
}
