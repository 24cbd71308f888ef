import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts'
import { grouped } from '../../platform/words.ts'
import { asNumber, type Counter, type Move } from '../definitions/counters.ts'
import { rootBudget } from '../definitions/definitions.ts'
import { shownFrom } from '../updates/shown.ts'
import type { Update } from '../updates/update.ts'
import { type Book, bookAfter, counterOf } from './book.ts'
import { isSpent } from './book-item.ts'
import type { Entry } from './entry.ts'
import { type Booking, type EntryRefusal, impossible, movesOf } from './entry-request.ts'
import type { ReconcileRequest, Reconciliation } from './figure.ts'
import { doubtsIn, whyNotClosing, youngAt } from './figure-doubts.ts'
import { fewOf, wall } from './figure-words.ts'
import type { View } from './view.ts'

/** The lines of the open month, and the open updates of the previous month. */
export interface MonthLines {
  readonly updates: readonly Update[]
  readonly entries: readonly Entry[]
  readonly previous: Book | null
  readonly open: readonly Update[]
}

interface AccountMove {
  readonly of: string
  readonly type: Entry['type'] | 'update'
  readonly at: number
  readonly spent: number
  readonly allowed: number
}

const maxAgeMs = 2 * dayMs
/** A figure of now is out of date after this time. */
export const nowLastsMs = minuteMs

/** Words of a reason that name another time than now. */
const namesTime =
  /\b\d{1,2}[:.]\d{2}\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:yesterday|as at|ago|earlier|morning|noon|afternoon|evening|midnight|last night)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i
const timeInReason =
  'The reason names a time, and only a figure of now gives units back. If the screen shows the figure now, leave the time out of the reason. Otherwise say when the vendor showed it.'

/** All moves of the account's counter for the month. */
export function spentMoves({ updates, entries }: Pick<MonthLines, 'updates' | 'entries'>): readonly AccountMove[] {
  const line = (of: string, type: AccountMove['type'], at: number, { spent = 0, limit = 0, granted = 0 }: Move) => ({
    of,
    type,
    at,
    spent,
    allowed: Math.max(Math.abs(limit), Math.abs(granted)),
  })
  return [
    ...updates
      .filter(({ hold }) => hold?.budgets.includes(rootBudget))
      .flatMap(({ id, history }) => history.flatMap(({ at, move }) => (move ? [line(id, 'update', at, move)] : []))),
    ...entries.flatMap(({ id, type, at, moves }) =>
      moves
        .filter(({ budget, window }) => budget === rootBudget && window === 'month')
        .map(({ move }) => line(id, type, at, move)),
    ),
  ]
}

/**
 * Updates that are too new for the figure are assumed not to be in it. If that is wrong, too little is available until the
 * next reconciliation, never too much. Old doubts are in it, so the request says whether they ran.
 */
export function reconciliationOf(
  request: ReconcileRequest,
  now: View,
  lines: MonthLines,
  flightMs: number,
): Booking | EntryRefusal {
  const counter = counterOf(now.book, 'month', rootBudget)
  if (!counter || counter.limit === 'unlimited') {
    return impossible(`${rootBudget} has no limit this month, so there is no figure to compare with.`)
  }
  const { enteredAt = now.now } = request
  const asOf = request.asOf === undefined || request.asOf === now.now ? null : request.asOf
  const readAt = asOf ?? (enteredAt < now.month.start ? enteredAt : null)
  const unusable = readAt === null ? null : whyUnusable(readAt, now, lines)
  if (unusable) return impossible(unusable)
  const figureAt = asOf ?? Math.min(enteredAt, now.now)
  const of = { asOf, figureAt }
  const { updates } = lines
  const found = doubtsIn(request, of, { updates, book: now.book }, flightMs)
  if ('kind' in found) return found
  const notClosing = request.closing ? whyNotClosing(figureAt, now, updates, flightMs) : null
  if (notClosing) return impossible(notClosing)
  const book = found.closes.reduce(bookAfter, now.book)
  const closed = counterOf(book, 'month', rootBudget) ?? counter
  const parts = {
    ...of,
    ...partsOf(request.unitsLeft, closed, spentSince(of, lines, flightMs)),
    open: openAt(figureAt, lines),
    doubts: found.doubts,
    young: youngAt(figureAt, updates, flightMs),
    before: monthBefore(lines),
  }
  const refused = whyNotPossible(request, now, lines, { parts, counter: closed })
  if (refused !== null) return impossible(refused)
  const { difference } = parts
  const moves = difference === 0 ? [] : movesOf([rootBudget], ['month'], { spent: difference })
  // Two concurrent reconciliations would book the same difference twice.
  return {
    units: difference,
    moves,
    when: [isSpent('month', rootBudget, counter.spent)],
    reconciliation: parts,
    ...(found.closes.length > 0 && { closes: found.closes }),
  }
}

function partsOf(unitsLeft: number, { available, held, inDoubt }: Counter, since: number) {
  const expected = available + held + inDoubt + since
  const difference = expected - unitsLeft
  return { unitsLeft, available, since, held, inDoubt, expected, difference, after: available - difference }
}

function whyNotPossible(
  request: ReconcileRequest,
  now: View,
  lines: MonthLines,
  { parts, counter }: { readonly parts: Reconciliation; readonly counter: Counter },
): string | null {
  const { unitsLeft, shown } = request
  const { asOf, difference } = parts
  const { spent, limit, granted } = counter
  const oldAt = asOf ?? enteredBefore(request, now)
  if (oldAt !== null && difference < 0) {
    return `As of ${wall(now, oldAt)} the vendor had ${grouped(0 - difference)} more left than the book, and only a figure of now gives units back: look again.`
  }
  if (difference < 0 && namesTime.test(request.reason)) return timeInReason
  if (spent + difference < 0) {
    return `The vendor has ${grouped(unitsLeft)} units left, and ${rootBudget} allows only ${grouped(asNumber(limit) + granted)} this month; if the vendor gave the difference, grant it to ${rootBudget}, else raise its limit first.`
  }
  const repeated = difference < 0 && request.reason === '' ? earlierIn(lines, now.now) : undefined
  if (repeated) {
    return `Units would come back within an hour of another reconciliation (${repeated.id}, ${wall(now, repeated.at)}): add a reason.`
  }
  return shown === 'preview' ? null : whyNotBooked(request, parts)
}

/** Units may have been spent outside the guard since the person read the screen. */
const enteredBefore = ({ enteredAt = Number.POSITIVE_INFINITY }: ReconcileRequest, { now }: View): number | null =>
  now - enteredAt > nowLastsMs ? enteredAt : null

function monthBefore({ previous, open }: MonthLines): Reconciliation['before'] {
  const { held = 0, inDoubt = 0 } = (previous && counterOf(previous, 'month', rootBudget)) ?? {}
  return { held, inDoubt, ids: open.map(({ id }) => id) }
}

/** Units of updates that the figure may lack, and entries after a figure of an earlier time. */
function spentSince(
  { asOf, figureAt }: Pick<Reconciliation, 'asOf' | 'figureAt'>,
  lines: MonthLines,
  flightMs: number,
): number {
  const late = new Set(lines.updates.filter((update) => shownFrom(update, flightMs) > figureAt).map(({ id }) => id))
  return spentMoves(lines)
    .filter(({ of, at, type }) => (type === 'update' ? late.has(of) : asOf !== null && at > asOf))
    .reduce((sum, { spent }) => sum + Math.max(0, spent), 0)
}

function whyUnusable(asOf: number, now: View, lines: MonthLines): string | null {
  const { month, definitions } = now
  const of = `The figure is of ${wall(now, asOf)}`
  if (asOf > now.now) return `${of}, which is in the future: say when the vendor showed it.`
  if (asOf < now.now - maxAgeMs) return `${of}, more than 48 hours ago: look again.`
  if (asOf < month.start) return `${of}, before the renewal of ${wall(now, month.start)}: look again.`
  if (asOf < definitions.createdAt)
    return `${of}, before the ledger was opened on ${wall(now, definitions.createdAt)}: look again.`
  const reconciled = lines.entries.filter(({ type }) => type === 'reconcile').map(({ id, at }) => ({ of: id, at }))
  const moved = spentMoves(lines).filter(({ type, spent, allowed }) => spent < 0 || (allowed > 0 && type !== 'update'))
  const changes = new Map([...reconciled, ...moved].filter(({ at }) => at > asOf).map((each) => [each.of, each.at]))
  if (changes.size === 0) return null
  const listed = fewOf([...changes].map(([id, at]) => `${id} of ${wall(now, at)}`))
  return `${of}, and since then ${rootBudget} was reconciled, its limit or grants changed, or units came back: ${listed}. Look again, and reconcile with a figure of now.`
}

/** A person enters the figure, so the person must see its effect before it is booked. */
export function whyNotBooked({ shown }: Pick<ReconcileRequest, 'shown'>, parts: Reconciliation): string | null {
  const { asOf, difference, unitsLeft, since, held, inDoubt, available, after } = parts
  if (shown === difference) return null
  const why = shown === undefined ? 'Nothing is booked without a preview' : `The difference is not ${shown} any more`
  return `${why}: of the vendor's ${grouped(unitsLeft)} units, ${grouped(since)} were spent ${asOf === null ? 'in the last minutes' : 'since'}, ${grouped(held)} are held and ${grouped(inDoubt)} in doubt, so ${rootBudget} goes from ${grouped(available)} to ${grouped(after)} available, a difference of ${difference}. Send the same with the difference ${difference} to book it.`
}

const earlierIn = ({ entries }: MonthLines, now: number): Entry | undefined =>
  entries.find(({ type, at }) => type === 'reconcile' && at > now - hourMs)

const openAt = (instant: number, { updates }: MonthLines): readonly string[] =>
  updates
    .filter(({ hold, finishedAt }) => hold && hold.at <= instant && (finishedAt ?? Number.POSITIVE_INFINITY) > instant)
    .map(({ id }) => id)
