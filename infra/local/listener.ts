import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { CannotContinue } from './failures.ts'

/** Every app of Hono is one. */
export interface App {
  fetch(request: Request, env: object): Response | Promise<Response>
}

/** An HTTP port on the loopback interface. */
export interface Listener {
  readonly port: number
  readonly url: string
  /** Until then every request is answered 503. */
  open(app: App): void
  /** Lets requests under way end until `patience` does, then cuts them. */
  close(patience: Promise<void>): Promise<void>
}

const starting = () => new Response('still starting\n', { status: 503, headers: { 'retry-after': '1' } })

/**
 * Takes a port before there is anything to serve: a second start fails here, before it touches the first one's ledger.
 *
 * @param port 0 takes any free one.
 * @param setting the variable that chooses the port, for the message.
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
      answer = async (request, env) => lastWhereUnread(await app.fetch(request, env))
    },
    close: async (patience) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await Promise.race([closed, patience])
      server.closeAllConnections()
      await closed
    },
  }
}

/** The rest of a body that is too large is not read, so nothing can follow it on its connection. */
function lastWhereUnread(response: Response): Response {
  if (response.status === 413) response.headers.set('connection', 'close')
  return response
}

function portProblem(port: number, setting: string | undefined, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const what = code === 'EADDRINUSE' ? `port ${port} is in use` : `port ${port} cannot be used (${code})`
  return setting === undefined ? what : `${what}; set ${setting} to another one`
}
