import type { Clock } from '../platform/clock.ts'
import type { Kind } from '../platform/words.ts'
import { type Book, bookAsOf, bookKey, fromBookItem } from './book.ts'
import type { Definitions } from './definitions.ts'
import { definitionsKey, fromDefinitionsItem } from './definitions-item.ts'
import { getAll, type Item, type Key, type Store } from './store.ts'
import type { Update } from './update.ts'
import { fromUpdateItem, updateKey } from './update-item.ts'
import { type Calendar, dayAt, monthAfter, monthAt, monthBefore, type Window } from './windows.ts'
import { fromWorkItem, type Work, workKey } from './work.ts'

/** The table holds no definitions: nothing is allowed. */
export class NoDefinitions extends Error {
  override readonly name = 'NoDefinitions'
}

export interface Ask {
  readonly id?: string
  readonly work?: { readonly kind: Kind; readonly project: string }
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
  readonly asked: readonly AskedView[]
}

/** What is known about one thing that was asked for. */
export interface AskedView {
  readonly update: Update | null
  readonly work: Work | null
  /** The update that the work item names. */
  readonly holder: Update | null
}

/** The three books that can still change at one moment: a clock may be behind, a grant may be for the next month. */
export interface Books {
  readonly previous: Book | null
  readonly current: Book | null
  readonly next: Book | null
}

/**
 * Reads the definitions, the current book and what was asked for with one consistent batch, and with a second one the
 * updates that hold the work, where there are any.
 */
export function createViews(options: { store: Store; clock: Clock; calendar: Calendar }) {
  const { store, clock } = options
  // The book's name follows from the definitions, which the same batch reads: the calendar last seen tells it.
  let calendar = options.calendar
  let last: { readonly definitions: Definitions; readonly at: number } | null = null

  async function look(asks: readonly Ask[] = []): Promise<View> {
    const now = clock.now()
    const guessed = monthAt(calendar, now)
    const keys = asks.flatMap((ask) => keysOf(ask))
    const [definitionsItem, guessedBook, ...rest] = await store.get([definitionsKey, bookKey(guessed.name), ...keys])
    if (!definitionsItem) throw new NoDefinitions('the ledger has not been set up')
    const definitions = fromDefinitionsItem(definitionsItem)
    calendar = definitions.calendar
    last = { definitions, at: now }
    const month = monthAt(calendar, now)
    const bookItem = month.name === guessed.name ? guessedBook : (await store.get([bookKey(month.name)]))[0]
    const found = new Map(keys.map((key, index) => [key.pk, rest[index]]))
    const stored = bookItem ? fromBookItem(bookItem) : null
    const day = dayAt(calendar, now)
    return {
      now,
      definitions,
      month,
      day,
      stored,
      book: bookAsOf(stored, definitions, month.name, day.name),
      asked: await withHolders(store, asks, found),
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

  return { look, books, bookNamed, lastSeen: () => last }
}

export type Views = ReturnType<typeof createViews>

export async function readUpdates(store: Store, ids: readonly string[]): Promise<(Update | null)[]> {
  return (await getAll(store, ids.map(updateKey))).map((item) => (item ? fromUpdateItem(item) : null))
}

function keysOf(ask: Ask): Key[] {
  const update = ask.id === undefined ? [] : [updateKey(ask.id)]
  return ask.work ? [...update, workKey(ask.work.kind, ask.work.project)] : update
}

async function withHolders(
  store: Store,
  asks: readonly Ask[],
  found: ReadonlyMap<string, Item | undefined>,
): Promise<AskedView[]> {
  const views = asks.map((ask) => {
    const updateItem = ask.id === undefined ? undefined : found.get(updateKey(ask.id).pk)
    const workItem = ask.work && found.get(workKey(ask.work.kind, ask.work.project).pk)
    return {
      update: updateItem ? fromUpdateItem(updateItem) : null,
      work: workItem ? fromWorkItem(workItem) : null,
    }
  })
  const ids = [...new Set(views.flatMap(({ work }) => (work ? [work.update] : [])))]
  const holders = new Map((await readUpdates(store, ids)).map((update) => [update?.id, update]))
  return views.map((view) => ({ ...view, holder: holders.get(view.work?.update) ?? null }))
}
