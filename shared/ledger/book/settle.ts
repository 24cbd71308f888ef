import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { noteCount, noteOutcome, noteUpdate } from '../../platform/log.ts'
import { type CounterMove, type Move, madeAvailable, moveOn } from '../definitions/counters.ts'
import type { Calendar } from '../definitions/windows.ts'
import { AnswerLost, Contention } from '../errors.ts'
import type { Condition, Key, Store, Write } from '../store/store.ts'
import { spoilSummary } from '../updates/summary-days.ts'
import { sharedNewsKey } from '../updates/tasks.ts'
import { type Hold, isTerminal, runOf, type Update } from '../updates/update.ts'
import { fromUpdateItem } from '../updates/update-keys.ts'
import { fromWorkItem, noteRun, type SeenWork, workKey, workKeyOf } from '../updates/work.ts'
import { type Book, counterOf } from './book.ts'
import {
  additions,
  addTo,
  bookKey,
  fromBookItem,
  hasAvailable,
  hasSpent,
  isOfDay,
  isReconciledAt,
  onceWrites,
} from './book-item.ts'
import { type Entry, entryWrites } from './entry.ts'
import { recordWrites } from './hold.ts'
import {
  countersOf,
  entriesWith,
  isCorrection,
  type RunOutcome,
  type Settlement,
  settlementOf,
  takenBackBy,
} from './outcome.ts'
import { readUpdates } from './view.ts'

export interface SettleOutcome {
  readonly update: Update
  readonly changed: boolean
}

const maxRounds = 8

export function createSettle(options: {
  store: Store
  clock: Clock
  calendarAt: (instant: number) => Promise<Calendar>
  /** The time that the service may take to count a run. */
  flightMs: number
}) {
  const { store, clock, calendarAt, flightMs } = options

  /** Writes one transaction. It also clears the day's summary after a correction, and notes a late run in the work items. */
  async function settle(update: Update, outcome: RunOutcome): Promise<SettleOutcome> {
    noteUpdate(update.id)
    let seen = update
    let book = update.hold?.grants ? await bookOf(update) : null
    for (let round = 0; round < maxRounds; round++) {
      const settlement = settlementOf(seen, outcome, clock.now())
      if (!settlement) return { update: seen, changed: false }
      const works = await worksToNote(seen, settlement)
      const spoilt = isTerminal(seen.state) ? [spoilSummary(await calendarAt(seen.createdAt), settlement.update)] : []
      // If another doubt is announced after this read, the transaction fails, and the next round sees it.
      const isDoubtAnnounced = await isStored(sharedNewsKey(settlement.update, seen))
      const { settled, writes } = writesOf(seen, settlement, book, { works, spoilt, isDoubtAnnounced, flightMs })
      try {
        const result = await store.transact(writes, digest('close', JSON.stringify(writes)))
        if (result.applied) return noteResult(seen, settled)
        const [record] = result.found
        const found = result.found.find((item) => item?.pk === bookKey(seen.month).pk)
        if (found) book = fromBookItem(found)
        if (record) seen = fromUpdateItem(record)
      } catch (error) {
        if (!(error instanceof AnswerLost)) throw error
        const [found] = await readUpdates(store, [seen.id])
        if (found && isSame(found, settled)) return noteResult(seen, found)
        if (!found || found.version === seen.version) throw error
        seen = found
      }
    }
    throw new Contention(`update ${update.id} keeps changing`)
  }

  /** A running update needs no note in the work items, because its record shows the run. */
  async function worksToNote(
    { kind, project, hold, state }: Update,
    { update }: Settlement,
  ): Promise<readonly SeenWork[]> {
    if (!update.ran || state === 'running') return []
    const keys = hold?.works ?? [workKey(kind, project).pk]
    const items = await store.get(keys.map(workKeyOf))
    return keys.map((key, index) => ({ key, work: items[index] ? fromWorkItem(items[index]) : null }))
  }

  async function bookOf({ month }: Update): Promise<Book | null> {
    const [item] = await store.get([bookKey(month)])
    return item ? fromBookItem(item) : null
  }

  async function isStored(key: Key | null): Promise<boolean> {
    if (key === null) return false
    const [item] = await store.get([key])
    return item !== undefined
  }

  return { settle }
}

function noteResult(seen: Update, update: Update): SettleOutcome {
  if (update.state !== seen.state) noteOutcome(update.state)
  const charged = (update.charged ?? 0) - (seen.charged ?? 0)
  if (charged !== 0) noteCount('UnitsCharged', charged)
  return { update, changed: true }
}

/** A database returns members in any order. */
const isSame = (found: Update, settled: Update) => isDeepStrictEqual(found.history, settled.history)

interface SettleBasis {
  readonly works: readonly SeenWork[]
  readonly spoilt: readonly Write[]
  readonly isDoubtAnnounced: boolean
  readonly flightMs: number
}

function writesOf(
  seen: Update,
  settlement: Settlement,
  book: Book | null,
  { works, spoilt, flightMs, ...known }: SettleBasis,
) {
  const { hold } = seen
  const { update, move } = settlement
  const noted = noteRun(runOf(update), works)
  if (!hold || Object.keys(move).length === 0)
    return { settled: update, writes: [...recordWrites(update, seen, known), ...noted] }
  const entries = entriesWith(settlement, hold, book, flightMs)
  const settled = { ...update, ...takenBackBy(entries, hold) }
  const [record, ...announced] = recordWrites(settled, seen, known)
  const moved = moveBook(seen.month, hold, { move, entries, book })
  return {
    settled,
    writes: [record, moved, ...announced, ...noted, ...spoilt, ...entries.flatMap(entryWrites)],
  }
}

/** A book's day never returns, so a passed day needs no condition. A correction depends on the last reconciliation. */
function moveBook(
  month: string,
  hold: Hold,
  { move, entries, book }: { move: Move; entries: readonly Entry[]; book: Book | null },
): Write {
  const added = entries.flatMap(({ moves }) => moves)
  const moves = countersOf(hold, book).map((counter) => ({ ...counter, move: moveOn(counter, move, added) }))
  const once = onceWrites(book, moves)
  const dayIsOpen = !book || book.day === hold.day
  return addTo(
    bookKey(month),
    moves.flatMap(({ window, budget, move }) => additions(window, [budget], move)),
    [
      dayIsOpen ? isOfDay(hold.day) : { kind: 'present-item' },
      ...(isCorrection(move) ? isReconciledAt(book ?? {}) : []),
      ...moves.flatMap((each) => isThere(each, book)),
      ...once.when,
    ],
    once.set,
  )
}

/** Only spent and available units can be taken away. What a closed update does not need goes back, even if more than the limit is used. */
export function isThere({ window, budget, move }: CounterMove, book: Book | null): Condition[] {
  const { spent = 0, granted = 0 } = move
  const needed = 0 - madeAvailable(move)
  const seen = (book && counterOf(book, window, budget)?.available) ?? 0
  return [
    ...(spent < 0 ? [hasSpent(window, budget, 0 - spent)] : []),
    ...(granted < 0 && needed > 0 ? [hasAvailable(window, budget, Math.min(needed, seen))] : []),
  ]
}
