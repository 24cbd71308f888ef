import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { Answer } from '../../shared/guard/answer.ts'
import type { Decided } from '../../shared/guard/deciding.ts'
import { noUpdate } from '../../shared/guard/deciding.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { Services } from '../../shared/guard/services.ts'
import { isTerminal, type Problem, states, type Update, vias } from '../../shared/ledger/update.ts'
import { toRfc3339 } from '../../shared/platform/clock.ts'
import { type ApiEnv, mustHave, mustHold } from './context.ts'
import { answerCsv, type Columns, csvPage, wantsCsv } from './csv.ts'
import {
  budgetName,
  instant,
  kind,
  optionalReasonBody,
  pageCursor,
  pageLimit,
  prefersAsync,
  project,
  projectsOfRequest,
  query,
  readBody,
  readKeyedBody,
  readQuery,
  reason,
  units,
} from './input.ts'
import { answerProblem } from './problem-answers.ts'
import { Refusal } from './refusal.ts'
import { route } from './routing.ts'
import { showAnswer, showUpdate } from './showing.ts'

const text = (most: number) => {
  const takes = `takes 1 to ${most} characters`
  return z.string('takes a text').check(z.minLength(1, takes), z.maxLength(most, takes))
}

const isObject = ({ value }: { value: unknown }): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const projectList = projectsOfRequest('takes a list of project names')
export const updateIds = z.array(text(100), 'takes a list of ids').check(
  z.minLength(1, 'takes 1 to 100 ids'),
  z.maxLength(100, 'takes 1 to 100 ids'),
  z.refine((ids) => new Set(ids).size === ids.length, 'names an update twice'),
)

export const updatesRequest = z
  .strictObject({
    kind,
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

export const updateFilter = z.strictObject({
  state: z.exactOptional(z.enum(states, `takes one of ${states.join(', ')}`)),
  kind: z.exactOptional(kind),
  project: z.exactOptional(project),
  budget: z.exactOptional(budgetName),
  caller: z.exactOptional(text(200)),
  via: z.exactOptional(z.enum(vias, `takes one of ${vias.join(', ')}`)),
  plan: z.exactOptional(text(200)),
  since: z.exactOptional(instant),
  until: z.exactOptional(instant),
  limit: pageLimit,
  cursor: z.exactOptional(pageCursor),
})

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

/** Contract, "Resources": everything under `/updates`. */
export function addUpdates(app: Hono<ApiEnv>, { guard, log }: Services): void {
  route(app, '/updates', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const { limit, cursor, ...wanted } = readQuery(c, updateFilter)
      if (wantsCsv(c)) {
        c.get('expensiveReads').admit(c)
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
      return answer(c, await guard.ask(asker, asked, { respondAsync: prefersAsync(c), endsAt: c.var.endsAt }))
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
  decide: (id: string) => Promise<Decided>,
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

function answerDecided(c: Context<ApiEnv>, decided: Decided): Response {
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

export const updateColumns: Columns<Update> = {
  id: ({ id }) => id,
  createdAt: ({ createdAt }) => toRfc3339(createdAt),
  finishedAt: ({ finishedAt }) => (finishedAt === undefined ? '' : toRfc3339(finishedAt)),
  state: ({ state }) => state,
  kind: ({ kind }) => kind,
  project: ({ project }) => project,
  budget: ({ budget }) => budget,
  window: ({ month }) => month,
  caller: ({ caller }) => caller,
  via: ({ via }) => via,
  plan: ({ plan }) => plan ?? '',
  estimated: ({ estimated }) => estimated ?? '',
  held: ({ hold }) => hold?.units ?? 0,
  charged: ({ charged, state }) => charged ?? (isTerminal(state) ? 0 : ''),
  reason: ({ reason }) => reason ?? '',
  problem: ({ problem }) => problem?.slug ?? '',
}
