import type { Context, MiddlewareHandler } from 'hono'
import { accepts } from 'hono/accepts'
import type { ApiEnv } from './context.ts'

/** Whoever opens an address of the API in a browser reads the same problem, word for word, on a page with a way back. */
export const tellPeople: MiddlewareHandler<ApiEnv> = async (c, next) => {
  await next()
  const problem = c.get('problem')
  if (!problem || !isPerson(c)) return
  const { dress, showProblem } = await import('./pages/answering.tsx')
  dress(c)
  c.res = await showProblem(c, problem)
}

const json = 'application/json'

/** Programs bring a token, or would rather not have a page. */
const isPerson = (c: Context<ApiEnv>): boolean =>
  c.req.header('authorization') === undefined &&
  accepts(c, { header: 'Accept', supports: ['text/html', json, 'application/problem+json'], default: json }) ===
    'text/html'
