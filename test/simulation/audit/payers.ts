import { broken, definitionsIn, type Items, type Row, type StoredBudget } from './stored.ts'
import { plain } from './works.ts'

const isListedIn = (budget: StoredBudget | undefined, project: string): boolean =>
  budget?.projects.some(({ name, id = name }) => [plain(name), plain(id)].includes(plain(project))) === true

/**
 * Checks that the owner pays or an ancestor by a present right, that a charge by default follows the present default, that the owner is
 * that of the request, and that the rules of the owner and its ancestors hold.
 */
export function lookAtPayer(row: Row, items: Items): void {
  const { id, project, budget, byDefault, caller, plan, hold } = row
  const { budgets, callers = {} } = definitionsIn(items)
  const owner = Object.entries(budgets).find(([, each]) => isListedIn(each, project))?.[0]
  if (byDefault && budget !== (owner ?? 'account')) broken(`${id} is charged to ${budget}, and ${project} has moved`)
  if (row.owner !== undefined && row.owner !== (owner ?? null))
    broken(`${id} was asked for when ${project} belonged to ${row.owner}`)
  if (owner === undefined) return
  const chain: string[] = []
  for (let name: string | null = owner; name !== null; name = budgets[name]?.parent ?? null) chain.push(name)
  if (!chain.includes(budget)) broken(`${id} is charged to ${budget}, though ${project} belongs to ${owner}`)
  const may = caller === 'root' || callers[caller]?.mayChargeAncestors === true || plan !== undefined
  if (budget !== owner && !may) broken(`${id} is charged to ${budget} without the right, and belongs to ${owner}`)
  for (const name of chain) {
    if (budgets[name]?.frozen !== undefined) broken(`${id} holds for ${owner}, and ${name} is frozen`)
    const perUpdate = budgets[name]?.perUpdate
    if (perUpdate !== undefined && (hold?.units ?? 0) > perUpdate) broken(`${id} holds more than ${name} allows`)
  }
  const below = chain.slice(0, chain.indexOf(budget))
  if (JSON.stringify(hold?.owners ?? []) !== JSON.stringify(below)) broken(`${id} does not say for whom ${budget} pays`)
}
