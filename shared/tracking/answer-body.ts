import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Leaving } from './leaving.ts'
import { createTokenFilter } from './token-filter.ts'

const reasons = {
  connection: 'the connection closed in the middle of the answer',
  idle: 'the service stopped in the middle of the answer',
  overlong: 'the answer took too long',
  token: "the answer carries the service's token",
  aborted: 'whoever asked went away',
} as const

/** Why a body ended before its end. Whoever passes the body on has to break off too, or half would look whole. */
export class AnswerBroken extends Error {
  override readonly name = 'AnswerBroken'
  constructor(readonly why: keyof typeof reasons) {
    super(reasons[why])
  }
}

export interface BodyLimits {
  /** How long the service may say nothing while more is wanted. A slow reader of ours does not count against it. */
  readonly idleMs: number
  /** How long the body may take as a whole, slow readers included: each holds a connection. */
  readonly bodyMs: number
}

/** What is kept for a reader that is slower than the service. */
const bufferBytes = 64 * 1024

/**
 * The body of an answer as it comes, at the pace of its reader, without the service's token: where that appears the
 * body breaks off. Destroying it calls `abandon`, unless the answer is at its end.
 */
export function createAnswerBody(
  response: IncomingMessage,
  options: { token: string; limits: BodyLimits; signal: Leaving | undefined; abandon: () => void },
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

  body.on('error', () => {}) // it may come when nobody listens any more, or not yet
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
