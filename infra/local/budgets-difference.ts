import type { BudgetDifference } from '../../shared/guard/applying.ts'
import { membersInWords } from '../../shared/guard/differences.ts'

/** What a file would change, for people: a line for each budget that is new or another, and how many are not. */
export function linesOf(differences: readonly BudgetDifference[], named: number): string[] {
  const unchanged = named - differences.length
  return [
    ...differences.map(({ budget, isNew, members }) => {
      const told = membersInWords(members, isNew)
      return `${isNew ? '+' : '~'} ${budget}  ${isNew ? 'new: ' : ''}${told.join(', ')}`
    }),
    ...(unchanged > 0 ? [`= ${unchanged} unchanged`] : []),
  ]
}
