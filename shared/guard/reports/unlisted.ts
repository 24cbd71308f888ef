import { budgetNamed, listingsOf, rootBudget } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { isKnownToHaveRun } from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import type { BudgetDifference } from '../people/apply-budgets.ts'
import type { Plan } from '../plans/plans-file.ts'
import { count, list } from '../sentences.ts'
import { whyNear } from '../update/projects.ts'
import { ranIn } from './day-of-budgets.ts'
import { nearInWords, nearListed, onSide } from './near.ts'
import type { Recent } from './summary.ts'

const maxNamed = 5

/** Projects that no budget lists, where other projects are listed and `account` pays without asking. */
export function createUnlisted({ ledger, plans, recent }: { ledger: Ledger; plans: readonly Plan[]; recent: Recent }) {
  async function unlistedProjects(view: View): Promise<readonly string[]> {
    const { definitions } = view
    const root = budgetNamed(definitions, rootBudget)
    // A narrowed reader sees no root.
    if (!root || (root.unowned ?? 'pay') !== 'pay') return []
    if (!Object.values(definitions.budgets).some(({ projects }) => projects.length > 0)) return []
    return (await projectsLately(view)).filter((project) => listingsOf(definitions, project).length === 0)
  }

  /** Of enabled plans, and those that ran and that no budget listed then. */
  async function projectsLately(view: View): Promise<readonly string[]> {
    const [summaries, latest] = await Promise.all([recent.summaries(view), recent.updates(view)])
    const projects = [
      ...plans.flatMap(({ enabled, projects }) => (enabled ? projects : [])),
      ...summaries.flatMap(({ rows, unlisted = [] }) => [...ranIn(rows), ...unlisted]),
      ...latest.filter(isKnownToHaveRun).map(({ project }) => project),
    ]
    return [...new Set(projects)]
  }

  /** The refusal of names that may be read as listed ones, among them. `null`: none. */
  const refusedLately = async (view: View): Promise<string | null> =>
    nearInWords(view.definitions, await projectsLately(view))

  /** What a change of lists brings: listed names that are near, and projects that are refused from now on. */
  async function notesOf(differences: readonly BudgetDifference[], given?: View): Promise<readonly string[]> {
    if (!differences.some(({ members }) => members.some(({ member }) => member === 'projects'))) return []
    const view = given ?? (await ledger.view())
    const [before, after] = [onSide(view.definitions, differences, 'from'), onSide(view.definitions, differences, 'to')]
    const projects = (await projectsLately(view)).filter((project) => whyNear(before, project) === null)
    const refused = nearInWords(after, projects)
    return [...nearListed(after, before), ...(refused === null ? [] : [refused])]
  }

  return { unlistedProjects, refusedLately, notesOf }
}

/** `null`: there is nothing to say. */
export function unlistedInWords(projects: readonly string[]): string | null {
  if (projects.length === 0) return null
  const named = projects.slice(0, maxNamed)
  const more = projects.length - named.length
  const them = projects.length === 1 ? 'it' : 'them'
  const names = list([...named, ...(more > 0 ? [`${count(more)} more`] : [])])
  return `No budget lists ${names}, and ${rootBudget} pays for ${them} without asking. List ${them} in a budget, or set unowned of ${rootBudget} to approve or refuse.`
}
