import { budgetNamed, type Definitions, rootBudget, unownedRuleOf } from '../../ledger/book/definitions.ts'
import type { Problem, UpdateRequest } from '../../ledger/updates/update.ts'
import { problem } from '../problems.ts'

/** `account` may refuse projects that no budget lists, whichever budget the request names. */
export function whyNotUnowned(definitions: Definitions, project: string): Problem | null {
  if (unownedRuleOf(definitions, project) !== 'refuse') return null
  const detail = `No budget lists ${project}, and ${rootBudget} refuses such projects (unowned: refuse). Check the name, or ask an administrator to list it in a budget.`
  return problem('project-unowned', detail, { project })
}

/** A clause about projects that no budget lists. */
export function unownedPayer(definitions: Definitions, them: 'it' | 'them'): string {
  switch (budgetNamed(definitions, rootBudget)?.unowned) {
    case 'refuse':
      return `requests for ${them} are refused until a budget lists ${them}`
    case 'approve':
      return `${rootBudget} pays for ${them} after an approval`
    default:
      return `${rootBudget} pays for ${them}`
  }
}

export const wantsUnownedApproval = (definitions: Definitions, project: string): boolean =>
  unownedRuleOf(definitions, project) === 'approve'

/** The reason, as a clause; `null`: this rule wants no approval. */
export function unownedApproval(
  definitions: Definitions,
  { project, plan }: Pick<UpdateRequest, 'project' | 'plan'>,
): string | null {
  if (!wantsUnownedApproval(definitions, project)) return null
  const reason = `no budget lists ${project}, and ${rootBudget} wants approval for such projects`
  return plan === undefined ? reason : `${reason} (one is enough for all of them in this run of the plan ${plan})`
}
