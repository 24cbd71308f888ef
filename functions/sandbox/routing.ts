import type { Context, Handler, Hono } from 'hono'
import { failed } from './answers.ts'
import type { SandboxEnv } from './context.ts'

type Method = 'GET' | 'POST'

/**
 * One operation of the interface: its method and path. The same path under another method is 405 with what would do;
 * HEAD is GET without a body here, as in many frameworks.
 */
export function operation(routes: Hono<SandboxEnv>, method: Method, path: string, handler: Handler<SandboxEnv>): void {
  routes.on(method, path, handler)
  routes.all(path, (c: Context<SandboxEnv>) => {
    c.header('Allow', method === 'GET' ? 'GET, HEAD' : method)
    return failed(c, 405, 'Method Not Allowed')
  })
}
