import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { Context } from 'hono'
import { problem } from '../../../shared/guard/problems.ts'
import { alreadySent } from '../../../shared/platform/already-sent.ts'
import type { OpenedAnswer } from '../../../shared/tracking/forward.ts'
import type { ApiEnv } from '../context.ts'
import { answerProblem } from '../route.ts'

type ServiceAnswer = Extract<OpenedAnswer, { kind: 'answered' }>

/** A `Response` can have no other status. */
export const isPassable = (status: number): boolean => status >= 200 && status <= 599

export async function passOn(
  c: Context<ApiEnv>,
  { status, headers: serviceHeaders, body }: ServiceAnswer,
): Promise<Response> {
  if (!isPassable(status)) {
    body.destroy()
    return answerBroken(c)
  }
  const headers = headersToPassOn(serviceHeaders)
  headers.push('X-Request-Id', c.get('requestId'))
  // Buffering a small answer is cheaper, and the caller gets a problem if the answer breaks off.
  const content = contentLengthOf(serviceHeaders) <= maxBufferedBytes ? await bytesOf(body).catch(() => null) : body
  if (content === null) return answerBroken(c)
  return send(c, status, headers, content)
}

/** Hands on status, type and body of the service's stored answer, and none of its other headers. */
export function answerFromRecord(
  c: Context<ApiEnv>,
  record: { status: number; contentType: string | null; body: string },
): Promise<Response> {
  const { status, contentType } = record
  const body = Buffer.from(statusesWithoutBody.has(status) ? '' : record.body)
  const { headers } = c.body(null) // copies the headers set so far
  headers.set('X-Request-Id', c.get('requestId'))
  headers.set('Cache-Control', 'no-store')
  if (contentType !== null) headers.set('Content-Type', contentType)
  if (!statusesWithoutBody.has(status)) headers.set('Content-Length', String(body.length))
  return send(c, status, [...headers].flat(), body)
}

/** Does not use `c.body`, which would add a content type that the service did not send. */
async function send(
  c: Context<ApiEnv>,
  status: number,
  headers: string[],
  content: Buffer<ArrayBuffer> | Readable,
): Promise<Response> {
  const outgoing = c.env?.outgoing
  const response = outgoing ? await sendOn(outgoing, status, headers, content) : toResponse(status, headers, content)
  c.set('passedOn', status)
  return response
}

/**
 * Dropped: headers of one connection (RFC 9110, section 7.6.1), of the service's site, and headers that the guard sets.
 * Encoded bodies are refused before, so a `Content-Encoding` here names none, such as `utf-8`, which confuses clients.
 */
const droppedHeaders: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-encoding',
  'content-security-policy',
  'content-security-policy-report-only',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'expect-ct',
  'idempotency-replayed',
  'keep-alive',
  'nel',
  'origin-agent-cluster',
  'permissions-policy',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'public-key-pins',
  'referrer-policy',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-frame-options',
  'x-request-id',
])
/** Also dropped: headers of the guard, and CORS headers, which speak for the whole origin. */
const droppedFamilies = /^(?:unit-guard|access-control)-/

/** Returns one flat list: name, value, name, value, as `writeHead` expects it. */
function headersToPassOn(serviceHeaders: ServiceAnswer['headers']): string[] {
  const connectionHeaders = serviceHeaders
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
  const headers: string[] = []
  for (const [name, value] of serviceHeaders) {
    const lower = name.toLowerCase()
    const isDropped = droppedHeaders.has(lower) || droppedFamilies.test(lower) || connectionHeaders.includes(lower)
    if (!isDropped) headers.push(name, value)
  }
  return headers
}

const maxBufferedBytes = 64 * 1024

/** Returns NaN if the header is missing. */
function contentLengthOf(headers: ServiceAnswer['headers']): number {
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')
  return Number(length?.[1] ?? Number.NaN)
}

/** Reads with events, because an iterator costs too much for one chunk. */
const bytesOf = (body: Readable) =>
  new Promise<Buffer<ArrayBuffer>>((resolve, reject) => {
    if (body.destroyed) reject(body.errored) // a stream emits its error only once
    const chunks: Buffer[] = []
    body.on('data', (chunk) => chunks.push(chunk))
    body.on('end', () => resolve(Buffer.concat(chunks)))
    body.on('error', reject)
  })

/** Writes to node's response directly, because a `Response` in between costs time. */
function sendOn(
  outgoing: ServerResponse,
  status: number,
  headers: string[],
  content: Buffer | Readable,
): Promise<Response> {
  outgoing.writeHead(status, headers)
  if (Buffer.isBuffer(content)) outgoing.end(content)
  else {
    outgoing.flushHeaders()
    // Each stream closes the other: half an answer must not look complete, and a client that left needs no more data.
    pipeline(content, outgoing, () => {})
  }
  return alreadySent()
}

function toResponse(status: number, flat: string[], content: Buffer<ArrayBuffer> | Readable): Response {
  const headers = new Headers()
  for (let at = 0; at < flat.length; at += 2) headers.append(flat[at] ?? '', flat[at + 1] ?? '')
  if (statusesWithoutBody.has(status)) {
    if (!Buffer.isBuffer(content)) content.resume()
    return new Response(null, { status, headers })
  }
  const body = Readable.toWeb(Readable.from(withLeadingChunk(content))) as ReadableStream
  return new Response(body, { status, headers })
}

/** Yields an empty chunk first: Lambda sends the head with the first write, and the content may be empty. */
async function* withLeadingChunk(content: Buffer<ArrayBuffer> | Readable): AsyncGenerator<Uint8Array> {
  yield new Uint8Array()
  if (Buffer.isBuffer(content)) yield content
  else yield* content
}

/** A `Response` with one of these statuses must have no body (Fetch, "null body status"). */
const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304])

function answerBroken(c: Context<ApiEnv>): Response {
  const detail = 'The service’s answer was incomplete, or cannot be passed on.'
  return answerProblem(c, problem('service-unreachable', detail, { serviceStatus: null }))
}
