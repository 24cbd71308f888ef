import http from 'node:http'
import { text } from 'node:stream/consumers'
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { Context } from 'aws-lambda'
import { createDynamoStore } from '../../shared/ledger/store/dynamo-store.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import type { Database } from './database.ts'
import { startGuard } from './product.ts'

/** One way to spend units on an update. */
export interface Rival {
  /** Estimates, sees to the budget in its own way, runs, accounts. Rejects, or not, where it refuses. */
  update(project: string, key: string): Promise<unknown>
  stop?(): Promise<void>
}

interface Ground {
  readonly database: Database
  readonly client: DynamoDBClient
  readonly serviceUrl: string
  /** What may be spent. */
  readonly units: number
}

export type RivalName = keyof typeof rivals

/** What is compared, and the key of the table that each writes. */
export const rivals = {
  'Unit Guard': { create: unitGuard, key: ['pk', 'sk'] },
  'no guard': { create: noGuard, key: ['id'] },
  composition: { create: composition, key: ['id'] },
  naive: { create: naive, key: ['id'] },
  'floor, own transactions': { create: ownTransactions, key: ['pk', 'sk'] },
  'floor, transactions': { create: transactions, key: ['id'] },
  'floor, puts': { create: puts, key: ['id'] },
} as const satisfies Record<string, { create: (ground: Ground) => Promise<Rival>; key: readonly string[] }>

export const rivalNames = Object.keys(rivals) as readonly RivalName[]

/** Ten budgets; an update is charged to one of them and to the account. */
async function unitGuard({ database, client, serviceUrl, units }: Ground): Promise<Rival> {
  const table = await database.ledgerTable()
  const store = createDynamoStore({ client, table, clock: systemClock, ids: systemIds })
  const guarded = await startGuard({ store, serviceUrl, unitsPerMonth: units })
  const limits = [{ window: 'month', units }]
  const names = Array.from({ length: 9 }, (_, index) => ({ name: `team-${index}`, limits }))
  await guarded.call('PUT', '/budgets', { body: { budgets: names } })
  return { update: (project, key) => guarded.update(project, { budget: 'team-3', key }), stop: guarded.stop }
}

async function noGuard({ serviceUrl }: Ground): Promise<Rival> {
  const service = connect(serviceUrl)
  return {
    update: async (project) => {
      await service.estimate(project)
      await service.run(project)
    },
  }
}

const counterKey = { id: { S: 'counter' } }

/**
 * Four requests: the key's record, the units taken from the counter if there are as many, the units settled, the record's
 * answer. Where the run's outcome is unknown the units stay taken and the key remembers it.
 */
async function composition({ database, client, serviceUrl, units }: Ground): Promise<Rival> {
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

/** From it the key's record knows when the function that holds it must have ended. */
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

async function naive({ database, client, serviceUrl, units }: Ground): Promise<Rival> {
  const service = connect(serviceUrl)
  const TableName = await database.plainTable()
  await client.send(new PutItemCommand({ TableName, Item: { ...counterKey, spent: number(0) } }))
  return {
    update: async (project) => {
      const estimate = await service.estimate(project)
      const { Item } = await client.send(new GetItemCommand({ TableName, Key: counterKey, ConsistentRead: true }))
      if (Number(Item?.spent?.N) + estimate > units) throw new Error('over budget')
      await service.run(project)
      await client.send(
        new UpdateItemCommand({
          TableName,
          Key: counterKey,
          UpdateExpression: 'ADD spent :units',
          ExpressionAttributeValues: { ':units': number(estimate) },
        }),
      )
    },
  }
}

/** The two transactions of an update as the guard writes them, on its own table and into its book of ten budgets. */
async function ownTransactions(ground: Ground): Promise<Rival> {
  const { database, client, serviceUrl, units } = ground
  const service = connect(serviceUrl)
  const written: string[] = []
  const observed = database.connect()
  observed.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'TransactWriteItemsCommand') written.push(JSON.stringify(args.input))
        return next(args)
      },
    { step: 'initialize', name: 'observe' },
  )
  const guard = await unitGuard({ database, client: observed, serviceUrl, units })
  // A day's first update makes the book.
  for (const project of ['first', 'pattern']) await guard.update(project, project)
  const [hold = '', settle = ''] = written.slice(-2)
  const { id, work } = namesIn(hold)
  const again = (transaction: string, project: string) =>
    client.send(
      new TransactWriteItemsCommand({
        ...JSON.parse(transaction.replaceAll(id, `upd_${project}`).replaceAll(work, `work#${project}`)),
        ClientRequestToken: systemIds.random(),
      }),
    )
  return {
    update: async (project) => {
      await service.estimate(project)
      await again(hold, project)
      await service.run(project)
      await again(settle, project)
    },
    ...(guard.stop && { stop: guard.stop }),
  }
}

function namesIn(hold: string): { id: string; work: string } {
  const [id] = /upd_[a-z0-9]+/.exec(hold) ?? []
  const [work] = /work#[^"]+/.exec(hold) ?? []
  if (id === undefined || work === undefined) throw new Error('a hold names its update and its work')
  return { id, work }
}

async function transactions({ database, client, serviceUrl }: Ground): Promise<Rival> {
  const service = connect(serviceUrl)
  const TableName = await database.plainTable()
  const book: TransactWriteItem = {
    Update: {
      TableName,
      Key: counterKey,
      UpdateExpression: 'ADD units :units',
      ExpressionAttributeValues: { ':units': number(40) },
    },
  }
  const put = (name: string, bytes: number): TransactWriteItem => ({ Put: { TableName, Item: sized(name, bytes) } })
  return {
    update: async (project) => {
      await service.estimate(project)
      const hold = [book, put(project, recordBytes), put(`work ${project}`, workBytes)]
      await client.send(new TransactWriteItemsCommand({ TransactItems: hold }))
      await service.run(project)
      await client.send(new TransactWriteItemsCommand({ TransactItems: [book, put(project, recordBytes)] }))
    },
  }
}

async function puts({ database, client, serviceUrl }: Ground): Promise<Rival> {
  const service = connect(serviceUrl)
  const TableName = await database.plainTable()
  const put = (project: string) => client.send(new PutItemCommand({ TableName, Item: sized(project, recordBytes) }))
  return {
    update: async (project) => {
      await service.estimate(project)
      await put(project)
      await service.run(project)
      await put(project)
    },
  }
}

/** As long as those of the guard. */
const recordBytes = 870
const workBytes = 120

const number = (value: number) => ({ N: String(value) })
const sized = (id: string, bytes: number) => ({ id: { S: id }, body: { S: 'x'.repeat(bytes - id.length) } })

/** The least that speaks to the service: kept connections, and no second try. */
function connect(serviceUrl: string) {
  const agent = new http.Agent({ keepAlive: true })
  const get = (path: string) =>
    new Promise<string>((resolve, reject) => {
      http
        .get(`${serviceUrl}${path}`, { agent }, (response) => text(response).then(resolve, reject))
        .on('error', reject)
    })
  return {
    estimate: async (project: string): Promise<number> =>
      JSON.parse(await get(`/on-demand/${project}/estimate`)).data.keyword_units,
    run: (project: string) => get(`/on-demand/${project}/run`),
  }
}
