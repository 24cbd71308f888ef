import { asNumber, counterOf, usedOf } from '../../ledger/book/book.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { keptForDays } from '../../ledger/stored.ts'
import { isKnownToHaveRun, isTerminal, type Update, wasUpToDate } from '../../ledger/updates/update.ts'
import { all, pagesOf, type Span } from '../../ledger/views/lists.ts'
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

/**
 * An update's `createdAt` is taken before its record appears: between them lies its estimate, in a function that may live
 * for a quarter of an hour, and then the index lags. What is younger than this may have neighbours yet to appear.
 */
const appearsWithinMs = 30 * minuteMs
/** Clocks of two processes differ by less. */
const clocksDifferMs = minuteMs
/** A day that has not ended is written for so many updates; readers add fewer from the records. */
const worthWriting = 100
/** A sweep that finds more days unwritten leaves them to the next one. */
const maxDays = 31

/** @param parts.maxRead no sweep reads more updates but for the rest of a page: some seconds. The next one continues. */
export const createSummaries = (parts: { ledger: Ledger; log: Log; pageSize?: number; maxRead?: number }) => ({
  keepSummaries: async () =>
    keepSummaries({ pageSize: 100, left: parts.maxRead ?? 10_000, view: await parts.ledger.view(), ...parts }),
})

/** One sweep: what it has seen of the book, and how many more updates it may read. */
interface Round {
  readonly ledger: Ledger
  readonly log: Log
  readonly pageSize: number
  readonly view: View
  left: number
}

/** Writes the summaries that are missing or not finished, the oldest first. */
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
  // A sweep as of a later time has left its place, and days that have not ended.
  if (next > today.start) next = summaryDayAt(calendar, today.start - 1).start
  const until = Math.min(now, next + maxDays * dayMs - 1)
  for (const day of summaryDays(calendar, { since: next, until })) {
    if ((await keep(round, day)) && next >= day.start) next = day.end
  }
  if (next !== place) await ledger.summaries.movePlace(next, now)
}

/** Whether each update of the day is counted, or named as open. */
async function keep(round: Round, day: SummaryDay): Promise<boolean> {
  const { ledger, log, view } = round
  const [stored] = round.left > 0 ? await ledger.summaries.read([day]) : []
  if (!stored) return false
  const seen = believed(stored, view.now)
  if (isComplete(seen) && seen.open.length === 0) return true
  const { news, ...next } = await brought(round, seen)
  const isFinished = isComplete(next) && (!isComplete(seen) || next.open.length < seen.open.length)
  const isMuch = news >= worthWriting || (news > 0 && round.left <= 0)
  const showsMore = next.duplicates !== seen.duplicates || (isUsed(next) && !isUsed(seen))
  if (!isFinished && !isMuch && !showsMore) return isComplete(seen)
  const outcome = await ledger.summaries.write(next)
  if (outcome === 'too-large') log.info('summary-too-large', { day: day.name, rows: next.rows.length })
  return outcome === 'too-large' || (outcome === 'written' && isComplete(next))
}

const isUsed = ({ used }: Summary): boolean => Object.keys(used).length > 0

/** The summary as it would be written now; `news`: so many updates have come, or have ended since. */
async function brought(round: Round, seen: Summary): Promise<Summary & { news: number }> {
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
  return {
    ...seen,
    ...{ until, rows, open, at: view.now },
    used: isUsed(seen) ? seen.used : usedBefore(view, seen.day),
    duplicates: shown.reduce((sum, { duplicates = 0 }) => sum + duplicates, 0),
    saved: shown.reduce((sum, { saved = 0 }) => sum + saved, 0),
    lastAt: Math.max(seen.lastAt, ...ended.map(happenedAt)),
    news: due.length - known.filter(({ state }) => !isTerminal(state)).length,
  }
}

/** What was created on the day and is not counted, the oldest first; `readUntil`: how far this sweep gets. */
async function createdAfter(round: Round, { until, day }: Summary) {
  const found: Update[] = []
  const span = { since: until + 1, until: Math.min(round.view.now, day.end - 1) }
  if (span.since > span.until) return { found, readUntil: span.until }
  for await (const page of pagesOf((cursor) => round.ledger.updatesFrom(span, round.pageSize, cursor))) {
    // Without the service's answers, of which thousands would fill the memory.
    found.push(...page.rows.map(({ service: _service, ...update }) => update))
    round.left -= page.rows.length
    if (page.next === undefined) return { found, readUntil: span.until }
    if (round.left <= 0) break
  }
  // The next page may begin with others of the same millisecond.
  const readUntil = (found.at(-1)?.createdAt ?? span.until) - 1
  return { found: found.filter(({ createdAt }) => createdAt <= readUntil), readUntil }
}

/** The rows of these updates, with what refused duplicates have saved. */
async function rowsFor(ledger: Ledger, { month }: SummaryDay, updates: readonly Update[]) {
  const named = await ledger.updatesNamed([...new Set(updates.flatMap((update) => duplicateOf(update) ?? []))])
  const cost = new Map(named.map((update) => [update?.id, update?.charged ?? update?.hold?.units ?? 0]))
  return (update: Update): SummaryRow => {
    const earlier = duplicateOf(update)
    return { ...rowOf(update, month), ...(earlier !== null && { duplicates: 1, saved: cost.get(earlier) ?? 0 }) }
  }
}

/** What is kept as far as it can be believed: one from the future comes from a sweep as of another time. */
export const believed = (summary: Summary, now: number): Summary =>
  summary.at <= now + clocksDifferMs ? summary : { ...emptySummary(summary.day), mark: summary.mark }

/** The spans of time in which these summaries have counted nothing. */
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

/** Each update of these days that is not in the rows of their summaries. */
export async function countedOn(ledger: Ledger, summaries: readonly Summary[]): Promise<readonly Update[]> {
  const [named, ...found] = await Promise.all([
    ledger.updatesNamed(summaries.flatMap(({ open }) => open)),
    ...gapsIn(summaries).map((span) => all((cursor) => ledger.updates(span, 100, cursor))),
  ])
  return [...named.filter((update) => update !== null), ...found.flat()]
}

/** When an update came to count, or was decided. */
export const happenedAt = ({ hold, finishedAt, createdAt }: Update): number => hold?.at ?? finishedAt ?? createdAt

/** The part of an update in the summary of its day. */
export function rowOf(update: Update, month: string): SummaryRow {
  const { budget, project, caller, kind, via, plan, state, charged = 0, hold } = update
  const owner = hold?.owners?.[0]
  return {
    ...{ budget, project, caller, kind, via },
    ...(plan !== undefined && { plan }),
    ...(owner !== undefined && { owner }),
    ...(update.month !== month && { month: update.month }),
    ...(isTerminal(state) && { [wasUpToDate(update) ? 'upToDate' : state]: 1 }),
    ...(charged > 0 && { charged }),
    ...(isKnownToHaveRun(update) && { price: charged }),
  }
}

/** The update of the same work that this one was refused for. */
function duplicateOf({ problem }: Update): string | null {
  const isDuplicate = problem?.slug === 'already-updated' || problem?.slug === 'duplicate-work'
  const earlier = problem?.members.update
  return isDuplicate && typeof earlier === 'string' ? earlier : null
}

function merged(rows: readonly SummaryRow[]): SummaryRow[] {
  const sums = new Map<string, SummaryRow>()
  for (const row of rows) {
    const { budget, project, caller, kind, via, plan, owner, month } = row
    const key = JSON.stringify([budget, project, caller, kind, via, plan, owner, month])
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

/**
 * What each budget had used, and might use, when the day before today ended; empty for every other day. Counted backwards
 * from now, so that it does not matter how long after midnight a sweep looks.
 */
function usedBefore({ book, definitions, now }: View, day: SummaryDay): Summary['used'] {
  const today = summaryDayAt(definitions.calendar, now)
  // A clock that is behind the book's day knows nothing about the end of the day before.
  if (day.end !== today.start || day.month !== today.month || book.day !== today.name) return {}
  return Object.fromEntries(
    Object.keys(definitions.budgets).flatMap((budget) => {
      const month = counterOf(book, 'month', budget)
      const ofToday = counterOf(book, 'day', budget)
      if (!month) return []
      const used = usedOf(month) - (ofToday ? usedOf(ofToday) : 0)
      const limit = month.limit === 'unlimited' ? {} : { limit: asNumber(month.limit) + month.granted }
      return [[budget, { used, ...limit }]]
    }),
  )
}

/** How the open month has gone, as far as the sweep has seen it: for drawings. */
export interface Course {
  /** The days that have ended: when, and what each budget had used by then. */
  readonly nights: readonly { readonly at: number; readonly used: Summary['used'] }[]
  /** Refused duplicates, and the units that the same work had cost; `null`: nothing was counted yet. */
  readonly saved: { readonly updates: number; readonly units: number } | null
}

export function createCourse({ ledger }: { ledger: Ledger }) {
  /** @param given a reading that its caller makes too. */
  async function course(given?: View | Promise<View>): Promise<Course> {
    const { definitions, month, now } = await (given ?? ledger.view())
    const days = summaryDays(definitions.calendar, { since: month.start, until: now })
    const summaries = await ledger.summaries.read(days, { withRows: false })
    const nights = summaries.flatMap(({ day, used }) => (Object.keys(used).length > 0 ? [{ at: day.end, used }] : []))
    const isCounted = summaries.some(({ mark }) => mark !== null)
    const sum = (of: (summary: Summary) => number) => summaries.reduce((total, summary) => total + of(summary), 0)
    return {
      nights,
      saved: isCounted ? { updates: sum(({ duplicates }) => duplicates), units: sum(({ saved }) => saved) } : null,
    }
  }

  return { course }
}
