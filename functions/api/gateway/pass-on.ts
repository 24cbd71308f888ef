import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { Context } from 'hono'
import { problem } from '../../../shared/guard/problems.ts'
import { alreadySent } from '../../../shared/platform/already-sent.ts'
import type { OpenedAnswer } from '../../../shared/tracking/forward.ts'
import type { ApiEnv } from '../context.ts'
import { answerProblem } from '../route.ts'

type ServiceAnswer = Extract<OpenedAnswer, { kind: 'answered' }>

/** Answers with the service's status, bytes and the headers meant for the caller. */
export async function passOn(c: Context<ApiEnv>, { status, headers: given, body }: ServiceAnswer): Promise<Response> {
  if (status < 200 || status > 599) {
    body.destroy()
    return broken(c)
  }
  const headers = passedOn(given)
  headers.push('X-Request-Id', c.get('requestId'))
  // Buffered, a small answer is cheaper, and one that breaks can still become a problem.
  const whole = lengthOf(given) <= heldAtMost ? await bytesOf(body).catch(() => null) : body
  if (whole === null) return broken(c)
  return send(c, status, headers, whole)
}

/** Answers with a stored answer, under headers of ours. */
export function passOnKept(c: Context<ApiEnv>, kept: { status: number; contentType: string | null; body: string }) {
  const { status, contentType } = kept
  const body = Buffer.from(kept.body)
  const { headers } = c.body(null) // keeps the headers set so far
  headers.set('X-Request-Id', c.get('requestId'))
  headers.set('Cache-Control', 'no-store')
  if (contentType !== null) headers.set('Content-Type', contentType)
  if (!withoutBody.has(status)) headers.set('Content-Length', String(body.length))
  return send(c, status, [...headers].flat(), body)
}

/** `c.body` would add a type where the service named none. */
function send(c: Context<ApiEnv>, status: number, headers: string[], whole: Buffer<ArrayBuffer> | Readable): Response {
  const outgoing = c.env?.outgoing
  const response = outgoing ? sendOn(outgoing, status, headers, whole) : toResponse(status, headers, whole)
  c.set('passedOn', status)
  return response
}

/** For one connection (RFC 9110, section 7.6.1), about the service's origin, or ours to set. */
const notPassedOn: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
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
/** Ours, or permissions of this origin. */
const notPassedOnFamily = /^(?:unit-guard|access-control)-/

/** Names and values in turn. */
function passedOn(given: ServiceAnswer['headers']): string[] {
  const named = given
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
  const headers: string[] = []
  for (const [name, value] of given) {
    const lower = name.toLowerCase()
    const staysHere = notPassedOn.has(lower) || notPassedOnFamily.test(lower) || named.includes(lower)
    if (!staysHere) headers.push(name, value)
  }
  return headers
}

const heldAtMost = 64 * 1024

/** NaN if missing. */
function lengthOf(headers: ServiceAnswer['headers']): number {
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')
  return Number(length?.[1] ?? Number.NaN)
}

/** Events, because an iterator costs too much for one chunk. */
const bytesOf = (body: Readable) =>
  new Promise<Buffer<ArrayBuffer>>((resolve, reject) => {
    if (body.destroyed) reject(body.errored) // it broke earlier and reports that only once
    const chunks: Buffer[] = []
    body.on('data', (chunk) => chunks.push(chunk))
    body.on('end', () => resolve(Buffer.concat(chunks)))
    body.on('error', reject)
  })

/** Writes to node's response directly: a `Response` would be built only to be taken apart. */
function sendOn(outgoing: ServerResponse, status: number, headers: string[], whole: Buffer | Readable): Response {
  outgoing.writeHead(status, headers)
  if (Buffer.isBuffer(whole)) outgoing.end(whole)
  else {
    outgoing.flushHeaders()
    // Either end closes the other: half an answer must not look whole, nor be fetched without a reader.
    pipeline(whole, outgoing, () => {})
  }
  return alreadySent
}

function toResponse(status: number, flat: string[], whole: Buffer<ArrayBuffer> | Readable): Response {
  const headers = new Headers()
  for (let at = 0; at < flat.length; at += 2) headers.append(flat[at] ?? '', flat[at + 1] ?? '')
  if (withoutBody.has(status)) {
    if (!Buffer.isBuffer(whole)) whole.resume()
    return new Response(null, { status, headers })
  }
  const body = Readable.toWeb(Readable.from(afterTheHead(whole))) as ReadableStream
  return new Response(body, { status, headers })
}

/** Lambda sends the head with the first write, so an empty answer needs one. */
async function* afterTheHead(whole: Buffer<ArrayBuffer> | Readable): AsyncGenerator<Uint8Array> {
  yield new Uint8Array()
  if (Buffer.isBuffer(whole)) yield whole
  else yield* whole
}

/** A `Response` takes no body for these (Fetch, "null body status"). */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** The answer ended early, or must not be passed on. */
function broken(c: Context<ApiEnv>): Response {
  const detail = 'The answer of the service did not come whole, or was none that can be passed on.'
  return answerProblem(c, problem('service-unreachable', detail, { serviceStatus: null }))
}
