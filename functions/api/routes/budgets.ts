import type { Context, Hono } from 'hono'
import type * as z from 'zod/mini'
import {
  applyQuery,
  applyTexts,
  type BudgetBodies,
  budgetBodies,
  budgetColumns,
  budgetNameOf,
  budgetsQuery,
  budgetsTexts,
  pruneTexts,
  putQuery,
  putTexts,
  releaseQuery,
  releaseTexts,
  windowQuery,
} from '../../../shared/api/budgets.ts'
import { answerCsv, wantsCsv } from '../../../shared/api/csv.ts'
import { invalid } from '../../../shared/api/refusal.ts'
import { reasonBody } from '../../../shared/api/schemas.ts'
import type { Shown } from '../../../shared/api/shown.ts'
import { showBudget } from '../../../shared/api/to-json.ts'
import { noWindow } from '../../../shared/api/windows.ts'
import type { BudgetRequest, ChangeResult } from '../../../shared/guard/people/budgets.ts'
import { noBudget } from '../../../shared/guard/problems.ts'
import type { BudgetExtra } from '../../../shared/guard/shown-budget.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { budgetNamed, noRevision, rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import { monthNamed } from '../../../shared/ledger/definitions/windows.ts'
import { budgetMembers, removableMembers } from '../../../shared/records/budget.ts'
import type { Services } from '../../../shared/services/services.ts'
import { namesOf } from '../../../shared/tracking/kinds.ts'
import { type ApiEnv, mustHave, type PermittedCaller } from '../context.ts'
import { notesOf, outlooksOf } from '../extras.ts'
import { readBody, readQuery } from '../input.ts'
import type { Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'

export function addBudgets(app: Hono<ApiEnv>, services: Services): void {
  const { guard, kinds } = services
  const { applyRequest, budgetRequest } = budgetBodies(kinds)
  route(app, '/budgets', {
    GET: (c) => listBudgets(c, services),
    PUT: (c) => applyBudgets(c, services, applyRequest),
    queried: ['PUT'],
  })
  route(app, '/budgets/:name', {
    queried: ['PUT', 'DELETE'],
    GET: async (c) => {
      const caller = await mustHave(c, 'read')
      const { window } = readQuery(c, windowQuery)
      const view = await viewOf(caller, window)
      return answerBudget(c, services, 200, { view, outlooks: await outlooksOf(caller.guard, view) })
    },
    PUT: (c) => putBudget(c, services, budgetRequest),
    DELETE: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const { release } = readQuery(c, releaseQuery)
      const by = { caller: sub, release: release === 'true', ...revisionOf(c) }
      const result = await guard.deleteBudget(budgetNameOf(c), by)
      return result.kind === 'changed' ? c.body(null, 204) : answerProblem(c, result.problem)
    },
  })
  for (const action of ['freeze', 'unfreeze'] as const) {
    route(app, `/budgets/:name/${action}`, {
      POST: async (c) => {
        const { sub } = await mustHave(c, 'admin')
        const { reason } = await readBody(c, reasonBody)
        const result: ChangeResult = await guard[action](budgetNameOf(c), { caller: sub, reason, ...revisionOf(c) })
        return result.kind === 'changed' ? answerBudget(c, services, 200) : answerProblem(c, result.problem)
      },
    })
  }
}

async function listBudgets(c: Context<ApiEnv>, services: Services): Promise<Response> {
  const caller = await mustHave(c, 'read')
  const { window, sort } = readQuery(c, budgetsQuery)
  const isExport = wantsCsv(c)
  if (isExport) c.get('expensiveReads').admit(c.get('caller').sub)
  const view = await viewOf(caller, window)
  const outlooks = await outlooksOf(caller.guard, view)
  if (sort === 'risk' && !outlooks) throw invalid([{ path: 'sort', message: 'only the open month has risks' }])
  tagWith(c, view)
  const kindNames = namesOf(services.kinds)
  const names = (sort === 'risk' && outlooks?.map(({ budget }) => budget)) || Object.keys(view.definitions.budgets)
  const budgets = names.flatMap((name) => budgetNamed(view.definitions, name) ?? [])
  const outlookOf = new Map(outlooks?.map((outlook) => [outlook.budget, outlook]))
  const rows = budgets.map((budget) => showBudget(view, budget, kindNames, outlookOf.get(budget.name)))
  return isExport
    ? answerCsv(c, 'budgets', budgetColumns, async () => ({ rows }))
    : c.json<Shown<'BudgetList'>>({ budgets: rows })
}

async function applyBudgets(c: Context<ApiEnv>, { guard }: Services, schema: BudgetBodies['applyRequest']) {
  const { sub } = await mustHave(c, 'admin')
  const { 'dry-run': dryRun, prune = [], ...may } = readQuery(c, applyQuery, ['prune'])
  const { budgets, reason } = await readBody(c, schema)
  const by = { caller: sub, ...permitted(may), ...(reason !== undefined && { reason }), ...revisionOf(c) }
  const result = await guard.applyBudgets(budgets, by, {
    dryRun: dryRun === 'true',
    prune: removableMembers.filter((member) => prune.includes('all') || prune.includes(member)),
  })
  if (result.kind === 'problem') return answerProblem(c, result.problem)
  const { revision, differences } = result
  const notes = [...result.notes, ...(await notesOf(guard, differences))]
  c.header('ETag', `"${revision}"`)
  return c.json<Shown<'AppliedBudgets'>>({ revision, dryRun: dryRun === 'true', differences, notes })
}

async function putBudget(c: Context<ApiEnv>, services: Services, schema: BudgetBodies['budgetRequest']) {
  const { sub } = await mustHave(c, 'admin')
  const name = budgetNameOf(c)
  const may = readQuery(c, putQuery)
  const { reason, parent, ...definition } = await readBody(c, schema)
  const request: BudgetRequest = { ...definition, name, parent: parent ?? (name === rootBudget ? null : rootBudget) }
  const by = { caller: sub, ...permitted(may), ...(reason !== undefined && { reason }), ...revisionOf(c) }
  const result = await services.guard.putBudget(request, by)
  return result.kind === 'changed'
    ? answerBudget(c, services, result.created ? 201 : 200)
    : answerProblem(c, result.problem)
}

/** Whether a change of lists may leave a project without an owner, take one from another budget, or contradict the service. */
const permitted = ({ release, move, asWritten }: z.output<typeof putQuery>) => ({
  release: release === 'true',
  asWritten: asWritten === 'true',
  ...(move === 'true' && ({ move: true } as const)),
})

/** The ledger in the named month. Default: in the open month. */
async function viewOf({ guard, view: read }: PermittedCaller, window: string | undefined): Promise<View> {
  const view = await read()
  if (window === undefined || window === view.month.name) return view
  const month = monthNamed(view.definitions.calendar, window)
  if (!month) throw noWindow(view, window)
  const book = await guard.ledger.bookNamed(month.name)
  if (!book) throw invalid([{ path: 'window', message: `nothing was ever counted in ${window}` }])
  return { ...view, month, book, stored: book }
}

/** @param read only for GET, which also shows the outlook. The answer to a write has only the new figures. */
async function answerBudget(
  c: Context<ApiEnv>,
  { guard, kinds }: Services,
  status: 200 | 201,
  read?: { readonly view: View; readonly outlooks: readonly BudgetExtra[] | null },
) {
  const view = read?.view ?? (await guard.ledger.view())
  const budget = budgetNamed(view.definitions, budgetNameOf(c))
  if (!budget) return answerProblem(c, noBudget(budgetNameOf(c)))
  const outlook = read?.outlooks?.find((each) => each.budget === budget.name)
  tagWith(c, view)
  return c.json(showBudget(view, budget, namesOf(kinds), outlook), status)
}

/** Callers who read only some budgets get no `ETag`, because it would reveal changes of other budgets. */
function tagWith(c: Context<ApiEnv>, { definitions: { revision } }: View): void {
  if (revision !== noRevision) c.header('ETag', `"${revision}"`)
}

/** Reads the revisions in `If-Match` (RFC 9110, 13.1.1). A proxy that compresses makes our tag weak, or adds its encoding. */
export function revisionOf(c: Context<ApiEnv>): { onlyAt?: readonly number[] | 'any' } {
  const header = c.req.header('if-match')?.trim()
  if (header === undefined) return {}
  if (header === '*') return { onlyAt: 'any' }
  const tags = header.split(',').map((tag) => /^(?:W\/)?"(\d{1,15})(?:-(?:gzip|br))?"$/.exec(tag.trim())?.[1])
  return { onlyAt: tags.filter((tag) => tag !== undefined).map((tag) => Number(tag)) }
}

export const budgetOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/budgets',
    id: 'listBudgets',
    scopes: ['read'],
    summary: 'Lists all budgets with their figures, and whether each will last',
    query: { schema: budgetsQuery, texts: budgetsTexts },
    answers: { 200: { description: 'All budgets', body: 'BudgetList', headers: ['ETag'], csv: true } },
    problems: [],
  },
  {
    method: 'PUT',
    path: '/budgets',
    id: 'applyBudgets',
    scopes: ['admin'],
    summary: 'Sets many budgets as one revision: all or nothing',
    query: { schema: applyQuery, texts: pruneTexts },
    headers: ['If-Match'],
    example: '/budgets?dry-run=true',
    body: {
      input: { name: 'BudgetsRequest', schema: (kinds) => budgetBodies(kinds).applyRequest, texts: applyTexts },
      example: { budgets: [{ name: 'acme', limits: [{ window: 'month', units: 1200 }] }], reason: 'contract 13' },
    },
    answers: {
      200: { description: 'The difference, applied or only shown', body: 'AppliedBudgets', headers: ['ETag'] },
    },
    problems: ['precondition-failed', 'wrong-state', 'contradicted'],
  },
  {
    method: 'GET',
    path: '/budgets/{name}',
    id: 'getBudget',
    scopes: ['read'],
    summary: 'Returns one budget with its figures',
    query: { schema: windowQuery },
    answers: { 200: { description: 'The budget', body: 'Budget', headers: ['ETag'] } },
    problems: ['not-found'],
  },
  {
    method: 'PUT',
    path: '/budgets/{name}',
    id: 'putBudget',
    scopes: ['admin'],
    summary: 'Creates or replaces a budget. It takes effect at once, also for updates that hold no units yet',
    query: { schema: putQuery, texts: putTexts },
    headers: ['If-Match'],
    body: {
      input: { name: 'BudgetRequest', schema: (kinds) => budgetBodies(kinds).budgetRequest, texts: budgetMembers },
      example: {
        limits: [
          { window: 'month', units: 2000 },
          { window: 'day', units: 300 },
        ],
        projects: [{ name: 'initech', id: '1003' }],
        perUpdate: 500,
        approvalAbove: 100,
        reason: 'contract 12',
      },
    },
    answers: {
      200: { description: 'The budget was replaced', body: 'Budget', headers: ['ETag'] },
      201: { description: 'The budget was created', body: 'Budget', headers: ['ETag'] },
    },
    problems: ['precondition-failed', 'wrong-state', 'contradicted'],
  },
  {
    method: 'DELETE',
    path: '/budgets/{name}',
    id: 'deleteBudget',
    scopes: ['admin'],
    summary: 'Deletes a budget that has no children, no holds and nothing in doubt; `account` cannot be deleted',
    query: { schema: releaseQuery, texts: releaseTexts },
    headers: ['If-Match'],
    answers: { 204: { description: 'The budget was deleted; its counters stay until the month ends', body: null } },
    problems: ['precondition-failed', 'wrong-state', 'not-found'],
  },
  {
    method: 'POST',
    path: '/budgets/{name}/freeze',
    id: 'freezeBudget',
    scopes: ['admin'],
    summary: 'Freezes a budget: refuses every update that would be charged to it or its descendants',
    headers: ['If-Match'],
    body: { input: { name: 'Reason', schema: reasonBody }, example: { reason: 'a cron job has gone wild' } },
    answers: { 200: { description: 'It is frozen', body: 'Budget', headers: ['ETag'] } },
    problems: ['precondition-failed', 'not-found', 'wrong-state'],
  },
  {
    method: 'POST',
    path: '/budgets/{name}/unfreeze',
    id: 'unfreezeBudget',
    scopes: ['admin'],
    summary: 'Unfreezes a budget',
    headers: ['If-Match'],
    body: { input: { name: 'Reason', schema: reasonBody }, example: { reason: 'repaired' } },
    answers: { 200: { description: 'The budget is not frozen any more', body: 'Budget', headers: ['ETag'] } },
    problems: ['precondition-failed', 'not-found', 'wrong-state'],
  },
]
