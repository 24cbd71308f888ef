export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** `null`: not UTF-8. Wrong bytes are never replaced, because a name must not change. */
export function fromUtf8(
  bytes: Uint8Array,
  { keepsByteOrderMark = false }: { keepsByteOrderMark?: boolean } = {},
): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepsByteOrderMark }).decode(bytes)
  } catch {
    return null
  }
}

export type StrictJson = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly reason: string }

/** Limited, because later code may recurse. */
const maxNesting = 64

/**
 * Refuses equal names in one object, because readers of JSON (RFC 8259) understand them differently. `reason` quotes
 * nothing, so it may be shown.
 */
export function parseStrictJson(text: string): StrictJson {
  if (nestsTooDeep(text)) return { ok: false, reason: `nested deeper than ${maxNesting} levels` }
  const value = parseLenientJson(text)
  if (value === undefined) return { ok: false, reason: 'not JSON' }
  if (repeatsName(text)) return { ok: false, reason: 'the same name twice in one object' }
  return { ok: true, value }
}

/** Does not limit the depth, so callers must not recurse. `undefined`: not JSON. */
export function parseLenientJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function nestsTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    if (depth > maxNesting) return true
  }
  return false
}

function repeatsName(text: string): boolean {
  const scopes: (Set<string> | null)[] = [] // names in each open object; `null`: an array
  let nameExpected = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{') {
      scopes.push(new Set())
      nameExpected = true
    } else if (character === '[') {
      scopes.push(null)
    } else if (character === '}' || character === ']') {
      scopes.pop()
    } else if (character === ',') {
      nameExpected = true
    } else if (character === '"') {
      const end = endOfString(text, at)
      const names = scopes.at(-1)
      if (names && nameExpected) {
        const name: string = JSON.parse(text.slice(at, end + 1)) // "a" and "\u0061" are the same name
        if (names.has(name)) return true
        names.add(name)
        nameExpected = false
      }
      at = end
    }
  }
  return false
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return text.length
}

/** The place of the first fault, counted from 1. The message of JSON.parse would quote the text, and differs between Node versions. */
export function placeOfFault(text: string): { readonly line: number; readonly column: number } | null {
  const at = firstFault(text)
  if (at === null) return null
  const lines = text.slice(0, at).split(/\r\n|[\r\n]/)
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** The place of the fault, as the end of a sentence. */
export function placeIn(text: string): string {
  const place = placeOfFault(text)
  return place === null ? '' : ` at line ${place.line}, column ${place.column}`
}

const string = /"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/u.source
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null/u.source
const token = new RegExp(`([[\\]{},:])|(${string})|${scalar}`, 'uy')
const blanks = /[ \t\n\r]*/y

/** The line of a value in valid JSON, counted from 1. `null`: the path has no value. */
export function lineOf(text: string, path: readonly (string | number)[]): number | null {
  const here: (string | number)[] = []
  token.lastIndex = 0
  for (let at = 0; at < text.length; at = token.lastIndex) {
    blanks.lastIndex = at
    blanks.exec(text)
    token.lastIndex = blanks.lastIndex
    const from = blanks.lastIndex
    const [found, mark, quoted] = token.exec(text) ?? []
    if (found === undefined) return null
    const last = here.at(-1)
    const isName = quoted !== undefined && typeof last === 'string' && /^[ \t\n\r]*:/.test(text.slice(token.lastIndex))
    if (isName) here[here.length - 1] = JSON.parse(quoted)
    const isValue = mark === undefined || mark === '{' || mark === '['
    const isHere = (isName || (isValue && typeof last === 'number')) && here.length === path.length
    if (isHere && here.every((step, index) => step === path[index])) return text.slice(0, from).split('\n').length
    if (mark === '{') here.push('')
    if (mark === '[') here.push(0)
    if (mark === '}' || mark === ']') here.pop()
    if (mark === ',' && typeof last === 'number') here[here.length - 1] = last + 1
  }
  return null
}

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | 'end'

function firstFault(text: string): number | null {
  const open: string[] = []
  let expected: Expected = 'value'
  let at = 0
  for (;;) {
    blanks.lastIndex = at
    blanks.exec(text)
    at = blanks.lastIndex
    if (at === text.length) return expected === 'end' && open.length === 0 ? null : at
    token.lastIndex = at
    const [found, mark, quoted] = token.exec(text) ?? []
    if (found === undefined) return at
    const next = after(mark ?? (quoted === undefined ? 'scalar' : 'string'), expected, open.at(-1))
    if (next === null) return at
    if (mark === '{' || mark === '[') open.push(mark)
    if (mark === '}' || mark === ']') open.pop()
    expected = next
    at = token.lastIndex
  }
}

function after(kind: string, expected: Expected, inside: string | undefined): Expected | null {
  const mayEnd = expected === 'end' && inside !== undefined
  const nextInside = inside === '{' ? 'name' : 'value'
  if (kind === ',') return mayEnd ? nextInside : null
  if (kind === '}') return expected === 'name or }' || (mayEnd && inside === '{') ? 'end' : null
  if (kind === ']') return expected === 'value or ]' || (mayEnd && inside === '[') ? 'end' : null
  if (kind === ':') return expected === ':' ? 'value' : null
  if (kind === 'string' && (expected === 'name' || expected === 'name or }')) return ':'
  if (expected !== 'value' && expected !== 'value or ]') return null
  if (kind === '{') return 'name or }'
  return kind === '[' ? 'value or ]' : 'end'
}
