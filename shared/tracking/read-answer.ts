import { isObject, type Json, parseLenientJson, parseStrictJson } from '../platform/json.ts'
import { grouped, type Units } from '../platform/words.ts'
import { isErrorEnvelope, type StoredBody, saysItWentWell, storedBodyOf, textOf } from './answer.ts'
import { integerOf, type JsonPointer, pointerSource, readUnits, resolvePointer } from './read-units.ts'
import {
  type AnsweredExchange,
  type Exchange,
  isSuccess,
  maxAnswerBytes,
  type Redact,
  redactorOf,
} from './transport.ts'

export type EstimateReading =
  /** `sentAt` is the time by the service's clock. Absent: its `Date` is missing or unreadable. */
  | { readonly kind: 'units'; readonly units: Units; readonly source: string; readonly sentAt?: number }
  | { readonly kind: 'unreadable'; readonly reason: string; readonly shape: string }
  | { readonly kind: 'refused'; readonly status: number }
  /** The status is 500 or more, or the answer is not complete. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly status: number | null }

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
  if (reading.kind === 'units') return { ...reading, ...sentAtOf(exchange) }
  return { ...reading, shape: shapeOf(exchange, redactorOf(options.token)) }
}

/** Strict, because `Date.parse` reads a bare number as a year. */
function sentAtOf({ headers: { date = '' } }: AnsweredExchange): { readonly sentAt?: number } {
  const sentAt = new Date(date)
  return sentAt.toUTCString() === date ? { sentAt: sentAt.getTime() } : {}
}

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

function mediaTypeOf(answer: AnsweredExchange): string {
  const mediaType = answer.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[\w.+-]{1,40}\/[\w.+-]{1,40}$/.test(mediaType) ? mediaType : 'no media type'
}

const cut = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`)

export interface StatedUnits {
  /** May be negative. */
  readonly units: number
  readonly source: string
  /** `false`: found by a well-known name. */
  readonly byPointer: boolean
}

export type RunResult =
  | { readonly kind: 'ran'; readonly stated: StatedUnits | null; readonly answer: StoredBody }
  | ({ readonly kind: 'did-not-run' } & WhyNotRan)
  | ({ readonly kind: 'unknown' } & WhyNotRan)

interface WhyNotRan {
  /** Contains no address, no token and no text of the service. */
  readonly reason: string
  readonly status: number | null
  /** `null`: the answer is missing or not complete. */
  readonly answer: StoredBody | null
}

/** Statuses that prove a refusal. 408, 409 and 421 do not. */
const refusals: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 410, 422, 429])

/** `did-not-run` gives units back, so it needs proof. `unknown` keeps them counted. */
export function readRun(exchange: Exchange, options: { pointer: JsonPointer | undefined; token: string }): RunResult {
  if (exchange.kind === 'failed') {
    const kind = exchange.sent === 'no' ? 'did-not-run' : 'unknown'
    return { kind, reason: exchange.reason, status: exchange.status, answer: null }
  }
  const { status } = exchange
  const answer = storedBodyOf(exchange, options.token)
  if (refusals.has(status)) return { kind: 'did-not-run', reason: `refused with status ${status}`, status, answer }
  if (!isSuccess(status)) return { kind: 'unknown', reason: `answered with status ${status}`, status, answer }

  const body = judgeBody(exchange, options.pointer)
  return body.kind === 'ran' ? { ...body, answer } : { ...body, status, answer }
}

type Judgement =
  | { readonly kind: 'ran'; readonly stated: StatedUnits | null }
  | { readonly kind: 'did-not-run' | 'unknown'; readonly reason: string }

/** Judges the body of a 2xx answer. */
function judgeBody(answer: AnsweredExchange, pointer: JsonPointer | undefined): Judgement {
  const body = textOf(answer)
  if (!body.ok) return { kind: 'unknown', reason: body.reason }
  if (body.text.trim() === '') return { kind: 'ran', stated: null }
  const value = parseLenientJson(body.text)
  if (value === undefined) return { kind: 'unknown', reason: 'the body is neither JSON nor empty' }
  if (!isErrorEnvelope(value)) return { kind: 'ran', stated: readStated(body.text, pointer) }
  // A repeated name may have one value with an error and one without, so it proves nothing.
  if (!parseStrictJson(body.text).ok) return { kind: 'unknown', reason: 'the body is an ambiguous error envelope' }
  if (saysItWentWell(value)) return { kind: 'unknown', reason: 'the body reports both success and an error' }
  return { kind: 'did-not-run', reason: `an error envelope with status ${answer.status}` }
}

/** `null`: the body states no units, so the hold is charged. */
function readStated(text: string, pointer: JsonPointer | undefined): StatedUnits | null {
  if (pointer === undefined) {
    const reading = readUnits(text, undefined)
    return reading.kind === 'units' ? { units: reading.units, source: reading.source, byPointer: false } : null
  }
  const json = parseStrictJson(text)
  const units = json.ok ? integerOf(resolvePointer(json.value, pointer)) : null
  return units === null ? null : { units, source: pointerSource(pointer), byPointer: true }
}

export type DatesReading =
  /** Sorted, without duplicates. */
  | { readonly kind: 'dates'; readonly dates: readonly string[] }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** More than fifty years. */
const maxDates = 20_000

/** The vendor does not document the body, so every string or member name that is a date counts. A time may follow the date. */
export function readDates(exchange: Exchange): DatesReading {
  if (exchange.kind === 'failed') return unreadable(exchange.reason)
  if (!isSuccess(exchange.status)) return unreadable(`answered with status ${exchange.status}`)
  const body = textOf(exchange)
  if (!body.ok) return unreadable(body.reason)
  const json = parseStrictJson(body.text)
  if (!json.ok) return unreadable(json.reason)
  if (isErrorEnvelope(json.value)) return unreadable('the body is an error envelope')

  const dates = new Set<string>()
  collectDates(json.value, dates)
  if (dates.size > maxDates) return unreadable(`more than ${maxDates} dates`)
  if (dates.size === 0 && !statesNoDates(json.value, 'dates')) return unreadable('no date in the body')
  return { kind: 'dates', dates: [...dates].sort() }
}

/** Strict JSON limits the depth of the recursion. */
function collectDates(value: Json, dates: Set<string>): void {
  if (typeof value === 'string') {
    const date = dateIn(value)
    if (date !== null) dates.add(date)
  } else if (Array.isArray(value)) {
    for (const element of value) collectDates(element, dates)
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      collectDates(name, dates)
      collectDates(member, dates)
    }
  }
}

/** An empty list of dates is a project without data. Other bodies without a date are unreadable. */
function statesNoDates(value: Json, name: string): boolean {
  if (Array.isArray(value) && value.length === 0) return name === 'dates'
  if (Array.isArray(value)) return value.some((element) => statesNoDates(element, ''))
  return isObject(value) && Object.entries(value).some(([name, member]) => statesNoDates(member, name))
}

function dateIn(text: string): string | null {
  const date = /^(\d{4}-\d{2}-\d{2})(T.*)?$/s.exec(text)?.[1]
  return date !== undefined && isRealDate(date) ? date : null
}

/** Date.parse moves 30 February into March. */
function isRealDate(date: string): boolean {
  const instant = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(date)
}

const unreadable = (reason: string): DatesReading => ({ kind: 'unreadable', reason })
