/** What JSON.parse returns, so that nothing has to be cast after parsing. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export type StrictJson = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly reason: string }

/** Far above any real document, far below what overflows a stack: everything after this parser may recurse. */
const maxNesting = 64

/**
 * Parses JSON that can be read in one way only (RFC 8259): JSON.parse keeps the last of two equal names where other
 * readers keep the first, and units must not depend on who reads them.
 *
 * `reason` names no part of the text, so it can be shown and logged.
 */
export function parseStrictJson(text: string): StrictJson {
  if (nestsTooDeep(text)) return { ok: false, reason: `nested deeper than ${maxNesting} levels` }
  const value = parseLenientJson(text)
  if (value === undefined) return { ok: false, reason: 'not JSON' }
  if (repeatsName(text)) return { ok: false, reason: 'the same name twice in one object' }
  return { ok: true, value }
}

/** JSON as JSON.parse reads it, at any depth; undefined when it is not JSON. Look only at the top of what it returns. */
export function parseLenientJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Runs before the parser, so the text may be anything; brackets are counted, not matched. */
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

/** Runs after the parser, so the text is known to be well formed. */
function repeatsName(text: string): boolean {
  const scopes: (Set<string> | null)[] = [] // the names of each open object; null for an array
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

/** The index of the closing quote, or the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return text.length
}
