import { chainOf, type Definitions } from '../../../../shared/ledger/definitions/definitions.ts'
import { budgetAddress, Trail } from '../../kit/parts.tsx'

/** `here` is the name of a page below the budget's page. */
export function BudgetTrail({
  budget,
  definitions,
  here,
}: {
  budget: string
  definitions: Definitions
  here?: string
}) {
  const chain = chainOf(definitions, budget).toReversed()
  const links = chain.map(({ name }) => [name, budgetAddress(name)] as const)
  const above = [['Budgets', '/dashboard/budgets'] as const, ...(here === undefined ? links.slice(0, -1) : links)]
  return <Trail label="Where it counts" above={above} here={here ?? budget} />
}
