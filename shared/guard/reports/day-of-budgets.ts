import { isDeepStrictEqual } from 'node:util'
import {
  budgetNamed,
  chainOf,
  type Definitions,
  listingsOf,
  rootBudget,
  unseenBudget,
} from '../../ledger/book/definitions.ts'
import { isKnownToHaveRun, isTerminal, type Update } from '../../ledger/updates/update.ts'
import type { Spender, Summary, SummaryDay, SummaryRow } from '../../ledger/views/summary.ts'
import { hourMs } from '../../platform/clock.ts'

/** Forecasts need only these figures of a day, and never its rows. */

/** Adds what ended updates charged and what the others hold. */
export function plannedIn(
  definitions: Definitions,
  { month }: SummaryDay,
  rows: readonly SummaryRow[],
  updates: readonly Update[],
): Record<string, number> {
  const units = new Map<string, number>()
  const add = (budgets: readonly string[], more: number) => {
    for (const budget of more > 0 ? budgets : []) units.set(budget, (units.get(budget) ?? 0) + more)
  }
  for (const row of rows) {
    if (row.plan === undefined || (row.month ?? month) !== month) continue
    add(namesOfChain(definitions, row.budget), row.charged ?? 0)
  }
  for (const { plan, state, hold, ...update } of updates) {
    if (plan === undefined || update.month !== month || isTerminal(state) || !hold) continue
    add(namesOfChain(definitions, update.budget), hold.units)
  }
  return Object.fromEntries(units)
}

/** A deleted budget counts in the root alone. */
const namesOfChain = (definitions: Definitions, budget: string): readonly string[] =>
  budgetNamed(definitions, budget) ? chainOf(definitions, budget).map(({ name }) => name) : [rootBudget]

export function lastRunsOf(seen: Summary['lastRuns'], updates: readonly Update[]): Summary['lastRuns'] {
  const runs = new Map(Object.entries(seen))
  for (const update of updates) {
    if (!isTerminal(update.state) || !isKnownToHaveRun(update)) continue
    const run = { at: happenedAt(update), units: update.charged ?? 0 }
    if (run.at >= (runs.get(update.budget)?.at ?? 0)) runs.set(update.budget, run)
  }
  return Object.fromEntries(runs)
}

export function shortSinceOf(
  seen: Summary['shortSince'],
  lastRuns: Summary['lastRuns'],
  updates: readonly Update[],
): Summary['shortSince'] {
  const refused = updates.filter(({ state, problem }) => state === 'refused' && problem?.slug === 'over-budget')
  const runs = new Map(Object.entries(lastRuns))
  const since = new Map<string, number>()
  for (const [budget, at] of [...Object.entries(seen), ...refused.map((one) => [one.budget, one.createdAt] as const)]) {
    if (at > (runs.get(budget)?.at ?? 0)) since.set(budget, Math.min(at, since.get(budget) ?? at))
  }
  return Object.fromEntries(since)
}

const maxSpenders = 50

/** Bounded, because a reader adds a month's days and callers may be many. */
export function spendersOf(rows: readonly SummaryRow[], { month }: SummaryDay): readonly Spender[] {
  const spenders = new Map<string, Spender>()
  for (const { caller, person, plan, charged = 0, ...row } of rows) {
    if (charged === 0 || row.budget === unseenBudget || (row.month ?? month) !== month) continue
    const key = JSON.stringify([caller, plan])
    const units = charged + (spenders.get(key)?.units ?? 0)
    spenders.set(key, { caller, ...(person !== undefined && { person }), ...(plan !== undefined && { plan }), units })
  }
  return [...spenders.values()].toSorted((a, b) => b.units - a.units).slice(0, maxSpenders)
}

const maxUnlisted = 50

/** Bounded like the spenders. */
export const unlistedOf = (definitions: Definitions, rows: readonly SummaryRow[]): readonly string[] =>
  ranIn(rows)
    .filter((project) => listingsOf(definitions, project).length === 0)
    .slice(0, maxUnlisted)

export const ranIn = (rows: readonly SummaryRow[]): readonly string[] => [
  ...new Set(rows.flatMap(({ settled = 0, charged = 0, project }) => (settled + charged > 0 ? project : []))),
]

/** Plans' charges and a budget's first run show at once, another price or refusal within the hour. */
export function tellsMoreOfBudgets(next: Summary, seen: Summary): boolean {
  if (!isDeepStrictEqual(next.planned, seen.planned ?? {})) return true
  const isLate = next.at - seen.at >= hourMs
  const differs = (now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) =>
    Object.entries(now).some(([budget, one]) => !Object.hasOwn(before, budget) || (isLate && before[budget] !== one))
  return differs(pricesOf(next), pricesOf(seen)) || differs(next.shortSince, seen.shortSince)
}

const pricesOf = ({ lastRuns }: Summary): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(lastRuns).map(([budget, { units }]) => [budget, units]))

export const happenedAt = ({ hold, finishedAt, createdAt }: Update): number => hold?.at ?? finishedAt ?? createdAt
