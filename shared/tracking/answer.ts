import { fromUtf8, isObject, type Json } from '../platform/json.ts'
import { type AnsweredExchange, type Redact, redactorOf } from './transport.ts'

export interface StoredBody {
  readonly status: number
  readonly contentType: string | null
  /** At most 16 KiB, without the token. */
  readonly body: string
  readonly truncated: boolean
}

export type BodyText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

const maxStoredBytes = 16 * 1024
const maxContentTypeLength = 200

export function textOf(answer: AnsweredExchange): BodyText {
  const encoding = answer.headers['content-encoding'] || 'identity'
  if (encoding.toLowerCase() !== 'identity') return { ok: false, reason: 'the body is content-encoded' }
  const text = fromUtf8(answer.body)
  return text === null ? { ok: false, reason: 'the body is not UTF-8' } : { ok: true, text }
}

/** Redacts before it cuts, because half a token would not be found. */
export function storedBodyOf(answer: AnsweredExchange, token: string): StoredBody {
  const redact = redactorOf(token)
  const { text, truncated } = cut(redact(answer.body.toString('utf8')), maxStoredBytes)
  return { status: answer.status, contentType: contentTypeOf(answer, redact), body: text, truncated }
}

function contentTypeOf(answer: AnsweredExchange, redact: Redact): string | null {
  const contentType = answer.headers['content-type']
  return contentType === undefined ? null : redact(contentType).slice(0, maxContentTypeLength)
}

/** A decoder in stream mode holds back an unfinished character. */
function cut(text: string, maxBytes: number): { text: string; truncated: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return { text, truncated: false }
  const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), { stream: true })
  return { text: start, truncated: true }
}

/** The vendor documents no failures, so this assumes the usual members `response_code` and `error`. */
export function isErrorEnvelope(value: Json): boolean {
  if (!isObject(value)) return false
  const code = Object.hasOwn(value, 'response_code') ? value.response_code : null
  if (!isZero(code) && code !== null) return true
  return Object.hasOwn(value, 'error') && saysSomething(value.error)
}

/** True for the `response_code` of a success. If an error is beside the code, the answer proves nothing. */
export const saysItWentWell = (value: Json): boolean =>
  isObject(value) && Object.hasOwn(value, 'response_code') && isZero(value.response_code)

const isZero = (code: Json | undefined): boolean => code === 0 || code === '0'

/** Strict JSON limits the depth of the recursion. */
export function holdsErrorEnvelope(value: Json): boolean {
  if (isErrorEnvelope(value)) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(holdsErrorEnvelope)
}

function saysSomething(error: Json | undefined): boolean {
  if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0
  return Boolean(error)
}
