import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { answerCsv, csvPage, wantsCsv } from '../../../shared/api/csv.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { optionalReasonBody, projectsOfRequest, reason, text } from '../../../shared/api/schemas.ts'
import { showAnswer, showUpdate } from '../../../shared/api/to-json.ts'
import { updateColumns, updateFilterOf } from '../../../shared/api/updates.ts'
import { budgetName, kindOf, project, query, units } from '../../../shared/guard/fields.ts'
import { type DecisionOutcome, noUpdate } from '../../../shared/guard/people/approvals.ts'
import { problem } from '../../../shared/guard/problems.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Answer } from '../../../shared/guard/update/submit.ts'
import { isTerminal, type Problem, type Update } from '../../../shared/ledger/updates/update.ts'
import type { Kinds } from '../../../shared/tracking/kinds.ts'
import { type ApiEnv, mustHave, mustHold } from '../context.ts'
import { prefersAsync, readBody, readKeyedBody, readQuery } from '../input.ts'
import { answerProblem, route } from '../route.ts'

const isObject = ({ value }: { value: unknown }): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const projectList = projectsOfRequest('takes a list of project names')
export const updateIds = z.array(text(100), 'takes a list of ids').check(
  z.minLength(1, 'takes 1 to 100 ids'),
  z.maxLength(100, 'takes 1 to 100 ids'),
  z.refine((ids) => new Set(ids).size === ids.length, 'names an update twice'),
)

export const updatesRequestOf = (kinds: Kinds) =>
  z
    .strictObject({
      kind: kindOf(kinds),
      project: z.exactOptional(project),
      projects: z.exactOptional(projectList),
      budget: z.exactOptional(budgetName),
      reason: z.exactOptional(reason),
      maxUnits: z.exactOptional(units),
      force: z._default(z.boolean('takes true or false'), false),
      whenShort: z._default(z.enum(['refuse', 'fit', 'ask'], 'takes refuse, fit or ask'), 'refuse'),
      query: z.exactOptional(query),
    })
    .check(
      // Also where a member is wrong by itself: all faults are said at once.
      z.refine((body) => (body.project === undefined) !== (body.projects === undefined), {
        path: ['project'],
        message: 'takes either project or projects',
        when: isObject,
      }),
      z.refine((body) => body.force !== true || body.reason !== undefined, {
        path: ['reason'],
        message: 'is needed with force',
        when: isObject,
      }),
    )

export const approval = z.strictObject({ reason: z.exactOptional(reason), units: z.exactOptional(units) })

const resolution = {
  outcome: z.enum(['ran', 'did-not-run'], 'takes ran or did-not-run'),
  units: z.exactOptional(units),
  reason,
}
const withUnitsOnlyIfRan = z.refine<{ outcome: string; units?: unknown }>(
  ({ outcome, units }) => units === undefined || outcome === 'ran',
  { path: ['units'], message: 'goes with ran only' },
)
export const oneResolution = z.strictObject(resolution).check(withUnitsOnlyIfRan)
export const manyResolutions = z
  .strictObject({
    ...resolution,
    ids: updateIds,
  })
  .check(withUnitsOnlyIfRan)

export const manyCancellations = z.strictObject({ ids: updateIds, reason: z.exactOptional(reason) })

/** Everything under `/updates`. */
export function addUpdates(app: Hono<ApiEnv>, { guard, log, kinds }: Services): void {
  const updateFilter = updateFilterOf(kinds)
  const updatesRequest = updatesRequestOf(kinds)

  route(app, '/updates', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const { limit, cursor, ...wanted } = readQuery(c, updateFilter)
      if (wantsCsv(c)) {
        c.get('expensiveReads').admit(c.get('caller').sub)
        return answerCsv(c, 'updates', updateColumns, (after) => guard.ledger.updates(wanted, csvPage, after))
      }
      const { rows, next } = await guard.ledger.updates(wanted, limit, cursor)
      return c.json({ updates: rows.map(showUpdate), ...(next !== undefined && { next }) })
    },

    POST: async (c) => {
      const caller = mustHold(c, 'run', 'propose')
      const { key, body } = await readKeyedBody(c, updatesRequest)
      const { project, projects, ...wanted } = body
      const asker = {
        caller: caller.sub,
        token: caller,
        via: 'http',
        route: 'POST /updates',
        ...(key !== undefined && { key }),
      } as const
      const asked = { ...wanted, projects: projects ?? [project ?? ''] }
      return answer(c, await guard.submit(asker, asked, { respondAsync: prefersAsync(c), endsAt: c.var.endsAt }))
    },
  })

  route(app, '/updates/resolve', {
    POST: async (c) => {
      const { sub } = await mustHave(c, 'approve')
      const { ids, ...how } = await readBody(c, manyResolutions)
      return answerEach(c, 'notResolved', ids, (id) => guard.resolve(id, sub, how))
    },
  })

  route(app, '/updates/cancel', {
    POST: async (c) => {
      const { sub, scopes } = await mustHave(c, 'run', 'propose', 'admin')
      const { ids, reason } = await readBody(c, manyCancellations)
      const by = { caller: sub, isAdmin: scopes.has('admin') }
      return answerEach(c, 'notCancelled', ids, (id) => guard.cancel(id, by, reason))
    },
  })

  route(app, '/updates/:id', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const id = idOf(c)
      const update = await guard.ledger.update(id)
      return update ? c.json(showUpdate(update)) : answerProblem(c, noUpdate(id))
    },
  })

  route(app, '/updates/:id/approve', {
    POST: async (c) => {
      const { sub } = await mustHave(c, 'approve')
      const { reason, units } = await readBody(c, approval, { optional: true })
      const id = idOf(c)
      const decided = await guard.approve(id, sub, {
        ...(reason !== undefined && { reason }),
        ...(units !== undefined && { shown: units }),
      })
      if (decided.kind === 'problem') return answerProblem(c, decided.problem)
      // The approval is written down; should the rest fail here, the queue begins it.
      const begun = await guard.start(id, c.var.endsAt).catch((cause) => {
        log.error('not-begun', { item: `update#${id}`, cause })
        return null
      })
      const update = begun ?? decided.update
      return c.json(showUpdate(update), isTerminal(update.state) ? 200 : 202)
    },
  })

  route(app, '/updates/:id/reject', {
    POST: async (c) => {
      const { sub } = await mustHave(c, 'approve')
      const { reason } = await readBody(c, optionalReasonBody, { optional: true })
      return answerDecided(c, await guard.reject(idOf(c), sub, reason))
    },
  })

  route(app, '/updates/:id/cancel', {
    POST: async (c) => {
      const { sub, scopes } = await mustHave(c, 'run', 'propose', 'admin')
      const { reason } = await readBody(c, optionalReasonBody, { optional: true })
      const by = { caller: sub, isAdmin: scopes.has('admin') }
      return answerDecided(c, await guard.cancel(idOf(c), by, reason))
    },
  })

  route(app, '/updates/:id/resolve', {
    POST: async (c) => {
      const { sub } = await mustHave(c, 'approve')
      return answerDecided(c, await guard.resolve(idOf(c), sub, await readBody(c, oneResolution)))
    },
  })
}

/** @throws Refusal 404 when there cannot be such an update: an id of any other form is not looked for. */
function idOf(c: Context<ApiEnv>): string {
  const id = c.req.param('id') ?? ''
  if (/^[\x21-\x7e]{1,100}$/.test(id)) return id
  throw new Refusal(problem('not-found', 'There is no such update.'))
}

/** One after another; the answer is a problem only where none was decided. */
async function answerEach(
  c: Context<ApiEnv>,
  failures: 'notResolved' | 'notCancelled',
  ids: readonly string[],
  decide: (id: string) => Promise<DecisionOutcome>,
): Promise<Response> {
  const done: Update[] = []
  const failed: { id: string; problem: Problem }[] = []
  for (const id of ids) {
    const decided = await decide(id)
    if (decided.kind === 'done') done.push(decided.update)
    else failed.push({ id, problem: decided.problem })
  }
  const [first] = failed
  if (done.length === 0 && first) return answerProblem(c, first.problem)
  return c.json({
    updates: done.map(showUpdate),
    ...(failed.length > 0 && { [failures]: failed.map(({ id, problem }) => ({ id, detail: problem.detail })) }),
  })
}

function answerDecided(c: Context<ApiEnv>, decided: DecisionOutcome): Response {
  return decided.kind === 'done' ? c.json(showUpdate(decided.update)) : answerProblem(c, decided.problem)
}

function answer(c: Context<ApiEnv>, answer: Answer): Response {
  if (answer.replayed) c.header('Idempotency-Replayed', 'true')
  if (answer.earlier.length > 0) c.header('Unit-Guard-Replayed', answer.earlier.join(', '))
  if (answer.problem) return answerProblem(c, answer.problem, answer)
  const [only] = answer.updates
  if (only && answer.updates.length === 1) c.header('Location', `/updates/${only.id}`)
  return c.body(JSON.stringify(showAnswer(answer)), answer.status as 200 | 201 | 202, {
    'content-type': 'application/json',
  })
}
