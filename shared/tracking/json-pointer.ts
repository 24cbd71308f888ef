import { isObject, type Json } from './strict-json.ts'

/** A JSON Pointer (RFC 6901) that has been parsed: `text` as configured, `tokens` unescaped. */
export interface JsonPointer {
  readonly text: string
  readonly tokens: readonly string[]
}

/**
 * The empty pointer is the whole document; any other starts with `/`.
 *
 * @throws RangeError when `text` is not a pointer: a misspelt setting must fail at start, not at the first update.
 */
export function parsePointer(text: string): JsonPointer {
  if (text === '') return { text, tokens: [] }
  if (!text.startsWith('/') || /~(?![01])/.test(text)) throw new RangeError(`not a JSON Pointer: ${text}`)
  const unescaped = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')
  return { text, tokens: text.slice(1).split('/').map(unescaped) }
}

/** The value that `pointer` names in `document`; undefined when there is none (RFC 6901, section 4). */
export function resolvePointer(document: Json, pointer: JsonPointer): Json | undefined {
  let value: Json | undefined = document
  for (const token of pointer.tokens) {
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined
    else if (isObject(value)) value = Object.hasOwn(value, token) ? value[token] : undefined
    else return undefined
  }
  return value
}
