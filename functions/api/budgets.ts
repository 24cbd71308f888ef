import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { type BudgetRequest, type Changed, noBudget } from '../../shared/guard/budgeting.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { Services } from '../../shared/guard/services.ts'
import { budgetNamed, rootBudget, windowKinds } from '../../shared/ledger/definitions.ts'
import type { Entry } from '../../shared/ledger/entry.ts'
import { monthNamed } from '../../shared/ledger/windows.ts'
import { toRfc3339 } from '../../shared/platform/clock.ts'
import { digest } from '../../shared/platform/ids.ts'
import { kinds } from '../../shared/platform/words.ts'
import { type ApiEnv, mustHave } from './context.ts'
import { answerCsv, type Columns, csvPage, wantsCsv } from './csv.ts'
import {
  budgetName,
  idempotencyKey,
  instant,
  pageLimit,
  project,
  readBody,
  readQuery,
  reason,
  someUnits,
  units,
} from './input.ts'
import { answerProblem } from './problem-answers.ts'
import { invalid, Refusal } from './refusal.ts'
import { route } from './routing.ts'
import { showBudget, showEntry } from './showing.ts'

const mostProjects = 500
const subject = z
  .string('takes the name of a caller')
  .check(z.regex(/^[\x21-\x7e]{1,200}$/, 'takes 1 to 200 visible characters'))
const once = <Row>(keyOf: (row: Row) => unknown, message: string) =>
  z.refine<readonly Row[]>((rows) => new Set(rows.map(keyOf)).size === rows.length, message)

const limit = z.strictObject({
  window: z.enum(windowKinds, 'takes month or day'),
  units: z.union([units, z.literal('unlimited')], 'takes a whole number of units, or unlimited'),
})

const budgetRequest = z.strictObject({
  parent: z.exactOptional(z.nullable(budgetName)),
  limits: z.array(limit, 'takes a list of limits').check(
    z.minLength(1, 'takes 1 or 2 limits'),
    z.maxLength(2, 'takes 1 or 2 limits'),
    once(({ window }) => window, 'names a window twice'),
  ),
  projects: z._default(
    z.array(z.strictObject({ name: project, id: z.exactOptional(project) }), 'takes a list of projects').check(
      z.maxLength(mostProjects, `takes at most ${mostProjects} projects`),
      once(({ name }) => name, 'names a project twice'),
    ),
    [],
  ),
  perUpdate: z.exactOptional(units),
  approvalAbove: z.exactOptional(units),
  approvalIfGrown: z.exactOptional(
    z.number('takes per cent').check(z.int('takes whole per cent'), z.gte(0), z.lte(10_000)),
  ),
  kinds: z.exactOptional(
    z.array(z.enum(kinds, 'takes ranking or keyword-difficulty')).check(once((kind) => kind, 'names a kind twice')),
  ),
  approvers: z.exactOptional(z.array(subject).check(z.maxLength(50, 'takes at most 50 approvers'))),
  thresholds: z.exactOptional(
    z
      .array(z.number('takes per cent').check(z.int('takes whole per cent'), z.gte(1), z.lte(1_000)))
      .check(z.maxLength(10)),
  ),
  freezeOnOverrun: z.exactOptional(z.boolean('takes true or false')),
  reason: z.exactOptional(reason),
})

const entryRequest = z
  .strictObject({
    type: z.enum(['grant', 'external-spend'], 'takes grant or external-spend'),
    units: someUnits,
    window: z.exactOptional(z.enum(['month', 'day', 'next-month'], 'takes month, day or next-month')),
    reason,
    wholeChain: z.exactOptional(z.boolean('takes true or false')),
  })
  .check(
    z.refine(({ type, window, wholeChain }) => type === 'grant' || (window === undefined && wholeChain === undefined), {
      path: ['type'],
      message:
        'external-spend always counts in the month and the day of the whole chain, so it takes no window and no wholeChain',
    }),
  )

const entryFilter = z.strictObject({
  window: z.exactOptional(
    z.string().check(z.regex(/^month:\d{4}-\d\d-\d\d$/, 'takes a month such as month:2026-11-12')),
  ),
  since: z.exactOptional(instant),
  limit: pageLimit,
  cursor: z.exactOptional(z.string()),
})

const becauseOf = z.strictObject({ reason })

/** Contract, "Resources": everything under `/budgets`. */
export function addBudgets(app: Hono<ApiEnv>, { guard }: Services): void {
  const { ledger } = guard

  route(app, '/budgets', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const view = await ledger.view()
      c.header('ETag', `"${view.definitions.revision}"`)
      return c.json({ budgets: Object.values(view.definitions.budgets).map((budget) => showBudget(view, budget)) })
    },
  })

  route(app, '/budgets/:name', {
    GET: async (c) => {
      await mustHave(c, 'read')
      return answerBudget(c, 200)
    },

    PUT: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const name = nameOf(c)
      const { reason, parent, ...wanted } = await readBody(c, budgetRequest)
      const asked: BudgetRequest = { ...wanted, name, parent: parent ?? (name === rootBudget ? null : rootBudget) }
      const by = { caller: sub, ...(reason !== undefined && { reason }), ...revisionOf(c) }
      const changed = await guard.putBudget(asked, by)
      return changed.kind === 'changed'
        ? answerBudget(c, changed.created ? 201 : 200)
        : answerProblem(c, changed.problem)
    },

    DELETE: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const changed = await guard.deleteBudget(nameOf(c), { caller: sub, ...revisionOf(c) })
      return changed.kind === 'changed' ? c.body(null, 204) : answerProblem(c, changed.problem)
    },
  })

  for (const action of ['freeze', 'unfreeze'] as const) {
    route(app, `/budgets/:name/${action}`, {
      POST: async (c) => {
        const { sub } = await mustHave(c, 'admin')
        const { reason } = await readBody(c, becauseOf)
        const changed: Changed = await guard[action](nameOf(c), { caller: sub, reason, ...revisionOf(c) })
        return changed.kind === 'changed' ? answerBudget(c, 200) : answerProblem(c, changed.problem)
      },
    })
  }

  route(app, '/budgets/:name/entries', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const { window, since, limit, cursor } = readQuery(c, entryFilter)
      const view = await ledger.view()
      const month = window ?? view.month.name
      if (!monthNamed(view.definitions.calendar, month))
        throw invalid([{ path: 'window', message: `there is no window ${month}` }])
      const filter = { month, budget: nameOf(c), ...(since !== undefined && { since }) }
      if (wantsCsv(c)) return answerCsv(c, 'entries', csvColumns, (after) => ledger.entries(filter, csvPage, after))
      const { rows, next } = await ledger.entries(filter, limit, cursor)
      return c.json({ entries: rows.map(showEntry), ...(next !== undefined && { next }) })
    },

    POST: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const budget = nameOf(c)
      const { window = 'month', wholeChain = false, ...wanted } = await readBody(c, entryRequest)
      const key = idempotencyKey(c) ?? c.var.requestId
      const asked = { ...wanted, window, wholeChain, budget }
      const id = `ent_${digest(sub, 'POST /budgets/entries', key)}`
      const outcome = await ledger.enter({ ...asked, id, content: digest(JSON.stringify(asked)), by: sub })
      switch (outcome.kind) {
        case 'entered':
          if (outcome.again) c.header('Idempotency-Replayed', 'true')
          return c.json(showEntry(outcome.entry), 201)
        case 'unknown-budget':
          return answerProblem(c, noBudget(budget))
        case 'key-reused':
          return answerProblem(
            c,
            problem(
              'key-reused',
              'This idempotency key was used before, for another entry; use a new key for a new one.',
            ),
          )
      }
    },
  })

  async function answerBudget(c: Context<ApiEnv>, status: 200 | 201): Promise<Response> {
    const view = await ledger.view()
    const budget = budgetNamed(view.definitions, nameOf(c))
    if (!budget) return answerProblem(c, noBudget(nameOf(c)))
    c.header('ETag', `"${view.definitions.revision}"`)
    return c.json(showBudget(view, budget), status)
  }
}

/** @throws Refusal 404 when there cannot be such a budget, or 400 when somebody wants to make it. */
function nameOf(c: Context<ApiEnv>): string {
  const parsed = budgetName.safeParse(c.req.param('name'))
  if (parsed.success) return parsed.data
  if (c.req.method === 'PUT') throw invalid([{ path: 'name', message: parsed.error.issues[0]?.message ?? '' }])
  throw new Refusal(problem('not-found', 'There is no such budget.'))
}

/**
 * `If-Match` (RFC 9110, 13.1.1) with ETags of a budget or of their list: the revision of the definitions. A tag that is
 * none of ours, or weak, matches nothing.
 */
export function revisionOf(c: Context<ApiEnv>): { onlyAt?: readonly number[] | 'any' } {
  const given = c.req.header('if-match')?.trim()
  if (given === undefined) return {}
  if (given === '*') return { onlyAt: 'any' }
  const tags = given.split(',').map((tag) => /^"(\d{1,15})"$/.exec(tag.trim())?.[1])
  return { onlyAt: tags.flatMap((tag) => (tag === undefined ? [] : [Number(tag)])) }
}

const csvColumns: Columns<Entry> = {
  id: ({ id }) => id,
  at: ({ at }) => toRfc3339(at),
  type: ({ type }) => type,
  budget: ({ budget }) => budget,
  units: ({ units }) => units,
  window: (entry) => showEntry(entry).window,
  by: ({ by }) => by,
  reason: ({ reason }) => reason,
}
