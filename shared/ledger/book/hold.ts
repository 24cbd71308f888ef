import type { Clock } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { noteCount, noteOutcome, noteUpdate } from '../../platform/log.ts'
import { budgetNamed, isObserved, type WindowKind, windowKinds } from '../definitions/definitions.ts'
import { AnswerLost, Contention } from '../errors.ts'
import type { Condition, Store, Write } from '../store/store.ts'
import { leftOf } from '../updates/leave.ts'
import { announcedWith } from '../updates/tasks.ts'
import type { Grant, Hold, Run, Update } from '../updates/update.ts'
import { toUpdateItem } from '../updates/update-keys.ts'
import { type SeenWork, takeWork } from '../updates/work.ts'
import { counterOf } from './book.ts'
import {
  additions,
  addTo,
  bookKey,
  hasAvailable,
  isOfDay,
  isOfRevision,
  lacksAvailable,
  onceWrites,
} from './book-item.ts'
import { type Entry, grantEntryId, toEntryItem } from './entry.ts'
import { isPrepared, prepareBook } from './prepare.ts'
import { readUpdates, type View } from './view.ts'

export interface HoldBasis {
  /** The stored record. `null`: not written yet. */
  readonly update: Update | null
  readonly works: readonly SeenWork[]
  readonly runs: readonly Run[]
}

export function createHolds({ store, turns, clock }: { store: Store; turns: Turns; clock: Clock }) {
  let prepared = ''

  /**
   * Sets the units aside, and fences the work for this process. Holds of a process run one by one, because on AWS two at once would cancel each other.
   * @param until after this time nothing more is sent to the database, and the result is `moved`.
   */
  async function hold(
    view: View,
    basis: HoldBasis,
    update: Update,
    until = Number.POSITIVE_INFINITY,
  ): Promise<'held' | 'moved'> {
    const { hold: held } = update
    noteUpdate(update.id)
    if (update.state !== 'running' || !held) throw new Error(`update ${update.id} is not a hold`)
    const [record, ...announced] = recordWrites(update, basis.update)
    const works = takeWork(update, basis.works, basis.runs)
    const writes = [moveBook(view, update, held), record, ...works, ...grantEntries(view, update, held), ...announced]
    return turns.inTurn(async () => {
      const wanted = `${view.book.month} ${view.book.day} ${view.book.revision}`
      try {
        if (!isPrepared(view) && prepared !== wanted && (await prepareBook(store, view))) prepared = wanted
        if (clock.now() > until) return 'moved'
        const token = digest(held.attempt, JSON.stringify(writes))
        const outcome = await store.transact(writes, token, until - clock.now())
        if (!outcome.applied) {
          noteCount('Conflicts', 1)
          return 'moved'
        }
        prepared = wanted
        return 'held'
      } catch (error) {
        // The answer was lost: continue only if the stored hold is ours.
        if (error instanceof AnswerLost && (await isOurs(store, update, held.attempt))) return 'held'
        if (error instanceof Contention) return 'moved'
        throw error
      }
    })
  }

  async function record(update: Update, seen: Update | null): Promise<'recorded' | 'moved'> {
    noteUpdate(update.id)
    const writes = recordWrites(update, seen)
    const outcome = await store.transact(writes, digest('record', JSON.stringify(writes)))
    if (!outcome.applied) return 'moved'
    if (update.state !== seen?.state) noteOutcome(update.state)
    return 'recorded'
  }

  return { hold, record }
}

/** The book of a closed month keeps its own limits. If the record says what observed limits lacked, the write applies only while that is still true. */
function moveBook(view: View, update: Update, hold: Hold): Write {
  const { book, definitions } = view
  const unitsIn = (grants: readonly Grant[] | undefined, window: WindowKind, budget: string) =>
    grants?.find((grant) => grant.window === window && grant.budget === budget)?.units
  const moves = windowKinds.flatMap((window) =>
    hold.budgets.map((budget) => {
      const granted = unitsIn(hold.grants, window, budget)
      const once = granted ?? 0
      return { budget, window, granted, move: { held: hold.units, granted: once, once } }
    }),
  )
  const limited = moves
    .filter(({ window, budget }) => counterOf(book, window, budget)?.limit !== 'unlimited')
    .map(({ window, budget, granted }) => {
      const keep = budgetNamed(definitions, budget)?.keep
      // An approval may use what the update must leave.
      const left = granted === undefined ? leftOf(update, { name: budget, keep }) : 0
      const needed = hold.units + left - (granted ?? 0)
      const short = isObserved(definitions, budget) ? unitsIn(update.wouldHaveRefused, window, budget) : undefined
      return short === undefined ? hasAvailable(window, budget, needed) : lacksAvailable(window, budget, needed, short)
    })
  const once = onceWrites(
    book,
    moves.filter(({ move }) => move.once > 0),
  )
  return addTo(
    bookKey(update.month),
    moves.flatMap(({ window, budget, move }) => additions(window, [budget], move)),
    [isOfRevision(book.revision), isOfDay(hold.day), ...limited, ...once.when],
    once.set,
  )
}

function grantEntries(view: View, update: Update, hold: Hold): Write[] {
  const booked = (hold.grants ?? []).filter(({ units }) => units > 0)
  return booked.map(({ budget, window, units }) => {
    const entry: Entry = {
      id: grantEntryId(hold, { budget, window }),
      type: 'grant',
      budget,
      units,
      month: update.month,
      day: hold.day,
      reason: `once, for ${update.id}, as it was approved`,
      by: update.approval?.by ?? 'guard',
      at: view.now,
      moves: [{ budget, window, move: { granted: units, once: units } }],
    }
    return { kind: 'put', item: toEntryItem(entry), when: [{ kind: 'absent-item' }] }
  })
}

function putUpdate(update: Update, seen: Update | null): Write {
  const unchanged: Condition = seen
    ? { kind: 'equal', path: ['version'], value: seen.version }
    : { kind: 'absent-item' }
  return { kind: 'put', item: toUpdateItem(update), when: [unchanged] }
}

export const recordWrites = (
  update: Update,
  seen: Update | null,
  known: { readonly isDoubtAnnounced?: boolean } = {},
): [Write, ...Write[]] => [putUpdate(update, seen), ...announcedWith(update, seen, known)]

async function isOurs(store: Store, update: Update, attempt: string): Promise<boolean> {
  const [found] = await readUpdates(store, [update.id]).catch(() => [])
  return found?.state === 'running' && found.hold?.attempt === attempt
}

export type Turns = ReturnType<typeof createTurns>

export function createTurns() {
  const waiting: (() => Promise<void>)[] = []
  let isBusy = false

  async function takeTurns(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let turn = waiting.shift(); turn; turn = waiting.shift()) await turn()
    isBusy = false
  }

  const add = <T>(turn: () => Promise<T>, how: 'push' | 'unshift'): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting[how](() => turn().then(resolve, reject))
      void takeTurns()
    })

  return {
    inTurn: <T>(turn: () => Promise<T>): Promise<T> => add(turn, 'push'),
    /** Runs before waiting turns, so that a stop takes effect at once. */
    next: <T>(turn: () => Promise<T>): Promise<T> => add(turn, 'unshift'),
  }
}
