import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { standIn } from '../../platform/stand-in.ts'

const maxSockets = 200

/**
 * The client for the store. It never retries by itself: whether a failed transaction may be sent again is the
 * store's decision.
 *
 * @param endpoint a DynamoDB that is not AWS's own.
 * @param withinMs for a connection, and again for the answer.
 */
export function createDynamoClient(endpoint?: string, accessKey?: string, withinMs = 3_000): DynamoDBClient {
  const agent = { maxSockets: maxSockets, keepAlive: true }
  const client = new DynamoDBClient({
    maxAttempts: 1,
    // The stack does not change once it was used: without this it is put together again for each request.
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
  // It copies what is sent and answered for a log that is not kept.
  client.middlewareStack.remove('loggerMiddleware')
  return client
}
