import { dayMs } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { assertNever, grouped, toUnits, type Units } from '../../platform/words.ts'
import { type CounterMove, type CounterName, type Move, madeAvailable, moveOn } from '../definitions/counters.ts'
import { rootBudget, type WindowKind, windowKinds } from '../definitions/definitions.ts'
import { isInFigure } from '../updates/shown.ts'
import {
  type Grant,
  type Hold,
  isFinal,
  next,
  type OutcomeSource,
  type Problem,
  type ServiceAnswer,
  type Update,
} from '../updates/update.ts'
import { type Book, counterOf, type Freed, goesBack } from './book.ts'
import { type Entry, goneBack } from './entry.ts'

export type RunOutcome =
  | {
      readonly kind: 'ran'
      readonly units: Units
      readonly from: OutcomeSource
      readonly by: string
      readonly note: string
      readonly service?: ServiceAnswer
    }
  | {
      readonly kind: 'did-not-run'
      readonly from: 'sender' | 'person'
      readonly by: string
      readonly note: string
      readonly problem?: Problem
      readonly service?: ServiceAnswer
    }
  | {
      readonly kind: 'unknown'
      readonly from: 'sender' | 'sweep'
      /** What in the answer speaks of a failure. */
      readonly sign?: string
      readonly by: string
      readonly note: string
      readonly problem?: Problem
      readonly service?: ServiceAnswer
    }

export interface Settlement {
  readonly update: Update
  readonly move: Move
}

/** Ends an open update. Corrects, at most once, an update that ended without the sender. `null`: no change. */
export function settlementOf(update: Update, outcome: RunOutcome, at: number): Settlement | null {
  const { hold } = update
  if (!hold) return null
  if (outcome.from === 'person' && update.state !== 'in-doubt') return null
  switch (update.state) {
    case 'running':
    case 'in-doubt':
      return settleOpen(update, hold, outcome, at)
    case 'settled':
    case 'released':
      return settleLate(update, outcome, at)
    default:
      return null
  }
}

function settleOpen(update: Update, hold: Hold, outcome: RunOutcome, at: number): Settlement | null {
  // `0 -` avoids −0, which a database does not return.
  const back: Move = update.state === 'running' ? { held: 0 - hold.units } : { inDoubt: 0 - hold.units }
  const line = { by: outcome.by, note: outcome.note, at }
  const answer = outcome.service === undefined ? {} : { service: outcome.service }
  switch (outcome.kind) {
    case 'unknown': {
      if (update.state === 'in-doubt') return null
      const move = { ...back, inDoubt: hold.units }
      const { from: by, sign } = outcome
      const doubt = sign === undefined ? { by, at } : { by, at, sign }
      const problem = outcome.problem && { problem: outcome.problem }
      return { update: next(update, 'in-doubt', { ...answer, ...problem, doubt }, { ...line, move }), move }
    }
    case 'ran': {
      const overrun = outcome.units - hold.units
      const move = { ...back, spent: outcome.units }
      const { problem: _solved, ...rest } = update
      const settled = {
        ...answer,
        charged: outcome.units,
        ran: true,
        ...(overrun > 0 && { overrun: overrun as Units }),
        closedBy: outcome.from,
        finishedAt: at,
      }
      return { update: next(rest, 'settled', settled, { ...line, move }), move }
    }
    case 'did-not-run': {
      const problem = outcome.problem && { problem: outcome.problem }
      const released = { ...answer, ...problem, charged: 0 as Units, closedBy: outcome.from, finishedAt: at }
      return { update: next(update, 'released', released, { ...line, move: back }), move: back }
    }
    default:
      return assertNever(outcome)
  }
}

function settleLate(update: Update, outcome: RunOutcome, at: number): Settlement | null {
  if (outcome.kind === 'unknown' || outcome.from === 'time') return null
  if (isFinal(update) || update.chargeCorrected) return null
  const actual = outcome.kind === 'ran' ? outcome.units : (0 as Units)
  const spent = actual - (update.charged ?? 0)
  if (outcome.from === 'evidence' && (update.state !== 'released' || spent <= 0)) return null
  const move = spent === 0 ? {} : { spent }
  const { overrun: _before, ...rest } = update
  const over = actual - (update.hold?.units ?? 0)
  const changes = {
    charged: actual,
    ...(over > 0 && { overrun: over as Units }),
    corrected: true as const,
    ran: outcome.kind === 'ran',
    ...(outcome.service && { service: outcome.service }),
  }
  return { update: next(rest, update.state, changes, { by: outcome.by, note: outcome.note, at, move }), move }
}

/** After this time, evidence no longer contradicts a person's "did not run", and a doubt is settled at the units of its hold. */
export const doubtLastsMs = 7 * dayMs

/** Includes day counters only while the book counts the hold's day. */
export function countersOf(hold: Hold, book: Book | null): readonly CounterName[] {
  const windows: readonly WindowKind[] = !book || book.day === hold.day ? windowKinds : ['month']
  return windows.flatMap((window) => hold.budgets.map((budget) => ({ budget, window })))
}

/** The update's own line moves all its counters alike. These entries add the differences between counters. */
export function entriesWith(settlement: Settlement, hold: Hold, book: Book | null, flightMs: number): readonly Entry[] {
  const kept = keptEntries(settlement, hold, book, flightMs)
  const back = entryOfBack(settlement, hold, book, kept)
  return back ? [...kept, back] : kept
}

/** Whether the update was closed before, so that this outcome corrects it. */
export const isCorrection = ({ held, inDoubt }: Move): boolean => held === undefined && inDoubt === undefined

/**
 * A reconciliation or correction may have given the units back before, so a counter that has spent fewer keeps its figure.
 * If the vendor's figure has the update, `account` keeps to it in both directions.
 */
function keptEntries({ update, move }: Settlement, hold: Hold, book: Book | null, flightMs: number): Entry[] {
  const units = 0 - (move.spent ?? 0)
  if (!book || units === 0 || !isCorrection(move)) return []
  const followsFigure = isInFigure(update, book, flightMs)
  const counters = countersOf(hold, book).filter(
    ({ budget, window }) =>
      (followsFigure && budget === rootBudget && window === 'month') ||
      (counterOf(book, window, budget)?.spent ?? 0) < units,
  )
  const [first] = counters
  if (!first) return []
  const entry = {
    id: `ent_${digest('kept', hold.attempt)}`,
    type: 'external-spend',
    budget: first.budget,
    units,
    reason: keptReason(update.id, units, followsFigure),
    moves: counters.map((counter) => ({ ...counter, move: { spent: units } })),
    ...(followsFigure && { kept: 0 }),
  } as const
  return [{ ...entry, ...bookedWith(update, hold) }]
}

function keptReason(id: string, units: number, followsFigure: boolean): string {
  if (!followsFigure) return `units that ${id} did not give back, because they had been given back before`
  return units > 0
    ? `units that ${id} did not give back, because ${rootBudget} was reconciled after it ended`
    : `units that ${id} cost more, taken from those spent outside, because the vendor's figure had them`
}

/** The one-time grants that this outcome makes needless. */
function entryOfBack(
  { update, move }: Settlement,
  hold: Hold,
  book: Book | null,
  kept: readonly Entry[],
): Entry | null {
  if (!book) return null
  const moves = countersOf(hold, book).map((counter) => ({
    ...counter,
    move: moveOn(
      counter,
      move,
      kept.flatMap((entry) => entry.moves),
    ),
    unused: unusedOf(update, hold, counter),
  }))
  const back = [...goesBack(book, moves), ...(hold.isOnce ? [] : grantedBefore(update, hold, book, moves))]
  const of = `${update.id} has cost ${update.charged ? grouped(update.charged) : 'nothing'}`
  return goneBack(back, of, { id: `${hold.attempt} ${update.version}`, ...bookedWith(update, hold) })
}

/** Of a closed update, no more of its one-time grant stays than it was charged. */
export function unusedOf({ charged }: Pick<Update, 'charged'>, hold: Hold, counter: CounterName): number {
  return charged === undefined ? 0 : Math.max(0, unitsOn(hold.grants, counter) - charged)
}

/** An older version granted these units without counting them as one-time grants. */
function grantedBefore({ takenBack, charged }: Update, { grants = [] }: Hold, book: Book, moves: readonly Freed[]) {
  if (charged === undefined) return []
  return grants.flatMap(({ budget, window, units }): CounterMove[] => {
    const moved = moves.find((each) => each.budget === budget && each.window === window)
    const counter = counterOf(book, window, budget)
    if (!moved || !counter) return []
    const available = counter.available + madeAvailable(moved.move)
    const back = Math.min(units - unitsOn(takenBack, moved), Math.max(0, available, moved.unused ?? 0))
    return back > 0 ? [{ budget, window, move: { granted: 0 - back } }] : []
  })
}

/** Remembers what went back of grants that an older version made. */
export function takenBackBy(entries: readonly Entry[], { isOnce }: Hold): Pick<Update, 'takenBack'> {
  if (isOnce) return {}
  const takenBack = entries.flatMap(({ moves }) =>
    moves.flatMap(({ budget, window, move: { granted = 0, once } }) =>
      granted < 0 && once === undefined ? [{ budget, window, units: toUnits(0 - granted) }] : [],
    ),
  )
  return takenBack.length > 0 ? { takenBack } : {}
}

const unitsOn = (grants: readonly Grant[] | undefined, { budget, window }: CounterName): number =>
  grants?.find((each) => each.budget === budget && each.window === window)?.units ?? 0

function bookedWith({ month, history }: Update, { day, at }: Hold): Pick<Entry, 'month' | 'day' | 'by' | 'at'> {
  const line = history.at(-1)
  return { month, day, by: line?.by ?? 'guard', at: line?.at ?? at }
}
