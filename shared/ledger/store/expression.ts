import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { assertNever } from '../../platform/words.ts'
import { tableKey } from '../stored.ts'
import type { Condition, Path, Value } from './store.ts'

/**
 * A map in the form of DynamoDB. A member may have any name: one called `constructor` (a budget, or a name in a query)
 * makes a map look like an instance of some class.
 */
export const toAttributes = (map: { readonly [name: string]: Value | undefined }): Record<string, AttributeValue> =>
  marshall(map, { removeUndefinedValues: true, convertClassInstanceToMap: true })

/** Writes the expressions of one request, with a placeholder for every name and value. */
export class Expression {
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
