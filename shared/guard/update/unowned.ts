import { callerOfPlan, type Definitions, rootBudget, unownedRuleOf } from '../../ledger/book/definitions.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import { problem } from '../problems.ts'
import { list } from '../sentences.ts'
import { budgetFor, type NamedPayer, spellingFaults, whyNotPaid } from './projects.ts'

type Budgets = Pick<Definitions, 'budgets'>

/** `account` may refuse projects that no budget lists, whichever budget the request names. */
export function whyNotUnowned(definitions: Definitions, project: string): Problem | null {
  if (unownedRuleOf(definitions, project) !== 'refuse') return null
  const detail = `No budget lists ${project}, and ${rootBudget} refuses such projects (unowned: refuse). Check the name, or ask an administrator to list it in a budget.`
  return problem('project-unowned', detail, { project })
}

interface PayingPlan extends NamedPayer {
  readonly name: string
  readonly mayChargeAncestors: boolean
}

export function whyNotPaidBy(definitions: Definitions, plan: PayingPlan, project: string): Problem | null {
  const charge = { project, budget: budgetFor(definitions, plan, project), caller: callerOfPlan(plan.name) }
  return whyNotPaid(definitions, charge, plan.mayChargeAncestors) ?? whyNotUnowned(definitions, project)
}

/** A clause about who pays for projects that no budget lists after a change. @param more how many further projects. */
export function unownedPayer(after: Budgets, projects: readonly string[], more = 0): string {
  const refused = projects.filter((project) => spellingFaults(after, [{ project }]).length > 0)
  const paid = projects.length - refused.length + more
  if (refused.length === 0 || isRefusing(after)) return payerFor(after, projects.length + more === 1 ? 'it' : 'them')
  const them = refused.length === 1 ? 'it' : 'them'
  if (paid === 0) return refusal(them, them)
  return `${refusal(list(refused), them)}, and ${payerFor(after, paid === 1 ? 'the other' : 'the others')}`
}

const ruleOf = (definitions: Budgets) => definitions.budgets[rootBudget]?.unowned

const isRefusing = (definitions: Budgets): boolean => ruleOf(definitions) === 'refuse'

const refusal = (what: string, them: string): string => `requests for ${what} are refused until a budget lists ${them}`

function payerFor(definitions: Budgets, them: string): string {
  if (isRefusing(definitions)) return refusal(them, them)
  return `${rootBudget} pays for ${them}${ruleOf(definitions) === 'approve' ? ' after an approval' : ''}`
}
