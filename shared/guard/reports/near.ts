import type { Budget, Definitions } from '../../ledger/book/definitions.ts'
import { nearListings } from '../../ledger/book/near-names.ts'
import type { BudgetDifference } from '../people/apply-budgets.ts'
import { count, list } from '../sentences.ts'
import { whyNear } from '../update/projects.ts'

type Budgets = Pick<Definitions, 'budgets'>

const maxNamed = 5

/** Listed names that a lenient service may take for each other. @param before names that were near then are left out. */
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

/** What requests for these projects would be told, in one sentence. `null`: none is refused. */
export function nearInWords(definitions: Budgets, projects: readonly string[]): string | null {
  const refused = projects.flatMap((project) => {
    const why = whyNear(definitions, project)
    return why === null ? [] : [{ project, why }]
  })
  const [first] = refused
  if (!first) return null
  const names = refused.slice(0, maxNamed).map(({ project }) => project)
  const more = refused.length - names.length
  return `Requests for ${list([...names, ...(more > 0 ? [`${count(more)} more`] : [])])} are refused: ${first.why}`
}

/** The lists on one side of the differences. */
export function onSide({ budgets }: Budgets, differences: readonly BudgetDifference[], side: 'from' | 'to'): Budgets {
  const changed = differences.flatMap(({ budget: name, members }) => {
    const lists = members.find(({ member }) => member === 'projects')
    const budget = budgets[name] ?? { name, parent: null, limits: [], projects: [] }
    return lists ? [[name, { ...budget, projects: (lists[side] ?? []) as Budget['projects'] }] as const] : []
  })
  return { budgets: { ...budgets, ...Object.fromEntries(changed) } }
}
