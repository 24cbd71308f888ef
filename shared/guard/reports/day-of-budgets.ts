import { isDeepStrictEqual } from 'node:util'
import { budgetNamed, chainOf, type Definitions, rootBudget } from '../../ledger/book/definitions.ts'
import { isKnownToHaveRun, isTerminal, type Update } from '../../ledger/updates/update.ts'
import type { Summary, SummaryDay, SummaryRow } from '../../ledger/views/summary.ts'

/** What a day's summary says of each budget: its forecast needs these, and never the rows. */

/** What plans charged, by rows, and what their updates hold that have not ended. */
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

/** A later price of the same budget alone is not worth a write. */
export const tellsMoreOfBudgets = (next: Summary, seen: Summary): boolean =>
  !isDeepStrictEqual(next.planned, seen.planned ?? {}) ||
  Object.keys(next.lastRuns).some((budget) => !Object.hasOwn(seen.lastRuns, budget)) ||
  Object.keys(next.shortSince).some((budget) => !Object.hasOwn(seen.shortSince, budget))

export const happenedAt = ({ hold, finishedAt, createdAt }: Update): number => hold?.at ?? finishedAt ?? createdAt
