import { type Method, type OperationName, operationNames, operations } from './operations.ts'

export type OperationMatch =
  | {
      readonly kind: 'operation'
      readonly operation: OperationName
      /** The project exactly as the caller encoded it; null where the path names none. */
      readonly segment: string | null
    }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly Method[] }

/** 512 characters, the longest project, of at most four bytes, three characters each. */
const longestSegment = 512 * 4 * 3

/** The words of each path, split once. */
const templates = operationNames.map((name) => ({ name, words: operations[name].path.split('/') }))

/**
 * Finds the operation of a raw path, as it was received behind `/v3` and without its query. Words are compared byte by
 * byte: what only becomes the path of an operation when somebody decodes or tidies it is none, and null. HEAD is no GET
 * here, because a GET may be a run.
 */
export function matchOperation(method: string, rawPath: string): OperationMatch | null {
  const words = rawPath.split('/')
  const known = templates.filter((template) => fits(template.words, words)).map(({ name }) => name)
  if (known.length === 0) return null
  const operation = known.find((name) => operations[name].method === method)
  if (operation === undefined) {
    return { kind: 'method-not-allowed', allow: known.map((name) => operations[name].method) }
  }
  const template = operations[operation].path.split('/')
  return { kind: 'operation', operation, segment: words.find((_word, at) => isParameter(template[at] ?? '')) ?? null }
}

/**
 * The path of an operation as it goes on the wire, relative to the base address; `segment` and `search` are raw.
 *
 * @throws RangeError when they would make it another path: `matchOperation` refuses such segments first.
 */
export function operationPath(operation: OperationName, segment: string | null, search: string): string {
  const { path } = operations[operation]
  const hasParameter = path.split('/').some(isParameter)
  const isQuery = /^[\x21-\x7e]*$/.test(search) && !search.includes('#')
  if (hasParameter !== (segment !== null) || (segment !== null && !isSegment(segment)) || !isQuery) {
    throw new RangeError(`not one path segment and a query for ${operation}`)
  }
  const whole = path.replace(/\{\w+\}/, () => segment ?? '') // as a function: `$&` in a segment means itself
  return search === '' ? whole : `${whole}?${search}`
}

/** The project that a segment names; null when it is not percent-encoded UTF-8. Decoded once, and here only. */
export function decodeSegment(raw: string): string | null {
  try {
    return decodeURIComponent(raw)
  } catch {
    return null
  }
}

const fits = (template: readonly string[], words: readonly string[]): boolean =>
  template.length === words.length &&
  template.every((word, at) => isParameter(word) || word === words[at]) &&
  template.every((word, at) => !isParameter(word) || isSegment(words[at] ?? ''))

const isParameter = (word: string): boolean => word.startsWith('{')

/** The characters of a path segment (`pchar` of RFC 3986), and the four that the URLs of browsers leave as they are. */
const characters = /^(?:[\w.~!$&'()*+,;=:@[\]^|-]|%[\da-f]{2})+$/i
const encodedControl = /%(?:[01][\da-f]|7f)/i
/** An escape, itself escaped as often as it may be. */
const escapes = /%(?:25)*([\da-f]{2})/gi
/** Escapes may also hide inside each other (`%25%32%65` is `%2e` is `.`); nobody decodes more often than this. */
const mostDecodings = 4

/**
 * True for what stays one segment in everybody's hands. A dot segment does not, even behind an encoded slash: whoever
 * decodes a path before normalizing it would end up at another operation, perhaps a run.
 */
function isSegment(raw: string): boolean {
  if (raw.length > longestSegment || !characters.test(raw) || encodedControl.test(raw)) return false
  let plain = raw
  for (let times = 0; times < mostDecodings; times++) {
    plain = plain.replace(escapes, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  }
  return !plain.split(/[/\\]/).some((part) => part === '.' || part === '..')
}
