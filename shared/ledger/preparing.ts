import { digest } from '../platform/ids.ts'
import { type Book, bringUp, freshBook, isOfRevision, toBookItem, turnDay } from './book.ts'
import type { Definitions } from './definitions.ts'
import { definitionsKey } from './definitions-item.ts'
import type { Store, Write } from './store.ts'
import type { View } from './views.ts'

/**
 * Sees to it that the stored book is the one that was decided on: made, brought up to the definitions, and turned to
 * the day. Whoever else does the same first is as good: each step is conditional, and whether the book really is as
 * decided is for the condition of the write that follows.
 *
 * @returns whether all of it was done here. If not, it was done by somebody else, or is to be done for another view.
 */
export async function prepareBook(store: Store, { stored, definitions, month, book }: Target): Promise<boolean> {
  if (!stored) return makeBook(store, definitions, freshBook(definitions, month.name, book.day))
  const isBroughtUp = stored.revision === definitions.revision || (await bringUpNow(store, stored, definitions))
  const isTurned = stored.day >= book.day || (await attempt(store, [turnDay(stored, definitions, book.day)]))
  return isBroughtUp && isTurned
}

/** A book as it is stored, and as it shall be. */
type Target = Pick<View, 'stored' | 'definitions' | 'month' | 'book'>

const bringUpNow = (store: Store, stored: Book, definitions: Definitions): Promise<boolean> =>
  attempt(store, [bringUp(stored, definitions, false), isCurrent(definitions.revision)])

const makeBook = (store: Store, definitions: Definitions, book: Book): Promise<boolean> =>
  attempt(store, [
    { do: 'put', item: toBookItem(book), when: [{ is: 'absent-item' }] },
    isCurrent(definitions.revision),
  ])

export const isPrepared = ({ stored, book }: View): boolean =>
  stored !== null && stored.revision === book.revision && stored.day === book.day

const isCurrent = (revision: number): Write => ({ do: 'check', key: definitionsKey, when: [isOfRevision(revision)] })

const attempt = async (store: Store, writes: readonly Write[]): Promise<boolean> =>
  (await store.transact(writes, digest('prepare', JSON.stringify(writes)))).applied
