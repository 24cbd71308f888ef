import type { View } from '../ledger/book/view.ts'
import { callerOfCounter, rootBudget } from '../ledger/definitions/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { all } from '../ledger/store/pages.ts'
import { type SummaryDay, summaryDays } from '../ledger/updates/summary-days.ts'
import { isKnownToHaveRun, isTerminal, type State, type Update, wasUpToDate } from '../ledger/updates/update.ts'
import type { Span } from '../ledger/views/lists.ts'
import { dayMs, minuteMs } from '../platform/clock.ts'
import { daySummaries, emptySummary, isComplete, type Summary, type SummaryRow } from './stored-summary.ts'

/** The row of one update. */
export interface UpdateRow extends SummaryRow {
  /** Present if the update has not ended. `held`: the units of its hold. */
  readonly state?: State
  readonly held?: number
}

/** A row for reports: from a stored summary, or from one update that no summary counts. */
export type FigureRow = UpdateRow & { readonly month: string }

/** @param updates the updates that the summaries do not count. */
export const figuresOf = (summaries: readonly Summary[], updates: readonly Update[]): readonly FigureRow[] => [
  ...summaries.flatMap(({ day, rows }) => rows.map((row) => ({ month: day.month, heldOn: day.name, ...row }))),
  ...updates.map(figureOf),
]

const figureOf = (update: Update): FigureRow => ({
  ...rowOf(update, { month: update.month, name: '' }),
  month: update.month,
})

export function rowOf(update: Update, day: Pick<SummaryDay, 'month' | 'name'>): UpdateRow {
  const { budget, project, caller, kind, token, via, plan, tags, state, charged = 0, hold, wouldHaveRefused } = update
  const owner = hold?.owners?.[0] ?? update.owner ?? budget
  const above = (hold?.budgets ?? []).filter((name) => ![budget, rootBudget].includes(name) && !callerOfCounter(name))
  return {
    budget,
    project,
    caller,
    kind,
    via,
    ...(update.listed && { listed: update.listed }),
    ...(token?.person !== undefined && { person: token.person }),
    ...(plan !== undefined && { plan }),
    ...(owner !== budget && { owner }),
    ...(above.length > 0 && { above }),
    ...(update.month !== day.month && { month: update.month }),
    ...(wouldHaveRefused && {
      wouldHaveRefused: [...new Set(wouldHaveRefused.map(({ budget }) => budget))].toSorted(),
    }),
    ...(isTerminal(state) ? { [wasUpToDate(update) ? 'upToDate' : state]: 1 } : { state, held: hold?.units ?? 0 }),
    ...(charged > 0 && { charged }),
    ...(charged > 0 && hold && hold.day !== day.name && { heldOn: hold.day }),
    ...(isKnownToHaveRun(update) && { price: charged }),
    ...(tags && { tags }),
  }
}

export const happenedAt = ({ hold, finishedAt, createdAt }: Update): number => hold?.at ?? finishedAt ?? createdAt

/** The projects whose updates ran. */
export const ranIn = (rows: readonly SummaryRow[]): readonly string[] => [
  ...new Set(rows.flatMap(({ settled = 0, charged = 0, project }) => (settled + charged > 0 ? project : []))),
]

const clocksDifferMs = minuteMs

/** Ignores a summary that a sweep with a fast clock wrote. */
export const believed = (summary: Summary, now: number): Summary =>
  summary.at <= now + clocksDifferMs ? summary : { ...emptySummary(summary.day), mark: summary.mark }

export const summariesOf = async (
  ledger: Ledger,
  { definitions, now }: View,
  span: Span,
  how?: { withRows: boolean },
): Promise<readonly Summary[]> =>
  (await ledger.item(daySummaries).read(summaryDays(definitions.calendar, span), how)).map((each) =>
    believed(each, now),
  )

const pageSize = 100

interface Bounds {
  readonly until?: number
  /** Stops reading at this number of updates. */
  readonly max?: number
  /** The latest updates, if they were read already. */
  readonly latest?: readonly Update[] | undefined
}

/** Updates of the summaries' days that no summary counts, the newest first. */
export async function uncounted(
  ledger: Ledger,
  summaries: readonly Summary[],
  { until: last = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY, latest = [] }: Bounds = {},
): Promise<readonly Update[]> {
  const found: Update[] = []
  for (const { since, until } of gapsIn(summaries).toReversed()) {
    const span = { since, until: Math.min(until, last) }
    if (since > span.until || found.length >= max) continue
    const reachesBack = (latest.at(-1)?.createdAt ?? since) < since
    found.push(
      ...(reachesBack
        ? latest.filter(({ createdAt }) => since <= createdAt && createdAt <= span.until)
        : await all((cursor) => ledger.updates(span, pageSize, cursor), max - found.length)),
    )
  }
  return found
}

/** The uncounted updates, and updates that had not ended when their day was summed up. */
export async function recordsOf(ledger: Ledger, summaries: readonly Summary[], bounds?: Bounds) {
  const [named, found] = await Promise.all([
    ledger.updatesNamed(summaries.flatMap(({ open }) => open)),
    uncounted(ledger, summaries, bounds),
  ])
  return [...named.filter((update) => update !== null), ...found]
}

function gapsIn(summaries: readonly Summary[]): readonly Span[] {
  const gaps: { since: number; until: number }[] = []
  for (const summary of summaries) {
    const { until, day } = summary
    if (isComplete(summary)) continue
    const last = gaps.at(-1)
    if (last?.until === until) last.until = day.end - 1
    else gaps.push({ since: until + 1, until: day.end - 1 })
  }
  return gaps
}

export type Recent = ReturnType<typeof createRecent>

const recentMs = 30 * dayMs
export const maxUncounted = 200

/** Reads once for each view, because several reports need the same figures. */
export function createRecent({ ledger }: { ledger: Ledger }) {
  /** The summaries of the view's month, and at least of the last 30 days. Rows may be missing. */
  const summaries = oncePerView((view) => {
    const { definitions, month, now } = view
    const since = Math.max(definitions.createdAt - dayMs, Math.min(month.start, now - recentMs))
    return summariesOf(ledger, view, { since, until: now }, { withRows: false })
  })
  /** Updates that these summaries do not count. */
  const updates = oncePerView(async (view) =>
    uncounted(ledger, await summaries(view), { until: view.now, max: maxUncounted }),
  )
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
