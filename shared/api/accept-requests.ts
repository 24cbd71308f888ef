import type { ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { RefusedToken } from '../auth/tokens.ts'
import { problem } from '../guard/problems.ts'
import { arrivalOf, type CameFrom, type EdgeCheck, edgeRetryAfter } from '../platform/edge.ts'
import { type Platform, readWhole } from '../platform/http.ts'
import { systemIds } from '../platform/ids.ts'
import {
  type FunctionName,
  inLogContext,
  inThisContext,
  type LineParts,
  notedCounts,
  notedUpdates,
} from '../platform/log.ts'
import { readTraceparent } from '../platform/trace.ts'
import { createExpensiveReads, type ExpensiveReads } from './rate-limits.ts'
import { invalid, Refusal, secretUnavailable } from './refusal.ts'
import { showProblem } from './to-json.ts'

export interface FaceEnv {
  Variables: {
    requestId: string
    traceparent?: string | undefined
    sub?: string
    /** The fault, only for the log, because every refused token gets the same answer. */
    refusedToken?: RefusedToken
    expensiveReads: ExpensiveReads
    endsAt: number
    /** The service's status, if the guard passes its answer on. */
    passedOn?: number
    /** The route for the log, if the app's own pattern says too little. */
    route?: string
  }
  Bindings: Platform & {
    outgoing?: ServerResponse
    context?: { readonly awsRequestId: string; getRemainingTimeInMillis(): number }
  }
}

/** The time limit of a request if the platform sets no limit. */
const requestLastsMs = 120_000

/** Prepares each request and writes its log line. Requests that bypass the edge are refused before anything reads them. */
export function acceptRequests(
  name: FunctionName,
  { clock, log, edge }: LineParts & { edge: EdgeCheck | null },
): MiddlewareHandler<FaceEnv> {
  const expensiveReads = createExpensiveReads({ clock })
  return (c, next) => {
    const requestId = c.env?.requestId ?? systemIds.random()
    c.set('requestId', requestId)
    const traceparent = readTraceparent(c.req.header('traceparent'))
    c.set('traceparent', traceparent)
    c.set('expensiveReads', expensiveReads)
    const from = clock.now()
    c.set('endsAt', from + (c.env?.context?.getRemainingTimeInMillis() ?? requestLastsMs))
    return inLogContext({ function: name, requestId, traceparent }, async () => {
      const { cameFrom, sourceIp } = await arrivalOf(c, edge)
      if (cameFrom === 'edge') await next()
      else c.res = answerElsewhere(requestId, cameFrom)
      const passedOn = c.get('passedOn')
      if (passedOn === undefined) {
        c.res.headers.set('X-Request-Id', requestId)
        if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store')
      }
      const { method, routePath } = c.req
      const status = passedOn ?? c.res.status
      const route = c.get('route') ?? routePath
      const writeLine = () => {
        const noted = { ...notedUpdates(), ...notedCounts() }
        const { reason, issuer } = c.get('refusedToken') ?? {}
        const who = { caller: c.get('sub'), reason, issuer, sourceIp }
        log.info('request', { ...who, method, route, status, ms: clock.now() - from, ...noted })
      }
      if (passedOn === undefined && isEventStream(c.res)) c.res = afterLast(c.res, inThisContext(writeLine))
      else writeLine()
    })
  }
}

/** The log line of an event stream waits for its end, because its head is sent before the agent's tool has run. */
const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

function afterLast(answer: Response, act: () => void): Response {
  async function* chunks() {
    try {
      yield* answer.body ?? []
    } finally {
      act()
    }
  }
  return new Response(ReadableStream.from(chunks()), answer)
}

function answerElsewhere(requestId: string, cameFrom: Exclude<CameFrom, 'edge'>): Response {
  const { status, ...fields } = showProblem(cameFrom === 'elsewhere' ? wrongAddress : secretUnavailable)
  const headers = new Headers({ 'content-type': 'application/problem+json' })
  if (cameFrom === 'unknown') headers.set('retry-after', String(edgeRetryAfter))
  return new Response(JSON.stringify({ ...fields, status, requestId }), { status, headers })
}

const wrongAddress = problem(
  'wrong-address',
  'This address takes no requests; use the public address of Unit Guard. Nothing was read, sent or spent.',
)

/** Refuses two Host headers, because Node and a proxy may read different ones. @throws Refusal 400 */
export const refuseTwoHosts: MiddlewareHandler<FaceEnv> = (c, next) => {
  const { rawHeaders = [] } = c.env?.incoming ?? {}
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1)
    throw new Refusal(problem('invalid-request', 'A request must have one Host header; this one has more.'))
  return next()
}

const maxBodyBytes = 256 * 1024

/** @throws Refusal 400 if the upload ended early, or 413 */
export async function readBytes(c: Parameters<typeof readWhole>[0]): Promise<Uint8Array> {
  const bytes = await readWhole(c, maxBodyBytes)
  if (bytes === 'too-large') throw new Refusal(problem('too-large', `A body has at most ${maxBodyBytes / 1024} KiB.`))
  if (bytes === 'cut') throw invalid([{ path: '', message: 'the body did not come whole' }])
  return bytes
}
