import {
  type Budget,
  callerOfCounter,
  type Definitions,
  rootBudget,
  unownedRuleOf,
} from '../../ledger/definitions/definitions.ts'
import type { UpdateRequest } from '../../ledger/updates/update.ts'
import { count, units as inUnits } from '../sentences.ts'

/** What a rule for approvals may look at. */
interface Approvable {
  readonly definitions: Definitions
  readonly request: Pick<UpdateRequest, 'project' | 'plan' | 'proposed'>
  /** The owner and its ancestors. */
  readonly rules: readonly Budget[]
  readonly units: number
  /** The price of the project's last run. Absent: none is known. */
  readonly before: number | undefined
  readonly mayRun: boolean
}

/** The rules run in this order. The first reason, a clause, is the update's. `null`: the rule needs no approval. */
export const approvalRules = {
  unowned: ({ definitions, request }) => unownedApproval(definitions, request),
  approvalAbove,
  approvalIfGrown,
  proposed: ({ request, mayRun }) =>
    request.proposed || !mayRun ? 'callers with only the propose scope need approval' : null,
} satisfies Readonly<Record<string, (update: Approvable) => string | null>>

export function approvalReason(update: Approvable): string | null {
  for (const why of Object.values(approvalRules)) {
    const reason = why(update)
    if (reason !== null) return reason
  }
  return null
}

export const wantsUnownedApproval = (definitions: Definitions, project: string): boolean =>
  unownedRuleOf(definitions, project) === 'approve'

/** The reason as a clause. `null`: this rule needs no approval. */
export function unownedApproval(
  definitions: Definitions,
  { project, plan }: Pick<UpdateRequest, 'project' | 'plan'>,
): string | null {
  if (!wantsUnownedApproval(definitions, project)) return null
  const reason = `no budget lists ${project}, and ${rootBudget} wants approval for such projects`
  return plan === undefined ? reason : `${reason} (one is enough for all of them in this run of the plan ${plan})`
}

/** A service that says 0 may not know the price, so any limit for approvals counts. */
function approvalAbove({ rules, units }: Approvable): string | null {
  for (const { name, approvalAbove: most } of rules) {
    if (most === undefined || (units <= most && units > 0)) continue
    const zero = units === 0 ? ' and for a price of 0' : ''
    return `it needs ${inUnits(units)}, and ${name} wants approval above ${count(most)}${zero}`
  }
  return null
}

function approvalIfGrown({ rules, units, before }: Approvable): string | null {
  if (before === undefined) return null
  for (const { name, approvalIfGrown: percent } of rules) {
    if (percent === undefined || units * 100 <= before * (100 + percent)) continue
    return `it needs ${inUnits(units)}, the last run cost ${count(before)}, and ${name} wants approval if the price grew by more than ${percent} %`
  }
  return null
}

/** Whether approvers may grant missing units. The root and callers are excluded in `isNeverGranted`. */
export const mayBeGranted = ({ whenShort }: UpdateRequest): boolean => whenShort === 'ask'

/** An approval of one update must not raise the limits of the account or of a caller. */
export const isNeverGranted = (counter: string): boolean => counter === rootBudget || callerOfCounter(counter) !== null
