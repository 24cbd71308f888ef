import { budgetNamed, type Definitions, pauseOf } from '../../ledger/book/definitions.ts'
import type { Problem, Request } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { problem } from '../problems.ts'
import { when, zoneOf } from '../sentences.ts'

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
