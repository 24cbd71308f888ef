import {
  GetItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { connect, type Ground, number, type Rival } from './rival.ts'

const counterKey = { id: { S: 'counter' } }

export async function noGuard({ serviceUrl }: Ground): Promise<Rival> {
  const service = connect(serviceUrl)
  return {
    update: async (project) => {
      await service.estimate(project)
      await service.run(project)
    },
  }
}

export async function naive({ database, client, serviceUrl, units }: Ground): Promise<Rival> {
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

export async function transactions({ database, client, serviceUrl }: Ground): Promise<Rival> {
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

/** The size of the guard's own records. */
const recordBytes = 870
const workBytes = 120

const sized = (id: string, bytes: number) => ({ id: { S: id }, body: { S: 'x'.repeat(bytes - id.length) } })
