import type { ClientRequest, IncomingMessage } from 'node:http'
import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { isPlain } from './answer.ts'
import { type AbortSource, type BodyLimits, createAnswerBody, holdsToken } from './answer-body.ts'
import { isGuarded, type OpenOperation, operationPath, operations } from './operations.ts'
import {
  type BaseUrl,
  type FailedExchange,
  hostOf,
  isUsableToken,
  parseBaseUrl,
  portOf,
  type ServiceToken,
  watchConnection,
} from './transport.ts'

export interface OpenRequest {
  readonly operation: OpenOperation
  /** Raw. `null`: the path names no project. */
  readonly segment: string | null
  /** Raw, without `?`. */
  readonly search: string
  readonly headers?: Iterable<readonly [name: string, value: string]> | undefined
  /** Sent byte for byte. */
  readonly body?: Uint8Array | undefined
  readonly signal?: AbortSource | undefined
}

/**
 * Streams an operation that consumes nothing. After a 401 the token is read again, for the next request. A GET is sent
 * again if its connection never came up, or if a kept connection closed without an answer.
 * @throws RangeError, or an error of the token. In both cases nothing was sent.
 */
export type Forward = (request: OpenRequest) => Promise<OpenedAnswer>

export interface OpenLimits extends BodyLimits {
  /** The time until the head of the answer, including a repetition. */
  readonly firstByteMs: number
}

/** No function on AWS runs longer than `bodyMs`. */
const usualLimits: OpenLimits = { firstByteMs: 30_000, idleMs: 30_000, bodyMs: 15 * 60_000 }
const maxOpenSockets = 64
/** Connections are kept for a short time only, because connections of a frozen function close unnoticed. */
const keptConnection = { keepAlive: true, maxSockets: maxOpenSockets, maxFreeSockets: maxOpenSockets, timeout: 10_000 }

export function createForward(options: {
  baseUrl: string
  token: ServiceToken
  limits?: Partial<OpenLimits>
}): Forward {
  const base = parseBaseUrl(options.baseUrl)
  const limits = { ...usualLimits, ...options.limits }
  const client = base.isSecure ? https : http
  // Separate connections, so that a hundred slow exports do not delay an estimate.
  const keptConnections = new client.Agent(keptConnection)

  return async ({ operation, segment, search, headers = [], body, signal }) => {
    if (isGuarded(operation)) throw new RangeError(`only the guard may send ${operation}`)
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
      const answer = await openExchange(request, { base, token, content: body, withinMs, signal, limits })
      return { answer, wasKept: request.reusedSocket }
    }

    // A POST takes a fresh connection: if a kept connection just closed, the outcome of the POST would be unknown.
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

export type OpenedAnswer =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** As received, including repeated headers, hop-by-hop headers and cookies. */
      readonly headers: readonly (readonly [name: string, value: string])[]
      /**
       * Must be read or destroyed, because it holds a connection. Throws AnswerBroken if it stops early or contains the
       * service's token.
       */
      readonly body: Readable
    }
  | OpenFailure

type OpenFailure = Omit<FailedExchange, 'cause'> & {
  readonly cause: 'deadline' | 'connection' | 'protocol' | 'aborted'
}

function openExchange(
  request: ClientRequest,
  options: {
    base: BaseUrl
    token: string
    content: Uint8Array | undefined
    withinMs: number
    signal: AbortSource | undefined
    limits: BodyLimits
  },
): Promise<OpenedAnswer> {
  const { token, withinMs, signal, limits } = options
  const connection = watchConnection(request, options.base.isSecure)
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
      request.destroy() // first, so that an unsent request is never sent
      finish({ kind: 'failed', sent, cause, reason, status })
    }
    const timer = setTimeout(fail, withinMs, 'deadline', 'no answer before the deadline')
    const onAbort = () => fail('aborted', 'the caller went away')

    signal?.addEventListener('abort', onAbort)
    // A late error without a listener would end the process.
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
      const headers = pairsOf(response.rawHeaders).filter((pair) => !leadsToService(pair, options.base))
      finish({ kind: 'answered', status: response.statusCode ?? 0, headers, body })
    })
    if (signal?.aborted) return onAbort()
    request.end(options.content)
  })
}

/** A `Location` at the service's own host would lead the caller around the guard. */
function leadsToService([name, value]: readonly [name: string, value: string], { host, port }: BaseUrl): boolean {
  if (name.toLowerCase() !== 'location' || !URL.canParse(value)) return false
  const url = new URL(value)
  return hostOf(url) === host && portOf(url) === port
}

/** An encoded body could hide our token. */
function faultOf({ headers, rawHeaders }: IncomingMessage, token: string): string | null {
  if (rawHeaders.some((text) => holdsToken(text, token))) return "the answer carries the service's token"
  if (!isPlain(headers['content-encoding'])) return `it is content-encoded although identity was asked, ${unsearchable}`
  const transfer = (headers['transfer-encoding'] || 'chunked').toLowerCase()
  return transfer === 'chunked' ? null : `its transfer is encoded although that was not asked, ${unsearchable}`
}

const unsearchable =
  'so the guard cannot search it for its token: turn off forced compression at the service or its proxy'

/** Node's raw headers are names and values in turn. */
export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [name: string, value: string][] = []
  for (let at = 0; at < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? ''])
  return pairs
}

/** Never the caller's token and cookies. With `Accept-Encoding` or `Range`, the answer could hide our token. */
const forwarded: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'user-agent',
])

/** RFC 9110, section 5.5. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** RFC 9110, section 5.3. */
function forwardedHeaders(given: Iterable<readonly [name: string, value: string]>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [anyCase, value] of given) {
    const name = anyCase.toLowerCase()
    if (!forwarded.has(name) || !headerValue.test(value)) continue
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
