import { holds, resultOf } from '../../../shared/ledger/store/conditions.ts'
import {
  type Index,
  type Item,
  keyOf,
  type ListPage,
  type ListQuery,
  mustBeDistinct,
  nameOf,
  type Position,
  type Store,
  type Value,
} from '../../../shared/ledger/store/store.ts'
import { indexes } from '../../../shared/ledger/store/stored.ts'

/** A store for rules and the simulation. Items are replaced, never changed, so that readers keep what they read. */
export function createMemoryStore(items: Map<string, Item> = new Map(), applied: Set<string> = new Set()): Store {
  const rows = createRows(items)
  return {
    get: async (keys) => keys.map((key) => items.get(nameOf(key))),

    list: async (query) => list(rows.of(query), query),

    transact: async (writes, token) => {
      mustBeDistinct(writes)
      if (applied.has(token)) return { applied: true }
      const found = writes.map((write) => {
        const item = items.get(nameOf(keyOf(write)))
        return write.when.every((condition) => holds(condition, item)) ? undefined : (item ?? null)
      })
      if (found.some((item) => item !== undefined)) return { applied: false, found }
      const changed = writes
        .filter((write) => write.kind !== 'check')
        .map((write) => resultOf(write, items.get(nameOf(keyOf(write)))))
      for (const item of changed) {
        rows.forget(items.get(nameOf(item)), item)
        items.set(nameOf(item), item)
      }
      applied.add(token)
      return { applied: true }
    },
  }
}

/** Sorted lists, kept until an item of the partition changes. */
function createRows(items: ReadonlyMap<string, Item>) {
  const sorted = new Map<string, readonly Position[]>()
  const placeOf = (index: Index, partition: Value | undefined) => `${index} ${partition}`

  return {
    of: ({ index, partition: wanted }: ListQuery): readonly Position[] => {
      const { partition, sort } = indexes[index]
      const known = sorted.get(placeOf(index, wanted))
      if (known) return known
      const rows = [...items.values()]
        .filter((item) => item[partition] === wanted)
        .map((item) => ({ pk: item.pk, sk: item.sk, sort: String(item[sort]) }))
        .sort(compare)
      sorted.set(placeOf(index, wanted), rows)
      return rows
    },
    forget: (...changed: readonly (Item | undefined)[]) => {
      if (sorted.size === 0) return
      for (const item of changed) {
        for (const index of ['by-time', 'open'] as const)
          sorted.delete(placeOf(index, item?.[indexes[index].partition]))
      }
    },
  }
}

function list(rows: readonly Position[], { from, to, newestFirst, after, limit }: ListQuery): ListPage {
  const lowest = from === undefined ? 0 : firstWhere(rows, ({ sort }) => sort >= from)
  const highest = to === undefined ? rows.length : firstWhere(rows, ({ sort }) => sort > to)
  const place = after && firstWhere(rows, (row) => compare(row, after) >= (newestFirst ? 0 : 1))
  const begin = newestFirst ? lowest : Math.max(lowest, place ?? lowest)
  const end = newestFirst ? Math.min(highest, place ?? highest) : highest
  const count = Math.max(0, Math.min(limit, end - begin))
  const positions = newestFirst ? rows.slice(end - count, end).toReversed() : rows.slice(begin, begin + count)
  return { positions, more: end - begin > limit }
}

/** `holds` must stay true after its first true row. */
function firstWhere(rows: readonly Position[], holds: (row: Position) => boolean): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle]
    if (row && holds(row)) high = middle
    else low = middle + 1
  }
  return low
}

const compare = (a: Position, b: Position): number => order(a.sort, b.sort) || order(a.pk, b.pk) || order(a.sk, b.sk)

function order(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
