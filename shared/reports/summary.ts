import { isDeepStrictEqual } from 'node:util'
import { counterOf } from '../ledger/book/book.ts'
import type { View } from '../ledger/book/view.ts'
import { asNumber, usedOf } from '../ledger/definitions/counters.ts'
import {
  budgetNamed,
  chainOf,
  type Definitions,
  listingsOf,
  rootBudget,
  unseenBudget,
} from '../ledger/definitions/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { all, pagesOf } from '../ledger/store/pages.ts'
import { keptForDays } from '../ledger/store/stored.ts'
import { type SummaryDay, summaryDayAt, summaryDays } from '../ledger/updates/summary-days.ts'
import { isTerminal, tagEntries, type Update } from '../ledger/updates/update.ts'
import { dayMs, hourMs, minuteMs } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { believed, happenedAt, ranIn, rowOf, type UpdateRow } from './figures.ts'
import { lastsOf } from './last-updates.ts'
import {
  daySummaries,
  isComplete,
  type Spender,
  type Summary,
  type SummaryRow,
  summaryFigures,
  summaryPlace,
} from './stored-summary.ts'

/** A record may appear this late, because the estimate comes first and the index lags. */
const appearsWithinMs = 30 * minuteMs
const worthWriting = 100
const maxDays = 31

/** @param parts.maxRead updates per sweep. */
export const createSummaries = (parts: { ledger: Ledger; log: Log; pageSize?: number; maxRead?: number }) => ({
  keepSummaries: async () =>
    keepSummaries({ pageSize: 100, left: parts.maxRead ?? 10_000, view: await parts.ledger.view(), ...parts }),
})

export interface Round {
  readonly ledger: Ledger
  readonly log: Log
  readonly pageSize: number
  readonly view: View
  left: number
}

/** Writes missing or unfinished summaries, oldest first. */
async function keepSummaries(round: Round): Promise<void> {
  const { ledger, view } = round
  const { now, definitions } = view
  const { calendar, createdAt } = definitions
  const [place, unfinished] = await Promise.all([
    ledger.item(summaryPlace).read(),
    ledger.item(daySummaries).unfinished(),
  ])
  for (const start of unfinished) {
    if (place !== null && start < place) await keep(round, summaryDayAt(calendar, start))
  }
  const today = summaryDayAt(calendar, now)
  let next = place ?? Math.max(createdAt - dayMs, now - keptForDays * dayMs)
  // A sweep with a fast clock may have set the place to a future day.
  if (next > today.start) next = summaryDayAt(calendar, today.start - 1).start
  const until = Math.min(now, next + maxDays * dayMs - 1)
  for (const day of summaryDays(calendar, { since: next, until })) {
    if ((await keep(round, day)) && next >= day.start) next = day.end
  }
  if (next !== place) await ledger.item(summaryPlace).move(next, now)
}

/** Returns whether the summary counts each update of the day, or names it as open. */
async function keep(round: Round, day: SummaryDay): Promise<boolean> {
  const { ledger, log, view } = round
  const [stored] = round.left > 0 ? await ledger.item(daySummaries).read([day]) : []
  if (!stored) return false
  const seen = believed(stored, view.now)
  if (isComplete(seen) && seen.open.length === 0) return true
  const { news, ...next } = await brought(round, seen)
  const isFinished = isComplete(next) && (!isComplete(seen) || next.open.length < seen.open.length)
  const isMuch = news >= worthWriting || (news > 0 && round.left <= 0)
  const showsMore =
    next.duplicates !== seen.duplicates || (isUsed(next) && !isUsed(seen)) || tellsMoreOfBudgets(next, seen)
  if (!isFinished && !isMuch && !showsMore) return isComplete(seen)
  const outcome = await ledger.item(daySummaries).write(next)
  if (outcome === 'too-large') log.info('summary-too-large', { day: day.name, rows: next.rows.length })
  return outcome === 'too-large' || (outcome === 'written' && isComplete(next))
}

const isUsed = ({ used }: Summary): boolean => Object.keys(used).length > 0

/** Adds later updates to a summary. `news`: how many updates came or ended since. */
export async function brought(round: Round, seen: Summary): Promise<Summary & { news: number }> {
  const { ledger, view } = round
  const [named, { found, readUntil }] = await Promise.all([ledger.updatesNamed(seen.open), createdAfter(round, seen)])
  const until = Math.max(seen.until, Math.min(readUntil, view.now - appearsWithinMs))
  const known = named.filter((update) => update !== null)
  const updates = [...known, ...found]
  const rowFor = await rowsFor(ledger, seen.day, updates)
  const due = updates.filter(({ createdAt }) => createdAt <= until)
  const ended = due.filter(({ state }) => isTerminal(state))
  const rows = merged([...seen.rows, ...ended.map(rowFor)])
  const others = updates.filter(({ state, createdAt }) => createdAt > until || !isTerminal(state))
  const shown = [...rows, ...others.map(rowFor)]
  return {
    ...seen,
    until,
    rows,
    at: view.now,
    open: due.filter(({ state }) => !isTerminal(state)).map(({ id }) => id),
    used: isUsed(seen) ? seen.used : await usedBefore(round, seen.day),
    duplicates: shown.reduce((sum, { duplicates = 0 }) => sum + duplicates, 0),
    saved: shown.reduce((sum, { saved = 0 }) => sum + saved, 0),
    planned: plannedIn(view.definitions, seen.day, shown),
    spenders: spendersOf(rows, seen.day),
    unlisted: unlistedOf(view.definitions, rows),
    ...lastsOf(view.definitions, updates, seen),
    lastAt: Math.max(seen.lastAt, ...ended.map(happenedAt)),
    news: due.length - known.filter(({ state }) => !isTerminal(state)).length,
  }
}

async function createdAfter(round: Round, { until, day }: Summary) {
  const found: Update[] = []
  const span = { since: until + 1, until: Math.min(round.view.now, day.end - 1) }
  if (span.since > span.until) return { found, readUntil: span.until }
  for await (const page of pagesOf((cursor) => round.ledger.updatesFrom(span, round.pageSize, cursor))) {
    // Thousands of service answers would fill the memory.
    found.push(...page.rows.map(({ service: _service, ...update }) => update))
    round.left -= page.rows.length
    if (page.next === undefined) return { found, readUntil: span.until }
    if (round.left <= 0) break
  }
  // The next page may start in the same millisecond.
  const readUntil = (found.at(-1)?.createdAt ?? span.until) - 1
  return { found: found.filter(({ createdAt }) => createdAt <= readUntil), readUntil }
}

async function rowsFor(ledger: Ledger, day: SummaryDay, updates: readonly Update[]) {
  const named = await ledger.updatesNamed([...new Set(updates.flatMap((update) => duplicateOf(update) ?? []))])
  const known = new Map(named.map((update) => [update?.id, update]))
  return (update: Update): UpdateRow => {
    const id = duplicateOf(update)
    const earlier = known.get(id ?? undefined)
    const isOwn = update.plan !== undefined && earlier?.plan === update.plan
    if (id === null || isOwn) return rowOf(update, day)
    return { ...rowOf(update, day), duplicates: 1, saved: earlier?.charged ?? earlier?.hold?.units ?? 0 }
  }
}

/** A plan that finds its own earlier work saves nothing. */
function duplicateOf({ problem, again }: Update): string | null {
  if (again) return null
  const isDuplicate = problem?.slug === 'already-updated' || problem?.slug === 'duplicate-work'
  const earlier = problem?.members.update
  return isDuplicate && typeof earlier === 'string' ? earlier : null
}

/** Sums of the rows that are equal in all but their figures. The latest price counts. */
export function merged(rows: readonly SummaryRow[]): SummaryRow[] {
  const sums = new Map<string, SummaryRow>()
  for (const row of rows) {
    const { budget, project, listed, caller, person, kind, via, plan, owner, above, month, heldOn } = row
    const who = [caller, person, via, plan]
    const what = [budget, project, listed?.name, listed?.id, kind, owner, above, month, heldOn]
    const key = JSON.stringify([who, what, tagEntries(row.tags), row.wouldHaveRefused])
    const before = sums.get(key)
    sums.set(key, before ? added(before, row) : row)
  }
  return [...sums.values()]
}

function added(a: SummaryRow, b: SummaryRow): SummaryRow {
  const sums = summaryFigures.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)] as const)
  return {
    ...a,
    ...(b.price !== undefined && { price: b.price }),
    ...Object.fromEntries(sums.filter(([, sum]) => sum !== 0)),
  }
}

/** Computes each budget's use and limit at yesterday's end from the present figures, so that a late sweep agrees. */
async function usedBefore({ ledger, view }: Round, day: SummaryDay): Promise<Summary['used']> {
  const { book, definitions, now } = view
  const today = summaryDayAt(definitions.calendar, now)
  if (day.end !== today.start || day.month !== today.month || book.day !== today.name) return {}
  const sinceThen = { month: today.month, since: today.start }
  const entries = await all((cursor) => ledger.entries(sinceThen, 100, cursor))
  const changed = entries.flatMap(({ changed = [] }) => changed)
  const isNew = (budget: string) =>
    changed.some(({ kind, name, how }) => kind === 'budget' && how === 'made' && name === budget)
  const moves = entries.flatMap(({ moves }) => moves).filter(({ window }) => window === 'month')
  const addedTo = (budget: string) =>
    moves
      .filter((each) => each.budget === budget)
      .reduce((sum, { move: { limit = 0, granted = 0 } }) => sum + limit + granted, 0)
  return Object.fromEntries(
    Object.keys(definitions.budgets).flatMap((budget) => {
      const month = counterOf(book, 'month', budget)
      const ofToday = counterOf(book, 'day', budget)
      if (!month || isNew(budget)) return []
      const used = usedOf(month) - (ofToday ? usedOf(ofToday) : 0)
      const limit =
        month.limit === 'unlimited' ? {} : { limit: asNumber(month.limit) + month.granted - addedTo(budget) }
      return [[budget, { used, ...limit }]]
    }),
  )
}

/** The units that plans charged or still hold, by budget. */
function plannedIn(definitions: Definitions, { month }: SummaryDay, rows: readonly UpdateRow[]) {
  const units = new Map<string, number>()
  for (const { plan, budget, charged = 0, held = 0, ...row } of rows) {
    const more = plan !== undefined && (row.month ?? month) === month ? charged + held : 0
    for (const name of more > 0 ? namesOfChain(definitions, budget) : []) units.set(name, (units.get(name) ?? 0) + more)
  }
  return Object.fromEntries(units)
}

/** A deleted budget counts in the root alone. */
const namesOfChain = (definitions: Definitions, budget: string): readonly string[] =>
  budgetNamed(definitions, budget) ? chainOf(definitions, budget).map(({ name }) => name) : [rootBudget]

const maxSpenders = 50

/** Bounded, because reports add up the days of a month, and there may be many callers. */
export function spendersOf(rows: readonly SummaryRow[], { month }: SummaryDay): readonly Spender[] {
  const spenders = new Map<string, Spender>()
  for (const { caller, person, plan, charged = 0, ...row } of rows) {
    if (charged === 0 || row.budget === unseenBudget || (row.month ?? month) !== month) continue
    const key = JSON.stringify([caller, person, plan])
    const units = charged + (spenders.get(key)?.units ?? 0)
    spenders.set(key, { caller, ...(person !== undefined && { person }), ...(plan !== undefined && { plan }), units })
  }
  return [...spenders.values()].toSorted((a, b) => b.units - a.units).slice(0, maxSpenders)
}

const maxUnlisted = 50

/** The list is bounded, as in `spendersOf`. */
const unlistedOf = (definitions: Definitions, rows: readonly SummaryRow[]): readonly string[] =>
  ranIn(rows)
    .filter((project) => listingsOf(definitions, project).length === 0)
    .slice(0, maxUnlisted)

/** Plans' charges and a budget's first run are written at once. Another price or refusal may wait for an hour. */
function tellsMoreOfBudgets(next: Summary, seen: Summary): boolean {
  if (!isDeepStrictEqual(next.planned, seen.planned ?? {})) return true
  const isLate = next.at - seen.at >= hourMs
  const differs = (now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) =>
    Object.entries(now).some(([budget, one]) => !Object.hasOwn(before, budget) || (isLate && before[budget] !== one))
  return (
    differs(eachOf(next.lastRuns, 'units'), eachOf(seen.lastRuns, 'units')) ||
    differs(eachOf(next.lastRefused, 'at'), eachOf(seen.lastRefused, 'at'))
  )
}

const eachOf = <Name extends string>(map: Readonly<Record<string, Readonly<Record<Name, number>>>>, name: Name) =>
  Object.fromEntries(Object.entries(map).map(([budget, each]) => [budget, each[name]]))
