import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import http from 'node:http'
import https from 'node:https'

/** An endless body must not fill the memory. */
export const maxAnswerBytes = 1024 * 1024
const maxReadSockets = 16

export interface AnsweredExchange {
  readonly kind: 'answered'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface FailedExchange {
  readonly kind: 'failed'
  /** `no` proves that the connection never came up. */
  readonly sent: 'no' | 'maybe'
  readonly cause: 'deadline' | 'connection' | 'too-large' | 'protocol'
  /** Contains no address, no secret and no text of the service. */
  readonly reason: string
  readonly status: number | null
}

export type Exchange = AnsweredExchange | FailedExchange

export const isSuccess = (status: number): boolean => status >= 200 && status <= 299

export interface Transport {
  /**
   * Sends at most one GET, whatever the answer. `fresh` uses a new connection, because only its failure can prove that
   * nothing was sent. `onSend` is called when the request has a socket.
   * @throws RangeError for an unusable token. Nothing was sent.
   */
  get(request: {
    path: string
    token: string
    fresh: boolean
    deadline: AbortSignal
    onSend?: () => void
  }): Promise<Exchange>
}

/**
 * Does not use fetch, which repeats a request after a 421, and follows redirects with the token.
 * @throws RangeError for a malformed `baseUrl`.
 */
export function createTransport(baseUrl: string): Transport {
  const base = parseBaseUrl(baseUrl)
  const client = base.isSecure ? https : http
  const keptConnections = new client.Agent({ keepAlive: true, maxSockets: maxReadSockets })
  return {
    async get({ path, token, fresh, deadline, onSend }) {
      if (!isUsableToken(token)) throw new RangeError('the service token is not visible ASCII')
      if (deadline.aborted) return overdue(null)
      const request = client.request({
        host: base.host,
        port: base.port,
        path: base.path + path,
        method: 'GET',
        agent: fresh ? false : keptConnections,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          'accept-encoding': 'identity',
          // An answer of a cache would show an old price, or a run that was not sent.
          'cache-control': 'no-cache, no-store',
          pragma: 'no-cache',
          ...(fresh && { connection: 'close' }),
        },
      })
      if (onSend) request.once('socket', onSend)
      return exchange(request, { isSecure: base.isSecure, deadline })
    },
  }
}

function exchange(
  request: ClientRequest,
  { isSecure, deadline }: { isSecure: boolean; deadline: AbortSignal },
): Promise<Exchange> {
  const connection = watchConnection(request, isSecure)
  return new Promise((resolve) => {
    let status: number | null = null
    let isOver = false

    function finish(result: Exchange): void {
      if (isOver) return
      isOver = true
      deadline.removeEventListener('abort', onDeadline)
      if (result.kind === 'failed') request.destroy()
      resolve(result)
    }
    const fail = (cause: FailedExchange['cause'], reason: string) => {
      const provablyUnsent = cause === 'connection' && !connection.isUsable()
      finish({ kind: 'failed', sent: provablyUnsent ? 'no' : 'maybe', cause, reason, status })
    }
    const onDeadline = () => finish(overdue(status))
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code?.startsWith('HPE_')) fail('protocol', 'the answer is not HTTP')
      else fail('connection', connection.describe(error))
    }

    deadline.addEventListener('abort', onDeadline)
    // A late error without a listener would end the process.
    request.on('error', onError)
    request.on('close', () => {
      // After the head of an answer, a closed connection is no failure here, because the body may still be read.
      if (status === null) fail('connection', 'the connection closed without an answer')
    })
    request.on('upgrade', (response, socket) => {
      status = response.statusCode ?? null
      socket.destroy()
      fail('protocol', 'the service switched protocols')
    })
    request.on('response', (response) => {
      status = response.statusCode ?? null
      response.on('error', onError)
      response.on('close', () => fail('connection', 'the connection closed in the middle of the answer'))
      collect(response, (body) => {
        if (body === 'too-large') fail('too-large', `the answer is larger than ${maxAnswerBytes} bytes`)
        else finish({ kind: 'answered', status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
    request.end()
  })
}

function collect(response: IncomingMessage, done: (body: Buffer | 'too-large') => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxAnswerBytes) return done('too-large')
    chunks.push(chunk)
  })
  response.on('end', () => done(Buffer.concat(chunks)))
}

/** A missed deadline does not prove that the update did not run. */
const overdue = (status: number | null): FailedExchange => ({
  kind: 'failed',
  sent: 'maybe',
  cause: 'deadline',
  reason: 'no whole answer before the deadline',
  status,
})

export interface Connection {
  /** True if a byte of the request may have been sent. */
  isUsable(): boolean
  describe(error: NodeJS.ErrnoException): string
}

/** Node sends a request only after TCP and TLS are up, so an earlier error proves that nothing was sent. */
export function watchConnection(request: ClientRequest, isSecure: boolean): Connection {
  let progress: 'none' | 'connected' | 'usable' = 'none'
  request.once('socket', (socket) => {
    if (!socket.connecting) {
      progress = 'usable' // a kept connection
      return
    }
    socket.once('connect', () => {
      progress = isSecure ? 'connected' : 'usable'
    })
    socket.once('secureConnect', () => {
      progress = 'usable'
    })
  })
  return {
    isUsable: () => progress === 'usable',
    describe: (error) => (progress === 'connected' ? 'TLS refused' : describeCode(error.code)),
  }
}

function describeCode(code: string | undefined): string {
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'name not resolved'
    case 'ECONNREFUSED':
      return 'connection refused'
    case 'ECONNRESET':
      return 'connection reset'
    default:
      return `connection failed (${code ?? 'no code'})`
  }
}

export interface BaseUrl {
  readonly isSecure: boolean
  readonly host: string
  readonly port: number
  readonly path: string
}

/**
 * @throws RangeError unless `text` is http(s), ends in `/v3`, and has no credentials, query or fragment. The message
 * hides the address, which may hold a password.
 */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : null
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  const path = url?.pathname.replace(/\/$/, '')
  const hasMore = Boolean(url?.username || url?.password || url?.search || url?.hash)
  if (!url || !path || !isHttp || hasMore || !path.endsWith('/v3')) {
    throw new RangeError('the base address must be http(s), end in /v3 and hold no credentials, query or fragment')
  }
  return { isSecure: url.protocol === 'https:', host: hostOf(url), port: portOf(url), path }
}

/** Without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80)

/** setTimeout turns a longer delay into one millisecond. */
const maxTimeoutMs = 2 ** 31 - 1

/** @throws RangeError for an impossible timeout. */
export async function withDeadline<T>(timeoutMs: number, use: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  if (!(timeoutMs >= 1 && timeoutMs <= maxTimeoutMs)) throw new RangeError(`not a timeout: ${timeoutMs} ms`)
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), timeoutMs)
  try {
    return await use(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Both functions throw if the token is missing. */
export interface ServiceToken {
  read(): Promise<string>
  /** Called after a 401. May return the same token. */
  reread(refused: string): Promise<string>
}

/** Other characters would break the header. */
export const isUsableToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

/** Cached, because every header of every answer is searched for these forms. */
let latest: { readonly token: string; readonly forms: readonly string[] } | undefined

export function tokenForms(token: string): readonly string[] {
  if (latest?.token !== token) latest = { token, forms: formsOf(token) }
  return latest.forms
}

function formsOf(token: string): readonly string[] {
  const inJson = JSON.stringify(token).slice(1, -1)
  const withEscapedSlashes = inJson.replaceAll('/', '\\/')
  return [...new Set([token, inJson, withEscapedSlashes, encodeURIComponent(token)])]
}

export type Redact = (text: string) => string

export function redactorOf(token: string): Redact {
  const forms = tokenForms(token)
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text)
}
