import type { Definitions } from '../../ledger/definitions/definitions.ts'
import { budgetFor, whyNotPaidBy } from '../update/projects.ts'
import type { Plan } from './plans-file.ts'

/** The budgets that pay for the plan's updates. */
export const payersOf = (definitions: Definitions, plan: Plan): readonly string[] => [
  ...new Set(
    plan.projects.flatMap((project) =>
      whyNotPaidBy(definitions, plan, project) === null ? budgetFor(definitions, plan, project) : [],
    ),
  ),
]
