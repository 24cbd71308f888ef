import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { appAt } from '../../shared/api/paths.ts'
import type { Reference } from '../../shared/api/reference.ts'
import { rawPathOf } from '../../shared/platform/http.ts'
import { CannotContinue } from './failures.ts'

export interface App {
  fetch(request: Request, env: object): Response | Promise<Response>
}

export interface Listener {
  readonly port: number
  readonly url: string
  /** Before this call every request returns 503. */
  open(app: App): void
  /** Cuts requests that still run when `patience` ends. */
  close(patience: Promise<void>): Promise<void>
}

const starting = () => new Response('still starting\n', { status: 503, headers: { 'retry-after': '1' } })

/**
 * Comes first, so that a second start fails before it opens the ledger.
 *
 * @param setting the variable that the error names.
 * @throws CannotContinue when the port is taken or forbidden.
 */
export async function createListener({ port, setting }: { port: number; setting?: string }): Promise<Listener> {
  let answer: Parameters<typeof getRequestListener>[0] = starting
  const server = createServer(getRequestListener((request, env) => answer(request, env)))
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (error) {
    throw new CannotContinue(portProblem(port, setting, error), { cause: error })
  }
  const taken = (server.address() as AddressInfo).port
  return {
    port: taken,
    url: `http://127.0.0.1:${taken}`,
    open: (app) => {
      answer = async (request, env) => closeAfterUnread(await app.fetch(request, env))
    },
    close: async (patience) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await Promise.race([closed, patience])
      server.closeAllConnections()
      await closed
    },
  }
}

/** The rest of a body that is too large stays unread, so its connection cannot be used again. */
function closeAfterUnread(response: Response): Response {
  if (response.status === 413) response.headers.set('connection', 'close')
  return response
}

function portProblem(port: number, setting: string | undefined, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const what = code === 'EADDRINUSE' ? `port ${port} is in use` : `port ${port} cannot be used (${code})`
  return setting === undefined ? what : `${what}; set ${setting} to another one`
}

let files: ReadonlyMap<string, string> | undefined

/** Builds the reference at the first read, so that the start does not wait for it. */
export const localReference: Reference = async (name) => {
  const { makeReference } = await import('../openapi/reference.tsx')
  files ??= makeReference()
  return files.get(name) ?? null
}

export function createRouter(apps: Record<'api' | 'dashboard' | 'slack', App> & { readonly mcp?: App }): App {
  const all = { mcp: apps.api, ...apps }
  return { fetch: (request, env) => all[appAt(rawPathOf(request, { env }))].fetch(request, env) }
}
