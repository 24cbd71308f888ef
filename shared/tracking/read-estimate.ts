import type { Units } from '../platform/words.ts'
import { isCached, retryAfterMsOf, textOf } from './answer.ts'
import { type AnswerRules, noRules } from './conditions.ts'
import type { JsonPointer } from './pointer.ts'
import { readUnits } from './read-units.ts'
import { shapeOf } from './shape.ts'
import type { Sign } from './signs.ts'
import { type AnsweredExchange, type Exchange, isSuccess, maxAnswerBytes, redactorOf } from './transport.ts'

export type EstimateReading =
  | {
      readonly kind: 'units'
      readonly units: Units
      readonly source: string
      /** The JSON Pointer of the figure, if it is one scalar with a name. A run's cost is believed at this place. */
      readonly place?: string
      /** A sign of failure that a configured pointer overrides. */
      readonly sign?: Sign
      /** By the service's clock. Absent: its `Date` is missing or unreadable. */
      readonly sentAt?: number
    }
  | {
      readonly kind: 'unreadable'
      readonly reason: string
      readonly shape: string
      readonly sign?: Sign
      /** Whether a setting of the figure's place could help. */
      readonly pointerHelps?: true
    }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterMs?: number }
  /** The status is 500 or more, or the answer is not complete. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly status: number | null }

export interface EstimateOptions {
  readonly pointer: JsonPointer | undefined
  readonly rules?: AnswerRules
  /** The project's own names. */
  readonly names?: readonly string[]
  readonly token: string
}

export function readEstimate(exchange: Exchange, options: EstimateOptions): EstimateReading {
  const { status } = exchange
  if (exchange.kind === 'failed') {
    const isOversizedBody = exchange.cause === 'too-large' && status !== null && isSuccess(status)
    if (!isOversizedBody) return { kind: 'unreachable', reason: exchange.reason, status }
    return { kind: 'unreadable', reason: exchange.reason, shape: `more than ${maxAnswerBytes} bytes` }
  }
  const redact = redactorOf(options.token)
  if (isCached(exchange)) {
    return { kind: 'unreadable', reason: 'answered by a cache', shape: shapeOf(exchange, redact) }
  }
  if (exchange.status >= 500) {
    return { kind: 'unreachable', reason: `answered with status ${exchange.status}`, status }
  }
  if (!isSuccess(exchange.status)) {
    const retryAfterMs = exchange.status === 429 ? retryAfterMsOf(exchange) : null
    const refused = { kind: 'refused', status: exchange.status } as const
    return retryAfterMs === null ? refused : { ...refused, retryAfterMs }
  }

  const body = textOf(exchange)
  const { pointer, rules = noRules, names = [] } = options
  const reading = body.ok
    ? readUnits(body.text, pointer, { rules, names, redact })
    : { kind: 'unreadable' as const, reason: body.reason }
  if (reading.kind === 'units') return { ...reading, ...sentAtOf(exchange) }
  return { ...reading, shape: shapeOf(exchange, redact) }
}

/** Strict, because `Date.parse` reads a bare number as a year. */
function sentAtOf({ headers: { date = '' } }: AnsweredExchange): { readonly sentAt?: number } {
  const sentAt = new Date(date)
  return sentAt.toUTCString() === date ? { sentAt: sentAt.getTime() } : {}
}
