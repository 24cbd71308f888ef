import { filters } from '../../../infra/outbox.ts'

type Rule = string | { readonly prefix: string } | { readonly exists: boolean }

/**
 * Whether a record passes a filter of an event source as in Lambda: every member of the pattern must match, with any of the listed values
 * at a leaf. A map is not a leaf, so it neither equals a value nor `exists`.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html#filtering-syntax
 */
export function passesFilter(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((rule: Rule) => fits(rule, value))
  const members = Object.entries(pattern as Record<string, unknown>)
  return members.every(([name, member]) => passesFilter(member, memberOf(value, name)))
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

const isLeaf = (value: unknown): boolean => value !== undefined && (typeof value !== 'object' || value === null)

function fits(rule: Rule, value: unknown): boolean {
  if (typeof rule === 'string') return rule === value
  if ('exists' in rule) return isLeaf(value) === rule.exists
  if ('prefix' in rule) return typeof value === 'string' && value.startsWith(rule.prefix)
  throw new Error(`unknown rule of a filter: ${JSON.stringify(rule)}`)
}

/** Whether Lambda passes a record of the stream to this reader. */
export const isFor = (reader: keyof typeof filters, record: unknown): boolean =>
  filters[reader].some((pattern) => passesFilter(pattern, record))
