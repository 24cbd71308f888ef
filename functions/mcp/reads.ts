import { showForecast } from '../../shared/api/reports/forecast.ts'
import type { Shown } from '../../shared/api/shown.ts'
import { showBudget } from '../../shared/api/to-json.ts'
import { noBudget } from '../../shared/guard/problems.ts'
import { count } from '../../shared/guard/sentences.ts'
import { budgetNamed } from '../../shared/ledger/definitions/definitions.ts'
import type { UpdateFilter } from '../../shared/ledger/views/lists.ts'
import { reportsOf } from '../../shared/reports/reports.ts'
import { namesOf } from '../../shared/tracking/kinds.ts'
import type { ToolCall } from './call.ts'
import { answered, refused, shownUpdate, type ToolResult } from './results.ts'

export async function listBudgets({ guard, parts }: ToolCall, { sort }: { sort?: 'risk' }): Promise<ToolResult> {
  const view = await guard.ledger.view()
  const reports = await reportsOf(guard)
  const { budgets: outlooks } = await reports.outlook(view)
  const outlookOf = new Map(outlooks.map((each) => [each.budget, each]))
  const names = sort === 'risk' ? outlooks.map(({ budget }) => budget) : Object.keys(view.definitions.budgets)
  const budgets = names.flatMap((name) => {
    const budget = budgetNamed(view.definitions, name)
    return budget ? [shortBudget(showBudget(view, budget, namesOf(parts.kinds), outlookOf.get(name)))] : []
  })
  const sentence = `${count(budgets.length)} ${budgets.length === 1 ? 'budget' : 'budgets'}; get_budget shows one in full.`
  return answered(sentence, { budgets })
}

/** An agent's context is small, so a list has only what tells budgets apart. */
const shortBudget = ({ name, parent, frozen, status, reason, windows }: Shown<'Budget'>) => ({
  name,
  parent,
  status,
  ...(frozen && { frozen: true as const }),
  ...(reason !== undefined && { reason }),
  windows: windows.map(({ window, limit, available }) => ({ window, limit, available })),
})

export async function getBudget({ guard, parts }: ToolCall, { name }: { name: string }): Promise<ToolResult> {
  const view = await guard.ledger.view()
  const budget = budgetNamed(view.definitions, name)
  if (!budget) return refused(noBudget(name), 'Call list_budgets for the names.')
  const reports = await reportsOf(guard)
  const own = (await reports.outlook(view)).budgets.find((each) => each.budget === name)
  const lasts = own?.sentence?.replace(/[^.]$/, '$&.') ?? `${name} is on track.`
  // If the next update would be refused, the answer has only the sentence of `next`.
  const sentence = [...(own?.next?.updates === 0 ? [] : [lasts]), own?.next?.sentence].join(' ')
  const { next: nextStop, ...shown } = showBudget(view, budget, namesOf(parts.kinds), own)
  return answered(sentence, { ...shown, ...(nextStop && { nextStop }) })
}

type ListRequest = UpdateFilter & { readonly limit?: number; readonly cursor?: string }

const usualLimit = 20

export async function listUpdates({ guard, parts }: ToolCall, request: ListRequest): Promise<ToolResult> {
  const { limit = usualLimit, cursor, ...criteria } = request
  const { rows, next } = await guard.ledger.updates(criteria, limit, cursor)
  const now = parts.clock.now()
  const more = next === undefined ? '' : ' There are more: call again with this cursor.'
  const sentence = `${count(rows.length)} ${rows.length === 1 ? 'update' : 'updates'}, newest first.${more}`
  const updates = rows.map((update) => shownUpdate(update, now))
  return answered(sentence, { updates, ...(next !== undefined && { cursor: next }) })
}

export async function forecast({ guard }: ToolCall): Promise<ToolResult> {
  const reports = await reportsOf(guard)
  const budgets = (await reports.forecast()).map(showForecast)
  return answered('For each budget: what plans will still take, and when nothing will be left.', { budgets })
}
