import { type Definitions, rootBudget } from './definitions.ts'
import type { Item, Value } from './store.ts'
import { contentOf } from './table.ts'

/** How the definitions are stored: one item. */
export const definitionsKey = { pk: 'definitions', sk: 'definitions' } as const

export const toDefinitionsItem = (definitions: Definitions): Item => ({
  ...definitionsKey,
  ...(definitions as unknown as Record<string, Value>),
})

export function fromDefinitionsItem(item: Item): Definitions {
  const definitions = contentOf(item)
  const { revision, calendar, budgets } = definitions
  if (!Number.isSafeInteger(revision) || !calendar || !budgets) throw new Error('the definitions are damaged')
  const sorted = Object.entries(budgets).sort(([a], [b]) => compare(a, b))
  return { ...definitions, budgets: Object.fromEntries(sorted) } as unknown as Definitions
}

/** The root first, then by name, of which no two are the same: a database gives the members of a map back in any order. */
function compare(a: string, b: string): number {
  if (a === rootBudget) return -1
  return b === rootBudget || a > b ? 1 : -1
}
