import { parseLenientJson, parseStrictJson } from '../platform/json.ts'
import { isErrorEnvelope, type StoredBody, saysItWentWell, storedBodyOf, textOf } from './answer.ts'
import { integerOf, type JsonPointer, pointerSource, readUnits, resolvePointer } from './read-units.ts'
import { type Answered, type Exchange, isSuccess } from './transport.ts'

/** What a run's answer says about the units it took. Not the last word: the guard judges it against the hold. */
export interface StatedUnits {
  /** A safe integer; may be negative. */
  readonly units: number
  readonly source: string
  /** True when a configured pointer named it, false when a well-known name did. */
  readonly byPointer: boolean
}

export type RunResult =
  | { readonly kind: 'ran'; readonly stated: StatedUnits | null; readonly answer: StoredBody }
  | ({ readonly kind: 'did-not-run' } & WhyNotRan)
  | ({ readonly kind: 'unknown' } & WhyNotRan)

interface WhyNotRan {
  /** Holds no address, no token and nothing that the service wrote. */
  readonly reason: string
  readonly status: number | null
  /** Null when no whole answer came. */
  readonly answer: StoredBody | null
}

/** Statuses with which the service says that it refused the request. 408, 409 and 421 do not say so. */
const refusals: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 410, 422, 429])

/**
 * Whether the units of a run were consumed, judged by its one exchange (docs/architecture.md).
 *
 * `did-not-run` gives units back, so it needs proof; `ran` charges them; everything else is `unknown` and stays
 * counted. The vendor documents neither success nor error bodies.
 */
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

/** The body of a 2xx. */
function judgeBody(answer: Answered, pointer: JsonPointer | undefined): Judgement {
  const body = textOf(answer)
  if (!body.ok) return { kind: 'unknown', reason: body.reason }
  if (body.text.trim() === '') return { kind: 'ran', stated: null }
  const value = parseLenientJson(body.text)
  if (value === undefined) return { kind: 'unknown', reason: 'the body is neither JSON nor empty' }
  if (!isErrorEnvelope(value)) return { kind: 'ran', stated: readStated(body.text, pointer) }
  // A repeated name, with and without an error, proves nothing.
  if (!parseStrictJson(body.text).ok) return { kind: 'unknown', reason: 'the body is an ambiguous error envelope' }
  if (saysItWentWell(value))
    return { kind: 'unknown', reason: 'the body says both that it went well and that it failed' }
  return { kind: 'did-not-run', reason: `an error envelope with status ${answer.status}` }
}

/** Null: the hold is charged. */
function readStated(text: string, pointer: JsonPointer | undefined): StatedUnits | null {
  if (pointer === undefined) {
    const reading = readUnits(text, undefined)
    return reading.kind === 'units' ? { units: reading.units, source: reading.source, byPointer: false } : null
  }
  const json = parseStrictJson(text)
  const units = json.ok ? integerOf(resolvePointer(json.value, pointer)) : null
  return units === null ? null : { units, source: pointerSource(pointer), byPointer: true }
}
