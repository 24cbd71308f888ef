import { budgetNamed, chainOf, type Definitions, listingsOf, unownedRuleOf } from '../../ledger/book/definitions.ts'
import { nearNames } from '../../ledger/book/near-names.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { invalidRequest, problem } from '../problems.ts'

/** A caller's permission to read. */
export interface Reads {
  readonly readsBudgets: '*' | readonly string[]
  mayRead(budget: string): boolean
}

/** Everything, for most callers. */
const seesAll = ({ readsBudgets }: Reads): boolean => readsBudgets === '*'

/** Every budget that lists the project's name or id must be readable. */
export function seesProject(definitions: Definitions, reads: Reads, project: string): boolean {
  const listings = listingsOf(definitions, project)
  return listings.length > 0 && listings.every(({ budget }) => reads.mayRead(budget.name))
}

type Paid = Pick<Update, 'budget' | 'project'> & {
  readonly hold?: Pick<NonNullable<Update['hold']>, 'budgets' | 'owners'>
}

/** The reader sees what their budgets paid, and what an ancestor paid for their projects. */
export const seesUpdate = (definitions: Definitions, reads: Reads, update: Paid): boolean =>
  seesAll(reads) ||
  seesPayer(definitions, reads, update) ||
  (update.hold
    ? (update.hold.owners ?? []).some((owner) => isReadable(definitions, reads, owner))
    : seesAsOwner(definitions, reads, update))

/** A deleted budget belongs to the chain that its hold names. */
export const seesPayer = (definitions: Definitions, reads: Reads, { budget, hold }: Paid): boolean =>
  budgetNamed(definitions, budget)
    ? reads.mayRead(budget)
    : (hold?.budgets ?? []).some((name) => isReadable(definitions, reads, name))

/** Without a hold, whether an ancestor was to pay for a project that is the reader's now. */
export function seesAsOwner(definitions: Definitions, reads: Reads, { budget, project }: Paid): boolean {
  if (!seesProject(definitions, reads, project)) return false
  const [listing] = listingsOf(definitions, project)
  return listing !== undefined && chainOf(definitions, listing.budget.name).some(({ name }) => name === budget)
}

const isReadable = (definitions: Definitions, reads: Reads, budget: string): boolean =>
  budgetNamed(definitions, budget) !== undefined && reads.mayRead(budget)

/** Refuses what a narrowed reader cannot see as if it did not exist. */
export function whyNotSeen(
  definitions: Definitions,
  reads: Reads,
  { projects, budget }: { readonly projects: readonly string[]; readonly budget?: string },
): Problem | null {
  if (seesAll(reads)) return null
  if (budget !== undefined && !isReadable(definitions, reads, budget))
    return invalidRequest([{ path: 'budget', message: `There is no budget ${budget}.` }])
  // A project that no budget lists may be charged to the reader's own budget, unless it may be read as a hidden one.
  const isFree = (project: string) => {
    const rule = unownedRuleOf(definitions, project)
    return budget !== undefined && rule !== null && rule !== 'refuse' && !isNearHidden(definitions, reads, project)
  }
  const missing = projects.find((project) => !isFree(project) && !seesProject(definitions, reads, project))
  return missing === undefined ? null : noProject(missing)
}

const isNearHidden = (definitions: Definitions, reads: Reads, project: string): boolean =>
  nearNames(definitions, project).some(({ listing }) => listing && !reads.mayRead(listing.budget.name))

export const noProject = (project: string): Problem =>
  problem('not-found', `There is no project ${project} in the budgets that you read.`)
