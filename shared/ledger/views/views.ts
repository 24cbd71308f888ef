import type { Clock } from '../../platform/clock.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Book, bookAsOf } from '../book/book.ts'
import { bookKey, fromBookItem } from '../book/book-item.ts'
import type { Definitions } from '../book/definitions.ts'
import { definitionsKey, fromDefinitionsItem } from '../book/definitions-item.ts'
import { type Calendar, dayAt, monthAfter, monthAt, monthBefore, type Window } from '../book/windows.ts'
import { NoDefinitions } from '../errors.ts'
import { getAll, type Item, type Store } from '../store/store.ts'
import type { Update } from '../updates/update.ts'
import { fromUpdateItem, updateKey } from '../updates/update-item.ts'
import { fromWorkItem, runsIn, type SeenWork, type Work, workKeyOf, workKeysOf } from '../updates/work.ts'

export interface ViewQuery {
  readonly id?: string
  /** `keys` are items besides those of the names that the project has now. */
  readonly work?: { readonly kind: Kind; readonly project: string; readonly keys?: readonly string[] }
}

/** What one reading of the table showed. */
export interface View {
  readonly now: number
  readonly definitions: Definitions
  readonly month: Window
  readonly day: Window
  /** The book as it is stored: absent before the first change of the month. */
  readonly stored: Book | null
  /** The book as a change at this moment finds or makes it. */
  readonly book: Book
  readonly results: readonly ViewResult[]
}

/** What is known about one thing that was asked for. */
export interface ViewResult {
  readonly update: Update | null
  /** The items of the work under all names of the project; none where no work was asked for. */
  readonly works: readonly SeenWork[]
  /** The updates that these items name, by their ids. */
  readonly records: ReadonlyMap<string, Update>
}

/** The three books that can still change at one moment: a clock may be behind, a grant may be for the next month. */
export interface Books {
  readonly previous: Book | null
  readonly current: Book | null
  readonly next: Book | null
}

/**
 * Reads the definitions, the current book and what was asked for with one consistent batch, and with a second one the
 * updates that the work items name, where there are any.
 */
export function createViews(options: { store: Store; clock: Clock; calendar: Calendar }) {
  const { store, clock } = options
  // Which book, and which names of a project, follows from the definitions, which the same batch reads: those last seen tell.
  let calendar = options.calendar
  let last: { readonly definitions: Definitions; readonly at: number } | null = null

  async function look(queries: readonly ViewQuery[] = []): Promise<View> {
    const now = clock.now()
    const guessed = monthAt(calendar, now)
    const keys = keysOf(queries, last?.definitions ?? null)
    const wanted = [definitionsKey, bookKey(guessed.name), ...keys]
    const [definitionsItem, guessedBook, ...rest] = await getAll(store, wanted)
    if (!definitionsItem) throw new NoDefinitions('the ledger has not been set up')
    const definitions = fromDefinitionsItem(definitionsItem)
    calendar = definitions.calendar
    last = { definitions, at: now }
    const month = monthAt(calendar, now)
    const bookItem = month.name === guessed.name ? guessedBook : (await store.get([bookKey(month.name)]))[0]
    const found = new Map(keys.map((key, index) => [key.pk, rest[index]]))
    const missed = keysOf(queries, definitions).filter(({ pk }) => !found.has(pk))
    for (const [index, item] of (await getAll(store, missed)).entries()) found.set(missed[index]?.pk ?? '', item)
    const stored = bookItem ? fromBookItem(bookItem) : null
    const day = dayAt(calendar, now)
    return {
      now,
      definitions,
      month,
      day,
      stored,
      book: bookAsOf(stored, definitions, month.name, day.name),
      results: await withRecords(store, { queries, definitions, found }),
    }
  }

  async function books(definitions: Definitions, month: Window): Promise<Books> {
    const around = [monthBefore(definitions.calendar, month), month, monthAfter(definitions.calendar, month)]
    const items = await store.get(around.map(({ name }) => bookKey(name)))
    const [previous, current, next] = items.map((item) => (item ? fromBookItem(item) : null))
    return { previous: previous ?? null, current: current ?? null, next: next ?? null }
  }

  /** `null`: nothing was ever counted in that month. */
  async function bookNamed(month: string): Promise<Book | null> {
    const [item] = await store.get([bookKey(month)])
    return item ? fromBookItem(item) : null
  }

  /** Days that have begun stay as they are, so a calendar that was read after the instant tells its day. */
  const calendarAt = async (instant: number): Promise<Calendar> =>
    (last && last.at >= instant ? last : await look()).definitions.calendar

  return { look, books, bookNamed, calendarAt, lastSeen: () => last }
}

export type Views = ReturnType<typeof createViews>

export async function readUpdates(store: Store, ids: readonly string[]): Promise<(Update | null)[]> {
  return (await getAll(store, ids.map(updateKey))).map((item) => (item ? fromUpdateItem(item) : null))
}

/** Each once: two queries may be about one work. */
function keysOf(queries: readonly ViewQuery[], definitions: Definitions | null) {
  const keys = queries.flatMap((query) => [
    ...(query.id === undefined ? [] : [updateKey(query.id)]),
    ...worksOf(query, definitions).map(workKeyOf),
  ])
  return [...new Map(keys.map((key) => [key.pk, key])).values()]
}

const worksOf = ({ work }: ViewQuery, definitions: Definitions | null): readonly string[] =>
  work ? [...new Set([...workKeysOf(definitions, work.kind, work.project), ...(work.keys ?? [])])] : []

async function withRecords(
  store: Store,
  read: {
    readonly queries: readonly ViewQuery[]
    readonly definitions: Definitions
    readonly found: ReadonlyMap<string, Item | undefined>
  },
): Promise<ViewResult[]> {
  const { queries, definitions, found } = read
  const views = queries.map((query) => {
    const updateItem = query.id === undefined ? undefined : found.get(updateKey(query.id).pk)
    const works = worksOf(query, definitions).map((key): SeenWork => {
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
