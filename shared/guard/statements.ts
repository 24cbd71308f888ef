import { isDeepStrictEqual } from 'node:util'
import { type Book, counterOf } from '../ledger/book.ts'
import { type Definitions, listingsOf, rootBudget } from '../ledger/definitions.ts'
import type { Entry } from '../ledger/entry.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { all } from '../ledger/lists.ts'
import { type CountedTally, type KeptTally, sumOf, type Tally, type TallySum } from '../ledger/tally.ts'
import { createdAroundMs, type Update } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { monthAfter, monthBefore, monthNamed, type Window } from '../ledger/windows.ts'
import type { Log } from '../platform/log.ts'
import { beginning, believed } from './tallying.ts'

export const statementKeys = ['budget', 'project', 'caller'] as const
export type StatementKey = (typeof statementKeys)[number]

/** Where the units of one month went, as figures that add up to its book. */
export interface Statement {
  readonly window: Window
  readonly previous: string
  readonly next: string | null
  /** `final`: the month is over, and nothing of it is held or in doubt. */
  readonly status: 'open' | 'final'
  readonly by: StatementKey
  readonly rows: readonly StatementRow[]
  readonly total: StatementSum
  /** What the book of the month says was spent; charged and external units together are just that; `addsUp: null` where it moved while being read. */
  readonly spent: number
  readonly addsUp: boolean | null
}

export interface StatementSum {
  /** A budget, a project or a caller; `null`: units that were spent outside the guard. */
  readonly key: string | null
  readonly updates: number
  readonly charged: number
  readonly external: number
  readonly granted: number
  readonly held: number
  readonly inDoubt: number
  readonly refused: number
}

export interface StatementRow extends StatementSum {
  /** What ancestors paid for projects of this budget. It is charged in their rows, so no total has it. */
  readonly paidElsewhere: number
}

/** Updates of one budget, project and caller: one that was read, or all that the month's tally has. */
interface Line extends TallySum {
  readonly held?: number
  readonly inDoubt?: number
}

interface Lines {
  /** What the lines begin with; `null`: each update was read. */
  readonly counted: CountedTally | null
  readonly lines: readonly Line[]
  readonly entries: readonly Entry[]
  readonly book: Book | null
  readonly isStill: boolean
}

const pageSize = 100
const tries = 3

export function createStatements({ ledger, log }: { ledger: Ledger; log: Log }) {
  /** `null`: there is no such window, or it has not begun. */
  async function statement(name: string | null, by: StatementKey): Promise<Statement | null> {
    const view = await ledger.view()
    const window = name === null ? view.month : monthNamed(view.definitions.calendar, name)
    if (!window || window.start > view.now) return null
    const seen = window.name === view.month.name ? view.stored : undefined
    const lines = await linesOf(window, (kept) => believed(kept, view.now), seen)
    const statement = statementOf(view, window, by, lines)
    const { counted } = lines
    if (!counted || statement.addsUp !== false) return statement
    // Before it says so, each update is read.
    const whole = statementOf(view, window, by, await linesOf(window, () => null))
    if (whole.addsUp) await countAnew(counted)
    return whole
  }

  /**
   * A book that moves while its lines are read proves nothing: they are read again, a few times.
   *
   * @param seen the book, where it has just been read.
   */
  async function linesOf(
    window: Window,
    countedOf: (kept: KeptTally | null) => CountedTally | null,
    seen?: Book | null,
  ): Promise<Lines> {
    let before = seen === undefined ? await ledger.bookNamed(window.name) : seen
    for (let round = 1; ; round++) {
      // After the book: the correction that moves it has spoilt the tally, too.
      const counted = countedOf(await ledger.tallies.read(window.name))
      const tally = counted?.tally ?? beginning(window)
      const [updates, entries] = await Promise.all([
        updatesOf(window, tally),
        all((cursor) => ledger.entries({ month: window.name }, pageSize, cursor)),
      ])
      const book = await ledger.bookNamed(window.name)
      const isStill = isDeepStrictEqual(before, book)
      const lines = [...tally.sums, ...updates.map(lineOf)]
      if (isStill || round === tries) return { counted, lines, entries, book, isStill }
      before = book
    }
  }

  /** Those of the month that its tally has not counted. */
  async function updatesOf(window: Window, { until, open }: Tally): Promise<Update[]> {
    const filter = { since: until + 1, until: window.end + createdAroundMs }
    const [named, found] = await Promise.all([
      ledger.updatesNamed(open),
      all((cursor) => ledger.updates(filter, pageSize, cursor)),
    ])
    return [...named, ...found].filter((update) => update !== null).filter(({ month }) => month === window.name)
  }

  async function countAnew(counted: CountedTally): Promise<void> {
    log.error('tally-not-ok', { month: counted.tally.month })
    await ledger.tallies.spoil(counted.tally, counted)
  }

  return { statement }
}

function statementOf(view: View, window: Window, by: StatementKey, read: Lines): Statement {
  const { definitions, now } = view
  const { lines, entries, book, isStill } = read
  const rows = rowsOf(definitions, by, lines, entries)
  const { paidElsewhere: _none, ...total } = rows.reduce(sum, emptyRow(null))
  const granted = entries.reduce((units, entry) => units + movedOnRoot(entry, 'granted'), 0)
  const spent = (book && counterOf(book, 'month', rootBudget)?.spent) ?? 0
  const isOpen = now < window.end || total.held + total.inDoubt > 0
  return {
    window,
    by,
    rows,
    spent,
    previous: monthBefore(definitions.calendar, window).name,
    next: window.end <= now ? monthAfter(definitions.calendar, window).name : null,
    status: isOpen ? 'open' : 'final',
    total: { ...total, granted },
    addsUp: total.charged + total.external === spent || (isStill ? false : null),
  }
}

function rowsOf(
  definitions: Definitions,
  by: StatementKey,
  lines: readonly Line[],
  entries: readonly Entry[],
): readonly StatementRow[] {
  const rows = new Map<string | null, StatementRow>()
  const add = (key: string | null, more: Partial<StatementRow>) =>
    rows.set(key, sum(rows.get(key) ?? emptyRow(key), { ...emptyRow(key), ...more }))
  for (const { budget, project, caller, owner, ...figures } of lines) {
    add(keyOf(definitions, by, { budget, project, caller }), figures)
    if (by === 'budget' && owner !== undefined && figures.charged > 0) add(owner, { paidElsewhere: figures.charged })
  }
  const entryNamed = new Map<string | undefined, Entry>(entries.map((entry) => [entry.id, entry]))
  /** A correction belongs to whoever the first entry was booked for, wherever it was asked for. */
  const budgetOf = (entry: Entry): string => {
    const corrected = entryNamed.get(entry.corrects)
    return corrected ? budgetOf(corrected) : entry.budget
  }
  for (const entry of entries) {
    const external = movedOnRoot(entry, 'spent')
    if (external !== 0) add(by === 'budget' ? budgetOf(entry) : null, { external })
    if (by !== 'budget') continue
    for (const { budget, window, move } of entry.moves) {
      if (window === 'month' && move.granted) add(budget, { granted: move.granted })
    }
  }
  return [...rows.values()].toSorted((a, b) => (isBefore(a.key, b.key) ? -1 : 1))
}

/** A project that is known by its name and by its id is one project: the name that its owner gives it. */
function keyOf(
  definitions: Definitions,
  by: StatementKey,
  { budget, project, caller }: Pick<Line, 'budget' | 'project' | 'caller'>,
): string {
  if (by === 'budget') return budget
  if (by === 'caller') return caller
  return listingsOf(definitions, project)[0]?.project.name ?? project
}

function lineOf(update: Update): Line {
  const { state, hold } = update
  const units = hold?.units ?? 0
  return { ...sumOf(update), held: state === 'running' ? units : 0, inDoubt: state === 'in-doubt' ? units : 0 }
}

/** Spending outside counts on the whole chain, and so on the root: once. */
const movedOnRoot = ({ moves }: Entry, what: 'spent' | 'granted'): number =>
  moves
    .filter(({ budget, window }) => budget === rootBudget && window === 'month')
    .reduce((units, { move }) => units + (move[what] ?? 0), 0)

const emptyRow = (key: string | null): StatementRow => ({
  key,
  updates: 0,
  charged: 0,
  external: 0,
  granted: 0,
  held: 0,
  inDoubt: 0,
  refused: 0,
  paidElsewhere: 0,
})

const sum = (a: StatementRow, b: StatementRow): StatementRow => ({
  key: a.key,
  updates: a.updates + b.updates,
  charged: a.charged + b.charged,
  external: a.external + b.external,
  granted: a.granted + b.granted,
  held: a.held + b.held,
  inDoubt: a.inDoubt + b.inDoubt,
  refused: a.refused + b.refused,
  paidElsewhere: a.paidElsewhere + b.paidElsewhere,
})

/** `null` is behind all others; no two rows have one key. */
const isBefore = (a: string | null, b: string | null): boolean => a !== null && (b === null || a < b)
