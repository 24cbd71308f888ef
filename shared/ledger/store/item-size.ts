import type { Value } from './store.ts'

type Members = { readonly [name: string]: Value | undefined }

/**
 * Bytes as DynamoDB counts them. Names and texts are UTF-8. A number takes a byte for two digits, and one byte more. A
 * list or map takes three bytes, and one byte for each member.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(members: Members): number {
  return Object.entries(members).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0)
}

function valueSize(value: Value | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number') return Math.ceil(digitsOf(value) / 2) + 1
  if (Array.isArray(value)) return 3 + value.reduce((sum, each) => sum + valueSize(each) + 1, 0)
  if (typeof value === 'object' && value !== null) return 3 + itemSize(value as Members) + Object.keys(value).length
  return 1
}

const digitsOf = (value: number): number => String(value).replace(/[^\d]/g, '').replace(/0+$/, '').length
