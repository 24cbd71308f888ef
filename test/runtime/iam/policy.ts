/** A statement of a role's policy, with names instead of references. */
export interface Statement {
  readonly Effect: 'Allow' | 'Deny'
  readonly Action: string | readonly string[]
  readonly Resource: string | readonly string[]
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

/** One access of a request, with the keys that conditions may use. */
export interface Access {
  readonly action: string
  readonly resource: string
  readonly keys: Readonly<Record<string, readonly string[]>>
}

/** The supported condition keys. Others fail the rehearsal, so that none is overlooked. */
const conditionKeys = ['dynamodb:LeadingKeys'] as const

/**
 * Whether the policy allows the access. Any statement that denies it wins.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function isAllowed(statements: readonly Statement[], access: Access): boolean {
  const those = statements.filter((statement) => isAbout(statement, access))
  return those.some(({ Effect }) => Effect === 'Allow') && those.every(({ Effect }) => Effect === 'Allow')
}

const list = (value: string | readonly string[]): readonly string[] => [value].flat()

function isAbout({ Action, Resource, Condition = {}, Effect: _, ...others }: Statement, access: Access): boolean {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new Error(`the rehearsal does not know ${unknown} of a statement`)
  return (
    list(Action).some((pattern) => isLike(pattern.toLowerCase(), access.action.toLowerCase())) &&
    list(Resource).some((pattern) => isLike(pattern, access.resource)) &&
    Object.entries(Condition).every(([operator, members]) =>
      Object.entries(members).every(([key, wanted]) => holds(operator, list(wanted), valuesOf(key, access))),
    )
  )
}

function valuesOf(key: string, { keys }: Access): readonly string[] {
  if (!conditionKeys.some((known) => known === key))
    throw new Error(`the rehearsal does not know ${key} of a condition`)
  return keys[key] ?? []
}

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html */
function holds(operator: string, wanted: readonly string[], found: readonly string[]): boolean {
  if (operator === 'Null') return wanted.every((isMissing) => String(found.length === 0) === isMissing)
  const [, quantifier = 'ForAnyValue', name = ''] = /^(?:(ForAllValues|ForAnyValue):)?(\w+)$/.exec(operator) ?? []
  const compare = comparisons[name]
  if (!compare) throw new Error(`the rehearsal does not know the operator ${operator} of a condition`)
  const matches = (value: string) => wanted.some((pattern) => compare(pattern, value))
  const fits = (value: string) => matches(value) !== name.includes('Not')
  return quantifier === 'ForAllValues' ? found.every(fits) : found.some(fits)
}

const comparisons: Readonly<Record<string, (pattern: string, value: string) => boolean>> = {
  StringEquals: (pattern, value) => pattern === value,
  StringLike: isLike,
  StringNotLike: isLike,
}

function isLike(pattern: string, value: string): boolean {
  const source = pattern
    .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's').test(value)
}
