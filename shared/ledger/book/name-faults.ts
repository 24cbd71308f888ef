import { type Budget, type Definitions, folded, listingsOf } from '../definitions/definitions.ts'
import { namesIn, readingsOf } from '../definitions/near-names.ts'
import type { Update } from '../updates/update.ts'

export interface Fault {
  readonly path: string
  readonly message: string
  /** The update that blocks the change for now. */
  readonly update?: string
}

export function collisionsIn({ budgets }: Pick<Definitions, 'budgets'>): readonly string[] {
  const messages: string[] = []
  const first = new Map<string, { readonly spelling: string; readonly owner: string }>()
  for (const budget of Object.values(budgets)) {
    for (const { name, id } of budget.projects) {
      const spellings = id === undefined || folded(id) === folded(name) ? [name] : [name, id]
      for (const spelling of spellings) {
        const before = first.get(folded(spelling))
        if (before) messages.push(twiceOwned(spelling, before, budget.name))
        else first.set(folded(spelling), { spelling, owner: budget.name })
      }
    }
  }
  return messages
}

function twiceOwned(
  project: string,
  { spelling, owner }: { readonly spelling: string; readonly owner: string },
  other: string,
): string {
  const same = spelling === project ? project : `${project}, which is the same project as ${spelling},`
  return owner === other
    ? `${same} stands for two projects of ${owner}`
    : `${same} has one owner, and cannot belong to ${owner} and to ${other}`
}

/**
 * Refuses a new name that is similar to the project name of an update that may still run. The service may read both names
 * as one project, which could then run twice at once. Only a change with new names reads updates.
 */
export async function nearFaults(
  before: Definitions,
  after: Definitions,
  unsettled: () => Promise<readonly Update[]>,
): Promise<Fault[]> {
  const names = newNamesIn(before, after)
  if (names.length === 0) return []
  const updates = await unsettled()
  const listed = asListed(names)
  const open = asListed(updates.map(({ project }) => project))
  const readAsProject = names.flatMap((name) => namesNear(open, name).map((project) => ({ name, project })))
  return updates.flatMap((update) => {
    const { id, kind, project, state } = update
    // Names in the project's own row share its work items, which the update holds.
    const own = listingsOf(after, project).flatMap((listing) => namesIn(listing.project))
    const near = [
      ...namesNear(listed, project),
      ...readAsProject.flatMap((found) => (found.project === project ? found.name : [])),
    ]
    const name = near.find((each) => !own.includes(each))
    if (name === undefined) return []
    const is = state === 'running' ? 'is running' : 'is in doubt'
    const message = `${name} may be read as ${project}, and the ${kind} update ${id} of ${project} ${is}; list ${name} when it has ended`
    return [{ path: 'projects', message, update: id }]
  })
}

const newNamesIn = (before: Definitions, after: Definitions): string[] =>
  Object.values(after.budgets)
    .filter(({ name, projects }) => before.budgets[name]?.projects !== projects)
    .flatMap(({ projects }) => projects.flatMap(namesIn))
    .filter((name) => listingsOf(before, name).length === 0)

const asListed = (names: readonly string[]): { readonly budgets: Definitions['budgets'] } => {
  const listed: Budget = { name: 'listed', parent: null, limits: [], projects: names.map((name) => ({ name })) }
  return { budgets: { listed } }
}

const namesNear = (listed: { readonly budgets: Definitions['budgets'] }, name: string): string[] =>
  readingsOf(listed, name).flatMap(({ listing }) =>
    listing && folded(listing.project.name) !== folded(name) ? listing.project.name : [],
  )
