import { budgetNamed, chainOf, topsOf } from '../../ledger/book/definitions.ts'
import { dayAt, type Window } from '../../ledger/book/windows.ts'
import type { View } from '../../ledger/views/views.ts'
import { atPrice, inMoney, priceOn, type UnitPrices } from '../money.ts'
import type { Figures } from '../sentences.ts'
import { emptyRow, type Statement, type StatementSum, sumOfRows } from './statements.ts'

/** By budget, such as `23.04 EUR`. Lacks budgets that spent nothing, and those whose cost is unknown. */
export type SpentCosts = ReadonlyMap<string, string>

export function createSpentCosts(parts: {
  unitPrices?: UnitPrices | null
  statement: (window: string, by: 'budget') => Promise<Statement | null>
}) {
  const { unitPrices = null } = parts

  /** Reads the month's statement only if the price changed in the month. */
  async function spentCosts(view: View, figures: readonly Figures[], month: Window = view.month) {
    const costs = new Map<string, string>()
    if (!unitPrices) return costs
    const priceAt = (at: number) => priceOn(unitPrices, dayAt(view.definitions.calendar, at).name)
    const price = priceAt(Math.min(view.now, month.end - 1))
    const statement = price === priceAt(month.start) ? null : await parts.statement(month.name, 'budget')
    for (const { budget, spent } of figures) {
      const within = statement && sumWithin(view, statement, budget)
      const isKnown = !within || within.charged + within.external === spent
      const cost = inMoney(within?.atPrices ?? atPrice(price, spent), unitPrices.currency)
      if (spent !== 0 && isKnown && cost !== null) costs.set(budget, cost)
    }
    return costs
  }

  return { spentCosts }
}

/** It is not the budget's own figure if budgets below it were deleted or moved in the month. */
function sumWithin({ definitions }: View, { rows, total }: Statement, name: string): StatementSum {
  const tops = topsOf(definitions)
  if (tops.length === 1 && tops[0] === name) return total
  const isWithin = ({ key }: StatementSum) =>
    key !== null && budgetNamed(definitions, key) && chainOf(definitions, key).some((each) => each.name === name)
  return rows.filter(isWithin).reduce(sumOfRows, emptyRow(name))
}
