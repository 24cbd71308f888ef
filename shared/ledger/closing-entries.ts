import { digest } from '../platform/ids.ts'
import { toUnits } from '../platform/words.ts'
import { type Book, counterOf, type Move, madeAvailable } from './book.ts'
import { type WindowKind, windowKinds } from './definitions.ts'
import type { Entry } from './entry.ts'
import type { Closing } from './finding.ts'
import { grantEntryId } from './holding.ts'
import type { Grant, Hold, Update } from './update.ts'

/** What a closing has met with, where it was not taken. */
export interface Met {
  /** `null`: nothing yet. */
  readonly book: Book | null
  /** Entries that somebody has corrected: what that says stays. */
  readonly righted: readonly string[]
}

type Counted = Pick<Grant, 'budget' | 'window'>

/** The counters of a hold; those of its day only while the book still counts that day. */
export function countersOf(hold: Hold, book: Book | null): readonly Counted[] {
  const windows: readonly WindowKind[] = !book || book.day === hold.day ? windowKinds : ['month']
  return windows.flatMap((window) => hold.budgets.map((budget) => ({ budget, window })))
}

/**
 * What is booked with a closing besides the update's own line, which moves all its counters alike: what was given back
 * before stays spent, and what was granted for an update goes with its hold when it has cost nothing.
 */
export function entriesWith(closing: Closing, hold: Hold, met: Met): readonly Entry[] {
  const kept = keptEntries(closing, hold, met)
  return [...kept, ...grantsTakenBack(closing, hold, met, kept), ...grantsAgain(closing, hold, met)]
}

/** What the line and the entries do to one counter together. */
export const moveOn = (counter: Counted, line: Move, entries: readonly Entry[]): Move =>
  entries
    .flatMap(({ moves }) => moves)
    .filter((each) => each.budget === counter.budget && each.window === counter.window)
    .reduce((sum, { move }) => plus(sum, move), line)

/**
 * A counter that has not spent as much as would be given back has had it back before, by a reconciliation or a correction.
 * It keeps its figure: given back twice, units would be there that the vendor does not have.
 */
function keptEntries({ update, move }: Closing, hold: Hold, { book }: Met): Entry[] {
  const units = 0 - (move.spent ?? 0)
  if (!book || units <= 0) return []
  const kept = countersOf(hold, book).filter(
    ({ budget, window }) => (counterOf(book, window, budget)?.spent ?? 0) < units,
  )
  const [first] = kept
  if (!first) return []
  const entry = {
    id: `ent_${digest('kept', hold.attempt)}`,
    type: 'external-spend',
    budget: first.budget,
    units,
    reason: `not given back by ${update.id}: they had been given back before`,
    moves: kept.map((counter) => ({ ...counter, move: { spent: units } })),
  } as const
  return [{ ...entry, ...bookedWith(update, hold) }]
}

/** With a `leave`, more was granted than is held: of that, no more than is still there. */
function grantsTakenBack(closing: Closing, hold: Hold, { book, righted }: Met, kept: readonly Entry[]): Entry[] {
  const { update, move } = closing
  if (update.charged !== 0 || update.takenBack) return []
  const counters = countersOf(hold, book)
  return (hold.grants ?? []).flatMap((grant) => {
    const { budget, window } = grant
    const corrects = grantEntryId(hold, grant)
    const isOpen = counters.some((each) => each.budget === budget && each.window === window)
    if (!isOpen || righted.includes(corrects)) return []
    const freed = madeAvailable(moveOn(grant, move, kept))
    const available = book ? Math.max(0, counterOf(book, window, budget)?.available ?? 0) : grant.units
    const units = Math.min(grant.units, freed + available)
    if (units <= 0) return []
    const id = takenBackId(hold, grant)
    return [correctionOf(update, hold, { grant, id, corrects, units: grant.units - units, by: 0 - units })]
  })
}

/** A person said that it did not run, and it did: what had been granted for it is what it was charged to. */
function grantsAgain({ update, move }: Closing, hold: Hold, { book, righted }: Met): Entry[] {
  if ((move.spent ?? 0) <= 0) return []
  const counters = countersOf(hold, book)
  return (update.takenBack ?? []).flatMap((grant) => {
    const { budget, window, units: by } = grant
    const corrects = takenBackId(hold, grant)
    const isOpen = counters.some((each) => each.budget === budget && each.window === window)
    if (!isOpen || righted.includes(corrects)) return []
    const units = hold.grants?.find((each) => each.budget === budget && each.window === window)?.units ?? by
    const id = `ent_${digest('granted-again', hold.attempt, window, budget)}`
    return [correctionOf(update, hold, { grant, id, corrects, units, by })]
  })
}

/** What a record keeps of them: a later correction grants as much again. */
export function takenBackBy(entries: readonly Entry[]): Pick<Update, 'takenBack'> {
  const takenBack = entries.flatMap(({ moves }) =>
    moves.flatMap(({ budget, window, move: { granted = 0 } }) =>
      granted < 0 ? [{ budget, window, units: toUnits(0 - granted) }] : [],
    ),
  )
  return takenBack.length > 0 ? { takenBack } : {}
}

const takenBackId = ({ attempt }: Hold, { budget, window }: Counted): string =>
  `ent_${digest('taken-back', attempt, window, budget)}`

function correctionOf(
  update: Update,
  hold: Hold,
  {
    grant: { budget, window },
    by,
    ...said
  }: { grant: Counted; by: number; id: string; corrects: string; units: number },
): Entry {
  return {
    ...said,
    type: 'correction',
    budget,
    reason: `granted for ${update.id}, which ${by < 0 ? 'has cost nothing' : 'ran after all'}`,
    moves: [{ budget, window, move: { granted: by } }],
    signs: [{ budget, window, move: { granted: 1 } }],
    ...bookedWith(update, hold),
  }
}

function bookedWith({ month, history }: Update, { day, at }: Hold): Pick<Entry, 'month' | 'day' | 'by' | 'at'> {
  const line = history.at(-1)
  return { month, day, by: line?.by ?? 'guard', at: line?.at ?? at }
}

const plus = (a: Move, b: Move): Move => ({
  granted: (a.granted ?? 0) + (b.granted ?? 0),
  held: (a.held ?? 0) + (b.held ?? 0),
  inDoubt: (a.inDoubt ?? 0) + (b.inDoubt ?? 0),
  spent: (a.spent ?? 0) + (b.spent ?? 0),
})
