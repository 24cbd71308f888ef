import type { Units } from '../platform/words.ts'
import { textOf } from './body.ts'
import type { JsonPointer } from './json-pointer.ts'
import { readUnits } from './read-units.ts'
import { redactorOf } from './service-token.ts'
import { shapeOf } from './shape.ts'
import { type Exchange, isSuccess, maxAnswerBytes } from './transport.ts'

export type EstimateReading =
  /** `source`: the JSON Pointer or the well-known names it was read by. */
  | { readonly kind: 'units'; readonly units: Units; readonly source: string }
  /** `shape`: the body's structure without its values. */
  | { readonly kind: 'unreadable'; readonly reason: string; readonly shape: string }
  /** Any status below 500 but 2xx. */
  | { readonly kind: 'refused'; readonly status: number }
  /** A status from 500, or no whole answer: timeout, reset, refused connection, unresolved name. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly status: number | null }

/** What an estimate says ("Reading an estimate" in the design): one number of units, or why there is none. */
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
