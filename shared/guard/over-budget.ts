import type { Problem } from '../ledger/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { Figures } from './figures.ts'
import { problem } from './problems.ts'
import { count, left, list, when } from './sentences.ts'

/**
 * The refusal of counters that have too little, with the numbers of each, when each resets, and what would pass.
 *
 * @param short every counter that refuses, at least one.
 * @param units what is needed; `null` where nothing is left and the service was not even asked.
 */
export function overBudget(short: readonly Figures[], units: number | null, zone: string): Problem {
  const missing = (figures: Figures) => (units === null ? null : units - figures.available)
  const worst = short.reduce((a, b) => (b.available < a.available ? b : a))
  const others = short.filter((figures) => figures !== worst)
  const need = units === null ? '' : ` and this needs ${count(units)}`
  const ask = units === null ? 'ask for more before trying again' : `ask for ${count(units - worst.available)} more`
  const also = others.map((figures) => `${left(figures)} (resets ${when(figures.end, zone)})`)
  const detail = `${left(worst)}${need}; resets ${when(worst.end, zone)}; ${ask}.${also.length > 0 ? ` Also short: ${list(also)}.` : ''}`
  return problem('over-budget', detail, {
    units,
    short: missing(worst),
    budgets: short.map((figures) => ({
      budget: figures.budget,
      window: figures.window,
      limit: figures.limit,
      held: figures.held,
      inDoubt: figures.inDoubt,
      spent: figures.spent,
      available: figures.available,
      short: missing(figures),
      resetsAt: toRfc3339(figures.end),
    })),
    wouldPass: wouldPass(short, units, worst, zone),
  })
}

function wouldPass(short: readonly Figures[], units: number | null, worst: Figures, zone: string): string[] {
  const last = short.reduce((a, b) => (b.end > a.end ? b : a))
  const hints: string[] = []
  if (units !== null && worst.available > 0) hints.push(`an update of at most ${count(worst.available)} units, now`)
  if (units !== null) {
    const grants = short.map(
      ({ budget, window, available }) => `${count(units - available)} to ${budget} for the ${window}`,
    )
    hints.push(`a grant of ${list(grants)}`)
  }
  return [...hints, `the same request after ${when(last.end, zone)}, if the limits then allow it`]
}
