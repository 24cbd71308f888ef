import { digest } from '../platform/ids.ts'
import { announce } from './announcement.ts'
import { asNumber, type Book, bookKey, bringUp, counterOf, isUnheld, type Move } from './book.ts'
import { sizeFaultsOf } from './book-size.ts'
import { type Definitions, faultsOf, limitedIn, limitOf, type WindowKind, windowKinds } from './definitions.ts'
import { toDefinitionsItem } from './definitions-item.ts'
import { differencesOf, fitting } from './difference.ts'
import { type Entry, type EntryType, toEntryItem } from './entry.ts'
import { Contention, type Store, type Write } from './store.ts'
import type { Turns } from './turns.ts'
import type { Books, View, Views } from './views.ts'
import { monthAfter, type Window } from './windows.ts'

/** What somebody wants of the definitions, decided on their newest revision; asked again when that has moved. */
export type MakeChange = (view: View) => Wanted | { readonly refused: unknown }

interface Wanted {
  readonly definitions: Omit<Definitions, 'revision'>
  /** Only while nothing of this budget is held or in doubt this month, whoever was faster. */
  readonly idle?: string
  readonly note: {
    readonly type: EntryType
    readonly budget: string
    readonly units?: number
    readonly reason: string
    /** The plan that it is about. */
    readonly plan?: string
  }
}

export type ChangeOutcome =
  | { readonly kind: 'changed'; readonly definitions: Definitions }
  | { readonly kind: 'refused'; readonly refused: unknown }
  | { readonly kind: 'faulty'; readonly faults: readonly Fault[] }

export interface Fault {
  readonly path: string
  readonly message: string
}

const mostRounds = 16

export function createChanges(options: { store: Store; turns: Turns } & Pick<Views, 'look' | 'books'>) {
  const { store, turns, look, books } = options

  /**
   * One transaction: the definitions under their old revision, the books that can still be held in, and a line that
   * says who and why. A hold that was decided with the old revision fails from here on. Holds of this process wait, since
   * a book that is set as a whole must not move between reading and writing.
   */
  const change = (by: string, make: MakeChange): Promise<ChangeOutcome> => turns.next(() => changeNow(by, make))

  async function changeNow(by: string, make: MakeChange): Promise<ChangeOutcome> {
    for (let round = 0; round < mostRounds; round++) {
      const now = await look()
      const wanted = make(now)
      if ('refused' in wanted) return { kind: 'refused', refused: wanted.refused }
      const definitions = { ...wanted.definitions, revision: now.definitions.revision + 1 }
      const found = await books(now.definitions, now.month)
      const faults = faultsIn(now, definitions, found)
      if (faults.length > 0) return { kind: 'faulty', faults }
      const writes = writesFor(now, definitions, { ...wanted, ...found, by })
      const outcome = await store.transact(writes, digest('change', JSON.stringify(writes)))
      if (outcome.applied) return { kind: 'changed', definitions }
    }
    throw new Contention('the definitions keep changing')
  }

  function writesFor(now: View, definitions: Definitions, wanted: Wanted & Books & { by: string }) {
    const note = { ...wanted.note, by: wanted.by }
    const { previous, current, next } = wanted
    const following = monthAfter(now.definitions.calendar, now.month)
    const revision = now.definitions.revision
    return [
      {
        do: 'put',
        item: toDefinitionsItem(definitions),
        when: [{ is: 'equal', path: ['revision'], value: revision }],
      },
      ...bookWrites(current, now.month, definitions, wanted.idle),
      ...bookWrites(next, following, definitions),
      ...(previous ? [bringUp(previous, definitions, true)] : []),
      ...(next ? [entryWrite(now, definitions, next, note)] : []),
      entryWrite(now, definitions, current ?? now.book, note),
      ...announcedStop(definitions, note, now.now),
    ] satisfies Write[]
  }

  const faultsOfChange = async (now: View, definitions: Definitions): Promise<readonly Fault[]> =>
    faultsIn(now, definitions, await books(now.definitions, now.month))

  return { change, faultsOfChange }
}

/** Of the definitions as a whole, and of the books that the change writes. */
const faultsIn = (now: View, definitions: Definitions, { previous, current, next }: Books): readonly Fault[] => [
  ...faultsOf(definitions, now.definitions),
  ...sizeFaultsOf(
    [current ?? now.book, next, previous].filter((book) => book !== null),
    now.definitions,
    definitions,
  ),
]

function bookWrites(book: Book | null, month: Window, definitions: Definitions, idle?: string): Write[] {
  if (!book) return [{ do: 'check', key: bookKey(month.name), when: [{ is: 'absent-item' }] }]
  const broughtUp = bringUp(book, definitions, false)
  const isIdle = idle !== undefined && counterOf(book, 'month', idle) ? isUnheld('month', idle) : []
  return [{ ...broughtUp, when: [...broughtUp.when, ...isIdle] }]
}

/** Whoever stops something, or lets it go on, is not the only one who has to know. */
function announcedStop({ revision }: Definitions, note: Wanted['note'] & { by: string }, at: number): Write[] {
  const { type, budget, plan, by, reason } = note
  const told = { by, reason, isStopped: type === 'freeze' || type === 'pause' }
  switch (type) {
    case 'freeze':
    case 'unfreeze':
      return [announce(`${type}#${revision}`, at, { kind: 'stopped', what: 'budget', name: budget, ...told })]
    case 'pause':
    case 'resume':
      return [announce(`${type}#${revision}`, at, { kind: 'stopped', what: 'plan', name: plan ?? '', ...told })]
    default:
      return []
  }
}

function entryWrite(now: View, definitions: Definitions, book: Book, note: Wanted['note'] & { by: string }): Write {
  const changed = fitting(differencesOf(now.definitions, definitions))
  const entry: Entry = {
    id: `ent_${digest('change', String(definitions.revision), book.month)}`,
    type: note.type,
    budget: note.budget,
    units: note.units ?? 0,
    month: book.month,
    day: book.day,
    reason: note.reason,
    by: note.by,
    at: now.now,
    moves: windowKinds.flatMap((window) => limitMoves(book, definitions, window)),
    ...(changed.length > 0 && { changed }),
  }
  return { do: 'put', item: toEntryItem(entry), when: [{ is: 'absent-item' }] }
}

function limitMoves(book: Book, definitions: Definitions, window: WindowKind): Entry['moves'] {
  return limitedIn(definitions).flatMap((budget) => {
    const limit = asNumber(limitOf(budget, window))
    const counter = counterOf(book, window, budget.name)
    const move: Move = { limit: limit - (counter ? asNumber(counter.limit) : 0) }
    return move.limit === 0 ? [] : [{ budget: budget.name, window, move }]
  })
}
