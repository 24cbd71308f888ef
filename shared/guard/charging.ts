import { budgetNamed, chainOf, type Definitions, ownerOf, rootBudget } from '../ledger/definitions.ts'
import type { Problem } from '../ledger/update.ts'
import { invalidRequest } from './problems.ts'

interface Wanted {
  readonly budget?: string
}

/** Which budget an update of this project is charged to: the one named, else the owner's, else the root. */
export const budgetFor = (definitions: Definitions, { budget }: Wanted, project: string): string =>
  budget ?? ownerOf(definitions, project)?.name ?? rootBudget

/** What is wrong with the budget that was named, if one was: a project that somebody owns is charged there, or to a parent. */
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
