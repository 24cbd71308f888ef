import { assertNever, grouped } from '../../platform/words.ts'
import { type Counter, type CounterMove, type Move, madeAvailable, moveOn } from '../definitions/counters.ts'
import { chainOf, type Definitions, rootBudget, type WindowKind } from '../definitions/definitions.ts'
import type { Condition, Write } from '../store/store.ts'
import { type Book, counterOf, type Freed, goesBack } from './book.ts'
import { hasAvailable, hasSpent, isReconciledAt } from './book-item.ts'
import { type Entry, isOfUpdate, isOnce } from './entry.ts'
import type { DoubtsOpen, ReconcileRequest, Reconciliation } from './figure.ts'

export type EntryRequest = {
  readonly id: string
  readonly content: string
  readonly budget: string
  readonly reason: string
  readonly by: string
} & (
  | {
      readonly type: 'grant'
      readonly units: number
      readonly window: WindowKind | 'next-month'
      readonly wholeChain: boolean
    }
  | { readonly type: 'transfer'; readonly units: number; readonly window: WindowKind; readonly to: string }
  | { readonly type: 'external-spend'; readonly units: number }
  | CorrectionMembers
  | ReconcileRequest
)

interface CorrectionMembers {
  readonly type: 'correction'
  /** The figure that the corrected entry should have had, or what the corrected update cost. */
  readonly units: number
  /** The id of an entry or an update. */
  readonly corrects: string
}

export type CorrectionRequest = Extract<EntryRequest, CorrectionMembers>

export interface Booking {
  /** For a reconciliation, the difference. */
  readonly units: number
  readonly moves: readonly CounterMove[]
  readonly when: readonly Condition[]
  readonly signs?: readonly CounterMove[]
  readonly giver?: Entry['giver']
  /** Of a correction after a reconciliation: the units that `account` keeps now and in all. */
  readonly kept?: { readonly units: number; readonly total: number }
  /** Present if other records of the same transaction move the book, too. */
  readonly bookMoves?: readonly Freed[]
  /** The one-time grants that go back, as part of `bookMoves`. */
  readonly back?: readonly CounterMove[]
  /** The day of what is corrected. Absent: the book's day. */
  readonly day?: string
  readonly also?: readonly Write[]
  readonly reconciliation?: Reconciliation
  /** What closing the doubts of a preview moves, one list for each. */
  readonly closes?: readonly (readonly CounterMove[])[]
}

export type EntryRefusal =
  | {
      readonly kind: 'short'
      readonly budget: string
      readonly window: WindowKind
      readonly available: number
      readonly needed: number
      readonly counters: readonly ShortCounter[]
    }
  | { readonly kind: 'not-possible'; readonly why: string }
  | DoubtsOpen

interface ShortCounter extends Counter {
  readonly budget: string
  readonly window: WindowKind
  readonly needed: number
}

export function bookingOf(
  request: Exclude<EntryRequest, { type: 'correction' | 'reconcile' }>,
  definitions: Definitions,
  book: Book,
): Booking | EntryRefusal {
  const chain = chainOf(definitions, request.budget).map(({ name }) => name)
  switch (request.type) {
    case 'grant': {
      const { units, window } = request
      const budgets = request.wholeChain ? chain : [request.budget]
      return unconditional(units, movesOf(budgets, [window === 'day' ? 'day' : 'month'], { granted: units }))
    }
    case 'external-spend':
      return unconditional(request.units, movesOf(chain, ['month', 'day'], { spent: request.units }))
    case 'transfer': {
      const { units, window, to } = request
      const target = chainOf(definitions, to).map(({ name }) => name)
      const giving = chain.filter((name) => !target.includes(name))
      const taking = target.filter((name) => !chain.includes(name))
      if (giving.length + taking.length === 0) return impossible(`${request.budget} and ${to} are the same budget.`)
      const moves = [
        ...movesOf(giving, [window], { granted: 0 - units }),
        ...movesOf(taking, [window], { granted: units }),
      ]
      // The giver keeps the units but must have them, because it also pays for what the receiver spends.
      const giver = giving.length > 0 ? undefined : { budget: request.budget, window }
      return bookingIfCovered(units, moves, book, giver && { ...giver, needed: units })
    }
    default:
      return assertNever(request)
  }
}

/** Takes back the one-time grants that these moves make needless. */
export function withBack(booking: Booking, book: Book): Booking {
  const { moves, bookMoves = moves } = booking
  const back = goesBack(book, bookMoves)
  if (back.length === 0) return booking
  return { ...booking, back, bookMoves: bookMoves.map((each) => ({ ...each, move: moveOn(each, each.move, back) })) }
}

/** Day counters move only while the book still counts that day. */
export function correctionBooking(
  request: CorrectionRequest,
  corrected: Entry,
  { book, isOpen }: { book: Book; isOpen: boolean },
  correctedBy: string | undefined,
): Booking | EntryRefusal {
  if (correctedBy !== undefined) return impossible(`${corrected.id} was corrected by ${correctedBy}; correct that one.`)
  if (isOfUpdate(corrected.corrects ?? '')) {
    return impossible(`${corrected.id} says what ${corrected.corrects} cost; correct ${corrected.corrects} again.`)
  }
  if (isOnce(corrected.moves)) {
    return impossible(
      `${corrected.id} is of one-time units, which go back by themselves when they are not needed any more.`,
    )
  }
  const isBooking = ['grant', 'transfer', 'external-spend', 'opening', 'correction'].includes(corrected.type)
  if (corrected.type === 'reconcile') return impossible(noReconcileReason(corrected, isOpen))
  if (!isBooking) return impossible(`An entry of the type ${corrected.type} is not corrected; make another change.`)
  const concerned = [corrected.budget, ...corrected.moves.map(({ budget }) => budget)]
  if (!concerned.includes(request.budget)) {
    return impossible(`${corrected.id} did not move ${request.budget}.`)
  }
  const difference = request.units - corrected.units
  const moves = corrected.signs ?? corrected.moves.map((each) => perUnit(each, corrected.units))
  const open = moves.filter(({ window }) => window === 'month' || corrected.day === book.day)
  const isGiven = corrected.giver && open.length > 0
  const giver = isGiven ? { ...corrected.giver, needed: difference } : undefined
  const scaled = open.map((each) => scale(each, difference)).filter(isMove)
  const keeping = keptOf(scaled, corrected.kept ?? ((book.reconciledAt ?? 0) >= corrected.at ? 0 : undefined))
  const booking = bookingIfCovered(request.units, keeping?.bookMoves ?? scaled, book, giver)
  if ('kind' in booking) return booking
  return { ...booking, moves: scaled, signs: open, ...keeping, when: [...booking.when, ...isReconciledAt(book)] }
}

/**
 * A reconciliation has already given these units back, because the vendor's figure includes what is corrected. A later
 * correction upwards first uses the units that its predecessors kept.
 * @param before the units kept so far. Absent: no reconciliation had what is corrected.
 * @param followsFigure the figure has all that an update cost, so `account` keeps to it in both directions.
 */
export function keptOf(
  moves: readonly CounterMove[],
  before: number | undefined,
  followsFigure = false,
): Required<Pick<Booking, 'kept' | 'bookMoves'>> | undefined {
  if (before === undefined) return undefined
  const back = moves.filter(isOfAccount).reduce((units, { move }) => units + madeAvailable(move), 0)
  const units = followsFigure ? back : Math.max(back, 0 - before)
  const bookMoves = moves.map((each) => withoutUnits(each, units)).filter(isMove)
  return { kept: { units, total: before + units }, bookMoves }
}

const isOfAccount = ({ budget, window }: CounterMove): boolean => budget === rootBudget && window === 'month'

const withoutUnits = (each: CounterMove, units: number): CounterMove =>
  isOfAccount(each) ? { ...each, move: { ...each.move, spent: (each.move.spent ?? 0) + units } } : each

const noReconcileReason = ({ id, month, units }: Entry, isOpen: boolean): string =>
  isOpen
    ? `${id} is a reconciliation, which is not corrected: reconcile again with the figure that the vendor shows now, and the difference to this one is booked.`
    : `${id} is a reconciliation of ${month}, which is over: nothing can be spent in it any more, and its statement keeps ${grouped(units)} units as spent outside, on ${rootBudget}. Reconcile again for the open month.`

/** How one unit of an entry moved a counter. An entry of the guard itself may have fewer than 0 units. */
function perUnit({ budget, window, move: { granted, spent } }: CounterMove, units: number): CounterMove {
  const sign = units < 0 ? -1 : 1
  return {
    budget,
    window,
    move: {
      ...(granted !== undefined && { granted: Math.sign(granted) * sign }),
      ...(spent !== undefined && { spent: Math.sign(spent) * sign }),
    },
  }
}

const scale = ({ budget, window, move }: CounterMove, by: number): CounterMove => ({
  budget,
  window,
  move: {
    ...(move.granted !== undefined && { granted: move.granted * by }),
    ...(move.spent !== undefined && { spent: move.spent * by }),
  },
})

const isMove = ({ move }: CounterMove): boolean => Object.values(move).some((units) => units !== 0)

export const movesOf = (
  budgets: readonly string[],
  windows: readonly WindowKind[],
  move: Move,
): readonly CounterMove[] => windows.flatMap((window) => budgets.map((budget) => ({ budget, window, move })))

type GiverNeed = NonNullable<Entry['giver']> & { readonly needed: number }

const unconditional = (units: number, moves: readonly CounterMove[]): Booking => ({ units, moves, when: [] })

/** Only units that are available or spent can be taken away. */
function bookingIfCovered(
  units: number,
  moves: readonly CounterMove[],
  book: Book,
  giver?: GiverNeed,
): Booking | EntryRefusal {
  const wanted = moves.map(({ move, ...counter }) => ({ ...counter, needed: 0 - (move.granted ?? 0) }))
  const taken = [...wanted, ...(giver ? [giver] : [])].flatMap(({ budget, window, needed }) => {
    const counter = counterOf(book, window, budget)
    return needed > 0 && counter && counter.limit !== 'unlimited' ? [{ ...counter, budget, window, needed }] : []
  })
  const counters = taken.filter(({ needed, available }) => available < needed)
  const [short] = counters
  if (short) {
    const { budget, window, available, needed } = short
    return { kind: 'short', budget, window, available, needed, counters }
  }
  const unspent = moves.flatMap(({ budget, window, move }) => {
    const back = 0 - (move.spent ?? 0)
    return back > 0 ? [{ budget, window, back, spent: counterOf(book, window, budget)?.spent ?? 0 }] : []
  })
  const more = unspent.find(({ back, spent }) => spent < back)
  if (more) return tooFewSpent(more)
  return {
    units,
    moves,
    ...(giver && { giver: { budget: giver.budget, window: giver.window } }),
    when: [
      ...taken.map(({ window, budget, needed }) => hasAvailable(window, budget, needed)),
      ...unspent.map(({ window, budget, back }) => hasSpent(window, budget, back)),
    ],
  }
}

export const tooFewSpent = (counter: { budget: string; spent: number; back: number }) =>
  impossible(
    `${counter.budget} has spent only ${grouped(counter.spent)} units, so ${grouped(counter.back)} cannot be taken back.`,
  )

export const impossible = (why: string): Extract<EntryRefusal, { kind: 'not-possible' }> => ({
  kind: 'not-possible',
  why,
})
