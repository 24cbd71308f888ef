import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Answer } from '../../shared/guard/answer.ts'
import { undecidedRetryAfter } from '../../shared/guard/problems.ts'
import type { Problem } from '../../shared/ledger/update.ts'
import type { ApiEnv } from './context.ts'
import { showNotRecorded, showProblem, showUpdate } from './showing.ts'

export function answerProblem(c: Context<ApiEnv>, of: Problem, answer?: Answer): Response {
  c.set('problem', of)
  const shown = showProblem(of)
  if (of.slug === 'undecided') c.header('Retry-After', String(undecidedRetryAfter))
  const status = (answer?.status ?? shown.status) as ContentfulStatusCode
  const body = {
    ...shown,
    status,
    requestId: c.var.requestId,
    ...(answer && answer.updates.length > 0 && { updates: answer.updates.map(showUpdate) }),
    ...(answer && answer.notRecorded.length > 0 && { notRecorded: answer.notRecorded.map(showNotRecorded) }),
  }
  return c.body(JSON.stringify(body), status, { 'content-type': 'application/problem+json' })
}
