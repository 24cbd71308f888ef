import type { Access } from './policy.ts'

// biome-ignore lint/suspicious/noExplicitAny: requests of the AWS SDK are JSON.
type Body = any

/** The ARNs of resources that requests name without an ARN. */
export interface Arns {
  table(name: string): string
  /** Of a secret by its name, or of the ARN itself. */
  secret(id: string): string
}

/**
 * The accesses of a request of the AWS JSON protocol, item by item, as IAM sees them.
 *
 * @param target the header `x-amz-target`.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
 */
export function accessesOf(target: string, body: Body, arns: Arns): Access[] {
  const [service = '', operation = ''] = target.split('.')
  if (service === 'secretsmanager') return [access(`secretsmanager:${operation}`, arns.secret(body.SecretId))]
  if (service === 'AmazonSQS') return [access(`sqs:${operation}`, body.QueueUrl)]
  if (service.startsWith('DynamoDBStreams_'))
    return [access(`dynamodb:${operation}`, body.StreamArn ?? streamOf(body.ShardIterator))]
  if (service.startsWith('DynamoDB_')) return tableAccesses(operation, body, arns)
  throw new Error(`the rehearsal does not know ${target}`)
}

export const access = (action: string, resource: string, leading?: readonly string[]): Access => ({
  action,
  resource,
  keys: leading ? { 'dynamodb:LeadingKeys': leading } : {},
})

/** An iterator of DynamoDB Local names its stream. */
const streamOf = (iterator: string): string => /arn:[^|]+/.exec(iterator)?.[0] ?? iterator

const pkOf = (key: Body): string => key?.pk?.S

function tableAccesses(operation: string, body: Body, arns: Arns): Access[] {
  const action = `dynamodb:${operation}`
  switch (operation) {
    case 'TransactWriteItems':
      return body.TransactItems.flatMap((each: Body) =>
        Object.entries<Body>(each).map(([kind, { TableName, Item, Key }]) =>
          access(`dynamodb:${itemActions[kind] ?? kind}`, arns.table(TableName), [pkOf(Item ?? Key)]),
        ),
      )
    case 'BatchGetItem':
      return Object.entries<Body>(body.RequestItems).map(([name, { Keys }]) =>
        access(action, arns.table(name), Keys.map(pkOf)),
      )
    case 'Query':
      return [access(action, `${arns.table(body.TableName)}${body.IndexName ? `/index/${body.IndexName}` : ''}`)]
    case 'GetItem':
    case 'PutItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return [access(action, arns.table(body.TableName), [pkOf(body.Item ?? body.Key)])]
    default:
      return [access(action, arns.table(body.TableName ?? '*'))]
  }
}

const itemActions: Readonly<Record<string, string>> = {
  ConditionCheck: 'ConditionCheckItem',
  Delete: 'DeleteItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
}
