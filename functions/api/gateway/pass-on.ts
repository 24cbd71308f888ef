import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { Context } from 'hono'
import { problem } from '../../../shared/guard/problems.ts'
import { alreadySent } from '../../../shared/platform/already-sent.ts'
import type { OpenedAnswer } from '../../../shared/tracking/forward.ts'
import type { ApiEnv } from '../context.ts'
import { answerProblem } from '../route.ts'

type ServiceAnswer = Extract<OpenedAnswer, { kind: 'answered' }>

/** An answer of the service as it is: its status, its bytes, and the headers that are meant for the caller. */
export async function passOn(c: Context<ApiEnv>, { status, headers: given, body }: ServiceAnswer): Promise<Response> {
  if (status < 200 || status > 599) {
    body.destroy()
    return broken(c)
  }
  const headers = passedOn(given)
  headers.push('X-Request-Id', c.get('requestId'))
  // Held, a small answer costs less than streamed, and one that breaks can still become a problem.
  const whole = lengthOf(given) <= heldAtMost ? await bytesOf(body).catch(() => null) : body
  if (whole === null) return broken(c)
  return send(c, status, headers, whole)
}

/** An answer of the service that was kept whole, with the headers that are ours to say. */
export function passOnKept(c: Context<ApiEnv>, kept: { status: number; contentType: string | null; body: string }) {
  const { status, contentType } = kept
  const body = Buffer.from(kept.body)
  const { headers } = c.body(null) // all that was said of it before
  headers.set('X-Request-Id', c.get('requestId'))
  headers.set('Cache-Control', 'no-store')
  if (contentType !== null) headers.set('Content-Type', contentType)
  if (!withoutBody.has(status)) headers.set('Content-Length', String(body.length))
  return send(c, status, [...headers].flat(), body)
}

/** Other ways to write an answer add a type where the service named none. */
function send(c: Context<ApiEnv>, status: number, headers: string[], whole: Buffer<ArrayBuffer> | Readable): Response {
  const outgoing = c.env?.outgoing
  const response = outgoing ? sendOn(outgoing, status, headers, whole) : toResponse(status, headers, whole)
  c.set('passedOn', status)
  return response
}

/** Meant for one connection (RFC 9110, section 7.6.1), about the service's own origin, or ours to say. */
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
/** Ours, or permissions that only the owner of this origin may give. */
const notPassedOnFamily = /^(?:unit-guard|access-control)-/

/** Names and values in turn, as node takes them. */
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

/** NaN where it does not say. */
function lengthOf(headers: ServiceAnswer['headers']): number {
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')
  return Number(length?.[1] ?? Number.NaN)
}

/** By events: for the one chunk of a small answer an iterator is too much. */
const bytesOf = (body: Readable) =>
  new Promise<Buffer<ArrayBuffer>>((resolve, reject) => {
    if (body.destroyed) reject(body.errored) // it broke while the token was read again, and says so only once
    const chunks: Buffer[] = []
    body.on('data', (chunk) => chunks.push(chunk))
    body.on('end', () => resolve(Buffer.concat(chunks)))
    body.on('error', reject)
  })

/** Straight to node's own response: a `Response` would be made of it only to be taken apart again. */
function sendOn(outgoing: ServerResponse, status: number, headers: string[], whole: Buffer | Readable): Response {
  outgoing.writeHead(status, headers)
  if (Buffer.isBuffer(whole)) outgoing.end(whole)
  else {
    outgoing.flushHeaders()
    // Whichever ends early ends the other one: half an answer must not look whole, nor be fetched without a reader.
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

/** Lambda sends the head with the first write, and an answer may have nothing else: without it, it would be a 502. */
async function* afterTheHead(whole: Buffer<ArrayBuffer> | Readable): AsyncGenerator<Uint8Array> {
  yield new Uint8Array()
  if (Buffer.isBuffer(whole)) yield whole
  else yield* whole
}

/** Answers for which a `Response` takes no body (Fetch, "null body status"). */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** It ended early, or held what must not go out: none of it goes on. */
function broken(c: Context<ApiEnv>): Response {
  const detail = 'The answer of the service did not come whole, or was none that can be passed on.'
  return answerProblem(c, problem('service-unreachable', detail, { serviceStatus: null }))
}
