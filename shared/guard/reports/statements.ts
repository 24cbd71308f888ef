import { isDeepStrictEqual } from 'node:util'
import { type Book, spentOnTops } from '../../ledger/book/book.ts'
import { type Definitions, listingsOf, topsOf, unseenBudget } from '../../ledger/book/definitions.ts'
import { type Entry, movedOnTops } from '../../ledger/book/entry.ts'
import { type Calendar, dayAt, monthAfter, monthBefore, monthNamed, type Window } from '../../ledger/book/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { createdAroundMs, isTerminal, tagOf, type Update } from '../../ledger/updates/update.ts'
import { all } from '../../ledger/views/pages.ts'
import {
  emptySummary,
  type Summary,
  type SummaryDay,
  type SummaryRow,
  summaryDayAt,
  summaryDays,
} from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type StatementKey, tagKeyIn } from '../../platform/words.ts'
import { addAtPrices, atPrice, type Price, priceOn, type UnitPrices, type UnitsAtPrices } from '../money.ts'
import { believed, countedOn, heldIn, rowOf } from './summary.ts'

/** The rows add up to the month's book. */
export interface Statement {
  readonly window: Window
  readonly previous: string
  readonly next: string | null
  /** `final`: the month is over, and nothing is held or in doubt. */
  readonly status: 'open' | 'final'
  readonly by: StatementKey
  /** Keys of the month's tags, in order. */
  readonly tagKeys: readonly string[]
  readonly rows: readonly StatementRow[]
  readonly total: StatementSum
  /** The book's figure: charged plus external. `addsUp: null`: the book moved meanwhile. */
  readonly spent: number
  readonly addsUp: boolean | null
  /** Of `atPrices`. `null`: no price is set. */
  readonly currency: string | null
}

export interface StatementSum {
  /** `null`: spent outside the guard, or updates without the tag. */
  readonly key: string | null
  readonly updates: number
  readonly charged: number
  readonly external: number
  readonly granted: number
  readonly held: number
  readonly inDoubt: number
  readonly refused: number
  /** Updates that limits of observed budgets would have refused, and what they charged. */
  readonly wouldHaveRefused: number
  readonly wouldHaveRefusedUnits: number
  /** What `charged` and `external` cost. Without units of before the first price. */
  readonly atPrices: UnitsAtPrices
}

export interface StatementRow extends StatementSum {
  readonly claimedPerson?: string
  /** Units that ancestors paid for this budget's projects. The ancestors' rows count them, so totals do not. */
  readonly paidElsewhere: number
}

interface Line extends SummaryRow {
  readonly day: SummaryDay
  /** Not ended. */
  readonly open?: number
  readonly held?: number
  readonly inDoubt?: number
}

interface MonthLines {
  readonly summaries: readonly Summary[]
  readonly lines: readonly Line[]
  readonly entries: readonly Entry[]
  readonly book: Book | null
  readonly isStill: boolean
}

const pageSize = 100
const maxRounds = 3

export function createStatements(parts: { ledger: Ledger; log: Log; unitPrices?: UnitPrices | null }) {
  const { ledger, log, unitPrices = null } = parts

  /** `null`: no such month, or a later one. */
  async function statement(name: string | null, by: StatementKey): Promise<Statement | null> {
    const view = await ledger.view()
    const window = name === null ? view.month : monthNamed(view.definitions.calendar, name)
    if (!window || window.start > view.now) return null
    const days = daysOf(view, window)
    const seen = window.name === view.month.name ? view.stored : undefined
    const { calendar } = view.definitions
    const summed = async () => (await ledger.summaries.read(days)).map((summary) => believed(summary, view.now))
    const read = await linesOf(calendar, window, summed, seen)
    const counted = read.summaries.filter(({ mark }) => mark !== null)
    const month = { view, window, read, unitPrices }
    if (counted.length === 0 || statementOf(month, 'budget').addsUp !== false) return statementOf(month, by)
    const whole = await linesOf(calendar, window, async () => days.map(emptySummary))
    const again = { ...month, read: whole }
    if (statementOf(again, 'budget').addsUp) await countAgain(window, counted)
    return statementOf(again, by)
  }

  /** Reads again if the book moved, because lines and book must match. */
  async function linesOf(
    calendar: Calendar,
    window: Window,
    summed: () => Promise<readonly Summary[]>,
    seen?: Book | null,
  ): Promise<MonthLines> {
    let before = seen === undefined ? await ledger.bookNamed(window.name) : seen
    for (let round = 1; ; round++) {
      // Summaries are read after the book, because a correction changes both.
      const summaries = await summed()
      const [updates, entries] = await Promise.all([
        countedOn(ledger, summaries),
        all((cursor) => ledger.entries({ month: window.name }, pageSize, cursor)),
      ])
      const book = await ledger.bookNamed(window.name)
      const isStill = isDeepStrictEqual(before, book)
      const lines = [
        ...summaries.flatMap(({ day, rows }) =>
          rows.filter(({ month = day.month }) => month === window.name).map((row) => ({ ...row, day })),
        ),
        ...updates.filter(({ month }) => month === window.name).map((update) => lineOf(calendar, update)),
      ]
      if (isStill || round === maxRounds) return { summaries, lines, entries, book, isStill }
      before = book
    }
  }

  async function countAgain(window: Window, summaries: readonly Summary[]): Promise<void> {
    log.error('summary-not-ok', { month: window.name })
    await Promise.all(summaries.map((summary) => ledger.summaries.spoil(summary)))
  }

  return { statement }
}

/** Includes days around the month: approvals take up to a week, and clocks differ. */
function daysOf({ definitions, now }: View, { start, end }: Window): readonly SummaryDay[] {
  const since = Math.max(start - createdAroundMs, definitions.createdAt - dayMs)
  return summaryDays(definitions.calendar, { since, until: Math.min(end, now) + dayMs })
}

interface Month {
  readonly view: View
  readonly window: Window
  readonly read: MonthLines
  readonly unitPrices: UnitPrices | null
}

function statementOf(month: Month, by: StatementKey): Statement {
  const { window, unitPrices } = month
  const { definitions, now } = month.view
  const { lines, entries, book, isStill } = month.read
  const rows = rowsOf(month, by)
  const { paidElsewhere: _none, ...sums } = rows.reduce(sumOfRows, emptyRow(null))
  // Two observed budgets of a chain may count the same update.
  const total = {
    ...sums,
    ...lines.map(overLimits).reduce(bothOver, { wouldHaveRefused: 0, wouldHaveRefusedUnits: 0 }),
  }
  const tops = topsOf(definitions)
  const granted = entries.reduce((units, entry) => units + movedOnTops(tops, entry, 'granted'), 0)
  const spent = book ? spentOnTops(book, tops) : 0
  const isOpen = now < window.end || total.held + total.inDoubt > 0
  return {
    window,
    by,
    tagKeys: tagKeysOf(lines),
    rows,
    spent,
    previous: monthBefore(definitions.calendar, window).name,
    next: window.end <= now ? monthAfter(definitions.calendar, window).name : null,
    status: isOpen ? 'open' : 'final',
    currency: unitPrices?.currency ?? null,
    total: { ...total, granted },
    addsUp: total.charged + total.external === spent || (isStill ? false : null),
  }
}

const maxTagKeys = 100

const tagKeysOf = (lines: readonly Line[]): readonly string[] =>
  [...new Set(lines.flatMap(({ tags = {} }) => Object.keys(tags)))].toSorted().slice(0, maxTagKeys)

function rowsOf({ view, window, read, unitPrices }: Month, by: StatementKey): readonly StatementRow[] {
  const { definitions, now } = view
  const { lines, entries } = read
  const rows = new Map<string | null, StatementRow>()
  const add = (key: string | null, more: Partial<StatementRow>) =>
    rows.set(key, sumOfRows(rows.get(key) ?? emptyRow(key), more))
  for (const line of lines) {
    const { settled: updates = 0, charged = 0, held = 0, inDoubt = 0, owner } = line
    const atPrices = atPrice(priceOn(unitPrices, line.heldOn ?? line.day.name), charged)
    const figures = { updates, charged, refused: refusedIn(line), held, inDoubt, ...(charged > 0 && { atPrices }) }
    const claimedPerson = by === 'caller' && line.person !== undefined ? { claimedPerson: line.person } : {}
    if (line.budget !== unseenBudget) add(keyOf(definitions, by, line), { ...figures, ...claimedPerson })
    const observers = line.wouldHaveRefused ?? []
    const keys = by === 'budget' ? observers : observers.slice(0, 1).map(() => keyOf(definitions, by, line))
    for (const key of keys) add(key, overLimits(line))
    if (by === 'budget' && owner !== undefined && charged > 0) add(owner, { paidElsewhere: charged })
  }
  const firstOf = firstEntries(entries)
  const lastDay = dayAt(definitions.calendar, Math.min(now, window.end - 1)).name
  const priceOf = ({ type, units, day }: Entry): Price | undefined =>
    priceOn(unitPrices, type === 'reconcile' && units < 0 ? lastDay : day)
  for (const entry of entries) {
    const external = movedOnTops(topsOf(definitions), entry, 'spent')
    const first = firstOf(entry)
    const atPrices = atPrice(priceOf(first), external)
    if (external !== 0) add(by === 'budget' ? first.budget : null, { external, atPrices })
    if (by !== 'budget') continue
    for (const { budget, window, move } of entry.moves) {
      if (window === 'month' && move.granted) add(budget, { granted: move.granted })
    }
  }
  return [...rows.values()].toSorted((a, b) => (isBefore(a.key, b.key) ? -1 : 1))
}

/** A correction belongs to the budget and the day of the first entry. */
function firstEntries(entries: readonly Entry[]): (entry: Entry) => Entry {
  const named = new Map<string | undefined, Entry>(entries.map((entry) => [entry.id, entry]))
  const firstOf = (entry: Entry): Entry => {
    const corrected = named.get(entry.corrects)
    return corrected ? firstOf(corrected) : entry
  }
  return firstOf
}

/** As the list of updates counts them, but for what a plan found done: to a plan that is no refusal. */
const refusedIn = ({ refused = 0, upToDate = 0, plan }: Line): number => refused + (plan === undefined ? upToDate : 0)

/** Name and id share one key: the owner's name for the project. */
function keyOf(
  definitions: Definitions,
  by: StatementKey,
  { budget, project, caller, tags }: Pick<Line, 'budget' | 'project' | 'caller' | 'tags'>,
): string | null {
  const tag = tagKeyIn(by)
  if (tag !== null) return tagOf(tags, tag) ?? null
  if (by === 'budget') return budget
  if (by === 'caller') return caller
  return listingsOf(definitions, project)[0]?.project.name ?? project
}

function lineOf(calendar: Calendar, update: Update): Line {
  const { state, hold, month } = update
  const units = hold?.units ?? 0
  const day = summaryDayAt(calendar, update.createdAt)
  return {
    ...rowOf(update, { month, name: day.name }),
    day,
    held: state === 'running' ? units : 0,
    inDoubt: state === 'in-doubt' ? units : 0,
    open: isTerminal(state) ? 0 : 1,
  }
}

type OverLimits = Pick<StatementSum, 'wouldHaveRefused' | 'wouldHaveRefusedUnits'>

const overLimits = ({ wouldHaveRefused = [], charged = 0, ...line }: Line): OverLimits =>
  wouldHaveRefused.length > 0
    ? { wouldHaveRefused: heldIn(line) + (line.open ?? 0), wouldHaveRefusedUnits: charged }
    : { wouldHaveRefused: 0, wouldHaveRefusedUnits: 0 }

const bothOver = (a: OverLimits, b: OverLimits): OverLimits => ({
  wouldHaveRefused: a.wouldHaveRefused + b.wouldHaveRefused,
  wouldHaveRefusedUnits: a.wouldHaveRefusedUnits + b.wouldHaveRefusedUnits,
})

const figures = [
  ...(['updates', 'charged', 'external', 'granted', 'held', 'inDoubt', 'refused', 'paidElsewhere'] as const),
  ...(['wouldHaveRefused', 'wouldHaveRefusedUnits'] as const),
]

export const emptyRow = (key: string | null): StatementRow => ({
  ...{ key, updates: 0, charged: 0, external: 0, granted: 0, held: 0, inDoubt: 0, refused: 0, paidElsewhere: 0 },
  ...{ wouldHaveRefused: 0, wouldHaveRefusedUnits: 0, atPrices: new Map() },
})

export const sumOfRows = (a: StatementRow, b: Partial<StatementRow>): StatementRow => ({
  ...a,
  ...Object.fromEntries(figures.map((name) => [name, a[name] + (b[name] ?? 0)])),
  ...(b.claimedPerson !== undefined && { claimedPerson: b.claimedPerson }),
  ...(b.atPrices && { atPrices: addAtPrices(a.atPrices, b.atPrices) }),
})

const isBefore = (a: string | null, b: string | null): boolean => a !== null && (b === null || a < b)
