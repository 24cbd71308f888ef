import http from 'node:http'
import https from 'node:https'
import type { BodyLimits } from './answer-body.ts'
import { parseBaseUrl } from './base-url.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import type { Leaving } from './leaving.ts'
import { operationPath } from './match-operation.ts'
import { isGuarded, type OpenOperation, operations } from './operations.ts'
import { isUsableToken, type ServiceToken } from './service-token.ts'
import { type OpenedAnswer, openExchange } from './streaming.ts'

export interface OpenRequest {
  readonly operation: OpenOperation
  /** One raw path segment; null for the operations whose path names no project. */
  readonly segment: string | null
  /** A raw query string without `?`; may be empty. */
  readonly search: string
  /** The caller's; those that mean something to the service go on. */
  readonly headers?: Iterable<readonly [name: string, value: string]> | undefined
  /** Goes out byte for byte. */
  readonly body?: Uint8Array | undefined
  readonly signal?: Leaving | undefined
}

/**
 * Sends an operation that consumes nothing and hands its answer on as it comes, whatever its status: redirects, 401 and
 * 421 are answers. After a 401 the token is read again, for the next request.
 *
 * One request. A GET is sent once more, on a fresh connection, if the first connection never came up, or was a kept one
 * that closed before a byte of an answer: the service closed it a moment ago.
 *
 * @throws RangeError when the operation is guarded, or segment, query or token cannot go on the wire; what `token`
 * throws. Nothing was sent then.
 */
export type Open = (request: OpenRequest) => Promise<OpenedAnswer>

export interface OpenLimits extends BodyLimits {
  /** Until the head of the answer is there, the repetition included. */
  readonly firstByteMs: number
}

/** No function on AWS lives longer than 15 minutes, nor does an answer. */
const usualLimits: OpenLimits = { firstByteMs: 30_000, idleMs: 30_000, bodyMs: 15 * 60_000 }
const maxOpenSockets = 64
/** Kept connections are short-lived: behind a frozen function they are dead without anyone knowing. */
const keptConnection = { keepAlive: true, maxSockets: maxOpenSockets, maxFreeSockets: maxOpenSockets, timeout: 10_000 }

/** @throws RangeError when `baseUrl` is not an http(s) address whose path ends in `/v3`. */
export function createOpening(options: { baseUrl: string; token: ServiceToken; limits?: Partial<OpenLimits> }): Open {
  const base = parseBaseUrl(options.baseUrl)
  const limits = { ...usualLimits, ...options.limits }
  const client = base.isSecure ? https : http
  // Not the agent of estimates: a hundred slow exports must not keep an update waiting.
  const keptConnections = new client.Agent(keptConnection)

  return async ({ operation, segment, search, headers = [], body, signal }) => {
    if (isGuarded(operation)) throw new RangeError(`${operation} is sent by the guard alone`)
    const { method } = operations[operation]
    const path = base.path + operationPath(operation, segment, search)
    const token = await options.token.read()
    if (!isUsableToken(token)) throw new RangeError('the service token is not visible ASCII')

    const sent = forwardedHeaders(headers)
    sent.authorization = `Bearer ${token}`
    sent['accept-encoding'] = 'identity'
    if (method === 'POST') sent['content-length'] = String(body?.length ?? 0)

    const attempt = async ({ fresh, withinMs }: { fresh: boolean; withinMs: number }) => {
      const request = client.request({
        host: base.host,
        port: base.port,
        path,
        method,
        agent: fresh ? false : keptConnections,
        headers: fresh ? { ...sent, connection: 'close' } : sent,
      })
      const { isSecure } = base
      const answer = await openExchange(request, { isSecure, token, content: body, withinMs, signal, limits })
      return { answer, wasKept: request.reusedSocket }
    }

    // A write on a kept connection that just died would be in doubt for nothing.
    const from = performance.now()
    const { answer: first, wasKept } = await attempt({ fresh: method === 'POST', withinMs: limits.firstByteMs })
    const isUnanswered = first.kind === 'failed' && first.cause === 'connection'
    const isRepeatable = method === 'GET' && isUnanswered && (first.sent === 'no' || wasKept)
    const leftMs = limits.firstByteMs - (performance.now() - from)
    const answer = isRepeatable ? (await attempt({ fresh: true, withinMs: leftMs })).answer : first
    if (answer.kind === 'answered' && answer.status === 401) await options.token.reread(token).catch(() => {})
    return answer
  }
}
