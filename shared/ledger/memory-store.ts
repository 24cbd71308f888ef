import { isDeepStrictEqual } from 'node:util'
import {
  type Condition,
  type Item,
  type Key,
  keyOf,
  type ListPage,
  type ListQuery,
  type Path,
  type Store,
  type Value,
  type Write,
} from './store.ts'
import { indexes } from './table.ts'

/**
 * The store in memory: for a machine without Java, for the simulation, and as the executable description of what
 * the ledger expects of DynamoDB. Nothing is kept when the process ends.
 *
 * Items are never changed, only replaced, so that what was read stays as it was.
 *
 * @param items where they are kept, for whoever wants to look at all of them.
 * @param applied the tokens of what was applied: with the items, all that the store remembers.
 */
export function createMemoryStore(items: Map<string, Item> = new Map(), applied: Set<string> = new Set()): Store {
  return {
    get: async (keys) => keys.map((key) => items.get(nameOf(key))),

    list: async (query) => list([...items.values()], query),

    transact: async (writes, token) => {
      if (applied.has(token)) return { applied: true }
      const found = writes.map((write) => {
        const item = items.get(nameOf(keyOf(write)))
        return write.when.every((condition) => holds(condition, item)) ? undefined : (item ?? null)
      })
      if (found.some((item) => item !== undefined)) return { applied: false, found }
      const changed = writes.flatMap((write) => (write.do === 'check' ? [] : [changedBy(write, items)]))
      for (const item of changed) items.set(nameOf(item), item)
      applied.add(token)
      return { applied: true }
    },
  }
}

const nameOf = (key: Key) => JSON.stringify([key.pk, key.sk])

function changedBy(write: Exclude<Write, { do: 'check' }>, items: ReadonlyMap<string, Item>): Item {
  if (write.do === 'put') return write.item
  const old: Item = items.get(nameOf(write.key)) ?? { ...write.key }
  const set = write.set.reduce<Container>((item, [path, value]) => placed(item, path, () => value), old)
  return write.add.reduce<Container>(
    (item, [path, units]) =>
      placed(item, path, (before) => {
        if (typeof before !== 'number') throw new Error(`no number to add to at ${path.join('.')}`)
        return before + units
      }),
    set,
  ) as Item
}

type Container = { readonly [name: string]: Value | undefined }

/** A copy with another value at the end of the path; what the path does not touch is shared. */
function placed(container: Container, path: readonly string[], change: (old: Value | undefined) => Value): Container {
  const [name = '', ...rest] = path
  const inner = Object.hasOwn(container, name) ? container[name] : undefined
  if (rest.length === 0) return { ...container, [name]: change(inner) }
  if (!isContainer(inner)) throw new Error(`nothing to change at ${path.join('.')}`)
  return { ...container, [name]: placed(inner, rest, change) }
}

const isContainer = (value: Value | undefined): value is Container =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function valueAt(item: Item | undefined, path: Path): Value | undefined {
  let value: Value | undefined = item
  for (const name of path) value = isContainer(value) ? value[name] : undefined
  return value
}

function holds(condition: Condition, item: Item | undefined): boolean {
  if (condition.is === 'absent-item') return item === undefined
  if (condition.is === 'present-item') return item !== undefined
  const value = valueAt(item, condition.path)
  switch (condition.is) {
    case 'absent':
      return value === undefined
    case 'equal':
      return isDeepStrictEqual(value, condition.value)
    case 'at-least':
      return typeof value === 'number' && value >= condition.value
    case 'before':
      return typeof value === 'string' && value < condition.value
  }
}

function list(items: readonly Item[], query: ListQuery): ListPage {
  const { partition, sort } = indexes[query.index]
  const direction = query.newestFirst ? -1 : 1
  const rows = items
    .filter((item) => item[partition] === query.partition)
    .map((item) => ({ pk: item.pk, sk: item.sk, sort: String(item[sort]) }))
    .filter((row) => (query.from ?? '') <= row.sort && (query.to === undefined || row.sort <= query.to))
    .sort((a, b) => direction * compare(a, b))
    .filter((row) => !query.after || direction * compare(row, query.after) > 0)
  return { positions: rows.slice(0, query.limit), more: rows.length > query.limit }
}

const orderOf = (row: Key & { sort: string }) => [row.sort, row.pk, row.sk].join('\u0000')
const compare = (a: Key & { sort: string }, b: Key & { sort: string }) =>
  orderOf(a) < orderOf(b) ? -1 : orderOf(a) > orderOf(b) ? 1 : 0
