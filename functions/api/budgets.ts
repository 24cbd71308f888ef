import type { Context, Hono } from 'hono'
import { prunable } from '../../shared/guard/applying.ts'
import { type BudgetRequest, type Changed, noBudget } from '../../shared/guard/budgeting.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { Services } from '../../shared/guard/services.ts'
import { budgetNamed, rootBudget } from '../../shared/ledger/definitions.ts'
import type { View } from '../../shared/ledger/views.ts'
import { monthNamed } from '../../shared/ledger/windows.ts'
import { applyQuery, applyRequest, budgetRequest, windowQuery } from './budget-body.ts'
import { type ApiEnv, mustHave } from './context.ts'
import { budgetName, readBody, readQuery, reasonBody } from './input.ts'
import { answerProblem } from './problem-answers.ts'
import { invalid, Refusal } from './refusal.ts'
import { route } from './routing.ts'
import { showBudget } from './showing.ts'

/** Contract, "Resources": everything under `/budgets`. */
export function addBudgets(app: Hono<ApiEnv>, { guard }: Services): void {
  const { ledger } = guard

  route(app, '/budgets', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const view = await viewOf(c)
      c.header('ETag', `"${view.definitions.revision}"`)
      return c.json({ budgets: Object.values(view.definitions.budgets).map((budget) => showBudget(view, budget)) })
    },

    PUT: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const { 'dry-run': dryRun, prune = [] } = readQuery(c, applyQuery, ['prune'])
      const { budgets, reason } = await readBody(c, applyRequest)
      const by = { caller: sub, ...(reason !== undefined && { reason }), ...revisionOf(c) }
      const applied = await guard.applyBudgets(budgets, by, {
        dryRun: dryRun === 'true',
        prune: prunable.filter((member) => prune.includes('all') || prune.includes(member)),
      })
      if (applied.kind === 'problem') return answerProblem(c, applied.problem)
      const { revision, differences } = applied
      c.header('ETag', `"${revision}"`)
      return c.json({ revision, dryRun: dryRun === 'true', differences })
    },
  })

  route(app, '/budgets/:name', {
    GET: async (c) => {
      await mustHave(c, 'read')
      return answerBudget(c, 200, await viewOf(c))
    },

    PUT: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const name = budgetNameOf(c)
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
      const changed = await guard.deleteBudget(budgetNameOf(c), { caller: sub, ...revisionOf(c) })
      return changed.kind === 'changed' ? c.body(null, 204) : answerProblem(c, changed.problem)
    },
  })

  for (const action of ['freeze', 'unfreeze'] as const) {
    route(app, `/budgets/:name/${action}`, {
      POST: async (c) => {
        const { sub } = await mustHave(c, 'admin')
        const { reason } = await readBody(c, reasonBody)
        const changed: Changed = await guard[action](budgetNameOf(c), { caller: sub, reason, ...revisionOf(c) })
        return changed.kind === 'changed' ? answerBudget(c, 200) : answerProblem(c, changed.problem)
      },
    })
  }

  /** The ledger now, or with the figures of an earlier month. */
  async function viewOf(c: Context<ApiEnv>): Promise<View> {
    const { window } = readQuery(c, windowQuery)
    const view = await ledger.view()
    if (window === undefined || window === view.month.name) return view
    const month = monthNamed(view.definitions.calendar, window)
    const book = month && (await ledger.bookNamed(month.name))
    if (!month || !book) throw invalid([{ path: 'window', message: `nothing was ever counted in ${window}` }])
    return { ...view, month, book, stored: book }
  }

  async function answerBudget(c: Context<ApiEnv>, status: 200 | 201, seen?: View): Promise<Response> {
    const view = seen ?? (await ledger.view())
    const budget = budgetNamed(view.definitions, budgetNameOf(c))
    if (!budget) return answerProblem(c, noBudget(budgetNameOf(c)))
    c.header('ETag', `"${view.definitions.revision}"`)
    return c.json(showBudget(view, budget), status)
  }
}

/** @throws Refusal 404 when there cannot be such a budget, or 400 when somebody wants to make it. */
export function budgetNameOf(c: Context<ApiEnv>): string {
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
