import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { answerCsv, csvPage, wantsCsv } from '../../../shared/api/csv.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { projectsOfRequest, reason } from '../../../shared/api/schemas.ts'
import { defined, type Shown } from '../../../shared/api/shown.ts'
import { showAnswer, showUpdate } from '../../../shared/api/to-json.ts'
import { updateColumnsAt, updateFilterOf, updateFilterTexts } from '../../../shared/api/updates.ts'
import { noUpdate } from '../../../shared/guard/inbox/approvals.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { tags } from '../../../shared/guard/tags.ts'
import type { Answer } from '../../../shared/guard/update/answer.ts'
import { budgetName, kindOf, project, query, units } from '../../../shared/records/common-fields.ts'
import type { Services } from '../../../shared/services/services.ts'
import type { Kinds } from '../../../shared/tracking/kinds.ts'
import { type ApiEnv, mustHave, tokenMustHave } from '../context.ts'
import { countUpdates } from '../extras.ts'
import { prefersAsync, readBodyAndKey, readQuery } from '../input.ts'
import { type Body, type Operation, recordedProblems, refusals } from '../operation.ts'
import { answerProblem, route } from '../route.ts'

export function addUpdates(app: Hono<ApiEnv>, services: Services): void {
  const filter = z.lazy(() => updateFilterOf(services.kinds))
  const request = updatesRequestOf(services.kinds)
  route(app, '/updates', {
    GET: (c) => listUpdates(c, services, filter),
    POST: (c) => submitUpdates(c, services, request),
  })
  route(app, '/updates/:id', { GET: (c) => showOne(c, services) })
}

async function listUpdates(
  c: Context<ApiEnv>,
  { clock }: Services,
  filter: z.ZodMiniLazy<ReturnType<typeof updateFilterOf>>,
) {
  const { guard } = await mustHave(c, 'read')
  const { limit, cursor, ...criteria } = readQuery(c, filter, ['tag'])
  const now = clock.now()
  if (wantsCsv(c)) {
    c.get('expensiveReads').admit(c.get('caller').sub)
    return answerCsv(c, 'updates', updateColumnsAt(now), (after) => guard.ledger.updates(criteria, csvPage, after))
  }
  const mayCount = criteria.since !== undefined && cursor === undefined
  const [{ rows, next }, counts] = await Promise.all([
    guard.ledger.updates(criteria, limit, cursor),
    mayCount ? countUpdates(guard, criteria) : null,
  ])
  const shown = defined<Shown<'UpdateList'>>({
    updates: rows.map((update) => showUpdate(update, now)),
    next,
    count: counts?.count,
    sum: counts?.sum ?? undefined,
  })
  return c.json(shown)
}

async function submitUpdates(c: Context<ApiEnv>, { guard }: Services, schema: ReturnType<typeof updatesRequestOf>) {
  const caller = tokenMustHave(c, 'run', 'propose')
  const { key, body } = await readBodyAndKey(c, schema)
  const { project, projects, ...options } = body
  const by = {
    caller: caller.sub,
    token: caller,
    via: 'http',
    route: 'POST /updates',
    traceparent: c.var.traceparent,
    ...(key !== undefined && { key }),
  } as const
  const request = { ...options, projects: projects ?? [project ?? ''] }
  return answer(c, await guard.submit(by, request, { respondAsync: prefersAsync(c), endsAt: c.var.endsAt }))
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

async function showOne(c: Context<ApiEnv>, { clock }: Services) {
  const { guard } = await mustHave(c, 'read')
  const id = updateIdOf(c)
  const update = await guard.ledger.update(id)
  return update ? c.json(showUpdate(update, clock.now())) : answerProblem(c, noUpdate(id))
}

/** @throws Refusal 404 for an id that cannot exist. */
export function updateIdOf(c: Context<ApiEnv>): string {
  const id = c.req.param('id') ?? ''
  if (/^[\x21-\x7e]{1,100}$/.test(id)) return id
  throw new Refusal(problem('not-found', 'There is no such update.'))
}

const isObject = ({ value }: { value: unknown }): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const projectList = projectsOfRequest('must be a list of project names')

const updatesRequestOf = (kinds: Kinds) =>
  z.lazy(() =>
    z
      .strictObject({
        kind: kindOf(kinds),
        project: z.exactOptional(project),
        projects: z.exactOptional(projectList),
        budget: z.exactOptional(budgetName),
        reason: z.exactOptional(reason),
        maxUnits: z.exactOptional(units),
        force: z._default(z.boolean('must be true or false'), false),
        whenShort: z._default(z.enum(['refuse', 'fit', 'ask'], 'must be refuse, fit or ask'), 'refuse'),
        query: z.exactOptional(query),
        tags: z.exactOptional(tags),
      })
      .check(
        // `when` makes Zod run these checks even if a member is wrong, so the caller sees all faults at once.
        z.refine((body) => (body.project === undefined) !== (body.projects === undefined), {
          path: ['project'],
          message: 'needs either project or projects',
          when: isObject,
        }),
        z.refine((body) => body.force !== true || body.reason !== undefined, {
          path: ['reason'],
          message: 'is needed with force',
          when: isObject,
        }),
      ),
  )

const updatesRequest: Body = {
  name: 'UpdatesRequest',
  schema: updatesRequestOf,
  extraRules: {
    if: { required: ['project'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { not: { required: ['projects'] } },
    else: { required: ['projects'] },
    not: { required: ['force'], properties: { force: { enum: [true] }, reason: { not: {} } } },
  },
  texts: {
    projects: '1 to 20 different projects, instead of `project`. Each becomes an update of its own.',
    budget:
      'Who pays. Default: the project’s owner, else `account`. If the project has an owner, it must be the owner or one of its ancestors.',
    maxUnits: 'The most units that each update may cost; if its estimate is higher, the update is refused.',
    force:
      'Skips the cool-down and the freshness check. An update whose work is running or in doubt is still refused. Needs `reason`, and the scope `admin` or the right `mayForce`.',
    whenShort:
      '`refuse`: if units are short, no update starts; a project refused for another reason does not stop the others. `fit`: in order, the projects that still fit. `ask`: if a project lacks units, its update awaits an approval, which grants the missing units to this update only.',
    query: 'Sent to the service with `estimate` and with `run`.',
    tags: 'Up to 5, for every project of the request. They are shown with each update, and never sent to the service.',
  },
}

export const updateOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/updates',
    id: 'askForUpdates',
    scopes: ['run', 'propose'],
    summary: 'Requests updates: each is estimated, checked against its budgets, run at most once, and settled',
    details:
      'With several updates, the status is the first of these that one of them has. 202: the update is requested, running, awaiting approval or in doubt. 201: it settled. 200: the same work was done a short while ago. 502: the update was admitted but did not run, or had no estimate. 409: the same work is under way. 402: the update was refused. A key is valid for one caller at this address. A request with the same key and content always gets the same answer, so after a lost answer you may send it again. With 400, 401, 403, 404, 413, 415, 422, 429 and 503, and after a failed estimate, nothing is recorded.',
    headers: ['Idempotency-Key', 'Prefer'],
    body: {
      input: updatesRequest,
      example: {
        kind: 'keyword-difficulty',
        projects: ['1001', '1003'],
        whenShort: 'fit',
        maxUnits: 200,
        reason: 'report 47',
        tags: { client: 'initech', ticket: 'SEO-47' },
      },
    },
    answers: {
      200: {
        description: 'The same work was done a short while ago by these updates; nothing was spent',
        body: 'Updates',
        headers: ['Unit-Guard-Replayed', 'Idempotency-Replayed', 'Location'],
      },
      201: {
        description: 'At least one update settled, and none is pending',
        body: 'Updates',
        headers: ['Idempotency-Replayed', 'Location'],
      },
      202: {
        description: 'At least one update is requested, running, awaiting approval or in doubt',
        body: 'Updates',
        headers: ['Idempotency-Replayed', 'Location'],
      },
    },
    problems: refusals,
    otherStatuses: recordedProblems,
  },
  {
    method: 'GET',
    path: '/updates',
    id: 'listUpdates',
    scopes: ['read'],
    summary: 'Lists updates, newest first',
    query: { schema: updateFilterOf, texts: updateFilterTexts },
    example: '/updates?state=settled&budget=demo&limit=10',
    answers: { 200: { description: 'A page of updates', body: 'UpdateList', csv: true } },
    problems: [],
  },
  {
    method: 'GET',
    path: '/updates/{id}',
    id: 'getUpdate',
    scopes: ['read'],
    summary: 'Returns one update with its history and the service’s answer',
    answers: { 200: { description: 'The update', body: 'Update' } },
    problems: ['not-found'],
  },
]
