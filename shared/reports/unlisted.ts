import type { BudgetDifference } from '../guard/people/apply-budgets.ts'
import type { Plan } from '../guard/plans-file.ts'
import { nearInWords, nearNameReason } from '../guard/rules/projects.ts'
import { count, few } from '../guard/sentences.ts'
import type { View } from '../ledger/book/view.ts'
import {
  type Budget,
  budgetNamed,
  type Definitions,
  listingsOf,
  rootBudget,
} from '../ledger/definitions/definitions.ts'
import { nearListings } from '../ledger/definitions/near-names.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isSlipOf } from '../platform/misspelt.ts'
import { figuresOf, type Recent, ranIn } from './figures.ts'

/** Finds projects that no budget lists, if other projects are listed and `account` pays without asking. */
export function createUnlisted({ ledger, plans, recent }: { ledger: Ledger; plans: readonly Plan[]; recent: Recent }) {
  async function unlistedProjects(view: View): Promise<readonly string[]> {
    const { definitions } = view
    const root = budgetNamed(definitions, rootBudget)
    // A narrowed reader sees no root.
    if (!root || (root.unowned ?? 'pay') !== 'pay') return []
    if (!Object.values(definitions.budgets).some(({ projects }) => projects.length > 0)) return []
    return (await projectsLately(view)).filter((project) => listingsOf(definitions, project).length === 0)
  }

  /** Projects of enabled plans, and projects that ran recently. */
  async function projectsLately(view: View): Promise<readonly string[]> {
    const [summaries, latest] = await Promise.all([recent.summaries(view), recent.updates(view)])
    const projects = [
      ...plans.flatMap(({ enabled, projects }) => (enabled ? projects : [])),
      ...summaries.flatMap(({ rows, unlisted = [] }) => [...ranIn(rows), ...unlisted]),
      ...ranIn(figuresOf([], latest)),
    ]
    return [...new Set(projects)]
  }

  /** Says which recent projects would be refused now, because their names may be read as listed ones. `null`: none. */
  const refusedLately = async (view: View): Promise<string | null> =>
    nearInWords(view.definitions, await projectsLately(view))

  /** Sentences about a change: new names that may be slips, similar listed names, and projects that are refused from now on. */
  async function notesOf(differences: readonly BudgetDifference[], given?: View): Promise<readonly string[]> {
    const changesLists = differences.some(({ members }) => members.some(({ member }) => member === 'projects'))
    if (!changesLists && !differences.some(({ isNew }) => isNew)) return []
    const view = given ?? (await ledger.view())
    const slips = slipsIn(differences, Object.keys(view.definitions.budgets))
    if (!changesLists) return slips
    const [before, after] = [onSide(view.definitions, differences, 'from'), onSide(view.definitions, differences, 'to')]
    const projects = (await projectsLately(view)).filter((project) => nearNameReason(before, project) === null)
    const refused = nearInWords(after, projects)
    return [...slips, ...nearListed(after, before), ...(refused === null ? [] : [refused])]
  }

  return { unlistedProjects, refusedLately, notesOf }
}

/** `null`: there is nothing to say. */
export function unlistedInWords(projects: readonly string[]): string | null {
  if (projects.length === 0) return null
  const them = projects.length === 1 ? 'it' : 'them'
  return `No budget lists ${few(projects)}, and ${rootBudget} pays for ${them} without asking. List ${them} in a budget, or set unowned of ${rootBudget} to approve or refuse.`
}

const maxNamed = 5

/** New budgets whose names are one slip from the name of another budget. */
function slipsIn(differences: readonly BudgetDifference[], all: readonly string[]): readonly string[] {
  const made = differences.filter(({ isNew }) => isNew).map(({ budget }) => budget)
  const others = all.filter((name) => !made.includes(name))
  const pairs = made.flatMap((name) => {
    const meant = others.find((other) => isSlipOf(name, other))
    return meant === undefined ? [] : [`${name} (like ${meant})`]
  })
  if (pairs.length === 0) return []
  return [`Check the names of new budgets that resemble other budgets: ${few(pairs)}.`]
}

type Budgets = Pick<Definitions, 'budgets'>

/** Listed names that a lenient service may confuse. @param before the old lists, whose pairs are left out. */
export function nearListed(definitions: Budgets, before: Budgets = { budgets: {} }): string[] {
  const key = ({ name, reading }: { name: string; reading: string }) => JSON.stringify([name, reading].toSorted())
  const known = new Set(nearListings(before).map(key))
  const pairs = nearListings(definitions).filter((pair) => !known.has(key(pair)))
  const more = pairs.length - maxNamed
  return [
    ...pairs
      .slice(0, maxNamed)
      .map(
        ({ name, budget, reading, other }) =>
          `${name} of ${budget} may be read as ${reading} of ${other}: both are listed, so each counts as a project of its own.`,
      ),
    ...(more > 0 ? [`${count(more)} more pairs of listed projects may be read as each other.`] : []),
  ]
}

/** The lists on one side of the differences. */
function onSide({ budgets }: Budgets, differences: readonly BudgetDifference[], side: 'from' | 'to'): Budgets {
  const changed = differences.flatMap(({ budget: name, members }) => {
    const lists = members.find(({ member }) => member === 'projects')
    const budget = budgets[name] ?? { name, parent: null, limits: [], projects: [] }
    return lists ? [[name, { ...budget, projects: (lists[side] ?? []) as Budget['projects'] }] as const] : []
  })
  return { budgets: { ...budgets, ...Object.fromEntries(changed) } }
}
