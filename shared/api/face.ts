import type { ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import { problem } from '../guard/problems.ts'
import type { Clock } from '../platform/clock.ts'
import { type Platform, readWhole, sourceIpOf } from '../platform/http.ts'
import { systemIds } from '../platform/ids.ts'
import { type FunctionName, inLogContext, type Log, notedUpdates } from '../platform/log.ts'
import { readTraceparent } from '../platform/trace.ts'
import { createExpensiveReads, type ExpensiveReads } from './rate-limits.ts'
import { invalid, Refusal } from './refusal.ts'

export interface FaceEnv {
  Variables: {
    requestId: string
    traceparent?: string | undefined
    sub?: string
    expensiveReads: ExpensiveReads
    endsAt: number
    /** The status of an answer of the service that is passed on. */
    passedOn?: number
    /** For the log, where the app's own pattern says too little. */
    route?: string
  }
  Bindings: Platform & {
    outgoing?: ServerResponse
    context?: { readonly awsRequestId: string; getRemainingTimeInMillis(): number }
  }
}

/** The time limit where the platform sets none. */
const requestLastsMs = 120_000

export function acceptRequests(
  name: FunctionName,
  { clock, log }: { clock: Clock; log: Log },
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
      await next()
      const passedOn = c.get('passedOn')
      if (passedOn === undefined) {
        c.res.headers.set('X-Request-Id', requestId)
        if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store')
      }
      const { method, routePath } = c.req
      const status = passedOn ?? c.res.status
      const route = c.get('route') ?? routePath
      const sourceIp = sourceIpOf(c.env)
      const ms = clock.now() - from
      log.info('request', { caller: c.get('sub'), sourceIp, method, route, status, ms, ...notedUpdates() })
    })
  }
}

/** Refuses two Host headers, because Node and a proxy may read different ones. @throws Refusal 400 */
export const refuseTwoHosts: MiddlewareHandler<FaceEnv> = (c, next) => {
  const { rawHeaders = [] } = c.env?.incoming ?? {}
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1)
    throw new Refusal(problem('invalid-request', 'A request has one Host header, and this one has more.'))
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
