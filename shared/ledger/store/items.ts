import { fromItem, type Items, itemKey, itemWrite, type StoredKind } from './item-kind.ts'
import { walk } from './pages.ts'
import { getAll, type Item, type Store } from './store.ts'

export const createItems = <Content, Id>(
  kind: StoredKind<Content, Id>,
  { store }: { store: Store },
): Items<Content, Id> => ({
  read: async (ids) => {
    const keys = ids.map((id) => itemKey(kind, id))
    return (await getAll(store, keys)).map((item) => (item ? fromItem(kind, item) : null))
  },
  write: async (writes, token) => {
    const all = writes.map((write) => itemWrite(kind, write))
    return (await store.transact(all, token)).applied
  },
  open: async (limit) => {
    const read = (item: Item) => fromItem(kind, item)
    return (await walk(store, { index: 'open', first: kind.name, oldestFirst: true, limit, read })).rows
  },
})
