import type { Context } from 'hono'
import type { Answer } from '../../shared/guard/answer.ts'
import { figuresOf } from '../../shared/guard/figures.ts'
import type { Services } from '../../shared/guard/services.ts'
import { budgetNamed } from '../../shared/ledger/definitions.ts'
import { isKnownToHaveRun, type Update } from '../../shared/ledger/update.ts'
import { decodeSegment } from '../../shared/tracking/match-operation.ts'
import { type GuardedOperation, operations } from '../../shared/tracking/operations.ts'
import type { ApiEnv } from './context.ts'
import { budgetName, idempotencyKey, project } from './input.ts'
import { passOnKept } from './passing-on.ts'
import { answerProblem } from './problem-answers.ts'
import { invalid } from './refusal.ts'
import { showUpdate } from './showing.ts'
import type { Caller } from './tokens.ts'

interface Run {
  readonly caller: Caller
  readonly operation: GuardedOperation
  /** Raw, as the caller encoded it; so is the query. */
  readonly segment: string
  readonly search: string
}

/** `GET …/run` through the gateway: a guarded update that answers with the service's own answer. */
export function createGatewayRuns({ guard }: Services) {
  return async (c: Context<ApiEnv>, { caller, operation, segment, search }: Run): Promise<Response> => {
    const budget = read(budgetName, c.req.header('unit-guard-budget'), 'Unit-Guard-Budget')
    const name = read(project, decodeSegment(segment) ?? undefined, 'project')
    if (name === undefined) throw invalid([{ path: 'project', message: 'is not percent-encoded UTF-8' }])
    const key = idempotencyKey(c)
    const answer = await guard.ask(
      {
        caller: caller.sub,
        token: caller,
        via: 'gateway',
        route: 'GET /v3/…/run',
        ...(key !== undefined && { key }),
      },
      {
        kind: operations[operation].guarded,
        projects: [name],
        whenShort: 'refuse',
        target: { segment, search },
        ...(budget !== undefined && { budget }),
      },
      { respondAsync: false, endsAt: c.var.endsAt },
    )
    if (answer.replayed) c.header('Idempotency-Replayed', 'true')
    if (answer.problem) return answerProblem(c, answer.problem, answer)
    const [update] = answer.updates
    if (!update) throw new Error('an answer without a problem has an update')
    c.header('Unit-Guard-Update', update.id)
    if (update.state !== 'settled' && !isKnownToHaveRun(update))
      return c.json({ updates: answer.updates.map(showUpdate) }, 202)
    return answerSettled(c, update, answer)
  }

  async function answerSettled(c: Context<ApiEnv>, update: Update, { replayed, earlier }: Answer): Promise<Response> {
    if (earlier.length > 0) c.header('Unit-Guard-Replayed', update.id)
    const charged = update.charged ?? 0
    c.header('Unit-Guard-Units-Charged', String(charged))
    c.header('Unit-Guard-Units-Charged-Now', String(replayed || earlier.length > 0 ? 0 : charged))
    const available = await availableTo(update)
    if (available !== null) c.header('Unit-Guard-Units-Available', String(available))
    const { service } = update
    const isWhole = service && !service.truncated && service.status >= 200 && service.status < 300
    return isWhole ? passOnKept(c, service) : c.json(showUpdate(update))
  }

  /**
   * Units that are left to the update's budget this month. `null`: as many as its ancestors have, or nobody can tell;
   * what has run is answered all the same.
   */
  async function availableTo({ budget }: Update): Promise<number | null> {
    const view = await guard.ledger.view().catch(() => null)
    const named = view && budgetNamed(view.definitions, budget)
    if (!named) return null
    const { limit, available } = figuresOf(view, named, 'month')
    return limit === 'unlimited' ? null : available
  }
}

interface Schema {
  safeParse(
    value: unknown,
  ): { success: true; data: string } | { success: false; error: { issues: { message: string }[] } }
}

function read(schema: Schema, value: string | undefined, path: string): string | undefined {
  if (value === undefined) return undefined
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw invalid([{ path, message: parsed.error.issues[0]?.message ?? 'is not valid' }])
}
