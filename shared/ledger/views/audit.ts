import type { Clock } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { type Book, counterOf } from '../book/book.ts'
import type { Entry } from '../book/entry.ts'
import { type MonthLines, spentMoves } from '../book/reconcile.ts'
import type { View, Views } from '../book/view.ts'
import { asNumber, type Counter, type Move, madeAvailable, storedCounter } from '../definitions/counters.ts'
import { counterOwnerNamed, limitOf, rootBudget, type WindowKind, windowKinds } from '../definitions/definitions.ts'
import { monthNamed } from '../definitions/windows.ts'
import { all } from '../store/pages.ts'
import type { Item, Store, Write } from '../store/store.ts'
import {
  type Content,
  flag,
  instant,
  list,
  number,
  type Of,
  optional,
  orNull,
  readItem,
  record,
  text,
} from '../store/stored.ts'
import { announce } from '../updates/tasks.ts'
import { createdAroundMs, type Update } from '../updates/update.ts'
import type { Lists } from './lists.ts'

const auditedCounter = {
  /** `month:2026-11-12` or `day:2026-11-20` */
  window: text,
  budget: text,
  recorded: storedCounter,
  recomputed: storedCounter,
  /** `null`: unknown, because the book moved meanwhile. */
  ok: orNull(flag),
}
export type AuditedCounter = Content<typeof auditedCounter>

const pageSize = 100
const openStates = ['running', 'in-doubt'] as const
const maxRounds = 3
const indexLagsMs = 1_000

export function createAudit(options: {
  store: Store
  view: () => Promise<View>
  books: Views['books']
  bookNamed: Views['bookNamed']
  lists: Lists
  clock: Pick<Clock, 'sleep'>
}) {
  const { view, books, bookNamed, lists, clock } = options

  async function audit(): Promise<readonly AuditedCounter[]> {
    const { definitions, month } = await view()
    const { previous, current, next } = await books(definitions, month)
    const audited = [previous, current, next].filter((book) => book !== null).map((book) => auditBook(book.month))
    return (await Promise.all(audited)).flat()
  }

  /** Reads again if the book moved meanwhile, or if a line may be missing because the index lags. */
  async function auditBook(name: string): Promise<AuditedCounter[]> {
    let rows: AuditedCounter[] = []
    for (let round = 0; round < maxRounds; round++) {
      if (round > 0) await clock.sleep(indexLagsMs)
      const before = await lookAt(name)
      if (!before) return []
      const updates = await heldIn(before.book, before.view)
      const entries = await all((cursor) => lists.entries({ month: name }, pageSize, cursor))
      const after = await lookAt(name)
      const still = JSON.stringify(before.book) === JSON.stringify(after?.book)
      rows = compare(before.view, before.book, updates, entries, still)
      if (rows.every((row) => row.ok)) return rows
    }
    return rows
  }

  async function lookAt(name: string): Promise<{ book: Book; view: View } | null> {
    const now = await view()
    const book = await bookNamed(name)
    return book && { book, view: now }
  }

  async function heldIn(book: Book, { definitions }: View): Promise<Update[]> {
    const window = monthNamed(definitions.calendar, book.month)
    if (!window) return []
    const filter = { since: window.start - createdAroundMs, until: window.end + createdAroundMs }
    const found = await all((cursor) => lists.updates(filter, pageSize, cursor))
    return found.filter((update) => update.hold && update.month === book.month)
  }

  /** `null`: the lines do not add up to the book, because the index lags or the book moves. */
  async function readMonth({ definitions, month, book, ...now }: View): Promise<MonthLines | null> {
    const [updates, entries, { previous }, ...open] = await Promise.all([
      heldIn(book, { definitions, month, book, ...now }),
      all((cursor) => lists.entries({ month: book.month }, pageSize, cursor)),
      books(definitions, month),
      ...openStates.map((state) => all((cursor) => lists.open(state, pageSize, cursor))),
    ])
    const lines = { updates, entries, previous, open: open.flat().filter((update) => update.month !== book.month) }
    const counted = counterOf(book, 'month', rootBudget)
    const spent = spentMoves(lines).reduce((sum, move) => sum + move.spent, 0)
    const inDoubt = updates.reduce((sum, { state, hold }) => sum + (state === 'in-doubt' ? (hold?.units ?? 0) : 0), 0)
    return spent === (counted?.spent ?? 0) && inDoubt === (counted?.inDoubt ?? 0) ? lines : null
  }

  return { audit, readMonth, ...createLastAudit(options) }
}

function compare(view: View, book: Book, updates: readonly Update[], entries: readonly Entry[], still: boolean) {
  const isCurrent = book.revision === view.definitions.revision && view.month.name <= book.month
  return windowKinds.flatMap((window) =>
    Object.entries(book.counters[window]).map(([budget, recorded]): AuditedCounter => {
      const defined = isCurrent ? counterOwnerNamed(view.definitions, budget) : undefined
      const limit = defined ? limitOf(defined, window) : recorded.limit
      const moves = [...movesOfUpdates(book, updates, window, budget), ...movesOfEntries(book, entries, window, budget)]
      const recomputed = sum(limit, moves)
      const same = JSON.stringify(inOrder(recorded)) === JSON.stringify(inOrder(recomputed))
      return {
        window: window === 'month' ? book.month : book.day,
        budget,
        recorded,
        recomputed,
        ok: still ? same : same || null,
      }
    }),
  )
}

function movesOfUpdates(book: Book, updates: readonly Update[], window: WindowKind, budget: string): Move[] {
  return updates
    .filter(({ hold }) => hold?.budgets.includes(budget) && (window === 'month' || hold.day === book.day))
    .flatMap(({ history }) => history.flatMap(({ move }) => (move ? [move] : [])))
}

function movesOfEntries(book: Book, entries: readonly Entry[], window: WindowKind, budget: string): Move[] {
  return entries
    .filter((entry) => window === 'month' || entry.day === book.day)
    .flatMap(({ moves }) => moves)
    .filter((each) => each.window === window && each.budget === budget)
    .map(({ move: { limit: _limit, ...move } }) => move)
}

function sum(limit: Counter['limit'], moves: readonly Move[]): Counter {
  const total = (name: 'granted' | 'held' | 'inDoubt' | 'spent') =>
    moves.reduce((units, move) => units + (move[name] ?? 0), 0)
  const moved = { granted: total('granted'), held: total('held'), inDoubt: total('inDoubt'), spent: total('spent') }
  return { limit, ...moved, available: asNumber(limit) + madeAvailable(moved) }
}

const inOrder = ({ limit, granted, available, held, inDoubt, spent }: Counter) => [
  limit,
  granted,
  available,
  held,
  inDoubt,
  spent,
]

const storedAudit = record({
  at: instant,
  /** A person, or `digest`. */
  by: text,
  counters: number,
  wrong: number,
  moved: number,
  /** Counters that differ come first. */
  rows: list(record({ ...auditedCounter, recomputed: optional(storedCounter) })),
})
export type LastAudit = Omit<Of<typeof storedAudit>, 'rows'> & { readonly rows: readonly AuditedCounter[] }

const lastKey = { pk: 'audit', sk: 'latest' } as const
/** About 60 KB. */
const maxRows = 400
const shownFirst: readonly AuditedCounter['ok'][] = [false, null, true]

function createLastAudit({ store }: { store: Store }) {
  async function lastAudit(): Promise<LastAudit | null> {
    const [item] = await store.get([lastKey])
    if (!item) return null
    const { rows, ...made } = readItem(item, storedAudit)
    return { ...made, rows: rows.map((row) => ({ recomputed: row.recorded, ...row })) }
  }

  /** The last of two concurrent audits wins. */
  async function keepAudit(made: Pick<LastAudit, 'at' | 'by'>, audited: readonly AuditedCounter[]): Promise<void> {
    const counts = {
      counters: audited.length,
      wrong: audited.filter(({ ok }) => ok === false).length,
      moved: audited.filter(({ ok }) => ok === null).length,
    }
    const shown = audited.toSorted((a, b) => shownFirst.indexOf(a.ok) - shownFirst.indexOf(b.ok)).slice(0, maxRows)
    const rows = shown.map(({ window, budget, ok, recorded, recomputed }) => ({
      window,
      budget,
      ok,
      recorded: { ...recorded },
      ...(!ok && { recomputed: { ...recomputed } }),
    }))
    const item: Item = { ...lastKey, ...made, ...counts, rows }
    const write = (also: readonly Write[]) =>
      store.transact([{ kind: 'put', item, when: [] }, ...also], digest('audit', JSON.stringify([item, also])))
    const { applied } = await write(failureOf(made.at, audited))
    // An earlier audit announced this failure, so only the result is written.
    if (!applied) await write([])
  }

  return { lastAudit, keepAudit }
}

const maxAnnounced = 50

/** The same difference is announced only one time. */
function failureOf(at: number, audited: readonly AuditedCounter[]): Write[] {
  const wrong = audited.filter(({ ok }) => ok === false)
  if (wrong.length === 0) return []
  const books = wrong.slice(0, maxAnnounced).map(({ ok: _, ...counter }) => counter)
  const names = wrong.map(({ window, budget, recorded, recomputed }) => {
    const expected = inOrder(recomputed)
    return [window, budget, ...inOrder(recorded).map((figure, index) => Number(figure) - Number(expected[index]))]
  })
  const about = { kind: 'audit-failed', books, more: wrong.length - books.length } as const
  return [announce(`audit-failed#${digest('audit-failed', JSON.stringify(names))}`, at, about)]
}
