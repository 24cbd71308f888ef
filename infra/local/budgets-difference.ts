import type { BudgetDifference } from '../../shared/guard/applying.ts'
import { membersInWords } from '../../shared/guard/differences.ts'
import type { Member } from '../../shared/ledger/difference.ts'
import { folded } from '../../shared/ledger/names.ts'
import type { ShownBudget, WantedBudget } from './budgets-file.ts'

/** What a file would change, for people: a line for each budget that is new or another, and how many are not. */
export function linesOf(differences: readonly BudgetDifference[], named: number): string[] {
  const unchanged = named - differences.length
  return [
    ...differences.flatMap(({ budget, isNew, members }) => {
      const told = membersInWords(members, isNew)
      const gone = members.flatMap(takenAway)
      return [
        `${isNew ? '+' : '~'} ${budget}  ${isNew ? 'new: ' : ''}${told.join(', ')}`,
        ...(gone.length > 0 ? [`    takes away ${gone.join(', ')}`] : []),
      ]
    }),
    ...(unchanged > 0 ? [`= ${unchanged} unchanged`] : []),
  ]
}

type Projects = readonly { readonly name: string }[]
type Limits = readonly { readonly window: string }[]

/** Every one by its name: the line above counts the projects after the third. */
function takenAway({ member, from, to }: Member): string[] {
  if (member === 'limits') {
    const stay = (to as Limits).map(({ window }) => window)
    return ((from ?? []) as Limits).flatMap(({ window }) =>
      stay.includes(window) ? [] : [`the limit of the ${window}`],
    )
  }
  if (member !== 'projects') return from !== null && to === null ? [member] : []
  const stay = new Set((to as Projects).map(({ name }) => folded(name)))
  return ((from ?? []) as Projects).flatMap(({ name }) => (stay.has(folded(name)) ? [] : [`the project ${name}`]))
}

/** Of the budgets whose projects a file names, those that it does not name. */
export function countUnnamed(wanted: readonly WantedBudget[], current: readonly ShownBudget[]): number {
  const counts = wanted.map(({ name, projects }) => {
    if (!Array.isArray(projects)) return 0
    const named = new Set((projects as Projects).map((project) => folded(project.name)))
    const listed = current.find((budget) => budget.name === name)?.projects ?? []
    return listed.filter((project) => !named.has(folded(project.name))).length
  })
  return counts.reduce((sum, of) => sum + of, 0)
}
