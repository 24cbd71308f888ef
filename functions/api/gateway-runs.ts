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
import { showAnswer, showUpdate } from './showing.ts'
import type { Caller } from './tokens.ts'

interface Run {
  readonly caller: Caller
  readonly operation: GuardedOperation
  /** Raw, as the caller encoded it; so is the query. */
  readonly segment: string
  readonly search: string
}

/** As many as `POST /updates` takes. */
const maxProjects = 20

/** `GET …/run` through the gateway: a guarded update, or one for each project that its segment names. */
export function createGatewayRuns({ guard, options: { separator } }: Services) {
  return async (c: Context<ApiEnv>, run: Run): Promise<Response> => {
    const { caller, operation, segment, search } = run
    const budget = read(budgetName, c.req.header('unit-guard-budget'), 'Unit-Guard-Budget')
    const segments = segmentsOf(segment, separator)
    const targets = segments.map((each) => ({ segment: each, search }))
    const [target, ...others] = targets
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
        projects: segments.map(projectOf),
        whenShort: 'refuse',
        ...(target && others.length === 0 ? { target } : { targets }),
        ...(budget !== undefined && { budget }),
      },
      { respondAsync: false, endsAt: c.var.endsAt },
    )
    if (answer.replayed) c.header('Idempotency-Replayed', 'true')
    if (answer.problem) return answerProblem(c, answer.problem, answer)
    const [update] = answer.updates
    if (!update) throw new Error('an answer without a problem has an update')
    c.header('Unit-Guard-Update', answer.updates.map(({ id }) => id).join(', '))
    if (others.length > 0) return answerSeveral(c, answer)
    if (update.state !== 'settled' && !isKnownToHaveRun(update)) return c.json(showAnswer(answer), 202)
    return answerSettled(c, update, answer)
  }

  function answerSeveral(c: Context<ApiEnv>, answer: Answer): Response {
    const { status, earlier } = answer
    if (earlier.length > 0) c.header('Unit-Guard-Replayed', earlier.join(', '))
    return c.json(showAnswer(answer), status === 202 ? 202 : 200)
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

/**
 * The parts of a segment between separators, raw or encoded, each in the caller's own bytes.
 *
 * @throws Refusal 400: an empty part, or too many.
 */
function segmentsOf(segment: string, separator: string | undefined): readonly string[] {
  if (separator === undefined) return [segment]
  const encoded = `%${separator.charCodeAt(0).toString(16)}`
  const parts = segment.replaceAll(new RegExp(encoded, 'gi'), separator).split(separator)
  if (parts.length > 1 && parts.includes('')) throw invalid([{ path: 'project', message: 'names an empty project' }])
  if (parts.length > maxProjects)
    throw invalid([{ path: 'project', message: `names more than ${maxProjects} projects` }])
  return parts
}

function projectOf(segment: string): string {
  const name = read(project, decodeSegment(segment) ?? undefined, 'project')
  if (name === undefined) throw invalid([{ path: 'project', message: 'is not percent-encoded UTF-8' }])
  return name
}
