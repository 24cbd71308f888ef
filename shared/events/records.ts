import { showPlan } from '../api/plans.ts'
import { showBudget } from '../api/to-json.ts'
import { budgetNamed } from '../ledger/definitions/definitions.ts'
import type { Services } from '../services/services.ts'

export type FactParts = Pick<Services, 'guard' | 'kinds'>

export async function budgetAsShown({ guard, kinds }: FactParts, name: string): Promise<object> {
  const view = await guard.ledger.view()
  const budget = budgetNamed(view.definitions, name)
  return budget ? showBudget(view, budget, Object.keys(kinds) as (keyof typeof kinds)[]) : deleted(name)
}

export async function planAsShown({ guard }: FactParts, name: string): Promise<object> {
  const { plans, zone } = await guard.planStatuses()
  const status = plans.find(({ plan }) => plan.name === name)
  return status ? showPlan(status, zone) : deleted(name)
}

const deleted = (name: string) => ({ name, deleted: true })
