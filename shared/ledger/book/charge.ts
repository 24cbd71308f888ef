import { grouped, toUnits } from '../../platform/words.ts'
import { type CounterMove, moveOn } from '../definitions/counters.ts'
import type { Store } from '../store/store.ts'
import { payerOf, whyNotCorrected } from '../updates/correctable.ts'
import { isInFigure } from '../updates/shown.ts'
import { spoilSummary } from '../updates/summary-days.ts'
import { type Hold, isKnownToHaveRun, next, type Update } from '../updates/update.ts'
import { type Book, counterOf } from './book.ts'
import { isReconciledAt } from './book-item.ts'
import { type Booking, type CorrectionRequest, impossible, keptOf, tooFewSpent } from './entry-request.ts'
import { recordWrites } from './hold.ts'
import { countersOf, unusedOf } from './outcome.ts'
import { isThere } from './settle.ts'
import { readUpdates, type View, type Views } from './view.ts'

// An administrator says what a settled update really cost. The update's own line moves the counters, as every charge does; the entry
// names the counters, and moves none.

export type ChargeRefusal =
  | ReturnType<typeof impossible>
  | { readonly kind: 'unknown-update'; readonly update: string }
  | { readonly kind: 'other-payer'; readonly update: string; readonly budget: string }

interface Parts {
  readonly store: Store
  readonly bookNamed: Views['bookNamed']
  readonly flightMs: number
}

export async function chargeBooking(
  { store, bookNamed, flightMs }: Parts,
  request: CorrectionRequest,
  now: View,
): Promise<{ readonly booking: Booking; readonly book: Book } | ChargeRefusal> {
  const id = request.corrects
  const [update] = await readUpdates(store, [id])
  if (!update) return { kind: 'unknown-update', update: id }
  const budget = payerOf(update, now)
  if (request.budget !== budget) return { kind: 'other-payer', update: id, budget }
  const why = whyNotCorrected(update, now)
  if (why !== null) return impossible(why)
  const { hold, charged } = update
  const book = await bookNamed(update.month)
  if (!hold || !book) return impossible(`${id} held no units, so its charge cannot be corrected.`)
  if (charged === request.units) return impossible(`${id} was charged ${grouped(charged)} units already.`)
  const booking = bookingOf(update, { hold, request, book, flightMs }, now)
  return 'kind' in booking ? booking : { booking, book }
}

interface ChargeBasis {
  readonly hold: Hold
  readonly request: CorrectionRequest
  readonly book: Book
  readonly flightMs: number
}

function bookingOf(
  update: Update,
  basis: ChargeBasis,
  { now, definitions }: View,
): Booking | ReturnType<typeof impossible> {
  const { hold, request, book, flightMs } = basis
  const { units, by, reason } = request
  const from = update.charged ?? toUnits(0)
  const counters = countersOf(hold, book).filter(({ window, budget }) => counterOf(book, window, budget))
  const line = { spent: units - from }
  const moves = counters.map((counter) => ({ ...counter, move: line }))
  const followsFigure = isInFigure(update, book, flightMs)
  const keeping = keptOf(moves, update.chargeCorrected?.kept ?? (followsFigure ? 0 : undefined), followsFigure)
  const spentMoves = keeping?.bookMoves ?? moves
  const bookMoves = counters.map((each) => ({
    ...each,
    move: moveOn(each, {}, spentMoves),
    unused: unusedOf({ charged: toUnits(units) }, hold, each),
  }))
  const short = shortOf(bookMoves, book)
  if (short) return tooFewSpent(short)
  const mark = { at: now, by, from, ...(keeping && { kept: keeping.kept.total }) }
  const note = `charge corrected from ${grouped(from)} to ${grouped(units)}: ${reason}`
  const corrected = next(
    chargedWith(update, hold, units),
    update.state,
    { chargeCorrected: mark },
    { by, note, at: now, move: line },
  )
  return {
    units,
    moves: counters.map((counter) => ({ ...counter, move: {} })),
    ...keeping,
    bookMoves,
    when: [...bookMoves.flatMap((each) => isThere(each, book)), ...isReconciledAt(book)],
    day: hold.day,
    also: [...recordWrites(corrected, update), spoilSummary(definitions.calendar, corrected)],
  }
}

/** What the update cost does not say whether it ran. */
function chargedWith({ overrun: _before, ...update }: Update, hold: Hold, units: number): Update {
  const charged: Update = { ...update, charged: toUnits(units), ran: isKnownToHaveRun(update) }
  // Units that come back for data that did not come close the delivery.
  if (update.delivery?.state === 'late' && units < (update.charged ?? 0))
    return { ...charged, delivery: { state: 'given-back' } }
  return units > hold.units ? { ...charged, overrun: toUnits(units - hold.units) } : charged
}

function shortOf(moves: readonly CounterMove[], book: Book) {
  for (const { budget, window, move } of moves) {
    const back = 0 - (move.spent ?? 0)
    const spent = counterOf(book, window, budget)?.spent ?? 0
    if (back > 0 && spent < back) return { budget, spent, back }
  }
  return null
}
