import * as z from 'zod/mini'
import * as budgets from './budgets.ts'
import { problem } from './pieces.ts'
import { status } from './status.ts'
import * as updates from './updates.ts'

/**
 * Schemas of answers by their names in the OpenAPI document. Tests check each answer with its schema. Only the function
 * for agents imports the schemas, because their descriptions make bundles larger.
 */
export const answers = {
  Update: updates.update,
  Updates: updates.updatesAnswer,
  UpdateList: updates.updateList,
  Resolved: updates.resolvedAnswer,
  Cancelled: updates.cancelledAnswer,
  NotRecorded: updates.notRecorded,
  Estimate: updates.estimate,
  Budget: budgets.budget,
  BudgetList: budgets.budgetList,
  AppliedBudgets: budgets.appliedBudgets,
  Entry: budgets.entry,
  EntryList: budgets.entryList,
  Statement: budgets.statement,
  Audit: budgets.audit,
  Plan: updates.plan,
  PlanList: updates.planList,
  Occurrence: updates.occurrence,
  Forecast: budgets.forecast,
  Caller: budgets.caller,
  CallerList: budgets.callerList,
  ChangeList: updates.changeList,
  Status: status,
  Health: z.strictObject({ status: z.literal('ok') }),
  Ready: z.strictObject({ status: z.literal('ready') }),
  Problem: problem,
}

export type AnswerName = keyof typeof answers
