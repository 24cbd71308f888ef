import { budgetNamed, type Definitions, listingsOf, unownedRuleOf } from '../../ledger/book/definitions.ts'
import { nearNames } from '../../ledger/book/near-names.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { noBudget, problem } from '../problems.ts'

/** A caller's permission to read. */
export interface Reads {
  readonly readsBudgets: '*' | readonly string[]
  mayRead(budget: string): boolean
}

/** Any budget of the reader lists its name or id. */
export const seesProject = (definitions: Definitions, { mayRead }: Reads, project: string): boolean =>
  listingsOf(definitions, project).some(({ budget }) => mayRead(budget.name))

/** The budgets that are written on a record. */
export type Charged = Pick<Update, 'budget' | 'owner'> & {
  readonly hold?: Pick<NonNullable<Update['hold']>, 'budgets' | 'owners'>
}

/** The reader sees what their budgets paid, and what another budget paid for their projects. */
export const seesUpdate = (definitions: Definitions, reads: Reads, update: Charged): boolean =>
  reads.readsBudgets === '*' || seesPayer(definitions, reads, update) || seesOwner(definitions, reads, update)

export const seesPayer = (definitions: Definitions, reads: Reads, { budget, hold }: Charged): boolean =>
  mayReadFirst(definitions, reads, [budget, ...(hold?.budgets ?? [])])

function seesOwner(definitions: Definitions, reads: Reads, { budget, owner, hold }: Charged): boolean {
  const owners = [...(owner ? [owner] : []), ...(hold?.owners ?? [])]
  return owners.length > 0 && mayReadFirst(definitions, reads, [...owners, budget, ...(hold?.budgets ?? [])])
}

/** What a deleted budget paid belongs to the one above it. */
function mayReadFirst(definitions: Definitions, { mayRead }: Reads, upward: readonly string[]): boolean {
  const first = upward.find((name) => budgetNamed(definitions, name))
  return first !== undefined && mayRead(first)
}

interface Wanted {
  readonly projects: readonly string[]
  readonly budget?: string
}

/** Refuses what a narrowed reader does not see as if it did not exist. */
export function whyNotSeen(definitions: Definitions, reads: Reads, { projects, budget }: Wanted): Problem | null {
  if (reads.readsBudgets === '*') return null
  if (budget !== undefined && !mayReadFirst(definitions, reads, [budget])) return noBudget(budget)
  // A project that no budget lists may be charged to the reader's own budget, unless it may be read as a hidden one.
  const isFree = (project: string) =>
    budget !== undefined && ![null, 'refuse'].includes(unownedRuleOf(definitions, project)) && !isNear(project)
  const isNear = (project: string) =>
    nearNames(definitions, project).some(({ listing }) => listing && !reads.mayRead(listing.budget.name))
  const missing = projects.find((project) => !isFree(project) && !seesProject(definitions, reads, project))
  return missing === undefined ? null : noProject(missing)
}

export const noProject = (project: string): Problem =>
  problem('not-found', `There is no project ${project} in the budgets that you read.`)

/** The caller reads some budgets, and asked for what is of all of them. */
export class ReadsNarrowed extends Error {
  override readonly name = 'ReadsNarrowed'
  readonly problem = problem('forbidden', 'This is for callers who read all budgets, and you read only some.')
}
