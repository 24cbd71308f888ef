import { digest } from '../platform/ids.ts'
import { additions, type Book, bookAsOf, bookKey, isOfDay, isOfRevision, type Move } from './book.ts'
import { budgetNamed, chainOf, type WindowKind } from './definitions.ts'
import { type Entry, entryKey, fromEntryItem, toEntryItem } from './entry.ts'
import { prepareBook } from './preparing.ts'
import { LedgerUnavailable, type Store, type Write } from './store.ts'
import type { View, Views } from './views.ts'
import { dayAt, monthAfter } from './windows.ts'

/** What somebody wants booked that no update did. */
export interface EntryRequest {
  readonly id: string
  /** The digest of what its idempotency key stands for. */
  readonly content: string
  readonly type: 'grant' | 'external-spend'
  readonly budget: string
  readonly units: number
  /** Of a grant. Outside spending counts in the month and in the day. */
  readonly window: WindowKind | 'next-month'
  /** A grant for all ancestors too. Outside spending always moves them. */
  readonly wholeChain: boolean
  readonly reason: string
  readonly by: string
}

export type EnterOutcome =
  | { readonly kind: 'entered'; readonly entry: Entry; readonly again: boolean }
  | { readonly kind: 'unknown-budget' }
  | { readonly kind: 'key-reused' }

const mostRounds = 8

export function createEntering(options: { store: Store; view: () => Promise<View>; books: Views['books'] }) {
  const { store, view, books } = options

  /** One transaction: the book, under the revision and the day that were seen, and the immutable entry. */
  async function enter(request: EntryRequest): Promise<EnterOutcome> {
    for (let round = 0; round < mostRounds; round++) {
      const now = await view()
      const [earlier] = await store.get([entryKey(request.id)])
      if (earlier) {
        const entry = fromEntryItem(earlier)
        return entry.content === request.content ? { kind: 'entered', entry, again: true } : { kind: 'key-reused' }
      }
      if (!budgetNamed(now.definitions, request.budget)) return { kind: 'unknown-budget' }
      const book = await preparedBook(now, request)
      const entry = toEntry(request, now, book)
      const writes = writesFor(entry, book)
      const outcome = await store.transact(writes, digest('enter', JSON.stringify(writes)))
      if (outcome.applied) return { kind: 'entered', entry, again: false }
    }
    throw new LedgerUnavailable('the book keeps changing')
  }

  async function preparedBook(now: View, { window }: EntryRequest): Promise<Book> {
    if (window !== 'next-month') {
      await prepareBook(store, now)
      return now.book
    }
    const { definitions } = now
    const { next } = await books(definitions, now.month)
    const month = monthAfter(definitions.calendar, now.month)
    const book = bookAsOf(next, definitions, month.name, dayAt(definitions.calendar, month.start).name)
    await prepareBook(store, { stored: next, definitions, month, book })
    return book
  }

  return { enter }
}

function toEntry(request: EntryRequest, now: View, book: Book): Entry {
  const { window, wholeChain, ...named } = request
  const chain = chainOf(now.definitions, request.budget).map((budget) => budget.name)
  const isGrant = request.type === 'grant'
  const move: Move = isGrant ? { granted: request.units } : { spent: request.units }
  const windows: WindowKind[] = isGrant ? [window === 'day' ? 'day' : 'month'] : ['month', 'day']
  const budgets = isGrant && !wholeChain ? [request.budget] : chain
  return {
    ...named,
    month: book.month,
    day: book.day,
    at: now.now,
    moves: windows.flatMap((each) => budgets.map((budget) => ({ budget, window: each, move }))),
  }
}

function writesFor(entry: Entry, book: Book): Write[] {
  return [
    {
      do: 'update',
      key: bookKey(book.month),
      set: [],
      add: entry.moves.flatMap(({ budget, window, move }) => additions(window, [budget], move)),
      when: [isOfRevision(book.revision), isOfDay(book.day)],
    },
    { do: 'put', item: toEntryItem(entry), when: [{ is: 'absent-item' }] },
  ]
}
