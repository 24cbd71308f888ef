import { type Entry, fromEntryItem } from '../book/entry.ts'
import { getAll, type Item, type ListPage, type ListQuery, type Position, type Store } from '../store/store.ts'
import type { Update } from '../updates/update.ts'
import { budgetsIn, fromUpdateItem, isUpdateKey, withoutBudgets } from '../updates/update-keys.ts'
import type { MatchedAt, UpdateFilter } from './lists.ts'

/** The rights of a reader who may see only some budgets. */
export interface Sees {
  /** `null`: the budget does not exist now. */
  budget(name: string): boolean | null
  update(update: Update): boolean
  entry(entry: Entry): boolean
  matches(update: Update, filter: UpdateFilter, at: MatchedAt): boolean
}

/** The index alone decides about most rows, so one request can skip thousands of rows. */
const atOnce = 5_000

/** A store whose lists have only the rows that the reader may see. Neither `more` nor a position reveals another row. */
export function seenStore(store: Store, sees: Sees): Store {
  async function seenOf(positions: readonly Position[]): Promise<readonly Position[]> {
    const decided = positions.map((position) => byIndex(sees, position))
    const unclear = positions.filter((_, index) => decided[index] === null)
    const items = await getAll(store, unclear)
    const shown = new Set(unclear.filter((_, index) => isSeen(sees, items[index])))
    return positions.filter((position, index) => decided[index] ?? shown.has(position))
  }

  async function list(query: ListQuery): Promise<ListPage> {
    const rows: Position[] = []
    let { after } = query
    for (let more = true; more && rows.length <= query.limit; ) {
      const page = await store.list({ ...query, limit: atOnce, ...(after && { after }) })
      rows.push(...(await seenOf(page.positions)))
      more = page.more
      after = page.positions.at(-1) ?? after
    }
    const positions = rows.slice(0, query.limit).map((row) => withoutBudgets(row, query.newestFirst))
    return { positions, more: rows.length > query.limit }
  }

  return { ...store, list }
}

/** `null`: the index cannot decide, so the item must be read. */
function byIndex(sees: Sees, { pk, sort }: Position): boolean | null {
  if (!isUpdateKey(pk)) return null
  const seen = budgetsIn(sort).map(sees.budget)
  if (seen.includes(true)) return true
  return seen.length === 0 || seen.includes(null) ? null : false
}

function isSeen(sees: Sees, item: Item | undefined): boolean {
  if (!item) return false
  return isUpdateKey(item.pk) ? sees.update(fromUpdateItem(item)) : sees.entry(fromEntryItem(item))
}
