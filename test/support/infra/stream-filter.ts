type Rule = string | { readonly prefix: string } | { readonly exists: boolean }

/**
 * Whether a record passes a filter of an event source, as Lambda matches: every member of the pattern, at the leaves any
 * of the listed values.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html#filtering-syntax
 */
export function passesFilter(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((rule: Rule) => fits(rule, value))
  const members = Object.entries(pattern as Record<string, unknown>)
  if (typeof value !== 'object' || value === null) return false
  return members.every(([name, member]) => passesFilter(member, (value as Record<string, unknown>)[name]))
}

function fits(rule: Rule, value: unknown): boolean {
  if (typeof rule === 'string') return rule === value
  if ('exists' in rule) return (value !== undefined) === rule.exists
  if ('prefix' in rule) return typeof value === 'string' && value.startsWith(rule.prefix)
  throw new Error(`no such rule of a filter is known: ${JSON.stringify(rule)}`)
}
