import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import { noteUpdate } from '../platform/log-context.ts'
import {
  additions,
  addTo,
  bookKey,
  type CounterMove,
  fromBookItem,
  hasAvailable,
  hasSpent,
  isOfDay,
  type Move,
  madeAvailable,
} from './book.ts'
import { countersOf, entriesWith, type Met, moveOn, takenBackBy } from './closing-entries.ts'
import { type Entry, entryWrites, rightedKey } from './entry.ts'
import { type Closing, close as closeUpdate, type Finding } from './finding.ts'
import { recordWrites } from './holding.ts'
import { AnswerLost, type Condition, Contention, type Store, type Write } from './store.ts'
import { spoilTally } from './tally.ts'
import { type Hold, isTerminal, runOf, type Update } from './update.ts'
import { fromUpdateItem } from './update-item.ts'
import { readUpdates } from './views.ts'
import { fromWorkItem, noteRun, type SeenWork, workKey, workKeyOf } from './work.ts'

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
   * it into the record: one transaction of two items. Where an ended update is corrected, it writes the month's tally, too;
   * where a run comes to light late, the items of its work, which another update may have taken since.
   * Whoever closes second finds the record changed and looks again.
   */
  async function close(update: Update, finding: Finding): Promise<CloseOutcome> {
    noteUpdate(update.id)
    let seen = update
    let met: Met = { book: null, righted: [] }
    for (let round = 0; round < mostRounds; round++) {
      const closing = closeUpdate(seen, finding, clock.now())
      if (!closing) return { update: seen, changed: false }
      const works = await worksToTell(seen, closing)
      const { closed, entries, writes } = written(seen, closing, met, works)
      try {
        const outcome = await store.transact(writes, digest('close', JSON.stringify(writes)))
        if (outcome.applied) return { update: closed, changed: true }
        const [record] = outcome.found
        const book = outcome.found.find((item) => item?.pk === bookKey(seen.month).pk)
        const righted = entries.flatMap(({ corrects = '' }) =>
          outcome.found.some((item) => item?.pk === rightedKey(corrects).pk) ? [corrects] : [],
        )
        met = { book: book ? fromBookItem(book) : met.book, righted: [...met.righted, ...righted] }
        if (record) seen = fromUpdateItem(record)
      } catch (error) {
        if (!(error instanceof AnswerLost)) throw error
        const [found] = await readUpdates(store, [seen.id])
        if (found && isSame(found, closed)) return { update: found, changed: true }
        if (!found || found.version === seen.version) throw error
        seen = found
      }
    }
    throw new Contention(`update ${update.id} keeps changing`)
  }

  /** Work that runs is taken by no other update, and its holder's record tells of it. */
  async function worksToTell(
    { kind, project, hold, state }: Update,
    { update }: Closing,
  ): Promise<readonly SeenWork[]> {
    if (!update.ran || state === 'running') return []
    const keys = hold?.works ?? [workKey(kind, project).pk]
    const items = await store.get(keys.map(workKeyOf))
    return keys.map((key, index) => ({ key, work: items[index] ? fromWorkItem(items[index]) : null }))
  }

  return { close }
}

/** In whatever order a database gives members back. */
const isSame = (found: Update, closed: Update) => isDeepStrictEqual(found.history, closed.history)

/** The closed record, and all that is written with it. */
function written(seen: Update, closing: Closing, met: Met, works: readonly SeenWork[]) {
  const { hold } = seen
  const { update, move } = closing
  const noted = noteRun(runOf(update), works)
  if (!hold || Object.keys(move).length === 0)
    return { closed: update, entries: [], writes: [...recordWrites(update, seen), ...noted] }
  const entries = entriesWith(closing, hold, met)
  const closed = { ...update, ...takenBackBy(entries) }
  const [record, ...announced] = recordWrites(closed, seen)
  const spoilt = isTerminal(seen.state) ? [spoilTally(closed)] : []
  const book = moveBook(seen.month, hold, { move, entries, met })
  return { closed, entries, writes: [record, book, ...announced, ...noted, ...spoilt, ...entries.flatMap(entryWrites)] }
}

/**
 * Day counters are touched only while the day is the hold's own. A book's day only moves forward, so a day that has
 * passed once needs no condition.
 */
function moveBook(
  month: string,
  hold: Hold,
  { move, entries, met: { book } }: { move: Move; entries: readonly Entry[]; met: Met },
): Write {
  const moves = countersOf(hold, book).map((counter) => ({ ...counter, move: moveOn(counter, move, entries) }))
  const dayIsOpen = !book || book.day === hold.day
  return addTo(
    bookKey(month),
    moves.flatMap(({ window, budget, move }) => additions(window, [budget], move)),
    [dayIsOpen ? isOfDay(hold.day) : { is: 'present-item' }, ...moves.flatMap(isThere)],
  )
}

/** Only what is there can be taken away: what is spent, and what was granted. */
function isThere({ window, budget, move }: CounterMove): Condition[] {
  const { spent = 0, granted = 0 } = move
  const needed = 0 - madeAvailable(move)
  return [
    ...(spent < 0 ? [hasSpent(window, budget, 0 - spent)] : []),
    ...(granted < 0 && needed > 0 ? [hasAvailable(window, budget, needed)] : []),
  ]
}
