import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { tokenForms } from './transport.ts'

const reasons = {
  connection: 'the connection closed in the middle of the answer',
  idle: 'the service stopped in the middle of the answer',
  overlong: 'the answer took too long',
  token: "the answer carries the service's token",
  aborted: 'the caller went away',
} as const

/** The body stopped early. The reader of the body must fail, too, because half a body may look whole. */
export class AnswerBroken extends Error {
  override readonly name = 'AnswerBroken'
  constructor(readonly why: keyof typeof reasons) {
    super(reasons[why])
  }
}

/** The part of AbortSignal that is used here. A real AbortSignal costs twice as much as the log line of a request. */
export interface AbortSource {
  readonly aborted: boolean
  addEventListener(type: 'abort', act: () => void): void
  removeEventListener(type: 'abort', act: () => void): void
}

export interface BodyLimits {
  /** The longest time without data while the reader waits. */
  readonly idleMs: number
  /** The longest time for a whole body. It also limits slow readers, because each holds a connection. */
  readonly bodyMs: number
}

const bufferBytes = 64 * 1024

/** Streams the body at its reader's pace. Stops before the service's token, and calls `abandon` if the body ends early. */
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
  /** Returns the bytes that cannot belong to the token. `null`: the token was found, and no byte of it was passed. */
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

/** Finds where the end of `bytes` may be the beginning of `form`. Otherwise returns the length of `bytes`. */
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
