import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server'
import { appAt } from '../../shared/api/paths.ts'
import { maxPauseMs, rawPathOf } from '../../shared/platform/http.ts'
import { CannotContinue } from './failures.ts'

export interface App {
  fetch(request: Request, env: object): Response | Promise<Response>
}

export interface Listener {
  readonly port: number
  /** The address on this machine. */
  readonly url: string
  /** Before this call, every request gets 503. */
  open(app: App): void
  /** Cuts requests that still run when `patience` ends. */
  close(patience: Promise<void>): Promise<void>
}

const starting = () => new Response('still starting\n', { status: 503, headers: { 'retry-after': '1' } })

/**
 * A start opens its port first, so that a second start fails before it opens the ledger.
 *
 * @param setting the variable that the error names.
 * @throws CannotContinue when the port is taken or forbidden.
 */
export async function createListener(at: {
  port: number
  host?: string
  setting?: string
  pauseMs?: number
}): Promise<Listener> {
  const { port, host = '127.0.0.1', setting, pauseMs = maxPauseMs } = at
  let answer: Parameters<typeof getRequestListener>[0] = starting
  const server = createServer(getRequestListener((request, env) => answer(request, env)))
  server.on('clientError', refuseUnreadable)
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw new CannotContinue(portProblem({ port, host, setting }, error), { cause: error })
  }
  const taken = (server.address() as AddressInfo).port
  const isEverywhere = ['0.0.0.0', '::'].includes(host)
  return {
    port: taken,
    url: `http://${isEverywhere ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host}:${taken}`,
    open: (app) => {
      answer = async (request, env) => {
        cutOffAfter(pauseMs, env.outgoing)
        return closeAfterUnread(await app.fetch(request, env))
      }
    },
    close: async (patience) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await Promise.race([closed, patience])
      server.closeAllConnections()
      await closed
    },
  }
}

/** Node's own answers have no body, so a caller could not see which program refused the request. */
function refuseUnreadable(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, title, detail] = unreadableRequests[error.code ?? ''] ?? notHttp
  const body = JSON.stringify({ type: 'about:blank', title, status, detail })
  const headers = ['Content-Type: application/problem+json', `Content-Length: ${body.length}`, 'Connection: close']
  socket.end([`HTTP/1.1 ${status} ${title}`, ...headers, '', body].join('\r\n'))
}

const notHttp = [400, 'Bad Request', 'This is not an HTTP request that can be read. Nothing was sent.'] as const
const unreadableRequests: Readonly<Record<string, readonly [number, string, string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'The address and the headers have at most 16 KiB together; this request has more. Nothing was sent.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time. Nothing was sent.'],
}

/** A socket that moves nothing is a pause of its reader only if something waits to be sent. The answer may still be in the making. */
function cutOffAfter(pauseMs: number, outgoing: HttpBindings['outgoing'] | Http2Bindings['outgoing']): void {
  outgoing.setTimeout(pauseMs, () => {
    if (outgoing.writableLength > 0) outgoing.destroy()
  })
}

/** The rest of a body that is too large stays unread, so its connection cannot be used again. */
function closeAfterUnread(response: Response): Response {
  if (response.status === 413) response.headers.set('connection', 'close')
  return response
}

function portProblem(at: { port: number; host: string; setting: string | undefined }, error: unknown): string {
  const { port, host, setting } = at
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${host}; set HOST to another one`
  const what = code === 'EADDRINUSE' ? `port ${port} is in use` : `port ${port} cannot be used (${code})`
  return setting === undefined ? what : `${what}; set ${setting} to another one`
}

export function createRouter(apps: Record<'api' | 'dashboard' | 'slack', App> & { readonly mcp?: App }): App {
  const all = { mcp: apps.api, ...apps }
  return { fetch: (request, env) => all[appAt(rawPathOf(request, { env }))].fetch(request, env) }
}
