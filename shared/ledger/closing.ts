import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import { additions, addTo, bookKey, fromBookItem, isOfDay, type Move } from './book.ts'
import { close as closeUpdate, type Finding } from './finding.ts'
import { writesOf } from './holding.ts'
import { AnswerLost, LedgerUnavailable, type Store, type Write } from './store.ts'
import { spoilTally } from './tally.ts'
import { type Hold, isTerminal, type Update } from './update.ts'
import { fromUpdateItem } from './update-item.ts'
import { readUpdates } from './views.ts'

export interface CloseOutcome {
  /** The update as it is now; as it was given, where the finding says nothing about that. */
  readonly update: Update
  /** Whether this finding changed it. */
  readonly changed: boolean
}

const mostRounds = 8

export function createClosing({ store, clock }: { store: Store; clock: Clock }) {
  /**
   * Moves the units of a hold to where the finding says they belong, in the book that they were held in, and writes
   * it into the record: one transaction of two items, and a third, the month's tally, where an ended update is corrected.
   * Whoever closes second finds the record changed and looks again.
   */
  async function close(update: Update, finding: Finding): Promise<CloseOutcome> {
    let seen = update
    let dayIsOpen = true
    for (let round = 0; round < mostRounds; round++) {
      const closing = closeUpdate(seen, finding, clock.now())
      if (!closing) return { update: seen, changed: false }
      const closed = closing.update
      const writes = writesFor(seen, closed, closing.move, dayIsOpen)
      try {
        const outcome = await store.transact(writes, digest('close', JSON.stringify(writes)))
        if (outcome.applied) return { update: closed, changed: true }
        const [record] = outcome.found
        const book = outcome.found.find((item) => item?.pk === bookKey(seen.month).pk)
        if (book) dayIsOpen = fromBookItem(book).day === seen.hold?.day
        if (record) seen = fromUpdateItem(record)
      } catch (error) {
        if (!(error instanceof AnswerLost)) throw error
        const [found] = await readUpdates(store, [seen.id])
        if (found && isSame(found, closed)) return { update: found, changed: true }
        if (!found || found.version === seen.version) throw error
        seen = found
      }
    }
    throw new LedgerUnavailable(`update ${update.id} keeps changing`)
  }

  return { close }
}

/** In whatever order a database gives members back. */
const isSame = (found: Update, closed: Update) => isDeepStrictEqual(found.history, closed.history)

/**
 * Day counters are touched only while the day is the hold's own. A book's day only moves forward, so a day that has
 * passed once needs no condition.
 */
function writesFor(seen: Update, closed: Update, move: Move, dayIsOpen: boolean): Write[] {
  const [record, ...announced] = writesOf(closed, seen)
  const hold = seen.hold
  if (!hold || Object.keys(move).length === 0) return [record, ...announced]
  const spoilt = isTerminal(seen.state) ? [spoilTally(closed)] : []
  return [record, moveBook(seen.month, hold, move, dayIsOpen), ...announced, ...spoilt]
}

const moveBook = (month: string, hold: Hold, move: Move, dayIsOpen: boolean): Write =>
  addTo(
    bookKey(month),
    [...additions('month', hold.budgets, move), ...(dayIsOpen ? additions('day', hold.budgets, move) : [])],
    dayIsOpen ? [isOfDay(hold.day)] : [{ is: 'present-item' }],
  )
