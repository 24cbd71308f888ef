import { dayMs } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { assertNever, toUnits, type Units } from '../../platform/words.ts'
import type { Grant, Hold, Update } from '../updates/update.ts'
import { isFinal, next, type OutcomeSource, type Problem, type ServiceAnswer } from '../updates/update.ts'
import { type Book, counterOf, type Move, madeAvailable } from './book.ts'
import { rootBudget, type WindowKind, windowKinds } from './definitions.ts'
import { type Entry, grantEntryId } from './entry.ts'

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

export interface Obstacles {
  readonly book: Book | null
  /** Entries that a person corrected; these corrections stay. */
  readonly corrected: readonly string[]
}

type CounterName = Pick<Grant, 'budget' | 'window'>

/** Includes day counters only while the book counts the hold's day. */
export function countersOf(hold: Hold, book: Book | null): readonly CounterName[] {
  const windows: readonly WindowKind[] = !book || book.day === hold.day ? windowKinds : ['month']
  return windows.flatMap((window) => hold.budgets.map((budget) => ({ budget, window })))
}

/** The update's own line moves all its counters alike. These entries add the differences between counters. */
export function entriesWith(settlement: Settlement, hold: Hold, obstacles: Obstacles): readonly Entry[] {
  const kept = keptEntries(settlement, hold, obstacles)
  return [...kept, ...grantsTakenBack(settlement, hold, obstacles, kept), ...grantsAgain(settlement, hold, obstacles)]
}

export const moveOn = (counter: CounterName, line: Move, entries: readonly Pick<Entry, 'moves'>[]): Move =>
  entries
    .flatMap(({ moves }) => moves)
    .filter((each) => each.budget === counter.budget && each.window === counter.window)
    .reduce((sum, { move }) => plus(sum, move), line)

/**
 * A reconciliation or correction may have given the units back before. A counter that has spent fewer keeps its figure,
 * and so does account, if it was reconciled after the update ended.
 */
function keptEntries({ update, move }: Settlement, hold: Hold, { book }: Obstacles): Entry[] {
  const units = 0 - (move.spent ?? 0)
  if (!book || units <= 0) return []
  const isReconciled = (book.reconciledAt ?? 0) >= (update.finishedAt ?? Number.POSITIVE_INFINITY)
  const counters = countersOf(hold, book).filter(
    ({ budget, window }) =>
      (isReconciled && budget === rootBudget && window === 'month') ||
      (counterOf(book, window, budget)?.spent ?? 0) < units,
  )
  const [first] = counters
  if (!first) return []
  const entry = {
    id: `ent_${digest('kept', hold.attempt)}`,
    type: 'external-spend',
    budget: first.budget,
    units,
    reason: `units that ${update.id} did not give back, because ${isReconciled ? `${rootBudget} was reconciled after it ended` : 'they had been given back before'}`,
    moves: counters.map((counter) => ({ ...counter, move: { spent: units } })),
    ...(isReconciled && { kept: 0 }),
  } as const
  return [{ ...entry, ...bookedWith(update, hold) }]
}

/** Takes back what the update did not need of its grants. If it cost nothing, that includes what they should `leave`. */
function grantsTakenBack(
  settlement: Settlement,
  hold: Hold,
  { book, corrected }: Obstacles,
  kept: readonly Entry[],
): Entry[] {
  const { update, move } = settlement
  if (update.charged === undefined) return []
  const counters = countersOf(hold, book)
  return (hold.grants ?? []).flatMap((grant) => {
    const { budget, window } = grant
    const before = unitsOn(update.takenBack, grant)
    const corrects = before > 0 ? takenBackId(hold, grant) : grantEntryId(hold, grant)
    const isOpen = counters.some((each) => each.budget === budget && each.window === window)
    if (!isOpen || corrected.includes(corrects)) return []
    const freed = madeAvailable(moveOn(grant, move, kept))
    const available = book ? Math.max(0, counterOf(book, window, budget)?.available ?? 0) : grant.units
    const left = grant.units - before
    const units = Math.min(left, freed + (update.charged === 0 ? available : 0))
    if (units <= 0) return []
    const id = before > 0 ? lateId(hold, grant) : takenBackId(hold, grant)
    return [correctionOf(update, hold, { grant, id, corrects, units: left - units, by: 0 - units })]
  })
}

/** Grants again what was taken back, because the update cost more than a person had said. */
function grantsAgain({ update, move: { spent = 0 } }: Settlement, hold: Hold, { book, corrected }: Obstacles): Entry[] {
  if (spent <= 0) return []
  const counters = countersOf(hold, book)
  return (update.takenBack ?? []).flatMap((grant) => {
    const { budget, window, units: taken } = grant
    const by = update.charged === spent ? taken : Math.min(taken, spent)
    const corrects = takenBackId(hold, grant)
    const isOpen = counters.some((each) => each.budget === budget && each.window === window)
    if (!isOpen || corrected.includes(corrects)) return []
    const units = (unitsOn(hold.grants, grant) || taken) - taken + by
    return [correctionOf(update, hold, { grant, id: lateId(hold, grant), corrects, units, by })]
  })
}

export function takenBackBy(entries: readonly Entry[]): Pick<Update, 'takenBack'> {
  const takenBack = entries.flatMap(({ moves }) =>
    moves.flatMap(({ budget, window, move: { granted = 0 } }) =>
      granted < 0 ? [{ budget, window, units: toUnits(0 - granted) }] : [],
    ),
  )
  return takenBack.length > 0 ? { takenBack } : {}
}

const unitsOn = (grants: readonly Grant[] | undefined, { budget, window }: CounterName): number =>
  grants?.find((each) => each.budget === budget && each.window === window)?.units ?? 0

const lateId = ({ attempt }: Hold, { budget, window }: CounterName): string =>
  `ent_${digest('granted-again', attempt, window, budget)}`

const takenBackId = ({ attempt }: Hold, { budget, window }: CounterName): string =>
  `ent_${digest('taken-back', attempt, window, budget)}`

function correctionOf(
  update: Update,
  hold: Hold,
  {
    grant: { budget, window },
    by,
    ...fields
  }: { grant: CounterName; by: number; id: string; corrects: string; units: number },
): Entry {
  return {
    ...fields,
    type: 'correction',
    budget,
    reason: `granted for ${update.id}, which ${by > 0 ? 'ran after all' : `has cost ${update.charged || 'nothing'}`}`,
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
