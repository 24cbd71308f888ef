import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type Role = 'service' | 'slow-service' | 'guard' | 'hono-proxy'

export const slowMs = 100

export interface Server {
  /** The address ends in `/v3`. */
  readonly url: string
  readonly token?: string
  memory(): Promise<number>
  stop(): void
}

/** Starts a server in its own process, as on real machines. @param given the service's address, or the time that a service states. */
export async function startServer(role: Role, given = ''): Promise<Server> {
  const child = fork(fileURLToPath(new URL('./servers.ts', import.meta.url)), [role, given], {
    execArgv: ['--import', 'tsx'],
  })
  const [started] = (await once(child, 'message')) as [Pick<Server, 'url' | 'token'>]
  return {
    ...started,
    memory: async () => {
      child.send('memory')
      const [bytes] = (await once(child, 'message')) as [number]
      return bytes
    },
    stop: () => child.kill(),
  }
}
