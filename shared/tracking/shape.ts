import { grouped } from '../platform/words.ts'
import { textOf } from './body.ts'
import type { Redact } from './service-token.ts'
import { isObject, type Json, parseStrictJson } from './strict-json.ts'
import type { Answered } from './transport.ts'

const maxShapeLength = 400
const maxDepth = 6
const maxNames = 20
const maxNameLength = 40
const rowsCompared = 20

/**
 * The structure of a body without any of its values, for the person who has to find the right JSON Pointer:
 * `{"data": [2 × {"name": string, "value": number}], "ok": boolean}`, or `text/html, 1,204 bytes` when it is not JSON.
 *
 * Names are the service's text, so they are redacted and cut.
 */
export function shapeOf(answer: Answered, redact: Redact): string {
  const text = textOf(answer)
  const json = parseStrictJson(text.ok ? text.text : '')
  if (!json.ok) return `${mediaTypeOf(answer)}, ${grouped(answer.body.length)} bytes`
  return cut(describe(json.value, redact, 0), maxShapeLength)
}

function describe(value: Json, redact: Redact, depth: number): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return describeArray(value, redact, depth)
  if (isObject(value)) return describeObject(value, redact, depth)
  return typeof value
}

function describeArray(rows: readonly Json[], redact: Redact, depth: number): string {
  if (rows.length === 0) return '[]'
  if (depth === maxDepth) return '[…]'
  const shapes = new Set(rows.slice(0, rowsCompared).map((row) => describe(row, redact, depth + 1)))
  return `[${grouped(rows.length)} × ${[...shapes].join(' | ')}]`
}

function describeObject(object: { [name: string]: Json }, redact: Redact, depth: number): string {
  const names = Object.keys(object)
  if (names.length === 0) return '{}'
  if (depth === maxDepth) return '{…}'
  const members = Object.entries(object).slice(0, maxNames)
  const shown = members.map(
    ([name, member]) => `${JSON.stringify(cut(redact(name), maxNameLength))}: ${describe(member, redact, depth + 1)}`,
  )
  if (names.length > maxNames) shown.push('…')
  return `{${shown.join(', ')}}`
}

function mediaTypeOf(answer: Answered): string {
  const mediaType = answer.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[\w.+-]{1,40}\/[\w.+-]{1,40}$/.test(mediaType) ? mediaType : 'no media type'
}

const cut = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`)
