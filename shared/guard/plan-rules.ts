import { budgetNamed, type Definitions, pauseOf } from '../ledger/definitions.ts'
import { leftOf, type Problem, type Request } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import type { Figures } from './figures.ts'
import type { Short } from './over-budget.ts'
import { problem } from './problems.ts'
import { units as inUnits, when, zoneOf } from './sentences.ts'

/** What holds for updates of plans alone: whether the plan runs, and the units that it leaves to others. */

/** @param inFile the plan as its file has it now. */
export function stoppedPlan(
  view: View,
  plan: string,
  inFile: { readonly enabled: boolean } | undefined,
): Problem | null {
  if (!inFile?.enabled) {
    const detail = `The plan ${plan} is not enabled in the plans file, so nothing of it runs.`
    return problem('wrong-state', detail, { plan })
  }
  const pause = pauseOf(view.definitions, plan)
  if (!pause) return null
  const detail = `The plan ${plan} was paused by ${pause.by} on ${when(pause.at, zoneOf(view))}: ${pause.reason}. Resume it, then run what was not sent.`
  return problem('plan-paused', detail, { plan })
}

/** What an update needs of a counter, and how much of that it leaves to others. */
export type Needed = Required<Short> & { readonly needed: number }

export const neededOf = (figures: Figures, units: number, request: Request): Needed => {
  const leave = leftOf(request, figures.budget)
  return { figures, leave, needed: units + leave }
}

export const whatNeeds = (leave: number, { plan }: Request): string =>
  leave === 0 ? 'this needs' : `this and the ${inUnits(leave)} that the plan ${plan} leaves to others need`

/** A reserve that is written down wrongly would protect no one. */
export function leavesToNoBudget(
  definitions: Definitions,
  { leave, plan }: Pick<Request, 'leave' | 'plan'>,
): Problem | null {
  const names = typeof leave === 'object' ? Object.keys(leave) : []
  const missing = names.find((name) => !budgetNamed(definitions, name))
  if (missing === undefined) return null
  const detail = `The plan ${plan} leaves units of the budget ${missing} to others, and there is no such budget: correct the plans file, or create the budget.`
  return problem('not-found', detail)
}
