import { isObject, type Json } from '../platform/json.ts'

/** `tokens` are unescaped. */
export interface JsonPointer {
  readonly text: string
  readonly tokens: readonly string[]
}

/** @throws RangeError */
export function parsePointer(text: string): JsonPointer {
  if (text === '') return { text, tokens: [] }
  if (!text.startsWith('/') || /~(?![01])/.test(text)) throw new RangeError(`not a JSON Pointer: ${text}`)
  const unescaped = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')
  return { text, tokens: text.slice(1).split('/').map(unescaped) }
}

export function resolvePointer(document: Json, pointer: JsonPointer): Json | undefined {
  let value: Json | undefined = document
  for (const token of pointer.tokens) {
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined
    else if (isObject(value)) value = Object.hasOwn(value, token) ? value[token] : undefined
    else return undefined
  }
  return value
}

export const pointerSource = (pointer: JsonPointer): string => (pointer.text === '' ? 'the whole body' : pointer.text)

/** Appends a member's name or an element's index to a pointer. */
export const below = (place: string, token: string | number): string =>
  `${place}/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`
