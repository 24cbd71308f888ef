import { digest } from '../../platform/ids.ts'
import { grouped } from '../../platform/words.ts'
import { asNumber, type Move } from '../definitions/counters.ts'
import {
  type Budget,
  budgetNamed,
  counterOwnersIn,
  type Definitions,
  limitOf,
  maxDepth,
  type WindowKind,
  windowKinds,
} from '../definitions/definitions.ts'
import { toDefinitionsItem } from '../definitions/definitions-item.ts'
import { differencesOf, fittingDifferences } from '../definitions/difference.ts'
import { monthAfter, monthAt, type Window } from '../definitions/windows.ts'
import { Contention } from '../errors.ts'
import type { Store, Write } from '../store/store.ts'
import { announce } from '../updates/tasks.ts'
import type { Update } from '../updates/update.ts'
import { type Book, counterOf } from './book.ts'
import { applyDefinitions, bookKey, goneBackWith, isUnheld } from './book-item.ts'
import { type Entry, type EntryType, toEntryItem } from './entry.ts'
import type { Turns } from './hold.ts'
import { collisionsIn, type Fault, nearFaults } from './name-faults.ts'
import { releaseAnnouncement, unownedFaultsOf } from './releases.ts'
import type { Books, View, Views } from './view.ts'

/** Called again if another change came first. */
export type MakeChange = (view: View) => DefinitionsChange | { readonly refused: unknown }

interface DefinitionsChange {
  readonly definitions: Omit<Definitions, 'revision'>
  /** A budget that must have nothing held or in doubt this month. */
  readonly idle?: string
  readonly note: {
    readonly type: EntryType
    readonly budget: string
    readonly units?: number
    readonly reason: string
    readonly plan?: string
  }
}

export type ChangeOutcome =
  | { readonly kind: 'changed'; readonly definitions: Definitions }
  | { readonly kind: 'refused'; readonly refused: unknown }
  | { readonly kind: 'faulty'; readonly faults: readonly Fault[] }

const maxRounds = 16

interface ChangesParts extends Pick<Views, 'look' | 'books'> {
  readonly store: Store
  readonly turns: Turns
  /** Updates that run or are in doubt. */
  readonly unsettled: () => Promise<readonly Update[]>
}

export function createChanges({ store, turns, look, books, unsettled }: ChangesParts) {
  /** Holds of this process wait, because a book that is replaced as a whole must not move between read and write. */
  const change = (by: string, make: MakeChange): Promise<ChangeOutcome> => turns.next(() => changeNow(by, make))

  async function changeNow(by: string, make: MakeChange): Promise<ChangeOutcome> {
    for (let round = 0; round < maxRounds; round++) {
      const now = await look()
      const wanted = make(now)
      if ('refused' in wanted) return { kind: 'refused', refused: wanted.refused }
      const definitions = { ...wanted.definitions, revision: now.definitions.revision + 1 }
      const found = await books(now.definitions, now.month)
      const faults = await faultsIn(now, definitions, found)
      if (faults.length > 0) return { kind: 'faulty', faults }
      const writes = writesFor(now, definitions, { ...wanted, ...found, by })
      const outcome = await store.transact(writes, digest('change', JSON.stringify(writes)))
      if (outcome.applied) return { kind: 'changed', definitions }
    }
    throw new Contention('the definitions keep changing')
  }

  function writesFor(now: View, definitions: Definitions, change: DefinitionsChange & Books & { by: string }) {
    const note = { ...change.note, by: change.by }
    const { previous, current, next } = change
    const following = monthAfter(now.definitions.calendar, now.month)
    const revision = now.definitions.revision
    return [
      {
        kind: 'put',
        item: toDefinitionsItem(definitions),
        when: [{ kind: 'equal', path: ['revision'], value: revision }],
      },
      ...bookWrites(current, now.month, definitions, change.idle),
      ...bookWrites(next, following, definitions),
      ...(previous ? [applyDefinitions(previous, definitions, true)] : []),
      ...[current, next].flatMap((book) =>
        book ? goneBackWith(book, definitions, { by: change.by, at: now.now }) : [],
      ),
      ...(next ? [entryWrite(now, definitions, next, note)] : []),
      entryWrite(now, definitions, current ?? now.book, note, subjectsOf(now.definitions, definitions, note)),
      ...stopAnnouncement(definitions, note, now.now),
      ...releaseAnnouncement({ before: now.definitions, after: definitions, now: now.now }, note),
    ] satisfies Write[]
  }

  const faultsIn = async (now: View, definitions: Definitions, books: Books): Promise<readonly Fault[]> => [
    ...faultsOf(definitions, now.definitions),
    ...bookSizeFaults(
      [books.current ?? now.book, books.next, books.previous].filter((book) => book !== null),
      now.definitions,
      definitions,
    ),
    ...renamedFaults(now, definitions, books.next),
    ...(await nearFaults(now.definitions, definitions, unsettled)),
  ]

  const faultsOfChange = async (now: View, definitions: Definitions): Promise<readonly Fault[]> =>
    faultsIn(now, definitions, await books(now.definitions, now.month))

  return { change, faultsOfChange }
}

function bookWrites(book: Book | null, month: Window, definitions: Definitions, idle?: string): Write[] {
  if (!book) return [{ kind: 'check', key: bookKey(month.name), when: [{ kind: 'absent-item' }] }]
  const write = applyDefinitions(book, definitions, false)
  const isIdle = idle !== undefined && counterOf(book, 'month', idle) ? isUnheld('month', idle) : []
  return [{ ...write, when: [...write.when, ...isIdle] }]
}

function stopAnnouncement(
  { revision }: Definitions,
  note: DefinitionsChange['note'] & { by: string },
  at: number,
): Write[] {
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

function entryWrite(
  now: View,
  definitions: Definitions,
  book: Book,
  note: DefinitionsChange['note'] & { by: string },
  subjects: readonly string[] = [],
): Write {
  const changed = fittingDifferences(differencesOf(now.definitions, definitions))
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
    ...(subjects.length > 0 && { subjects, revision: definitions.revision }),
  }
  return { kind: 'put', item: toEntryItem(entry), when: [{ kind: 'absent-item' }] }
}

function subjectsOf(before: Definitions, after: Definitions, { type, budget, plan }: DefinitionsChange['note']) {
  switch (type) {
    case 'freeze':
    case 'unfreeze':
      return [budget]
    case 'restore':
      return budgetNamed(after, budget)?.frozen === budgetNamed(before, budget)?.frozen ? [] : [budget]
    case 'pause':
    case 'resume':
      return plan === undefined ? [] : [plan]
    default:
      return differencesOf(before, after).flatMap(({ kind, name }) => (kind === 'budget' ? [name] : []))
  }
}

function limitMoves(book: Book, definitions: Definitions, window: WindowKind): Entry['moves'] {
  return counterOwnersIn(definitions).flatMap((budget) => {
    const limit = asNumber(limitOf(budget, window))
    const counter = counterOf(book, window, budget.name)
    const move: Move = { limit: limit - (counter ? asNumber(counter.limit) : 0) }
    return move.limit === 0 ? [] : [{ budget: budget.name, window, move }]
  })
}

/** A collision of names that existed before does not block a change, such as a freeze. */
export function faultsOf(definitions: Definitions, before?: Definitions): readonly { path: string; message: string }[] {
  const budgets = Object.values(definitions.budgets)
  const known = new Set(before && collisionsIn(before))
  const ofParents = new Set(budgets.flatMap((budget) => parentFaultOf(definitions, budget) ?? []))
  return [
    ...[...ofParents].map((message) => ({ path: 'parent', message })),
    ...collisionsIn(definitions)
      .filter((message) => !known.has(message))
      .map((message) => ({ path: 'projects', message })),
    ...unownedFaultsOf(budgets),
    ...sizeFaultsOf(definitions, before),
  ]
}

/** A changed renewal gives the next month another name. Grants of the old name would be lost. */
function renamedFaults({ now }: View, { calendar }: Definitions, next: Book | null): readonly Fault[] {
  if (!next || monthAfter(calendar, monthAt(calendar, now)).name === next.month) return []
  const granted = Object.entries(next.counters.month).filter(([, counter]) => counter.granted !== 0)
  if (granted.length === 0) return []
  const list = granted.map(([budget, counter]) => `${budget} ${grouped(counter.granted)}`).join(', ')
  const message = `the next month would no longer be ${next.month}, which has grants (${list}): correct these entries to 0, change the renewal, and grant the units again`
  return [{ path: 'renewal', message }]
}

/** An item of DynamoDB has at most 400 KB. */
const maxBytes = 350_000

function sizeFaultsOf(definitions: Definitions, before: Definitions | undefined) {
  const size = sizeOf(definitions)
  if (size <= maxBytes || (before && size <= sizeOf(before))) return []
  const message = `all budgets and callers together take at most ${maxBytes / 1000} KB: name fewer projects, or delete callers`
  return [{ path: 'projects', message }]
}

/** Leaves out freezes and disabled callers, because a stop must always fit. */
function sizeOf({ budgets, callers = {}, unlisted }: Definitions): number {
  const lasting = Object.entries(callers).filter(([, caller]) => !caller.disabled || Object.keys(caller).length > 1)
  const text = JSON.stringify({
    budgets: Object.fromEntries(Object.entries(budgets).map(([name, each]) => [name, { ...each, frozen: undefined }])),
    callers: Object.fromEntries(lasting.map(([name, each]) => [name, { ...each, disabled: undefined }])),
    unlisted,
  })
  return Buffer.byteLength(text)
}

function parentFaultOf(definitions: Definitions, budget: Budget): string | null {
  let depth = 1
  for (let next = budget; next.parent !== null; depth++) {
    if (depth === maxDepth) return `budgets are at most ${maxDepth} deep, and no budget is its own ancestor`
    const parent = budgetNamed(definitions, next.parent)
    if (!parent) return `there is no budget ${next.parent}; create it first`
    next = parent
  }
  return null
}

const maxBookBytes = 350_000

/** The book's key, day, revision and two maps. */
const bytesWithoutCounters = 128

/** A counter has six figures, each with a letter, up to 16 digits and a sign. */
const bytesOfCounter = 3 + 6 * (1 + 1 + 10)

/** Assumes the largest value of every figure, so that no hold outgrows the limit. Counters of deleted budgets and callers stay. */
export function largestSizeOf(book: Book, definitions: Definitions): number {
  const owners = counterOwnersIn(definitions).map(({ name }) => name)
  return windowKinds
    .flatMap((window) =>
      [...new Set([...Object.keys(book.counters[window]), ...owners])].map((name) => Buffer.byteLength(name)),
    )
    .reduce((sum, bytes) => sum + bytes + 1 + bytesOfCounter, bytesWithoutCounters)
}

/** A change that makes no book larger, such as a freeze, always passes. */
function bookSizeFaults(books: readonly Book[], before: Definitions, after: Definitions) {
  const tooLarge = books.find((book) => {
    const size = largestSizeOf(book, after)
    return size > maxBookBytes && size > largestSizeOf(book, before)
  })
  if (!tooLarge) return []
  const size = grouped(largestSizeOf(tooLarge, after))
  const message = `the book of ${tooLarge.month} could take ${size} bytes, and at most ${grouped(maxBookBytes)} are allowed: give fewer callers limits, or merge budgets; deleted ones count until the end of the next month`
  return [{ path: 'limits', message }]
}
