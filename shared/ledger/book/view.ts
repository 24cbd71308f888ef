import type { Clock } from '../../platform/clock.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { fromDefinitionsItem } from '../definitions/definitions-item.ts'
import { type Calendar, dayAt, monthAfter, monthAt, monthBefore, type Window } from '../definitions/windows.ts'
import { NoDefinitions } from '../errors.ts'
import { getAll, type Item, type Store } from '../store/store.ts'
import { definitionsKey } from '../store/stored.ts'
import type { Update } from '../updates/update.ts'
import { fromUpdateItem, updateKey } from '../updates/update-keys.ts'
import { fromWorkItem, runsIn, type SeenWork, type Work, workKeyOf, workKeysOf } from '../updates/work.ts'
import { type Book, bookAsOf } from './book.ts'
import { bookKey, fromBookItem } from './book-item.ts'

export interface ViewQuery {
  readonly id?: string
  readonly work?: { readonly kind: Kind; readonly project: string; readonly keys?: readonly string[] }
  /** Reads the book of next month in the same batch. */
  readonly nextMonth?: true
}

export interface View {
  readonly now: number
  readonly definitions: Definitions
  readonly month: Window
  readonly day: Window
  /** `null` before the month's first change. */
  readonly stored: Book | null
  /** The book as a change would find or make it now. */
  readonly book: Book
  /** The book of next month, with its grants. Present if a query wants it. */
  readonly nextStored?: Book | null
  readonly results: readonly ViewResult[]
}

export interface ViewResult {
  readonly update: Update | null
  readonly works: readonly SeenWork[]
  /** The updates that the work items name. */
  readonly records: ReadonlyMap<string, Update>
}

/** The books that can still change, because clocks lag and grants may be for next month. */
export interface Books {
  readonly previous: Book | null
  readonly current: Book | null
  readonly next: Book | null
}

/** Reads one consistent batch, and a second batch for the updates that work items name. */
export function createViews(options: { store: Store; clock: Clock; calendar: Calendar }) {
  const { store, clock } = options
  // These two variables predict which book and work items to read. A wrong prediction costs a second read.
  let calendar = options.calendar
  let last: { readonly definitions: Definitions; readonly at: number } | null = null

  async function look(queries: readonly ViewQuery[] = []): Promise<View> {
    const now = clock.now()
    const guessed = monthAt(calendar, now)
    const guessedWorks = queries.map((query) => worksOf(query, last?.definitions ?? null))
    const keys = keysOf(queries, guessedWorks)
    const guessedBooks = bookKeysOf(queries, calendar, guessed)
    const [definitionsItem, ...items] = await getAll(store, [definitionsKey, ...guessedBooks, ...keys])
    if (!definitionsItem) throw new NoDefinitions('the ledger has not been set up')
    const definitions = fromDefinitionsItem(definitionsItem)
    calendar = definitions.calendar
    last = { definitions, at: now }
    const month = monthAt(calendar, now)
    const books = bookKeysOf(queries, calendar, month)
    const isGuessed = books.every(({ sk }, index) => sk === guessedBooks[index]?.sk)
    const [stored = null, nextStored = null] = (isGuessed ? items.slice(0, books.length) : await store.get(books)).map(
      (item) => (item ? fromBookItem(item) : null),
    )
    const found = new Map(keys.map((key, index) => [key.pk, items[guessedBooks.length + index]]))
    const works = queries.map((query) => worksOf(query, definitions))
    const missed = keysOf(queries, works).filter(({ pk }) => !found.has(pk))
    for (const [index, item] of (await getAll(store, missed)).entries()) found.set(missed[index]?.pk ?? '', item)
    const day = dayAt(calendar, now)
    return {
      now,
      definitions,
      month,
      day,
      stored,
      book: bookAsOf(stored, definitions, month.name, day.name),
      ...(books.length > 1 && { nextStored }),
      results: await withRecords(store, { queries, works, found }),
    }
  }

  async function books(definitions: Definitions, month: Window): Promise<Books> {
    const around = [monthBefore(definitions.calendar, month), month, monthAfter(definitions.calendar, month)]
    const items = await store.get(around.map(({ name }) => bookKey(name)))
    const [previous, current, next] = items.map((item) => (item ? fromBookItem(item) : null))
    return { previous: previous ?? null, current: current ?? null, next: next ?? null }
  }

  async function bookNamed(month: string): Promise<Book | null> {
    const [item] = await store.get([bookKey(month)])
    return item ? fromBookItem(item) : null
  }

  /** The calendar of a past instant never changes, so the last one read is enough. */
  const calendarAt = async (instant: number): Promise<Calendar> =>
    (last && last.at >= instant ? last : await look()).definitions.calendar

  return { look, books, bookNamed, calendarAt, lastSeen: () => last }
}

export type Views = ReturnType<typeof createViews>

export async function readUpdates(store: Store, ids: readonly string[]): Promise<(Update | null)[]> {
  return (await getAll(store, ids.map(updateKey))).map((item) => (item ? fromUpdateItem(item) : null))
}

const bookKeysOf = (queries: readonly ViewQuery[], calendar: Calendar, month: Window) =>
  [month, ...(queries.some(({ nextMonth }) => nextMonth) ? [monthAfter(calendar, month)] : [])].map(({ name }) =>
    bookKey(name),
  )

/** @param works the work items of each query. */
function keysOf(queries: readonly ViewQuery[], works: readonly (readonly string[])[]) {
  const keys = queries.flatMap(({ id }, index) => [
    ...(id === undefined ? [] : [updateKey(id)]),
    ...(works[index] ?? []).map(workKeyOf),
  ])
  return [...new Map(keys.map((key) => [key.pk, key])).values()]
}

const worksOf = ({ work }: ViewQuery, definitions: Definitions | null): readonly string[] =>
  work ? [...new Set([...workKeysOf(definitions, work.kind, work.project), ...(work.keys ?? [])])] : []

async function withRecords(
  store: Store,
  read: {
    readonly queries: readonly ViewQuery[]
    readonly works: readonly (readonly string[])[]
    readonly found: ReadonlyMap<string, Item | undefined>
  },
): Promise<ViewResult[]> {
  const { queries, found } = read
  const views = queries.map((query, index) => {
    const updateItem = query.id === undefined ? undefined : found.get(updateKey(query.id).pk)
    const works = (read.works[index] ?? []).map((key): SeenWork => {
      const item = found.get(key)
      return { key, work: item ? fromWorkItem(item) : null }
    })
    return { update: updateItem ? fromUpdateItem(updateItem) : null, works }
  })
  const named = views.flatMap(({ works }) => works.flatMap(({ work }) => (work ? namedIn(work) : [])))
  const records = new Map<string, Update>()
  for (const update of await readUpdates(store, [...new Set(named)])) if (update) records.set(update.id, update)
  return views.map((view) => ({ ...view, records }))
}

const namedIn = (work: Work): string[] => [work.update, ...runsIn(work).map(({ update }) => update)]
