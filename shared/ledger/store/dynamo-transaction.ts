import type { AttributeValue, TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { assertNever } from '../../platform/words.ts'
import type { Condition, Item, Path, Value, Write } from './store.ts'
import { tableKey } from './stored.ts'

/** To `marshall`, a map with the member `constructor` looks like a class instance. */
export const toAttributes = (map: { readonly [name: string]: Value | undefined }): Record<string, AttributeValue> =>
  marshall(map, { removeUndefinedValues: true, convertClassInstanceToMap: true })

class Expression {
  readonly #names = new Map<string, string>()
  readonly #values: Record<string, Value> = {}

  conditions(conditions: readonly Condition[]): string {
    return conditions.map((condition) => this.#condition(condition)).join(' AND ')
  }

  updates(set: readonly (readonly [Path, Value])[], add: readonly (readonly [Path, number])[]): string {
    const sets = set.map(([path, value]) => `${this.#path(path)} = ${this.#value(value)}`)
    const adds = add.map(([path, units]) => `${this.#path(path)} = ${this.#path(path)} + ${this.#value(units)}`)
    return `SET ${[...sets, ...adds].join(', ')}`
  }

  attributes(): {
    ExpressionAttributeNames?: Record<string, string>
    ExpressionAttributeValues?: Record<string, AttributeValue>
  } {
    const names = Object.fromEntries([...this.#names].map(([name, placeholder]) => [placeholder, name]))
    return {
      ...(this.#names.size > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(this.#values).length > 0 && {
        ExpressionAttributeValues: toAttributes(this.#values),
      }),
    }
  }

  #condition(condition: Condition): string {
    switch (condition.kind) {
      case 'absent-item':
        return `attribute_not_exists(${this.#path([tableKey.partition])})`
      case 'present-item':
        return `attribute_exists(${this.#path([tableKey.partition])})`
      case 'absent':
        return `attribute_not_exists(${this.#path(condition.path)})`
      case 'equal':
        return `${this.#path(condition.path)} = ${this.#value(condition.value)}`
      case 'at-least':
        return `${this.#path(condition.path)} >= ${this.#value(condition.value)}`
      case 'at-most':
        return `${this.#path(condition.path)} <= ${this.#value(condition.value)}`
      case 'before':
        return `${this.#path(condition.path)} < ${this.#value(condition.value)}`
      default:
        return assertNever(condition)
    }
  }

  #path(path: Path): string {
    return path.map((name) => this.#name(name)).join('.')
  }

  #name(name: string): string {
    const placeholder = this.#names.get(name) ?? `#${this.#names.size}`
    this.#names.set(name, placeholder)
    return placeholder
  }

  #value(value: Value): string {
    const placeholder = `:${Object.keys(this.#values).length}`
    this.#values[placeholder] = value
    return placeholder
  }
}

type Fault =
  | { readonly kind: 'decided'; readonly found: (Item | null | undefined)[] }
  /** Not applied. A retry may help, and may come soon after a conflict. */
  | { readonly kind: 'conflict' | 'refused' }
  | { readonly kind: 'too-large' }
  /** Our mistake, or a missing permission or table. */
  | { readonly kind: 'broken' }
  /** Any other error: the transaction may have been applied. */
  | { readonly kind: 'lost' }

const refusals = new Set(['ProvisionedThroughputExceededException', 'RequestLimitExceeded', 'ThrottlingException'])

const mistakes = new Set([
  'AccessDeniedException',
  'IdempotentParameterMismatchException',
  'ResourceNotFoundException',
  'UnrecognizedClientException',
  'ValidationException',
])

/**
 * A failed condition is a decision. A conflict or throttling is worth another attempt.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export function faultOf(error: unknown): Fault {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TransactionCanceledException') {
    const reasons = (error as { CancellationReasons?: CancellationReason[] }).CancellationReasons ?? []
    const codes = reasons.map((reason) => reason.Code ?? 'None')
    if (codes.includes('ValidationError'))
      return { kind: reasons.some(({ Message }) => isAboutSize(Message)) ? 'too-large' : 'broken' }
    if (!codes.includes('ConditionalCheckFailed'))
      return { kind: codes.includes('TransactionConflict') ? 'conflict' : 'refused' }
    const found = reasons.map((reason) => {
      if (reason.Code !== 'ConditionalCheckFailed') return undefined
      return reason.Item ? (unmarshall(reason.Item) as Item) : null
    })
    return { kind: 'decided', found }
  }
  if (name === 'TransactionConflictException') return { kind: 'conflict' }
  if (refusals.has(name)) return { kind: 'refused' }
  if (name === 'ValidationException' && isAboutSize(error instanceof Error ? error.message : ''))
    return { kind: 'too-large' }
  return { kind: mistakes.has(name) ? 'broken' : 'lost' }
}

/** DynamoDB has no error code for an item that is too large, and its messages for put and update differ. */
const isAboutSize = (message = ''): boolean => /item size .*exceeded the maximum/i.test(message)

interface CancellationReason {
  readonly Code?: string
  readonly Message?: string
  readonly Item?: Record<string, never>
}

export function toTransactItem(write: Write, table: string): TransactWriteItem {
  const expression = new Expression()
  const ConditionExpression = expression.conditions(write.when)
  const update = write.kind === 'update' ? expression.updates(write.set, write.add) : ''
  const shared = {
    TableName: table,
    // DynamoDB refuses an empty expression.
    ...(write.when.length > 0 && { ConditionExpression, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
    ...expression.attributes(),
  }
  switch (write.kind) {
    case 'put':
      return { Put: { ...shared, Item: toAttributes(write.item) } }
    case 'update':
      return { Update: { ...shared, Key: marshall({ ...write.key }), UpdateExpression: update } }
    case 'check':
      return { ConditionCheck: { ...shared, ConditionExpression, Key: marshall({ ...write.key }) } }
  }
}
