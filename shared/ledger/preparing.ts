import { digest } from '../platform/ids.ts'
import { type Book, bringUp, freshBook, isOfRevision, toBookItem, turnDay } from './book.ts'
import { definitionsKey } from './definitions-item.ts'
import type { Store, Write } from './store.ts'
import type { View } from './views.ts'
import type { Window } from './windows.ts'

/**
 * Sees to it that the stored book is the one that was decided on: made, brought up to the definitions, and turned to
 * the day. Whoever else does the same first is as good: each step is conditional, and whether the book really is as
 * decided is for the condition of the write that follows.
 */
export async function prepareBook(store: Store, view: View): Promise<void> {
  const { stored, definitions, month } = view
  if (!stored) {
    await makeBook(store, view, month, view.book.day)
    return
  }
  if (stored.revision !== definitions.revision)
    await attempt(store, [bringUp(stored, definitions, false), isCurrent(definitions.revision)])
  if (stored.day < view.book.day) await attempt(store, [turnDay(stored, definitions, view.book.day)])
}

/** Makes the book of a month, the next one included, unless it is there. */
export async function makeBook(store: Store, { definitions }: View, month: Window, day: string): Promise<Book> {
  const book = freshBook(definitions, month.name, day)
  await attempt(store, [
    { do: 'put', item: toBookItem(book), when: [{ is: 'absent-item' }] },
    isCurrent(definitions.revision),
  ])
  return book
}

export const isPrepared = ({ stored, book }: View): boolean =>
  stored !== null && stored.revision === book.revision && stored.day === book.day

const isCurrent = (revision: number): Write => ({ do: 'check', key: definitionsKey, when: [isOfRevision(revision)] })

const attempt = async (store: Store, writes: readonly Write[]): Promise<void> => {
  await store.transact(writes, digest('prepare', JSON.stringify(writes)))
}
