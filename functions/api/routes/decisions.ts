import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { invalid } from '../../../shared/api/refusal.ts'
import { optionalReasonBody, reason, type Texts, text } from '../../../shared/api/schemas.ts'
import { showAnsweredDoubts, showUpdate } from '../../../shared/api/to-json.ts'
import { type DecisionOutcome, decisions } from '../../../shared/guard/people/decisions.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { isTerminal, type Problem, type Update } from '../../../shared/ledger/updates/update.ts'
import { units } from '../../../shared/records/common-fields.ts'
import type { Services } from '../../../shared/services/services.ts'
import { type ApiEnv, mustHave, type PermittedCaller } from '../context.ts'
import { readBody, readQuery } from '../input.ts'
import type { Body, Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'
import { updateIdOf } from './updates.ts'

/** Must be called before addUpdates, whose `/updates/:id` also matches `/updates/cancel`. */
export function addDecisions(app: Hono<ApiEnv>, services: Services): void {
  route(app, '/updates/resolve', {
    queried: ['POST'],
    POST: async (c) => {
      const by = await mustHave(c, 'approve')
      const isDryRun = readQuery(c, resolutionsQuery)['dry-run'] === 'true'
      const body = await readBody(c, manyResolutionsSchema)
      if (body.byAnswers === true) return resolveByAnswers(c, by, body, isDryRun)
      if (isDryRun) throw invalid([{ path: 'dry-run', message: 'is only for byAnswers' }])
      const { ids, outcome, reason, units } = body
      return answerEach(c, 'notResolved', ids, (id) => by.guard.decide(outcome, id, by, { reason, units }))
    },
  })
  route(app, '/updates/cancel', {
    POST: async (c) => {
      const by = await mustHave(c, ...decisions.cancel.scopes)
      const { ids, ...how } = await readBody(c, manyCancellationsSchema)
      return answerEach(c, 'notCancelled', ids, (id) => by.guard.decide('cancel', id, by, how))
    },
  })
  route(app, '/updates/:id/approve', { POST: (c) => approve(c, services) })
  for (const decision of ['reject', 'cancel'] as const)
    route(app, `/updates/:id/${decision}`, {
      POST: async (c) => {
        const by = await mustHave(c, ...decisions[decision].scopes)
        const how = await readBody(c, optionalReasonBody, { optional: true })
        return answerDecided(c, await by.guard.decide(decision, updateIdOf(c), by, how))
      },
    })
  route(app, '/updates/:id/resolve', {
    POST: async (c) => {
      const by = await mustHave(c, 'approve')
      const { outcome, ...how } = await readBody(c, resolutionSchema)
      return answerDecided(c, await by.guard.decide(outcome, updateIdOf(c), by, how))
    },
  })
}

async function approve(c: Context<ApiEnv>, { log }: Services): Promise<Response> {
  const by = await mustHave(c, ...decisions.approve.scopes)
  const how = await readBody(c, approvalSchema, { optional: true })
  const id = updateIdOf(c)
  const outcome = await by.guard.decide('approve', id, by, how)
  if (outcome.kind === 'problem') return answerProblem(c, outcome.problem)
  // If the start fails here, the queue starts the update.
  const startedUpdate = await by.guard.start(id, c.var.endsAt).catch((cause) => {
    log.error('not-begun', { update: id, item: `update#${id}`, cause })
    return null
  })
  const update = startedUpdate ?? outcome.update
  return c.json(showUpdate(update), isTerminal(update.state) ? 200 : 202)
}

type ByAnswers = Extract<z.output<typeof manyResolutionsSchema>, { readonly byAnswers: true }>

async function resolveByAnswers(
  c: Context<ApiEnv>,
  by: PermittedCaller,
  { ids: named, proposed, reason }: ByAnswers,
  isDryRun: boolean,
): Promise<Response> {
  const ids = proposed?.map(({ id }) => id) ?? named
  const answered = isDryRun || !ids ? await by.guard.answeredDoubts(ids) : null
  if (answered && isDryRun) return c.json(showAnsweredDoubts(answered))
  if (answered?.note !== undefined) return answerProblem(c, problem('wrong-state', answered.note))
  const toBook = ids ?? answered?.proposals.map(({ update }) => update.id) ?? []
  const shown = new Map(proposed?.map((each) => [each.id, each]))
  const { endsAt } = c.var
  return answerEach(c, 'notResolved', toBook, (id) =>
    by.guard.resolveByAnswer(id, by, { reason, shown: shown.get(id), endsAt }),
  )
}

/** Answers with a problem only if every decision failed. */
async function answerEach(
  c: Context<ApiEnv>,
  failureMember: 'notResolved' | 'notCancelled',
  ids: readonly string[],
  decide: (id: string) => Promise<DecisionOutcome>,
): Promise<Response> {
  const decidedUpdates: Update[] = []
  const failures: { id: string; problem: Problem }[] = []
  for (const id of ids) {
    const outcome = await decide(id)
    if (outcome.kind === 'done') decidedUpdates.push(outcome.update)
    else failures.push({ id, problem: outcome.problem })
  }
  const [first] = failures
  if (decidedUpdates.length === 0 && first) return answerProblem(c, first.problem)
  return c.json({
    updates: decidedUpdates.map((update) => showUpdate(update)),
    ...(failures.length > 0 && {
      [failureMember]: failures.map(({ id, problem }) => ({ id, detail: problem.detail })),
    }),
  })
}

export function answerDecided(c: Context<ApiEnv>, outcome: DecisionOutcome): Response {
  return outcome.kind === 'done' ? c.json(showUpdate(outcome.update)) : answerProblem(c, outcome.problem)
}

const approvalSchema = z.lazy(() => z.strictObject({ reason: z.exactOptional(reason), units: z.exactOptional(units) }))

export const updateIds = z.lazy(() =>
  z.array(text(100), 'must be a list of ids').check(
    z.minLength(1, 'must have 1 to 100 ids'),
    z.maxLength(100, 'must have 1 to 100 ids'),
    z.refine((ids) => new Set(ids).size === ids.length, 'names an update twice'),
  ),
)
const resolutionMembers = {
  outcome: z.enum(['ran', 'did-not-run'], 'must be ran or did-not-run'),
  units: z.exactOptional(units),
  reason,
}
const refineUnitsOnlyIfRan = z.refine<{ outcome: string; units?: unknown }>(
  ({ outcome, units }) => units === undefined || outcome === 'ran',
  { path: ['units'], message: 'is only for the outcome ran' },
)
const resolutionSchema = z.lazy(() => z.strictObject(resolutionMembers).check(refineUnitsOnlyIfRan))
const proposedUpdates = z
  .array(
    z.strictObject({ id: text(100), outcome: resolutionMembers.outcome, units }),
    'must be a list of updates as the dry run shows them',
  )
  .check(
    z.minLength(1, 'must have 1 to 100 updates'),
    z.maxLength(100, 'must have 1 to 100 updates'),
    z.refine((rows) => new Set(rows.map(({ id }) => id)).size === rows.length, 'names an update twice'),
  )
const manyResolutionsSchema = z.lazy(() =>
  z.discriminatedUnion(
    'byAnswers',
    [
      z
        .strictObject({ byAnswers: z.exactOptional(z.literal(false)), ...resolutionMembers, ids: updateIds })
        .check(refineUnitsOnlyIfRan),
      z
        .strictObject({
          byAnswers: z.literal(true),
          ids: z.exactOptional(updateIds),
          proposed: z.exactOptional(proposedUpdates),
          reason,
        })
        .check(
          z.refine(({ ids, proposed }) => ids === undefined || proposed === undefined, {
            path: ['ids'],
            message: 'is not needed beside proposed, which has the ids',
          }),
        ),
    ],
    'must be true or false',
  ),
)
const resolutionsQuery = z.lazy(() =>
  z.strictObject({ 'dry-run': z.exactOptional(z.enum(['true', 'false'], 'must be true or false')) }),
)
const resolutionsQueryTexts: Texts = { 'dry-run': '`true`: only show what the stored answers say, with `byAnswers`.' }
const manyCancellationsSchema = z.lazy(() => z.strictObject({ ids: updateIds, reason: z.exactOptional(reason) }))

const unitsOnlyIfRanRule = {
  if: { required: ['units'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { outcome: { const: 'ran' } } },
}
const optionalReason: Body = { name: 'OptionalReason', schema: optionalReasonBody }

export const decisionOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/updates/{id}/approve',
    id: 'approveUpdate',
    scopes: ['approve'],
    summary: 'Approves an update that awaits approval, and starts it; the person who requested it cannot approve it',
    body: {
      input: {
        name: 'Approval',
        schema: approvalSchema,
        texts: {
          units:
            'The most units that the update may hold. A figure below the estimate is 409. Default: the estimate. If the update needs more when it starts, it awaits approval again.',
        },
      },
      optional: true,
      example: { reason: 'agreed with the client', units: 640 },
    },
    answers: {
      200: { description: 'The update has ended', body: 'Update' },
      202: { description: 'The update was started and is running', body: 'Update' },
    },
    problems: ['wrong-state', 'not-found'],
  },
  {
    method: 'POST',
    path: '/updates/{id}/reject',
    id: 'rejectUpdate',
    scopes: ['approve'],
    summary: 'Rejects an update that awaits approval',
    body: { input: optionalReason, optional: true, example: { reason: 'not this month' } },
    answers: { 200: { description: 'It is rejected', body: 'Update' } },
    problems: ['wrong-state', 'not-found'],
  },
  {
    method: 'POST',
    path: '/updates/{id}/cancel',
    id: 'cancelUpdate',
    scopes: ['run', 'propose', 'admin'],
    summary: 'Cancels an update before it runs; only its caller or an administrator may',
    body: { input: optionalReason, optional: true, example: { reason: 'asked for the wrong project' } },
    answers: { 200: { description: 'It is cancelled', body: 'Update' } },
    problems: ['wrong-state', 'not-found'],
  },
  {
    method: 'POST',
    path: '/updates/cancel',
    id: 'cancelUpdates',
    scopes: ['run', 'propose', 'admin'],
    summary: 'Cancels up to 100 updates at once',
    body: {
      input: {
        name: 'ManyCancellations',
        schema: manyCancellationsSchema,
        texts: { ids: 'Up to 100 updates that have not been started.' },
      },
      example: { ids: ['upd_0k3v9q2m'], reason: 'a loop asked for all of them' },
    },
    answers: { 200: { description: 'At least one update was cancelled', body: 'Cancelled' } },
    problems: ['wrong-state', 'not-found'],
  },
  {
    method: 'POST',
    path: '/updates/{id}/resolve',
    id: 'resolveUpdate',
    scopes: ['approve'],
    summary: 'Resolves an update in doubt: a person says whether the update ran and what it cost',
    body: {
      input: {
        name: 'Resolution',
        schema: resolutionSchema,
        extraRules: unitsOnlyIfRanRule,
        texts: {
          outcome: 'What happened. `did-not-run` is refused before `retryAt`.',
          units: 'The cost of the update, only with `ran`. Default: the held units.',
        },
      },
      example: { outcome: 'ran', reason: 'seen on the vendor’s screen' },
    },
    answers: { 200: { description: 'The update is settled or released', body: 'Update' } },
    problems: ['wrong-state', 'not-found'],
  },
  {
    method: 'POST',
    path: '/updates/resolve',
    id: 'resolveUpdates',
    scopes: ['approve'],
    summary: 'Resolves up to 100 updates in doubt at once',
    details:
      'With `byAnswers`, `RUN_STARTED`, `RUN_REFUSED` and `ANSWERS_WELL` decide by the stored answers. `dry-run=true` shows the proposal. Send its `updates` as `proposed` to book them. “Did not run” is booked only after a look for new data that finds none.',
    query: { schema: resolutionsQuery, texts: resolutionsQueryTexts },
    body: {
      input: {
        name: 'ManyResolutions',
        schema: manyResolutionsSchema,
        extraRules: unitsOnlyIfRanRule,
        texts: {
          ids: 'Up to 100 updates that are in doubt. Needed without `byAnswers`.',
          outcome: 'What happened to all these updates.',
          units: 'The cost of each update, only with `ran`. Default: the held units.',
          byAnswers: '`true`: the stored answers of the service decide, as the settings read them now.',
          proposed:
            'The `id`, `outcome` and `units` of updates of the dry run. An update whose answer says something else now is not resolved.',
        },
      },
      example: { ids: ['upd_0k3v9q2m'], outcome: 'did-not-run', reason: 'the vendor was down' },
    },
    answers: {
      200: { description: 'At least one update was resolved. With `dry-run=true`: the proposal', body: 'Resolved' },
    },
    problems: ['wrong-state', 'not-found'],
  },
]
