import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/**
 * The size as DynamoDB counts it: UTF-8 names and texts, a byte for two digits of a number and one more, three for a list or map and one
 * for each member.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(members: Readonly<Record<string, AttributeValue>>): number {
  return Object.entries(members).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0)
}

function valueSize({ S, N, M, L }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S)
  if (N !== undefined) return Math.ceil(N.replace(/[^\d]/g, '').replace(/0+$/, '').length / 2) + 1
  if (M !== undefined) return 3 + itemSize(M) + Object.keys(M).length
  if (L !== undefined) return 3 + L.reduce((sum, each) => sum + valueSize(each) + 1, 0)
  return 1
}
