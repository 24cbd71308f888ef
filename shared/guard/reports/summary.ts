import { asNumber, counterOf, usedOf } from '../../ledger/book/book.ts'
import { callerOfCounter, rootBudget } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { keptForDays } from '../../ledger/stored.ts'
import { isKnownToHaveRun, isTerminal, tagEntries, type Update, wasUpToDate } from '../../ledger/updates/update.ts'
import type { Span } from '../../ledger/views/lists.ts'
import { all, pagesOf } from '../../ledger/views/pages.ts'
import {
  emptySummary,
  isComplete,
  type Summary,
  type SummaryDay,
  type SummaryRow,
  summaryDayAt,
  summaryDays,
  summaryFigures,
} from '../../ledger/views/summary.ts'
import type { View } from '../../ledger/views/views.ts'
import { dayMs, minuteMs } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import {
  happenedAt,
  lastRunsOf,
  plannedIn,
  shortSinceOf,
  spendersOf,
  tellsMoreOfBudgets,
  unlistedOf,
} from './day-of-budgets.ts'

/** A record may appear this late, because the estimate comes first and the index lags. */
const appearsWithinMs = 30 * minuteMs
const clocksDifferMs = minuteMs
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
  const [place, unfinished] = await Promise.all([ledger.summaries.place(), ledger.summaries.unfinished()])
  for (const start of unfinished) {
    if (place !== null && start < place) await keep(round, summaryDayAt(calendar, start))
  }
  const today = summaryDayAt(calendar, now)
  let next = place ?? Math.max(createdAt - dayMs, now - keptForDays * dayMs)
  // A sweep with a fast clock left a place in the future.
  if (next > today.start) next = summaryDayAt(calendar, today.start - 1).start
  const until = Math.min(now, next + maxDays * dayMs - 1)
  for (const day of summaryDays(calendar, { since: next, until })) {
    if ((await keep(round, day)) && next >= day.start) next = day.end
  }
  if (next !== place) await ledger.summaries.movePlace(next, now)
}

/** Whether the summary counts each update of the day, or names it as open. */
async function keep(round: Round, day: SummaryDay): Promise<boolean> {
  const { ledger, log, view } = round
  const [stored] = round.left > 0 ? await ledger.summaries.read([day]) : []
  if (!stored) return false
  const seen = believed(stored, view.now)
  if (isComplete(seen) && seen.open.length === 0) return true
  const { news, ...next } = await brought(round, seen)
  const isFinished = isComplete(next) && (!isComplete(seen) || next.open.length < seen.open.length)
  const isMuch = news >= worthWriting || (news > 0 && round.left <= 0)
  const showsMore =
    next.duplicates !== seen.duplicates || (isUsed(next) && !isUsed(seen)) || tellsMoreOfBudgets(next, seen)
  if (!isFinished && !isMuch && !showsMore) return isComplete(seen)
  const outcome = await ledger.summaries.write(next)
  if (outcome === 'too-large') log.info('summary-too-large', { day: day.name, rows: next.rows.length })
  return outcome === 'too-large' || (outcome === 'written' && isComplete(next))
}

const isUsed = ({ used }: Summary): boolean => Object.keys(used).length > 0

/** `news` counts the updates that came or ended since. */
export async function brought(round: Round, seen: Summary): Promise<Summary & { news: number }> {
  const { ledger, view } = round
  const [named, { found, readUntil }] = await Promise.all([ledger.updatesNamed(seen.open), createdAfter(round, seen)])
  const until = Math.max(seen.until, Math.min(readUntil, view.now - appearsWithinMs))
  const known = named.filter((update) => update !== null)
  const rowFor = await rowsFor(ledger, seen.day, [...known, ...found])
  const due = [...known, ...found.filter(({ createdAt }) => createdAt <= until)]
  const open = due.filter(({ state }) => !isTerminal(state)).map(({ id }) => id)
  const ended = due.filter(({ state }) => isTerminal(state))
  const rows = merged([...seen.rows, ...ended.map(rowFor)])
  const shown = [...rows, ...found.filter(({ createdAt }) => createdAt > until).map(rowFor)]
  const seenNow = [...known, ...found]
  const lastRuns = lastRunsOf(seen.lastRuns, seenNow)
  return {
    ...seen,
    ...{ until, rows, open, at: view.now },
    used: isUsed(seen) ? seen.used : await usedBefore(round, seen.day),
    duplicates: shown.reduce((sum, { duplicates = 0 }) => sum + duplicates, 0),
    saved: shown.reduce((sum, { saved = 0 }) => sum + saved, 0),
    planned: plannedIn(view.definitions, seen.day, shown, seenNow),
    lastRuns,
    spenders: spendersOf(rows, seen.day),
    unlisted: unlistedOf(view.definitions, rows),
    shortSince: shortSinceOf(seen.shortSince, lastRuns, seenNow),
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
  return (update: Update): SummaryRow => {
    const id = duplicateOf(update)
    const earlier = known.get(id ?? undefined)
    const isOwn = update.plan !== undefined && earlier?.plan === update.plan
    if (id === null || isOwn) return rowOf(update, day)
    return { ...rowOf(update, day), duplicates: 1, saved: earlier?.charged ?? earlier?.hold?.units ?? 0 }
  }
}

export interface Recent {
  /** Of the view's month, and at least of the last 30 days; without all rows. */
  summaries: (view: View) => Promise<readonly Summary[]>
  /** The latest updates, of which no summary knows; the newest first. */
  updates: (view: View) => Promise<readonly Update[]>
}

const recentMs = 30 * dayMs
const maxRecentUpdates = 200

/** Reads once for all that one view shows. */
export function createRecent({ ledger }: { ledger: Ledger }): Recent {
  const summaries = oncePerView(async ({ definitions, month, now }) => {
    const since = Math.max(definitions.createdAt - dayMs, Math.min(month.start, now - recentMs))
    const days = summaryDays(definitions.calendar, { since, until: now })
    return (await ledger.summaries.read(days, { withRows: false })).map((summary) => believed(summary, now))
  })
  const updates = oncePerView(async (view) => {
    const [gap] = gapsIn(await summaries(view))
    return gap ? (await ledger.updates({ since: gap.since, until: view.now }, maxRecentUpdates)).rows : []
  })
  return { summaries, updates }
}

function oncePerView<T>(read: (view: View) => Promise<T>): (view: View) => Promise<T> {
  const readings = new WeakMap<View, Promise<T>>()
  return (view) => {
    const reading = readings.get(view) ?? read(view)
    readings.set(view, reading)
    return reading
  }
}

/** Ignores a summary that a sweep with a fast clock wrote. */
export const believed = (summary: Summary, now: number): Summary =>
  summary.at <= now + clocksDifferMs ? summary : { ...emptySummary(summary.day), mark: summary.mark }

export function gapsIn(summaries: readonly Summary[]): Span[] {
  const gaps: { since: number; until: number }[] = []
  for (const { until, day } of summaries) {
    if (until >= day.end - 1) continue
    const last = gaps.at(-1)
    if (last?.until === until) last.until = day.end - 1
    else gaps.push({ since: until + 1, until: day.end - 1 })
  }
  return gaps
}

export async function countedOn(ledger: Ledger, summaries: readonly Summary[]): Promise<readonly Update[]> {
  const [named, ...found] = await Promise.all([
    ledger.updatesNamed(summaries.flatMap(({ open }) => open)),
    ...gapsIn(summaries).map((span) => all((cursor) => ledger.updates(span, 100, cursor))),
  ])
  return [...named.filter((update) => update !== null), ...found.flat()]
}

export function rowOf(update: Update, day: Pick<SummaryDay, 'month' | 'name'>): SummaryRow {
  const { budget, project, caller, kind, token, via, plan, tags, state, charged = 0, hold, wouldHaveRefused } = update
  const owner = hold?.owners?.[0] ?? update.owner ?? budget
  const above = (hold?.budgets ?? []).filter((name) => ![budget, rootBudget].includes(name) && !callerOfCounter(name))
  return {
    ...{ budget, project, caller, kind, via },
    ...(token?.person !== undefined && { person: token.person }),
    ...(plan !== undefined && { plan }),
    ...(owner !== budget && { owner }),
    ...(above.length > 0 && { above }),
    ...(update.month !== day.month && { month: update.month }),
    ...(wouldHaveRefused && {
      wouldHaveRefused: [...new Set(wouldHaveRefused.map(({ budget }) => budget))].toSorted(),
    }),
    ...(isTerminal(state) && { [wasUpToDate(update) ? 'upToDate' : state]: 1 }),
    ...(charged > 0 && { charged }),
    ...(charged > 0 && hold && hold.day !== day.name && { heldOn: hold.day }),
    ...(isKnownToHaveRun(update) && { price: charged }),
    ...(tags && { tags }),
  }
}

/** How many ended updates of a row had a hold. */
export const heldIn = ({ settled = 0, released = 0 }: Pick<SummaryRow, 'settled' | 'released'>): number =>
  settled + released

/** A plan that looks again for its own work saves nothing. */
function duplicateOf({ problem, again }: Update): string | null {
  if (again) return null
  const isDuplicate = problem?.slug === 'already-updated' || problem?.slug === 'duplicate-work'
  const earlier = problem?.members.update
  return isDuplicate && typeof earlier === 'string' ? earlier : null
}

function merged(rows: readonly SummaryRow[]): SummaryRow[] {
  const sums = new Map<string, SummaryRow>()
  for (const row of rows) {
    const { budget, project, caller, kind, via, plan, owner, above, month, heldOn, tags, wouldHaveRefused } = row
    const names = [budget, project, caller, kind, via, plan, owner, above, month, heldOn]
    const key = JSON.stringify([...names, tagEntries(tags), wouldHaveRefused])
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

export interface Saved {
  readonly updates: number
  readonly units: number
}

export function savedIn({ month }: Pick<View, 'month'>, summaries: readonly Summary[]): Saved | null {
  const counted = summaries.filter(({ day, mark }) => day.month === month.name && mark !== null)
  const sum = (of: (summary: Summary) => number) => counted.reduce((total, summary) => total + of(summary), 0)
  return counted.length === 0
    ? null
    : { updates: sum(({ duplicates }) => duplicates), units: sum(({ saved }) => saved) }
}
