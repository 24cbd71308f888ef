import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'

const client = new DynamoDBClient({ region: 'eu-central-1' })

/** The minimum for a function that reads a table. */
export const handler = handle(
  new Hono().get('/', async (c) => c.json(await client.send(new GetItemCommand({ TableName: 't', Key: {} })))),
)
