import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { type BodyLimits, createAnswerBody } from './answer-body.ts'
import { watchConnection } from './connection.ts'
import type { Leaving } from './leaving.ts'
import { holdsToken } from './token-filter.ts'
import type { Failed } from './transport.ts'

export type OpenedAnswer =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** As they came: names in their own case, repeated ones apart, hop-by-hop ones and cookies included. */
      readonly headers: readonly (readonly [name: string, value: string])[]
      /**
       * Has to be read to its end or destroyed: it holds a connection. It ends with AnswerBroken where the answer does
       * not come whole, or carries the service's token.
       */
      readonly body: Readable
    }
  | OpenFailure

/** `sent` is `no` where the connection never came up, whatever ended the wait. */
type OpenFailure = Omit<Failed, 'cause'> & { readonly cause: 'deadline' | 'connection' | 'protocol' | 'aborted' }

/**
 * Sends a prepared request once and resolves with the head of its answer. `withinMs` counts until then; after that the
 * body has limits of its own. `signal` ends either, and with it the connection.
 */
export function openExchange(
  request: ClientRequest,
  options: {
    isSecure: boolean
    token: string
    content: Uint8Array | undefined
    withinMs: number
    signal: Leaving | undefined
    limits: BodyLimits
  },
): Promise<OpenedAnswer> {
  const { token, withinMs, signal, limits } = options
  const connection = watchConnection(request, options.isSecure)
  return new Promise((resolve) => {
    let isOver = false
    function finish(answer: OpenedAnswer): void {
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(answer)
    }
    function fail(cause: OpenFailure['cause'], reason: string, status: number | null = null): void {
      if (isOver) return
      const sent = connection.isUsable() ? 'maybe' : 'no'
      request.destroy() // before anybody knows: what was not sent yet never will be
      finish({ kind: 'failed', sent, cause, reason, status })
    }
    const timer = setTimeout(fail, withinMs, 'deadline', 'no answer before the deadline')
    const onAbort = () => fail('aborted', 'whoever asked went away')

    signal?.addEventListener('abort', onAbort)
    // The listeners stay after the end: a late error without one would take the process down.
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('HPE_')) fail('protocol', 'the answer is not HTTP')
      else fail('connection', connection.describe(error))
    })
    request.on('close', () => fail('connection', 'the connection closed without an answer'))
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      fail('protocol', 'the service switched protocols', response.statusCode ?? null)
    })
    request.on('response', (response) => {
      if (isOver) return
      const fault = faultOf(response, token)
      if (fault !== null) return fail('protocol', fault, response.statusCode ?? null)
      const body = createAnswerBody(response, { token, limits, signal, abandon: () => request.destroy() })
      finish({ kind: 'answered', status: response.statusCode ?? 0, headers: pairsOf(response.rawHeaders), body })
    })
    if (signal?.aborted) return onAbort()
    request.end(options.content)
  })
}

/** Why an answer cannot be passed on; it is not even begun then. */
function faultOf({ headers, rawHeaders }: IncomingMessage, token: string): string | null {
  if (rawHeaders.some((text) => holdsToken(text, token))) return "the answer carries the service's token"
  const isEncoded =
    (headers['content-encoding'] || 'identity').toLowerCase() !== 'identity' ||
    (headers['transfer-encoding'] || 'chunked').toLowerCase() !== 'chunked'
  // We asked for identity. Inside of an encoded body nobody would see our token.
  return isEncoded ? 'the body is encoded' : null
}

/** Headers of node, which come as names and values in turn. */
export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [name: string, value: string][] = []
  for (let at = 0; at < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? ''])
  return pairs
}
