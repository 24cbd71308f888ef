import { budgetNamed, type Definitions, listingsOf, unownedRuleOf } from '../../ledger/definitions/definitions.ts'
import { nearNames } from '../../ledger/definitions/near-names.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { noBudget, problem } from '../problems.ts'

/** A caller's permission to read. */
export interface Reads {
  readonly readsBudgets: '*' | readonly string[]
  mayRead(budget: string): boolean
}

/** Whether a budget of the reader lists the project, by name or id. */
export const seesProject = (definitions: Definitions, { mayRead }: Reads, project: string): boolean =>
  listingsOf(definitions, project).some(({ budget }) => mayRead(budget.name))

/** The budgets that are written on a record. */
export type Charged = Pick<Update, 'budget' | 'owner'> & {
  readonly hold?: Pick<NonNullable<Update['hold']>, 'budgets' | 'owners'>
}

/** A reader sees updates that the reader's budgets paid, and updates of their projects that other budgets paid. */
export const seesUpdate = (definitions: Definitions, reads: Reads, update: Charged): boolean =>
  reads.readsBudgets === '*' || seesPayer(definitions, reads, update) || seesOwner(definitions, reads, update)

export const seesPayer = (definitions: Definitions, reads: Reads, { budget, hold }: Charged): boolean =>
  mayReadFirst(definitions, reads, [budget, ...(hold?.budgets ?? [])])

function seesOwner(definitions: Definitions, reads: Reads, { budget, owner, hold }: Charged): boolean {
  const owners = [...(owner ? [owner] : []), ...(hold?.owners ?? [])]
  return owners.length > 0 && mayReadFirst(definitions, reads, [...owners, budget, ...(hold?.budgets ?? [])])
}

/** Updates of a deleted budget belong to the budget above it. */
function mayReadFirst(definitions: Definitions, { mayRead }: Reads, upward: readonly string[]): boolean {
  const first = upward.find((name) => budgetNamed(definitions, name))
  return first !== undefined && mayRead(first)
}

interface Wanted {
  readonly projects: readonly string[]
  readonly budget?: string
}

/** Answers "not found" for unseen names, because a narrowed reader must not learn whether they exist. */
export function whyNotSeen(definitions: Definitions, reads: Reads, { projects, budget }: Wanted): Problem | null {
  if (reads.readsBudgets === '*') return null
  if (budget !== undefined && !mayReadFirst(definitions, reads, [budget])) return noBudget(budget)
  // The reader's own budget may pay for a project that no budget lists, unless its name resembles a hidden project's.
  const isFree = (project: string) =>
    budget !== undefined && ![null, 'refuse'].includes(unownedRuleOf(definitions, project)) && !isNear(project)
  const isNear = (project: string) =>
    nearNames(definitions, project).some(({ listing }) => listing && !reads.mayRead(listing.budget.name))
  const missing = projects.find((project) => !isFree(project) && !seesProject(definitions, reads, project))
  return missing === undefined ? null : noProject(missing)
}

export const noProject = (project: string): Problem =>
  problem('not-found', `There is no project ${project} in the budgets that you read.`)

/** Thrown when a caller who reads only some budgets uses a method for callers who read all budgets. */
export class ReadsNarrowed extends Error {
  override readonly name = 'ReadsNarrowed'
  readonly problem = problem('forbidden', 'This is for callers who read all budgets, and you read only some.')
}
