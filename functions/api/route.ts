import type { Context, Hono } from 'hono'
import { problem } from '../../shared/guard/problems.ts'
import { answerProblem } from './answer-problem.ts'
import type { ApiEnv } from './context.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type Handler = (c: Context<ApiEnv>) => Response | Promise<Response>

/** One address and all methods that it takes; any other is answered 405 with what would do (RFC 9110, 15.5.6). */
export function route(app: Hono<ApiEnv>, path: string, handlers: Partial<Record<Method, Handler>>): void {
  for (const [method, handler] of Object.entries(handlers)) app.on(method, path, handler)
  const methods = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  app.all(path, (c) => {
    c.header('Allow', methods.join(', '))
    return answerProblem(
      c,
      problem('method-not-allowed', `This address takes ${methods.join(', ')}, not ${c.req.method}.`),
    )
  })
}
