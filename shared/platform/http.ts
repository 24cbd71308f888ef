import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import type { Context, LambdaFunctionURLEvent, StreamifyHandler } from 'aws-lambda'
import type { Env, Hono } from 'hono'
import { hourMs, minuteMs } from './clock.ts'
import { systemIds } from './ids.ts'
import { type FunctionName, inInvocation, type Log } from './log.ts'

/** A reader that stops for longer is cut off, because it holds memory, a connection, and on Lambda the function. */
export const maxPauseMs = minuteMs

/**
 * If an answer breaks, or its reader leaves or stops, the handler throws. The handler must not destroy the runtime's stream, which would end the
 * process. It must not end the stream either, because half an answer would look whole.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-custom.html#runtimes-custom-response-streaming
 */
export function streamAnswers<E extends Env>(
  name: FunctionName,
  app: Hono<E>,
  log: Log,
  { pauseMs = maxPauseMs }: { readonly pauseMs?: number } = {},
): StreamifyHandler<LambdaFunctionURLEvent> {
  return awslambda.streamifyResponse<LambdaFunctionURLEvent>((event, stream, context) => {
    // The body is read after the app has answered, and log lines about the body must have the same id.
    const requestId = systemIds.random()
    return inInvocation({ function: name, requestId, lambdaRequestId: context.awsRequestId }, async () => {
      const answer = await answerOf(app, { event, context, requestId })
      const out = awslambda.HttpResponseStream.from(stream, headOf(answer))
      try {
        const isEmpty = answer.body === null || !(await writeAll(answer.body, out, pauseMs))
        // The head is sent with the first write.
        if (isEmpty) out.write('')
      } catch (cause) {
        log.error('answer-broken', { cause })
        throw new Error('the answer broke in its middle')
      }
      out.end()
    })
  })
}

/** @returns whether the body had any chunk. @throws Error if the body breaks, or its reader leaves or stops. */
async function writeAll(body: ReadableStream<Uint8Array>, out: Writable, pauseMs: number): Promise<boolean> {
  const reader = body.getReader()
  let isWritten = false
  // Ends a pending read, so that nothing more is produced for a reader that left.
  const stop = () => void reader.cancel().catch(() => {})
  out.once('close', stop)
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (out.destroyed) throw new Error('the reader left')
      if (done) return isWritten
      isWritten = true
      if (!out.write(value)) await drained(out, pauseMs)
    }
  } finally {
    out.off('close', stop)
    stop()
  }
}

function drained(out: Writable, pauseMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(settle, pauseMs)
    out.on('drain', settle).on('close', settle)
    function settle(): void {
      clearTimeout(timer)
      out.off('drain', settle).off('close', settle)
      if (out.destroyed) reject(new Error('the reader left'))
      else if (out.writableNeedDrain) reject(new Error('the reader stopped reading'))
      else resolve()
    }
  })
}

function answerOf<E extends Env>(
  app: Hono<E>,
  platform: { event: LambdaFunctionURLEvent; context: Context; requestId: string },
): Response | Promise<Response> {
  let request: Request
  try {
    request = requestOf(platform.event)
  } catch {
    return new Response('Bad Request\n', { status: 400, headers: { 'content-type': 'text/plain; charset=utf-8' } })
  }
  return app.fetch(request, platform as unknown as E['Bindings'])
}

/** @throws TypeError */
function requestOf(event: LambdaFunctionURLEvent): Request {
  const { rawPath, rawQueryString, cookies = [], body, isBase64Encoded, requestContext } = event
  const { method } = requestContext.http
  const headers = new Headers()
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
  for (const [name, value] of Object.entries(event.headers)) if (value) headers.set(name, toLatin(value))
  const hasBody = body !== undefined && body !== '' && method !== 'GET' && method !== 'HEAD'
  const search = rawQueryString ? `?${rawQueryString}` : ''
  return new Request(`https://${requestContext.domainName}${rawPath}${search}`, {
    method,
    headers,
    ...(hasBody && { body: isBase64Encoded ? Buffer.from(body, 'base64') : body }),
  })
}

/** Lambda passes UTF-8, which `Headers` refuses. */
const toLatin = (value: string): string => (/^[\0-\x7f]*$/.test(value) ? value : encodeURIComponent(value))

function headOf(answer: Response) {
  const headers: Record<string, string> = {}
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') headers[name] = value
  return { statusCode: answer.status, headers, cookies: answer.headers.getSetCookie() }
}

export interface Platform {
  /** Present on one machine. */
  readonly incoming?: IncomingMessage
  /** Present on Lambda. */
  readonly event?: {
    readonly rawPath: string
    readonly rawQueryString: string
    readonly requestContext?: { readonly http: { readonly sourceIp: string } }
  }
  /** On Lambda, where answers are streamed. */
  readonly requestId?: string
}

/** The address that the platform saw. A header does not count, because a caller may write any value. */
export const sourceIpOf = ({ event }: Platform = {}): string | undefined => event?.requestContext?.http.sourceIp

/** The target as it was sent. URL parsers normalize paths and queries (`/v3/../updates`, `%7e`). */
export function rawTargetOf({ url }: Request, { incoming, event }: Platform = {}) {
  const [path = '', ...rest] = (incoming?.url ?? targetOf(event) ?? withoutOrigin(url)).split('?')
  return { path, search: rest.join('?') }
}

/** Decodes letters, but does not normalize the path. */
export function rawPathOf(request: Request, { env }: { readonly env?: Platform } = {}): string {
  const { path } = rawTargetOf(request, env)
  try {
    // Names are decoded again when they are read, so `%25` must stay.
    return path.includes('%') ? decodeURI(path.replaceAll('%25', '%2525')) : path
  } catch {
    return path
  }
}

function targetOf(event: Platform['event']): string | undefined {
  return event?.rawQueryString ? `${event.rawPath}?${event.rawQueryString}` : event?.rawPath
}

const withoutOrigin = (url: string): string => url.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/#.*$/, '')

interface RequestContext {
  readonly req: { readonly raw: Request }
  readonly env?: Platform
}

/** `cut`: the body ended too early. */
export async function readWhole(
  { req, env }: RequestContext,
  maxBytes: number,
): Promise<Uint8Array | 'too-large' | 'cut'> {
  const { headers, body } = req.raw
  if (Number(headers.get('content-length') ?? 0) > maxBytes) return 'too-large'
  const isCut = () => body !== null && env?.incoming?.complete === false
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length
      if (length > maxBytes) return 'too-large'
      chunks.push(chunk)
    }
  } catch (error) {
    if (isCut()) return 'cut'
    throw error
  }
  // A body that was cut before the first read looks like an empty one.
  return isCut() ? 'cut' : Buffer.concat(chunks)
}

export const isLoopback = (hostname: string): boolean => ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)

const minRetryAfterMs = 1_000
const maxRetryAfterMs = hourMs

/**
 * @param header seconds, or a date.
 * @see RFC 9110, section 10.2.3; https://docs.slack.dev/apis/web-api/rate-limits
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const isSeconds = /^\d+$/.test(text)
  // Date.parse reads nearly any text as a date.
  if (!isSeconds && !/^\w{3}, .* GMT$/.test(text)) return null
  const ms = isSeconds ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, minRetryAfterMs), maxRetryAfterMs)
}
