/**
 * Where a text stops being JSON (RFC 8259), so that whoever wrote it finds the place; null when it is JSON. Lines and
 * columns count from 1. What JSON.parse says differs from Node to Node, names a place only sometimes, and quotes the text.
 */
export function placeOfFault(text: string): { readonly line: number; readonly column: number } | null {
  const at = firstFault(text)
  if (at === null) return null
  const lines = text.slice(0, at).split(/\r\n|[\r\n]/)
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** The same, to follow on what is said of the text; empty when it is JSON. */
export function placeIn(text: string): string {
  const place = placeOfFault(text)
  return place === null ? '' : ` at line ${place.line}, column ${place.column}`
}

const string = /"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/u.source
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null/u.source
const token = new RegExp(`([[\\]{},:])|(${string})|${scalar}`, 'uy')
const blanks = /[ \t\n\r]*/y

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | 'end'

function firstFault(text: string): number | null {
  const open: string[] = [] // the brackets that are not closed yet
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

/** What may follow this; null when it may not stand here. */
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
