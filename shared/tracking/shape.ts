import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { grouped } from '../platform/words.ts'
import { textOf } from './answer.ts'
import type { AnsweredExchange, Redact } from './transport.ts'

const maxShapeLength = 400
const maxDepth = 6
const maxNames = 20
const maxNameLength = 40
const rowsCompared = 20

/**
 * Describes a body, so that people find the right pointer: `{"data": [2 × {"name": string}]}`, or media type and size.
 * Names come from the service, so they are redacted and cut.
 */
export function shapeOf(answer: AnsweredExchange, redact: Redact): string {
  const text = textOf(answer)
  const shape = text.ok ? shapeOfText(text.text, redact) : null
  return shape ?? `${mediaTypeOf(answer)}, ${grouped(answer.body.length)} bytes`
}

/** `null`: not JSON. */
export function shapeOfText(text: string, redact: Redact): string | null {
  const json = parseStrictJson(text)
  return json.ok ? cut(describe(json.value, redact, 0), maxShapeLength) : null
}

/** Hidden characters would change how a line reads, or keep the token from being found. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/** A member's name of the service, as it may be shown. */
export const shownName = (name: string, redact: Redact): string => redact(name.replace(hidden, ''))

export const shortName = (name: string, redact: Redact): string => cut(shownName(name, redact), maxNameLength)

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
    ([name, member]) => `${JSON.stringify(shortName(name, redact))}: ${describe(member, redact, depth + 1)}`,
  )
  if (names.length > maxNames) shown.push('…')
  return `{${shown.join(', ')}}`
}

function mediaTypeOf(answer: AnsweredExchange): string {
  const mediaType = answer.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[\w.+-]{1,40}\/[\w.+-]{1,40}$/.test(mediaType) ? mediaType : 'no media type'
}

const cut = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`)
