import type { Context } from 'hono'
import { invalid } from '../../../shared/api/refusal.ts'
import { showAnswer, showUpdate } from '../../../shared/api/to-json.ts'
import type { Caller } from '../../../shared/auth/tokens.ts'
import { figuresOf } from '../../../shared/guard/sentences.ts'
import { readTags } from '../../../shared/guard/tags.ts'
import type { Answer } from '../../../shared/guard/update/answer.ts'
import { budgetNamed } from '../../../shared/ledger/definitions/definitions.ts'
import { isKnownToHaveRun, type Tags, type Update } from '../../../shared/ledger/updates/update.ts'
import { budgetName, project } from '../../../shared/records/common-fields.ts'
import type { Services } from '../../../shared/services/services.ts'
import { decodeSegment, type GuardedOperation, operations } from '../../../shared/tracking/operations.ts'
import type { ApiEnv } from '../context.ts'
import { readIdempotencyKey } from '../input.ts'
import { answerProblem } from '../route.ts'
import { answerFromRecord, isPassable } from './pass-on.ts'

interface GatewayRun {
  readonly caller: Caller
  readonly operation: GuardedOperation
  /** The path segment as the caller encoded it. */
  readonly segment: string
  readonly search: string
}

const maxProjects = 20

/** Submits one guarded update for each project in the segment. */
export async function runThroughGateway(c: Context<ApiEnv>, services: Services, run: GatewayRun): Promise<Response> {
  const { guard, options } = services
  const { caller, operation, segment, search } = run
  const budget = parseWith(budgetName, c.req.header('unit-guard-budget'), 'Unit-Guard-Budget')
  const tags = tagsOf(c.req.header('unit-guard-tags'))
  const segments = segmentsOf(segment, options.separator)
  const targets = segments.map((each) => ({ segment: each, search }))
  const [target, ...others] = targets
  const key = readIdempotencyKey(c)
  const answer = await guard.submit(
    {
      caller: caller.sub,
      token: caller,
      via: 'gateway',
      route: 'GET /v3/…/run',
      traceparent: c.var.traceparent,
      ...(key !== undefined && { key }),
    },
    {
      kind: operations[operation].guarded,
      projects: segments.map(projectOf),
      whenShort: 'refuse',
      ...(target && others.length === 0 ? { target } : { targets }),
      ...(budget !== undefined && { budget }),
      ...(tags && { tags }),
    },
    { respondAsync: false, endsAt: c.var.endsAt },
  )
  if (answer.replayed) c.header('Idempotency-Replayed', 'true')
  if (answer.problem) return answerProblem(c, answer.problem, answer)
  const [update] = answer.updates
  if (!update) throw new Error('an answer without a problem has an update')
  c.header('Unit-Guard-Update', answer.updates.map(({ id }) => id).join(', '))
  if (others.length > 0) return answerSeveral(c, services, answer)
  if (update.state === 'in-doubt') return answerInDoubt(c, update, answer)
  // With status 200 an earlier update did the work, but the caller may not read that update.
  if (update.state !== 'settled' && !isKnownToHaveRun(update)) {
    return c.json(showAnswer(answer), answer.status === 200 ? 200 : 202)
  }
  return answerSettled(c, services, update, answer)
}

async function answerSeveral(c: Context<ApiEnv>, services: Services, answer: Answer): Promise<Response> {
  const { status, earlier } = answer
  if (earlier.length > 0) c.header('Unit-Guard-Replayed', earlier.join(', '))
  await addUnitHeaders(c, services, answer)
  return c.json(showAnswer(answer), status === 202 ? 202 : 200)
}

/** A tool that was written for the service reads what it always read: the service's own answer. */
function answerInDoubt(c: Context<ApiEnv>, { state, service }: Update, answer: Answer): Response | Promise<Response> {
  c.header('Unit-Guard-State', state)
  const isWhole = service !== undefined && !service.truncated && isPassable(service.status)
  return isWhole ? answerFromRecord(c, service) : c.json(showAnswer(answer), 202)
}

async function answerSettled(c: Context<ApiEnv>, services: Services, update: Update, answer: Answer) {
  if (answer.earlier.length > 0) c.header('Unit-Guard-Replayed', update.id)
  await addUnitHeaders(c, services, answer)
  const { service } = update
  const isComplete = service && !service.truncated && service.status >= 200 && service.status < 300
  return isComplete ? answerFromRecord(c, service) : c.json(showUpdate(update))
}

/** Several budgets have no common figure of available units, so that header is left out. */
async function addUnitHeaders(c: Context<ApiEnv>, services: Services, { updates, replayed, earlier }: Answer) {
  const sum = (all: readonly Update[]) => String(all.reduce((units, { charged }) => units + (charged ?? 0), 0))
  c.header('Unit-Guard-Units-Charged', sum(updates))
  c.header('Unit-Guard-Units-Charged-Now', sum(replayed ? [] : updates.filter(({ id }) => !earlier.includes(id))))
  const [first, ...others] = updates
  if (!first || others.some(({ budget }) => budget !== first.budget)) return
  const available = await availableTo(services, first)
  if (available !== null) c.header('Unit-Guard-Units-Available', String(available))
}

/** `null` if unlimited or unknown. */
async function availableTo({ guard }: Services, { budget }: Update): Promise<number | null> {
  const view = await guard.ledger.view().catch(() => null)
  const definition = view && budgetNamed(view.definitions, budget)
  if (!definition) return null
  const { limit, available } = figuresOf(view, definition, 'month')
  return limit === 'unlimited' ? null : available
}

interface Schema {
  safeParse(
    value: unknown,
  ): { success: true; data: string } | { success: false; error: { issues: { message: string }[] } }
}

function parseWith(schema: Schema, value: string | undefined, path: string): string | undefined {
  if (value === undefined) return undefined
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw invalid([{ path, message: parsed.error.issues[0]?.message ?? 'is not valid' }])
}

/** Reads values as W3C Baggage encodes them. @throws Refusal 400 */
function tagsOf(header: string | undefined): Tags | undefined {
  if (header === undefined) return undefined
  const members = header.split(',').map((member) => member.trim())
  const read = readTags(members, (value) => (baggageValue.test(value) ? decodeSegment(value) : null))
  if ('tags' in read) return read.tags
  throw invalid([{ path: 'Unit-Guard-Tags', message: `${read.fault}; ${takesTags}` }])
}

const baggageValue = /^[!#-+\--:<-[\]-~]*$/
const takesTags = 'write client=acme, ticket=SEO-47; percent-encode " , ; \\ % and all but visible ASCII'

/** Splits a segment at raw and encoded separators. The parts keep the caller's encoding. @throws Refusal 400 */
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
  const name = parseWith(project, decodeSegment(segment) ?? undefined, 'project')
  if (name === undefined) throw invalid([{ path: 'project', message: 'must be percent-encoded UTF-8' }])
  return name
}
