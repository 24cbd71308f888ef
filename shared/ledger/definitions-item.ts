import type { Definitions } from './definitions.ts'
import type { Item, Value } from './store.ts'

/** How the definitions are stored: one item. */
export const definitionsKey = { pk: 'definitions', sk: 'definitions' } as const

export const toDefinitionsItem = (definitions: Definitions): Item => ({
  ...definitionsKey,
  ...(definitions as unknown as Record<string, Value>),
})

export function fromDefinitionsItem(item: Item): Definitions {
  const { pk: _pk, sk: _sk, ...definitions } = item
  const { revision, calendar, budgets } = definitions
  if (!Number.isSafeInteger(revision) || !calendar || !budgets) throw new Error('the definitions are damaged')
  return definitions as unknown as Definitions
}
