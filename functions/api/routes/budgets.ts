import type { Context, Hono } from 'hono'
import { applyQuery, budgetBodies, budgetNameOf, windowQuery } from '../../../shared/api/budgets.ts'
import { invalid } from '../../../shared/api/refusal.ts'
import { reasonBody } from '../../../shared/api/schemas.ts'
import { showBudget } from '../../../shared/api/to-json.ts'
import { prunable } from '../../../shared/guard/people/apply-budgets.ts'
import type { BudgetRequest, ChangeResult } from '../../../shared/guard/people/budgets.ts'
import { noBudget } from '../../../shared/guard/problems.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { budgetNamed, rootBudget } from '../../../shared/ledger/book/definitions.ts'
import { monthNamed } from '../../../shared/ledger/book/windows.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { namesOf } from '../../../shared/tracking/kinds.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readBody, readQuery } from '../input.ts'
import { answerProblem, route } from '../route.ts'

/** Everything under `/budgets`. */
export function addBudgets(app: Hono<ApiEnv>, { guard, kinds }: Services): void {
  const { ledger } = guard
  const { applyRequest, budgetRequest } = budgetBodies(kinds)
  const kindNames = namesOf(kinds)

  route(app, '/budgets', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const view = await viewOf(c)
      c.header('ETag', `"${view.definitions.revision}"`)
      return c.json({
        budgets: Object.values(view.definitions.budgets).map((budget) => showBudget(view, budget, kindNames)),
      })
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
        const changed: ChangeResult = await guard[action](budgetNameOf(c), { caller: sub, reason, ...revisionOf(c) })
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
    return c.json(showBudget(view, budget, kindNames), status)
  }
}

/**
 * `If-Match` (RFC 9110, 13.1.1) with ETags of a budget or of their list: the revision of the definitions. A weak tag, or one
 * of another form, matches nothing.
 */
export function revisionOf(c: Context<ApiEnv>): { onlyAt?: readonly number[] | 'any' } {
  const given = c.req.header('if-match')?.trim()
  if (given === undefined) return {}
  if (given === '*') return { onlyAt: 'any' }
  const tags = given.split(',').map((tag) => /^"(\d{1,15})"$/.exec(tag.trim())?.[1])
  return { onlyAt: tags.flatMap((tag) => (tag === undefined ? [] : [Number(tag)])) }
}
