import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { grouped, type Units } from '../platform/words.ts'
import { textOf } from './answer.ts'
import { type JsonPointer, readUnits } from './read-units.ts'
import { type Answered, type Exchange, isSuccess, maxAnswerBytes, type Redact, redactorOf } from './transport.ts'

export type EstimateReading =
  /** `source`: the JSON Pointer or the well-known names it was read by. */
  | { readonly kind: 'units'; readonly units: Units; readonly source: string }
  /** `shape`: the body's structure without its values. */
  | { readonly kind: 'unreadable'; readonly reason: string; readonly shape: string }
  /** Any status below 500 but 2xx. */
  | { readonly kind: 'refused'; readonly status: number }
  /** A status from 500, or no whole answer: timeout, reset, refused connection, unresolved name. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly status: number | null }

/** One number of units, or why there is no number. */
export function readEstimate(
  exchange: Exchange,
  options: { pointer: JsonPointer | undefined; token: string },
): EstimateReading {
  const { status } = exchange
  if (exchange.kind === 'failed') {
    const isOversizedBody = exchange.cause === 'too-large' && status !== null && isSuccess(status)
    if (!isOversizedBody) return { kind: 'unreachable', reason: exchange.reason, status }
    return { kind: 'unreadable', reason: exchange.reason, shape: `more than ${maxAnswerBytes} bytes` }
  }
  if (exchange.status >= 500) {
    return { kind: 'unreachable', reason: `answered with status ${exchange.status}`, status }
  }
  if (!isSuccess(exchange.status)) return { kind: 'refused', status: exchange.status }

  const body = textOf(exchange)
  const reading = body.ok ? readUnits(body.text, options.pointer) : { kind: 'unreadable' as const, reason: body.reason }
  if (reading.kind === 'units') return reading
  return { ...reading, shape: shapeOf(exchange, redactorOf(options.token)) }
}

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
