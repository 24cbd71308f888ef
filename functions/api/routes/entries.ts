import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { budgetNameOf } from '../../../shared/api/budgets.ts'
import { answerCsv, csvPage, wantsCsv } from '../../../shared/api/csv.ts'
import {
  entryColumns,
  entryIdentity,
  entryRequest,
  entryTexts,
  reconcileQuery,
  reconcileQueryTexts,
  reconciliation,
  reconciliationTexts,
} from '../../../shared/api/entries.ts'
import { invalid } from '../../../shared/api/refusal.ts'
import { instant, monthWindow, pageCursor, pageLimit } from '../../../shared/api/schemas.ts'
import { defined, type Shown } from '../../../shared/api/shown.ts'
import { showEntry } from '../../../shared/api/to-json.ts'
import { noWindow } from '../../../shared/api/windows.ts'
import { notEntered, type Refused } from '../../../shared/guard/problems.ts'
import type { EnterOutcome } from '../../../shared/ledger/book/enter.ts'
import { rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import { monthNamed } from '../../../shared/ledger/definitions/windows.ts'
import type { Services } from '../../../shared/services/services.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readBodyAndKey, readQuery } from '../input.ts'
import type { Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'

const entryFilterSchema = z.lazy(() =>
  z.strictObject({
    window: z.exactOptional(monthWindow),
    since: z.exactOptional(instant),
    limit: pageLimit,
    cursor: z.exactOptional(pageCursor),
  }),
)

export function addEntries(app: Hono<ApiEnv>, services: Services): void {
  const { ledger } = services.guard

  route(app, '/budgets/:name/entries', {
    GET: async (c) => {
      const { ledger } = (await mustHave(c, 'read')).guard
      const { window, since, limit, cursor } = readQuery(c, entryFilterSchema)
      const view = await ledger.view()
      const month = window ?? view.month.name
      if (!monthNamed(view.definitions.calendar, month)) throw noWindow(view, month)
      const filter = { month, budget: budgetNameOf(c), ...(since !== undefined && { since }) }
      if (wantsCsv(c)) {
        c.get('expensiveReads').admit(c.get('caller').sub)
        return answerCsv(c, 'entries', entryColumns, (after) => ledger.entries(filter, csvPage, after))
      }
      const { rows, next } = await ledger.entries(filter, limit, cursor)
      return c.json(defined<Shown<'EntryList'>>({ entries: rows.map((entry) => showEntry(entry)), next }))
    },

    POST: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const budget = budgetNameOf(c)
      const { key, body } = await readBodyAndKey(c, entryRequest)
      const request = { ...body, budget }
      const outcome = await services.guard.enter({ ...request, ...identityOf(c, key, request), by: sub })
      // An unknown budget is 404 in the path and 400 in the body.
      if (outcome.kind === 'unknown-budget' && outcome.budget !== budget)
        throw invalid([{ path: 'to', message: `there is no budget ${outcome.budget}` }])
      return answerEntered(c, outcome, 201)
    },
  })

  route(app, '/budgets/account/reconcile', {
    queried: ['POST'],
    POST: async (c) => {
      const by = await mustHave(c, 'admin')
      const { sub } = by
      const { 'dry-run': dryRun } = readQuery(c, reconcileQuery)
      const { key, body } = await readBodyAndKey(c, reconciliation)
      const { difference: shown, ...figure } = body
      const content = { type: 'reconcile', ...figure } as const
      const request = {
        ...content,
        ...identityOf(c, key, content),
        budget: rootBudget,
        by: sub,
        ...(shown !== undefined && { shown }),
      }
      const reads = c.get('expensiveReads')
      reads.admit(sub)
      if (dryRun !== 'true') return answerEntered(c, await reads.inTurn(() => by.guard.reconcile(request, by)), 200)
      const preview = await reads.inTurn(() => ledger.previewEntry(request))
      if (preview.kind !== 'possible' || !preview.reconciliation)
        return answerEntered(c, preview as Exclude<typeof preview, { kind: 'possible' }>, 200)
      return c.json(showEntry(preview.entry, preview.reconciliation))
    },
  })

  function identityOf(c: Context<ApiEnv>, key: string | undefined, request: object) {
    return entryIdentity(c.get('caller').sub, key ?? c.get('requestId'), request)
  }

  function answerEntered(c: Context<ApiEnv>, outcome: EnterOutcome | Refused, status: 200 | 201): Response {
    if (outcome.kind === 'problem') return answerProblem(c, outcome.problem)
    if (outcome.kind !== 'entered') return answerProblem(c, notEntered(outcome))
    if (outcome.again) c.header('Idempotency-Replayed', 'true')
    return c.json(showEntry(outcome.entry), status)
  }
}

export const entryOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/budgets/{name}/entries',
    id: 'enter',
    scopes: ['admin'],
    summary: 'Books an entry on a budget: a grant, a transfer, spending outside the guard, or a correction',
    details:
      '402 or 409: the entry would take more than is left, or give back more than was spent, or an update’s charge cannot be corrected now.',
    headers: ['Idempotency-Key'],
    body: {
      input: { name: 'EntryRequest', schema: entryRequest, texts: entryTexts },
      example: { type: 'grant', units: 400, window: 'month', reason: 'the client pays for more' },
    },
    answers: { 201: { description: 'It is booked', body: 'Entry', headers: ['Idempotency-Replayed'] } },
    problems: ['over-budget', 'wrong-state', 'key-reused', 'not-found'],
  },
  {
    method: 'GET',
    path: '/budgets/{name}/entries',
    id: 'listEntries',
    scopes: ['read'],
    summary: 'Lists the entries of a budget, newest first',
    query: { schema: entryFilterSchema, texts: { since: 'Booked from this time on.' } },
    answers: { 200: { description: 'A page of entries', body: 'EntryList', csv: true } },
    problems: ['not-found'],
  },
  {
    method: 'POST',
    path: '/budgets/account/reconcile',
    id: 'reconcile',
    scopes: ['admin'],
    summary: 'Reconciles the account: books the difference to the figure that the vendor shows',
    details:
      'There are two steps. `dry-run=true` shows the difference and its parts. To book it, send the shown `difference`. 409: the difference changed meanwhile, or the figure has updates in doubt and `doubts` does not say whether they ran. The rate limit of audits applies.',
    query: { schema: reconcileQuery, texts: reconcileQueryTexts },
    headers: ['Idempotency-Key'],
    body: {
      input: { name: 'Reconciliation', schema: reconciliation, texts: reconciliationTexts },
      example: { unitsLeft: 49500, reason: 'the vendor’s screen', difference: 460 },
    },
    answers: {
      200: {
        description: 'The difference is booked; `units` is 0 if the figures agree',
        body: 'Entry',
        headers: ['Idempotency-Replayed'],
      },
    },
    problems: ['over-budget', 'wrong-state', 'doubts-open', 'key-reused', 'too-many-requests'],
  },
]
