import type { Guard } from '../../shared/guard/guard.ts'
import type { BudgetDifference } from '../../shared/guard/people/apply-budgets.ts'
import type { BudgetExtra, NextStop } from '../../shared/guard/shown-budget.ts'
import type { View } from '../../shared/ledger/book/view.ts'
import type { UpdateFilter } from '../../shared/ledger/views/lists.ts'
import { reportsOf } from '../../shared/reports/reports.ts'

// What reports add to the answers of other routes.

/** Budgets in the order of their risks. `null`: an earlier month has no outlook. */
export async function outlooksOf(guard: Guard, view: View): Promise<readonly BudgetExtra[] | null> {
  if (view.now >= view.month.end) return null
  const { outlook } = await reportsOf(guard)
  return (await outlook(view)).budgets
}

/** The next stop of each listed caller. */
export async function callerStopsOf(guard: Guard, view: View): Promise<ReadonlyMap<string, NextStop>> {
  const { callerStops } = await reportsOf(guard)
  return callerStops(view)
}

/** Sentences about a change of budgets. */
export async function notesOf(guard: Guard, differences: readonly BudgetDifference[]): Promise<readonly string[]> {
  const reports = await reportsOf(guard)
  return reports.notesOf(differences)
}

/** How many updates match, and their units. `null`: that cannot be counted. */
export async function countUpdates(guard: Guard, filter: UpdateFilter) {
  const reports = await reportsOf(guard)
  return reports.countUpdates(filter)
}
