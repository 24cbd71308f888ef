import type { CounterMove, Move } from '../definitions/counters.ts'
import { nameWhenRequested } from '../definitions/definitions.ts'
import { shownFrom } from '../updates/shown.ts'
import { isFinal, type Update } from '../updates/update.ts'
import type { Book } from './book.ts'
import { type EntryRefusal, impossible } from './entry-request.ts'
import type { DoubtAnswer, OldDoubt, ReconcileRequest, Reconciliation, Unshown } from './figure.ts'
import { fewOf, wall } from './figure-words.ts'
import { countersOf } from './outcome.ts'
import type { View } from './view.ts'

const isOpen = ({ state }: Update): boolean => state === 'running' || state === 'in-doubt'

/** A later answer may still say what it cost. */
const isUncertain = (update: Update): boolean => isOpen(update) || !isFinal(update)

interface Doubts {
  readonly doubts: readonly OldDoubt[]
  /** What closing them moves, one list for each. */
  readonly closes: readonly (readonly CounterMove[])[]
}

/** The doubts that the figure has, and whether they ran. Only a preview may find open doubts. */
export function doubtsIn(
  { doubts: answers = {}, shown }: ReconcileRequest,
  { asOf, figureAt }: Pick<Reconciliation, 'asOf' | 'figureAt'>,
  { updates, book }: { updates: readonly Update[]; book: Book },
  flightMs: number,
): Doubts | EntryRefusal {
  const old = updates
    .filter((update) => isOpen(update) && shownFrom(update, flightMs) <= figureAt)
    .toSorted((one, other) => one.createdAt - other.createdAt)
  const running = old.find(({ state }) => state === 'running')
  if (running) {
    return impossible(
      `The sender of ${running.id} is gone, and the sweep has not put the update in doubt yet. It does so within minutes: then reconcile.`,
    )
  }
  const doubts = old.map((update): OldDoubt => {
    const { id, hold } = update
    const outcome = answers === 'ran' ? answers : answerFor(answers, id)
    return { id, project: nameWhenRequested(update), units: hold?.units ?? 0, ...(outcome && { outcome }) }
  })
  const named = answers === 'ran' ? [] : Object.keys(answers)
  const wrong = named.find((id) => !isAnswerable(id, updates, old))
  if (wrong !== undefined) {
    return impossible(`${wrong} is not in doubt in this month, or it is too new for this figure. Leave it out.`)
  }
  const isUnsaid = shown !== 'preview' || asOf !== null || doubts.some(({ outcome }) => !outcome)
  if (doubts.length > 0 && isUnsaid) return { kind: 'doubts-open', doubts, isEarlier: asOf !== null }
  return { doubts, closes: old.map((update, index) => closingMoves(update, doubts[index]?.outcome, book)) }
}

const answerFor = (answers: Readonly<Record<string, DoubtAnswer>>, id: string): DoubtAnswer | undefined =>
  Object.hasOwn(answers, id) ? answers[id] : undefined

/** A repeated request may name doubts that its first try closed. */
const isAnswerable = (id: string, updates: readonly Update[], old: readonly Update[]): boolean =>
  old.some((update) => update.id === id) || updates.some((update) => update.id === id && !isOpen(update))

function closingMoves({ hold }: Update, outcome: DoubtAnswer | undefined, book: Book): readonly CounterMove[] {
  if (!hold) return []
  const { units } = hold
  const move: Move = outcome === 'ran' ? { inDoubt: 0 - units, spent: units } : { inDoubt: 0 - units }
  return countersOf(hold, book).map((counter) => ({ ...counter, move }))
}

/** Running updates and doubts that the figure may lack, also if a person closed them early. */
export function youngAt(figureAt: number, updates: readonly Update[], flightMs: number): Unshown {
  const young = updates.filter((update) => isUncertain(update) && shownFrom(update, flightMs) > figureAt)
  const until = young.length === 0 ? null : Math.max(...young.map((update) => shownFrom(update, flightMs)))
  return { ids: young.map(({ id }) => id), until }
}

/** A later reconciliation could not correct the last figure of a month, so that figure has every update, known or lost. */
export function whyNotClosing(
  figureAt: number,
  now: View,
  updates: readonly Update[],
  flightMs: number,
): string | null {
  const { restored } = now.definitions.identity ?? {}
  if (restored && figureAt < restored.at + flightMs)
    return notClosing('updates that were running at the restore', now, restored.at + flightMs)
  const missing = updates.filter(
    (update) => (isUncertain(update) || (update.charged ?? 0) > 0) && shownFrom(update, flightMs) > figureAt,
  )
  if (missing.length === 0) return null
  const ids = missing.map(({ id }) => id)
  const until = Math.max(...missing.map((update) => shownFrom(update, flightMs)))
  return notClosing(fewOf(ids), now, until)
}

const notClosing = (missing: string, now: View, until: number): string =>
  `The figure may lack ${missing}, so it cannot close the month. Reconcile after ${wall(now, until)}, with the figure of then.`
