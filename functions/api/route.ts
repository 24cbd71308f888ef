import type { Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import * as z from 'zod/mini'
import { showAnswer, showProblem } from '../../shared/api/to-json.ts'
import { problem, undecidedRetryAfter } from '../../shared/guard/problems.ts'
import type { Answer } from '../../shared/guard/update/answer.ts'
import type { Problem } from '../../shared/ledger/updates/update.ts'
import type { ApiEnv } from './context.ts'
import { readQuery } from './input.ts'

function rowsOf(answer: Answer) {
  const { updates, ...rest } = showAnswer(answer)
  return updates.length > 0 ? { updates, ...rest } : rest
}

export function answerProblem(c: Context<ApiEnv>, refusal: Problem, answer?: Answer): Response {
  const fields = showProblem(refusal)
  const wait = refusal.slug === 'undecided' ? undecidedRetryAfter : refusal.members.retryAfter
  if (wait !== undefined) c.header('Retry-After', String(wait))
  const status = (answer?.status ?? fields.status) as ContentfulStatusCode
  const body = { ...fields, status, requestId: c.var.requestId, ...(answer && rowsOf(answer)) }
  return c.body(JSON.stringify(body), status, { 'content-type': 'application/problem+json' })
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type Handler = (c: Context<ApiEnv>) => Response | Promise<Response>

const noQuery = z.strictObject({})

interface Handlers extends Partial<Record<Method, Handler>> {
  /** Writes that read a query. Other writes refuse queries, because an unsupported `dry-run` must change nothing. */
  readonly queried?: readonly Method[]
}

/** Other methods return 405 with `Allow` (RFC 9110, 15.5.6). */
export function route(app: Hono<ApiEnv>, path: string, { queried = [], ...handlers }: Handlers): void {
  for (const [method, handler] of Object.entries(handlers)) {
    const mayHaveQuery = method === 'GET' || queried.some((each) => each === method)
    app.on(method, path, (c) => {
      if (!mayHaveQuery) readQuery(c, noQuery)
      return handler(c)
    })
  }
  const methods = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  app.all(path, (c) => {
    c.header('Allow', methods.join(', '))
    return answerProblem(
      c,
      problem('method-not-allowed', `This address allows ${methods.join(', ')}, not ${c.req.method}.`),
    )
  })
}
