import { digest } from '../../platform/ids.ts'
import { rootBudget } from '../definitions/definitions.ts'
import type { Write } from '../store/store.ts'
import { announce } from '../updates/tasks.ts'
import type { Book } from './book.ts'
import { additions, addTo, bookKey, isOfDay, isOfRevision, onceWrites } from './book-item.ts'
import { type Entry, entryWrites, goneBack } from './entry.ts'
import type { Booking } from './entry-request.ts'

export const bookMovesOf = ({ moves, bookMoves = moves }: Booking): Entry['moves'] => bookMoves

export function writesFor(entry: Entry, booking: Booking, book: Book): Write[] {
  const { reconciliation, back = [] } = booking
  const moves = bookMovesOf(booking)
  const once = onceWrites(book, moves)
  const reconciled = reconciliation && [
    [['reconciledAt'], reconciliation.figureAt] as const,
    [['reconciledOn'], entry.at] as const,
  ]
  const wentBack = goneBack(back, `of ${entry.id}`, entry)
  return [
    addTo(
      bookKey(book.month),
      moves.flatMap(({ budget, window, move }) => additions(window, [budget], move)),
      [isOfRevision(book.revision), isOfDay(book.day), ...booking.when, ...once.when],
      [...(reconciled ?? []), ...once.set],
    ),
    ...entryWrites(entry),
    ...(wentBack ? entryWrites(wentBack) : []),
    ...keptEntries(entry, booking),
    ...givenBack(entry),
    ...(booking.also ?? []),
  ]
}

/** Keeps account's counter equal to the sum of its lines. */
function keptEntries({ id, corrects, month, day, by, at }: Entry, { kept }: Booking): Write[] {
  if (!kept || kept.units === 0) return []
  const { units } = kept
  const how = units > 0 ? 'did not give back' : 'counts again'
  return entryWrites({
    id: `ent_${digest('kept', id)}`,
    type: 'external-spend',
    budget: rootBudget,
    units,
    month,
    day,
    by,
    at,
    reason: `units that ${id} ${how}, because ${rootBudget} was reconciled after ${corrects}`,
    moves: [{ budget: rootBudget, window: 'month', move: { spent: units } }],
    kept: 0,
    keptFor: id,
  })
}

/** A reconciliation that gives units back may rest on a wrong figure, so it is announced. */
const givenBack = ({ id, type, units, by, reason, at }: Entry): Write[] =>
  type === 'reconcile' && units < 0
    ? [announce(`given-back#${id}`, at, { kind: 'given-back', units: 0 - units, by, reason })]
    : []
