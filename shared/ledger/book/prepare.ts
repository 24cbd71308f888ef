import { digest } from '../../platform/ids.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Window } from '../definitions/windows.ts'
import type { Store, Write } from '../store/store.ts'
import { definitionsKey } from '../store/stored.ts'
import { type Book, freshBook } from './book.ts'
import { applyDefinitions, goneBackWith, isOfRevision, toBookItem, turnDay } from './book-item.ts'

/** Each step is conditional, because another process may do it first. @returns whether this process did every step. */
export async function prepareBook(store: Store, target: Target): Promise<boolean> {
  const { stored, definitions, month, book } = target
  if (!stored) return makeBook(store, definitions, freshBook(definitions, month.name, book.day))
  const isApplied = stored.revision === definitions.revision || (await applyNow(store, stored, target))
  const isTurned = stored.day >= book.day || (await attempt(store, [turnDay(stored, definitions, book.day)]))
  return isApplied && isTurned
}

interface Target {
  readonly stored: Book | null
  readonly definitions: Definitions
  readonly month: Window
  readonly book: Book
  readonly now: number
}

const applyNow = (store: Store, stored: Book, { definitions, now }: Target): Promise<boolean> =>
  attempt(store, [
    applyDefinitions(stored, definitions, false),
    { kind: 'check', key: definitionsKey, when: [isOfRevision(definitions.revision)] },
    ...goneBackWith(stored, definitions, { by: 'guard', at: now }),
  ])

const makeBook = (store: Store, definitions: Definitions, book: Book): Promise<boolean> =>
  attempt(store, [
    { kind: 'put', item: toBookItem(book), when: [{ kind: 'absent-item' }] },
    { kind: 'check', key: definitionsKey, when: [isOfRevision(definitions.revision)] },
  ])

export const isPrepared = ({ stored, book }: Pick<Target, 'stored' | 'book'>): boolean =>
  stored !== null && stored.revision === book.revision && stored.day === book.day

const attempt = async (store: Store, writes: readonly Write[]): Promise<boolean> =>
  (await store.transact(writes, digest('prepare', JSON.stringify(writes)))).applied
