import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams'
import { createDynamoClient } from '../../shared/ledger/dynamo-client.ts'
import { standIn } from '../../shared/platform/stand-in.ts'
import { CannotGoOn } from './failures.ts'
import type { Follow, Following } from './stream-event.ts'
import { createShards } from './stream-shards.ts'
import { createUnderWay } from './under-way.ts'

const pollEveryMs = 200
/** While the database is away. */
const tryAgainAfterMs = 1_000
const connectWithinMs = 3_000
const answerWithinMs = 5_000

interface Place {
  readonly endpoint: string
  readonly accessKey?: string | undefined
  readonly table: string
}

/**
 * Follows the stream of a table, from now on: what was missed before is found by the sweep. It is ready when this
 * resolves, so that everything that is written from then on is told.
 *
 * A database that is away for a while is asked again until it answers, and then from where it was left.
 *
 * @throws CannotGoOn when the table has no stream.
 */
export async function followTable(place: Place, { take, log }: Parameters<Follow>[0]): Promise<Following> {
  const client = createStreamsClient(place)
  const shards = createShards({ client, stream: await streamOf(place), take })
  await shards.look()
  const { table } = place
  const underWay = createUnderWay()

  async function poll(): Promise<void> {
    let isAway = false
    while (!underWay.isStopping()) {
      try {
        const taken = await shards.read()
        if (isAway) log.info('stream-read-again', { table })
        isAway = false
        if (taken === 0) await underWay.pause(pollEveryMs)
      } catch (cause) {
        // Once for each time that it goes away: the terminal must stay readable.
        if (!isAway && !underWay.isStopping()) log.error('stream-not-read', { table, cause })
        isAway = true
        await underWay.pause(tryAgainAfterMs)
      }
    }
  }

  void underWay.add(poll())
  return {
    stop: async (patience) => {
      await underWay.stop(patience)
      client.destroy()
    },
  }
}

const createStreamsClient = ({ endpoint, accessKey }: Place): DynamoDBStreamsClient =>
  new DynamoDBStreamsClient({
    ...standIn(endpoint, accessKey),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: connectWithinMs,
      requestTimeout: answerWithinMs,
      throwOnRequestTimeout: true,
    },
  })

async function streamOf({ endpoint, accessKey, table }: Place): Promise<string> {
  const client = createDynamoClient(endpoint, accessKey)
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
    if (Table?.LatestStreamArn !== undefined && Table.StreamSpecification?.StreamEnabled) return Table.LatestStreamArn
    throw new CannotGoOn(`the table ${table} at ${endpoint} has no stream; enable one with new and old images`)
  } finally {
    client.destroy()
  }
}
