type Line = Readonly<Record<string, unknown>>

const token = /\s*(\(|\)|&&|\|\||!=|>=|<=|=|>|<|"[^"]*"|\$(?:\.\w+)+|-?\d+(?:\.\d+)?|NOT EXISTS)/y

/**
 * Whether CloudWatch Logs counts the line, for comparisons joined by `&&`, `||` and parentheses. A comparison with a member
 * that a line does not have is false.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
 */
export function matches(pattern: string, line: Line): boolean {
  const tokens = tokensOf(pattern.trim().replace(/^\{|\}$/g, ''))
  const take = (): string => {
    const next = tokens.shift()
    if (next === undefined) throw new Error(`${pattern} ends too early`)
    return next
  }
  const either = (): boolean => {
    let value = both()
    while (tokens[0] === '||') {
      take()
      value = [both(), value].includes(true)
    }
    return value
  }
  const both = (): boolean => {
    let value = single()
    while (tokens[0] === '&&') {
      take()
      value = ![single(), value].includes(false)
    }
    return value
  }
  const single = (): boolean => {
    const first = take()
    if (first !== '(') {
      const [member, operator] = [memberOf(line, first), take()]
      return operator === 'NOT EXISTS' ? member === undefined : compare(member, operator, JSON.parse(take()))
    }
    const value = either()
    if (take() !== ')') throw new Error(`${pattern}: a parenthesis is not closed`)
    return value
  }
  const value = either()
  if (tokens.length > 0) throw new Error(`${pattern}: ${tokens.join(' ')} is not read`)
  return value
}

/** @param selector such as `$.cause.name` */
const memberOf = (line: Line, selector: string): unknown =>
  selector
    .split('.')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Line | undefined)?.[name], line)

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  token.lastIndex = 0
  for (let at = 0; at < text.trimEnd().length; at = token.lastIndex) {
    const [, found] = token.exec(text) ?? []
    if (found === undefined) throw new Error(`no token at ${text.slice(at)}`)
    tokens.push(found)
  }
  return tokens
}

function compare(value: unknown, operator: string, other: string | number): boolean {
  if (value === undefined) return false
  switch (operator) {
    case '=':
      return equals(value, other)
    case '!=':
      return !equals(value, other)
    case '>':
      return typeof value === 'number' && value > Number(other)
    default:
      throw new Error(`no rule for ${operator}`)
  }
}

/** A text that begins with `*` matches the end of the value. */
const equals = (value: unknown, other: string | number): boolean =>
  typeof other === 'string' && other.startsWith('*') ? String(value).endsWith(other.slice(1)) : value === other
