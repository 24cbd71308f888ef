import assert from 'node:assert/strict'
import {
  CreateTableCommand,
  DynamoDBClient,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { tableKey } from '../../shared/ledger/store/stored.ts'
import { plain, synthesize } from '../support/infra/stack.ts'
import { aws, dynamo, region } from './aws.ts'
import { retained } from './guard.ts'
import { step, until } from './steps.ts'
import { prefix } from './where.ts'

interface Statement {
  readonly Effect: string
  readonly Action: string
  readonly Resource: string
  readonly Condition: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

const name = `${prefix}-conditions`

/** Only the sweep writes such items. */
const foreignKey = 'sweep#rehearsal'

/** What the function for agents may write, as its role in the stack says. */
function conditionedStatements(tableArn: string): Statement[] {
  const [policy] = synthesize()
    .ofType('AWS::IAM::Policy')
    .filter(({ id }) => id.startsWith('McpRole'))
  const statements: Statement[] = plain(policy?.Properties.PolicyDocument.Statement)
  const narrowed = statements.filter(({ Condition }) => keysIn(Condition).length > 0)
  return narrowed.map((statement) => ({ ...statement, Resource: tableArn }))
}

const keysIn = (condition: Statement['Condition'] | undefined): readonly string[] => {
  const { 'ForAllValues:StringLike': like } = condition ?? {}
  return [like?.['dynamodb:LeadingKeys'] ?? []].flat()
}

/**
 * One transaction that the conditions of a role must allow, and the same one with one more item, which they must refuse.
 * An emulator does not read conditions, so only AWS can show this.
 */
export async function rehearseConditions(): Promise<void> {
  const { Account, Arn } = await aws('sts', 'get-caller-identity')
  const start = String(Arn).split(':sts:')[0]?.split(':iam:')[0]
  const [iam, table] = [`${start}:iam::${Account}`, `${start}:dynamodb:${region}:${Account}:table/${name}`]
  const statements = conditionedStatements(table)
  await step('conditions: a table, and a role with the conditions of the stack', async () => {
    retained.tables.add(name)
    await createTable()
    retained.roles.add(name)
    await createRole(`${iam}:root`, statements)
  })
  const allowed = statements.map(allowedItem)
  const client = await step('conditions: a transaction of allowed keys is written', () =>
    firstWriter(`${iam}:role/${name}`, allowed),
  )
  await step('conditions: the same transaction with one foreign key is refused', async () => {
    for (const { Action } of statements)
      assert.equal(await isWritten(client, [...allowed, itemOf(Action, foreignKey)]), false, Action)
  })
}

/** A client of the role that has written the items. A new role and its policy take some seconds to be known everywhere. */
async function firstWriter(role: string, items: TransactWriteItem[]): Promise<DynamoDBClient> {
  const clients: DynamoDBClient[] = []
  let reason: unknown
  const hasWritten = async () => {
    try {
      const client = await clientOf(role)
      if (await isWritten(client, items)) clients.push(client)
    } catch (error) {
      reason = error
    }
    return clients.length > 0
  }
  await until(hasWritten).catch((error) => {
    throw new Error(error.message, { cause: reason })
  })
  const [client] = clients
  assert.ok(client)
  return client
}

async function createTable(): Promise<void> {
  const keys = [tableKey.partition, tableKey.sort]
  await dynamo.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keys.map((AttributeName, position) => ({ AttributeName, KeyType: position === 0 ? 'HASH' : 'RANGE' })),
    }),
  )
  await waitUntilTableExists({ client: dynamo, minDelay: 2, maxDelay: 5, maxWaitTime: 120 }, { TableName: name })
}

async function createRole(who: string, statements: readonly Statement[]): Promise<void> {
  const trust = [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { AWS: who } }]
  const role = ['--role-name', name]
  await aws('iam', 'create-role', ...role, '--assume-role-policy-document', document(trust))
  await aws('iam', 'put-role-policy', ...role, '--policy-name', name, '--policy-document', document(statements))
}

const document = (statements: readonly object[]): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: statements })

async function clientOf(role: string): Promise<DynamoDBClient> {
  const assumed = await aws('sts', 'assume-role', '--role-arn', role, '--role-session-name', name)
  const { AccessKeyId, SecretAccessKey, SessionToken } = assumed.Credentials
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken }
  return new DynamoDBClient({ region, credentials })
}

/** Whether the role may write the items. @throws for any other failure. */
async function isWritten(client: DynamoDBClient, items: TransactWriteItem[]): Promise<boolean> {
  try {
    await client.send(new TransactWriteItemsCommand({ TransactItems: items }))
    return true
  } catch (error) {
    if (error instanceof Error && error.name === 'AccessDeniedException') return false
    throw error
  }
}

/** The first pattern of the statement, as a key. */
const allowedItem = ({ Action, Condition }: Statement): TransactWriteItem =>
  itemOf(Action, `${keysIn(Condition)[0]?.replace(/\*$/, '')}rehearsal`)

function itemOf(action: string, key: string): TransactWriteItem {
  const Key = { [tableKey.partition]: { S: key }, [tableKey.sort]: { S: action } }
  switch (action) {
    case 'dynamodb:PutItem':
      return { Put: { TableName: name, Item: Key } }
    case 'dynamodb:UpdateItem':
      return {
        Update: {
          TableName: name,
          Key,
          UpdateExpression: 'SET rehearsed = :yes',
          ExpressionAttributeValues: { ':yes': { BOOL: true } },
        },
      }
    case 'dynamodb:ConditionCheckItem':
      return {
        ConditionCheck: { TableName: name, Key, ConditionExpression: `attribute_not_exists(${tableKey.partition})` },
      }
    default:
      throw new Error(`no item for ${action}`)
  }
}
