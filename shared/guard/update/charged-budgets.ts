import {
  type Budget,
  budgetNamed,
  chainOf,
  type Definitions,
  ownerOf,
  rootBudget,
} from '../../ledger/book/definitions.ts'
import type { Problem, Request } from '../../ledger/updates/update.ts'
import { invalidRequest, problem } from '../problems.ts'

interface Wanted {
  readonly budget?: string
}

/** The budget that pays: the one named, else the owner, else the root. */
export const budgetFor = (definitions: Definitions, { budget }: Wanted, project: string): string =>
  budget ?? ownerOf(definitions, project)?.name ?? rootBudget

type Charge = Pick<Request, 'project' | 'budget' | 'byDefault' | 'caller'>

/** `owner` is `null` where no budget owns the project. */
export interface Payer {
  readonly budget: string
  readonly owner: string | null
}

export const payerOf = (definitions: Definitions, { project, budget }: Pick<Charge, 'project' | 'budget'>): Payer => ({
  budget,
  owner: ownerOf(definitions, project)?.name ?? null,
})

/** The project's owner, where another budget pays; `null`: the owner pays, or no budget owns it. */
export function ownerPaidFor(definitions: Definitions, charge: Pick<Charge, 'project' | 'budget'>): string | null {
  const { owner } = payerOf(definitions, charge)
  return owner === charge.budget ? null : owner
}

/** The project's owner and all its ancestors, or the payer's without an owner: the rules of all of them hold. */
export const ruledBy = (definitions: Definitions, { project, budget }: Pick<Charge, 'project' | 'budget'>) =>
  chainOf(definitions, ownerOf(definitions, project)?.name ?? budget)

/** The owner and the budgets between it and the payer; empty where the owner pays itself. */
export function ownersBelow(rules: readonly Budget[], payer: string): readonly string[] {
  const names = rules.map(({ name }) => name)
  return names.slice(0, names.indexOf(payer))
}

/**
 * Why this budget may not pay for this project: it moved, it has another owner, or paying above the owner takes a
 * right.
 */
export function whyNotPaid(definitions: Definitions, charge: Charge, mayChargeAncestors: boolean): Problem | null {
  const { project, budget, byDefault, caller } = charge
  const owner = ownerOf(definitions, project)?.name
  if (byDefault && budgetFor(definitions, {}, project) !== budget) {
    const now = owner === undefined ? 'belongs to no budget' : `belongs to ${owner}`
    const detail = `${project} ${now} now, and this was to be charged to ${budget}. Ask for the update again.`
    return problem('wrong-state', detail, { budget })
  }
  const wrong = wrongBudget(definitions, { budget }, [project])
  if (wrong) return wrong
  if (owner === undefined || owner === budget || mayChargeAncestors) return null
  const right = caller.startsWith('schedule:')
    ? 'mayChargeAncestors in the plan'
    : 'the scope admin or mayChargeAncestors'
  const detail = `${caller} may not charge ${budget} for ${project}, which belongs to ${owner}; that takes ${right}. Without a budget, ${owner} pays.`
  return problem('forbidden', detail, { budget })
}

/** What is wrong with the budget that was named, if one was: an owned project is charged to its owner, or to a parent. */
export function wrongBudget(definitions: Definitions, { budget }: Wanted, projects: readonly string[]): Problem | null {
  if (budget === undefined) return null
  if (!budgetNamed(definitions, budget))
    return invalidRequest([{ path: 'budget', message: `There is no budget ${budget}.` }])
  const errors = projects.flatMap((project) => {
    const owner = ownerOf(definitions, project)
    if (!owner || chainOf(definitions, owner.name).some(({ name }) => name === budget)) return []
    const message = `${project} belongs to ${owner.name}, so it is charged there or to a parent of it, not to ${budget}.`
    return [{ path: 'budget', message }]
  })
  return errors.length > 0 ? invalidRequest(errors) : null
}

/** Whether these budgets, their descendants included, cover this one. */
export const covers = (definitions: Definitions, budgets: '*' | readonly string[], budget: string): boolean =>
  budgets === '*' || chainOf(definitions, budget).some(({ name }) => budgets.includes(name))
