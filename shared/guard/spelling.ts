import { type Definitions, listingsOf } from '../ledger/definitions.ts'
import { folded } from '../ledger/names.ts'

/** Why no update of a project is begun as it is spelled; `null`: it may be. */
function whyNotProject(definitions: Definitions, project: string): string | null {
  const [listing, other] = listingsOf(definitions, project)
  if (!listing || !other) return null
  const [first, second] = [listing, other].map((each) => `${each.project.name} of ${each.budget.name}`)
  return `${project} stands for ${first} and for ${second}; an administrator has to remove one of them from its budget.`
}

/** All that is wrong with the projects of one request, each with a sentence of its own. */
export function spellingFaults(definitions: Definitions, projects: readonly string[]) {
  const first = new Map<string, string>()
  return projects.flatMap((project, position) => {
    const work = folded(listingsOf(definitions, project)[0]?.project.name ?? project)
    const before = first.get(work)
    first.set(work, before ?? project)
    const message = whyNotProject(definitions, project) ?? (before === undefined ? null : namedTwice(before, project))
    const path = projects.length === 1 ? 'project' : `projects.${position}`
    return message === null ? [] : [{ path, message }]
  })
}

const namedTwice = (before: string, project: string): string =>
  before === project ? `${project} is named twice.` : `${before} and ${project} are the same project; name it once.`
