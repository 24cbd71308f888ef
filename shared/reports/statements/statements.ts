import { isDeepStrictEqual } from 'node:util'
import { atPrice, inMoney, type Price, priceOn, type UnitPrices } from '../../guard/money.ts'
import type { Figures } from '../../guard/sentences.ts'
import { spentOnTops } from '../../ledger/book/book.ts'
import { type Entry, movedOnTops } from '../../ledger/book/entry.ts'
import type { View } from '../../ledger/book/view.ts'
import { type Definitions, isWithin, projectName, topsOf, unseenBudget } from '../../ledger/definitions/definitions.ts'
import { dayAt, monthAfter, monthBefore, monthNamed, type Window } from '../../ledger/definitions/windows.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { all } from '../../ledger/store/pages.ts'
import { summaryDays } from '../../ledger/updates/summary-days.ts'
import { createdAroundMs, type Hold, tagOf, type Update } from '../../ledger/updates/update.ts'
import { dayMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type StatementKey, tagKeyIn } from '../../platform/words.ts'
import { type FigureRow, figuresOf, recordsOf, summariesOf } from '../figures.ts'
import { daySummaries, emptySummary, type Summary } from '../stored-summary.ts'
import { withFinalNames } from './final-names.ts'
import { emptyRow, type StatementRow, type StatementSum, sumOfRows } from './statement-rows.ts'

/** By budget, such as `23.04 EUR`. Lacks budgets that spent nothing, and budgets whose cost is unknown. */
export type SpentCosts = ReadonlyMap<string, string>

/** The reasons why a month is not final. */
export interface NotFinal {
  readonly isOver: boolean
  /** Updates that hold units or are in doubt, the newest first. */
  readonly updates: readonly HoldingUpdate[]
}

type HoldingUpdate = Update & { readonly state: 'running' | 'in-doubt'; readonly hold: Hold }

const holdsUnits = (update: Update): update is HoldingUpdate =>
  (update.state === 'running' || update.state === 'in-doubt') && Boolean(update.hold?.units)

/** The rows add up to the month's book. */
export interface Statement {
  readonly window: Window
  readonly previous: string
  readonly next: string | null
  readonly status: 'open' | 'final'
  readonly notFinal: NotFinal
  /** When an administrator last corrected the month after its end. `null`: never. */
  readonly correctedAt: number | null
  readonly by: StatementKey
  /** Keys of the month's tags, in order. */
  readonly tagKeys: readonly string[]
  readonly rows: readonly StatementRow[]
  readonly total: StatementSum
  /** The book's figure: charged plus external. `addsUp: null`: the book moved meanwhile. */
  readonly spent: number
  readonly addsUp: boolean | null
  /** The currency of `atPrices`. `null`: no price is set. */
  readonly currency: string | null
}

const pageSize = 100
const maxRounds = 3

export function createStatements(parts: { ledger: Ledger; log: Log; unitPrices?: UnitPrices | null }) {
  const { ledger, log, unitPrices = null } = parts

  /** `null`: not a month, or a future month. */
  async function statement(name: string | null, by: StatementKey): Promise<Statement | null> {
    const view = await ledger.view()
    const window = name === null ? view.month : monthNamed(view.definitions.calendar, name)
    if (!window || window.start > view.now) return null
    const span = spanOf(view, window)
    const read = await readMonth(ledger, view, window, () => summariesOf(ledger, view, span))
    const counted = read.summaries.filter(({ mark }) => mark !== null)
    const isWrong = (month: MonthReading) => statementOf(month, 'budget', unitPrices).addsUp === false
    if (counted.length === 0 || !isWrong(read)) return statementOf(read, by, unitPrices)
    const days = summaryDays(view.definitions.calendar, span)
    const again = await readMonth(ledger, view, window, async () => days.map(emptySummary))
    if (statementOf(again, 'budget', unitPrices).addsUp) {
      log.error('summary-not-ok', { month: window.name })
      await Promise.all(counted.map((summary) => ledger.item(daySummaries).spoil(summary)))
    }
    return statementOf(again, by, unitPrices)
  }

  /** Reads the month's statement only if the price changed in the month. */
  async function spentCosts(view: View, figures: readonly Figures[], month: Window = view.month): Promise<SpentCosts> {
    const costs = new Map<string, string>()
    if (!unitPrices) return costs
    const priceAt = (at: number) => priceOn(unitPrices, dayAt(view.definitions.calendar, at).name)
    const price = priceAt(Math.min(view.now, month.end - 1))
    const read = price === priceAt(month.start) ? null : await statement(month.name, 'budget')
    for (const { budget, spent } of figures) {
      const within = read && sumWithin(view, read, budget)
      const isKnown = !within || within.charged + within.external === spent
      const cost = inMoney(within?.atPrices ?? atPrice(price, spent), unitPrices.currency)
      if (spent !== 0 && isKnown && cost !== null) costs.set(budget, cost)
    }
    return costs
  }

  return { statement, spentCosts }
}

/** Reads again if the book moved, because figures and book must match. */
async function readMonth(ledger: Ledger, view: View, window: Window, summed: () => Promise<readonly Summary[]>) {
  let before = window.name === view.month.name ? view.stored : await ledger.bookNamed(window.name)
  for (let round = 1; ; round++) {
    // Summaries are read after the book, because a correction changes both.
    const summaries = await summed()
    const [updates, entries] = await Promise.all([
      recordsOf(ledger, summaries),
      all((cursor) => ledger.entries({ month: window.name }, pageSize, cursor)),
    ])
    const book = await ledger.bookNamed(window.name)
    const isStill = isDeepStrictEqual(before, book)
    const figures = figuresOf(summaries, updates).filter(({ month }) => month === window.name)
    const notFinal = notFinalOf(view, window, updates)
    if (isStill || round === maxRounds) return { view, window, summaries, figures, entries, notFinal, book, isStill }
    before = book
  }
}

/** @param updates at least the updates that run or are in doubt. */
const notFinalOf = ({ now }: View, { name, end }: Window, updates: readonly Update[]): NotFinal => ({
  isOver: now >= end,
  updates: updates
    .filter(({ month, budget }) => month === name && budget !== unseenBudget)
    .filter(holdsUnits)
    .toSorted((a, b) => b.createdAt - a.createdAt),
})

export const isFinal = ({ isOver, updates }: NotFinal): boolean => isOver && updates.length === 0

/** Entries of the guard itself, which have no content of a request, belong to updates that end late. */
function correctedAtIn(entries: readonly Entry[], { end }: Pick<Window, 'end'>): number | null {
  const corrections = entries.filter(
    ({ type, at, content }) => type === 'correction' && content !== undefined && at >= end,
  )
  return corrections.length === 0 ? null : Math.max(...corrections.map(({ at }) => at))
}

type MonthReading = Awaited<ReturnType<typeof readMonth>>

/** The sum of a budget and all budgets below. Differs from the counter if a budget below was deleted or moved. */
function sumWithin({ definitions }: View, { rows, total }: Statement, name: string): StatementSum {
  const tops = topsOf(definitions)
  if (tops.length === 1 && tops[0] === name) return total
  return rows.filter(({ key }) => key !== null && isWithin(definitions, key, name)).reduce(sumOfRows, emptyRow(name))
}

/** Includes days around the month: approvals take up to a week, and clocks differ. */
const spanOf = ({ definitions, now }: View, { start, end }: Window) => ({
  since: Math.max(start - createdAroundMs, definitions.createdAt - dayMs),
  until: Math.min(end, now) + dayMs,
})

function statementOf(month: MonthReading, by: StatementKey, unitPrices: UnitPrices | null): Statement {
  const { view, window, figures, entries, notFinal, book, isStill } = month
  const { definitions, now } = view
  const rows = rowsOf(month, by, unitPrices)
  const {
    paidElsewhere: _none,
    claimedPerson: _person,
    listedNow: _now,
    ...sums
  } = rows.reduce(sumOfRows, emptyRow(null))
  // Two observed budgets of a chain may count the same update.
  const { wouldHaveRefused, wouldHaveRefusedUnits } = figures.map(overLimits).reduce(sumOfRows, emptyRow(null))
  const tops = topsOf(definitions)
  const granted = entries.reduce((units, entry) => units + movedOnTops(tops, entry, 'granted'), 0)
  const total = { ...sums, granted, wouldHaveRefused, wouldHaveRefusedUnits }
  const spent = book ? spentOnTops(book, tops) : 0
  return {
    window,
    by,
    rows,
    spent,
    total,
    tagKeys: [...new Set(figures.flatMap(({ tags = {} }) => Object.keys(tags)))].toSorted().slice(0, maxTagKeys),
    previous: monthBefore(definitions.calendar, window).name,
    next: window.end <= now ? monthAfter(definitions.calendar, window).name : null,
    status: isFinal(notFinal) ? 'final' : 'open',
    notFinal,
    correctedAt: correctedAtIn(entries, window),
    currency: unitPrices?.currency ?? null,
    addsUp: total.charged + total.external === spent || (isStill ? false : null),
  }
}

const maxTagKeys = 100

function rowsOf(month: MonthReading, by: StatementKey, unitPrices: UnitPrices | null): readonly StatementRow[] {
  const { view, window, figures, entries, notFinal } = month
  const { definitions, now } = view
  const rows = new Map<string | null, StatementRow>()
  const add = (key: string | null, more: Partial<StatementRow>) =>
    rows.set(key, sumOfRows(rows.get(key) ?? emptyRow(key), more))
  for (const row of figures) {
    const { settled: updates = 0, charged = 0, held = 0, heldOn = '', state, owner, person } = row
    const key = keyOf(definitions, by, row)
    if (row.budget !== unseenBudget) {
      add(key, {
        updates,
        charged,
        refused: refusedIn(row),
        held: state === 'running' ? held : 0,
        inDoubt: state === 'in-doubt' ? held : 0,
        ...(charged > 0 && { atPrices: atPrice(priceOn(unitPrices, heldOn), charged) }),
        ...(by === 'caller' && person !== undefined && { claimedPerson: person }),
      })
    }
    const observers = row.wouldHaveRefused ?? []
    for (const each of by === 'budget' ? observers : observers.slice(0, 1).map(() => key)) add(each, overLimits(row))
    if (by === 'budget' && owner !== undefined && charged > 0) add(owner, { paidElsewhere: charged })
  }
  const firstOf = firstEntries(entries)
  /** Units that account keeps cost what the correction gives back. */
  const keptBy = ({ keptFor }: Entry) => entries.find(({ id }) => id === keptFor)
  const lastDay = dayAt(definitions.calendar, Math.min(now, window.end - 1)).name
  const priceOf = ({ type, units, day }: Entry): Price | undefined =>
    priceOn(unitPrices, type === 'reconcile' && units < 0 ? lastDay : day)
  for (const entry of entries) {
    const external = movedOnTops(topsOf(definitions), entry, 'spent')
    const first = firstOf(entry)
    const atPrices = atPrice(priceOf(firstOf(keptBy(first) ?? first)), external)
    if (external !== 0) add(by === 'budget' ? first.budget : null, { external, atPrices })
    if (by !== 'budget') continue
    for (const { budget, window, move } of entry.moves) {
      if (window === 'month' && move.granted) add(budget, { granted: move.granted })
    }
  }
  const all = [...rows.values()]
  const named = by === 'project' && isFinal(notFinal) ? withFinalNames(all, definitions, figures) : all
  return named.toSorted((a, b) => (isBefore(a.key, b.key) ? -1 : 1))
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

/** Agrees with the list of updates. For a plan, work that was already done is not a refusal. */
const refusedIn = ({ refused = 0, upToDate = 0, plan }: FigureRow): number =>
  refused + (plan === undefined ? upToDate : 0)

/** Name and id share one key: the owner's name for the project. */
function keyOf(definitions: Definitions, by: StatementKey, row: FigureRow): string | null {
  const { budget, caller, tags } = row
  const tag = tagKeyIn(by)
  if (tag !== null) return tagOf(tags, tag) ?? null
  if (by === 'budget') return budget
  if (by === 'caller') return caller
  return projectName(definitions, row)
}

const overLimits = ({ wouldHaveRefused = [], settled = 0, released = 0, state, charged = 0 }: FigureRow) =>
  wouldHaveRefused.length === 0
    ? {}
    : { wouldHaveRefused: settled + released + (state ? 1 : 0), wouldHaveRefusedUnits: charged }

const isBefore = (a: string | null, b: string | null): boolean => a !== null && (b === null || a < b)
