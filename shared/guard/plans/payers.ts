import type { Definitions } from '../../ledger/definitions/definitions.ts'
import type { Plan } from '../plans-file.ts'
import { budgetFor, whyNotPaidBy } from '../rules/projects.ts'

/** The budgets that pay for the plan's updates. */
export const payersOf = (definitions: Definitions, plan: Plan): readonly string[] => [
  ...new Set(
    plan.projects.flatMap((project) =>
      whyNotPaidBy(definitions, plan, project) === null ? budgetFor(definitions, plan, project) : [],
    ),
  ),
]
