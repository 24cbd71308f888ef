import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { fromUtf8, isObject, type Json } from '../platform/json.ts'
import { type AnsweredExchange, type Redact, redactorOf, tokenForms } from './transport.ts'

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

/** Redacted before the cut: half a token would not be found. */
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

/** The vendor documents no failures, so `response_code` and `error` are conventions. */
export function isErrorEnvelope(value: Json): boolean {
  if (!isObject(value)) return false
  const code = Object.hasOwn(value, 'response_code') ? value.response_code : null
  if (!isZero(code) && code !== null) return true
  return Object.hasOwn(value, 'error') && saysSomething(value.error)
}

/** An error beside success proves nothing. */
export const saysItWentWell = (value: Json): boolean =>
  isObject(value) && Object.hasOwn(value, 'response_code') && isZero(value.response_code)

const isZero = (code: Json | undefined): boolean => code === 0 || code === '0'

/** Strict JSON bounds the recursion. */
export function holdsErrorEnvelope(value: Json): boolean {
  if (isErrorEnvelope(value)) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(holdsErrorEnvelope)
}

function saysSomething(error: Json | undefined): boolean {
  if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0
  return Boolean(error)
}

const reasons = {
  connection: 'the connection closed in the middle of the answer',
  idle: 'the service stopped in the middle of the answer',
  overlong: 'the answer took too long',
  token: "the answer carries the service's token",
  aborted: 'the caller went away',
} as const

/** A reader must break off too, or half a body looks whole. */
export class AnswerBroken extends Error {
  override readonly name = 'AnswerBroken'
  constructor(readonly why: keyof typeof reasons) {
    super(reasons[why])
  }
}

/** An AbortSignal costs twice the log line of a request. */
export interface AbortSource {
  readonly aborted: boolean
  addEventListener(type: 'abort', act: () => void): void
  removeEventListener(type: 'abort', act: () => void): void
}

export interface BodyLimits {
  /** The longest silence while more is wanted. */
  readonly idleMs: number
  /** Slow readers included: each holds a connection. */
  readonly bodyMs: number
}

const bufferBytes = 64 * 1024

/** At its reader's pace, up to the service's token. Destroying it early calls `abandon`. */
export function createAnswerBody(
  response: IncomingMessage,
  options: { token: string; limits: BodyLimits; signal: AbortSource | undefined; abandon: () => void },
): Readable {
  const { token, limits, signal, abandon } = options
  const filter = createTokenFilter(token)
  let isWhole = false
  let idleTimer: NodeJS.Timeout | undefined

  const body = new Readable({
    highWaterMark: bufferBytes,
    read() {
      if (isWhole) return
      watchIdle()
      response.resume()
    },
    destroy(error, done) {
      clearTimeout(idleTimer)
      clearTimeout(bodyTimer)
      signal?.removeEventListener('abort', onAbort)
      if (!isWhole) abandon()
      done(error)
    },
  })
  const breakOff = (why: AnswerBroken['why']) => void body.destroy(new AnswerBroken(why))
  const onAbort = () => breakOff('aborted')
  const bodyTimer = setTimeout(breakOff, limits.bodyMs, 'overlong')
  const watchIdle = () => {
    clearTimeout(idleTimer)
    idleTimer = setTimeout(breakOff, limits.idleMs, 'idle')
  }

  body.on('error', () => {}) // errors may come before the first listener
  signal?.addEventListener('abort', onAbort)
  response.pause()
  response.on('data', (chunk: Buffer) => {
    const passed = filter.pass(chunk)
    if (passed === null) return breakOff('token')
    watchIdle()
    if (passed.length === 0 || body.push(passed)) return
    clearTimeout(idleTimer)
    response.pause()
  })
  response.on('end', () => {
    isWhole = true
    clearTimeout(idleTimer)
    body.push(filter.end())
    body.push(null)
  })
  response.on('error', () => breakOff('connection'))
  response.on('close', () => isWhole || breakOff('connection'))
  return body
}

export interface TokenFilter {
  /** `null`: the token is there, and no byte of it was passed. */
  pass(chunk: Buffer): Buffer | null
  end(): Buffer
}

export function createTokenFilter(token: string): TokenFilter {
  const forms = tokenForms(token).map((form) => Buffer.from(form))
  let kept: Buffer = Buffer.alloc(0)
  return {
    pass(chunk) {
      const bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      if (forms.some((form) => bytes.includes(form))) return null
      const end = Math.min(...forms.map((form) => startOfPart(bytes, form)))
      kept = Buffer.from(bytes.subarray(end)) // a view would hold the whole chunk
      return bytes.subarray(0, end)
    },
    end: () => kept,
  }
}

/** The index where `form` may start at the end of `bytes`; otherwise the length. */
function startOfPart(bytes: Buffer, form: Buffer): number {
  const first = form.readUInt8()
  let at = bytes.indexOf(first, Math.max(0, bytes.length - form.length + 1))
  while (at !== -1) {
    if (bytes.compare(form, 0, bytes.length - at, at) === 0) return at
    at = bytes.indexOf(first, at + 1)
  }
  return bytes.length
}

export function holdsToken(text: string, token: string): boolean {
  return tokenForms(token).some((form) => text.includes(form))
}
