import { budgetNamed, type Definitions } from '../ledger/definitions.ts'
import { leftOf, type Problem, type Request } from '../ledger/update.ts'
import type { Figures } from './figures.ts'
import type { Short } from './over-budget.ts'
import { problem } from './problems.ts'
import { units as inUnits } from './sentences.ts'

/** The units that a plan leaves to others, counter by counter. */

/** What an update needs of a counter, and how much of that it leaves to others. */
export type Needed = Required<Short> & { readonly needed: number }

export const neededOf = (figures: Figures, units: number, request: Request): Needed => {
  const leave = leftOf(request, figures.budget)
  return { figures, leave, needed: units + leave }
}

export const whatNeeds = (leave: number, { plan }: Request): string =>
  leave === 0 ? 'this needs' : `this and the ${inUnits(leave)} that the plan ${plan} leaves to others need`

/** A reserve that is written down wrongly would protect no one. */
export function leavesToNoBudget(definitions: Definitions, { leave, plan }: Request): Problem | null {
  const names = typeof leave === 'object' ? Object.keys(leave) : []
  const missing = names.find((name) => !budgetNamed(definitions, name))
  if (missing === undefined) return null
  const detail = `The plan ${plan} leaves units of the budget ${missing} to others, and there is no such budget: correct the plans file, or create the budget.`
  return problem('not-found', detail)
}
