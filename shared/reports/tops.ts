import type { Figures } from '../guard/sentences.ts'
import { toUnits } from '../platform/words.ts'
import { both, sumOfHistories } from './history.ts'
import type { BudgetOutlook } from './outlook.ts'
import type { Forecast } from './plans/forecast.ts'

const allBudgets = 'all budgets'

/** The account. For a narrowed reader: the sum of their top budgets, or `null` without one. */
export function topOf(outlooks: readonly BudgetOutlook[]): BudgetOutlook | null {
  const tops = outlooks.filter(({ parent }) => parent === null)
  const [first, ...others] = tops
  if (!first || others.length === 0) return first ?? null
  return {
    budget: allBudgets,
    parent: null,
    status: 'on-track',
    reasons: [],
    sentence: null,
    remedy: null,
    next: null,
    figures: sumOfFigures(tops.map(({ figures }) => figures)),
    month: tops.map(({ month }) => month).reduce(plusForecast),
    day: tops.map(({ day }) => day).reduce(plusForecast),
    history: sumOfHistories(tops.map(({ history }) => history)),
  }
}

/** @param all at least one. */
export const sumOfFigures = (all: readonly Figures[]): Figures => all.reduce(plusFigures)

const plusFigures = (a: Figures, b: Figures): Figures => ({
  ...a,
  budget: allBudgets,
  limit: a.limit === 'unlimited' || b.limit === 'unlimited' ? 'unlimited' : toUnits(a.limit + b.limit),
  ...plus(a, b, ['granted', 'spent', 'held', 'inDoubt', 'available']),
})

/** Only a single budget has a time at which it runs out. */
const plusForecast = (a: Forecast, b: Forecast): Forecast => ({
  ...a,
  budget: allBudgets,
  exhaustedAt: null,
  exhaustedBy: null,
  exhaustedAtPace: null,
  lastPrice: null,
  isWantedAtLeast: a.isWantedAtLeast || b.isWantedAtLeast,
  pace: { ...a.pace, ...plus(a.pace, b.pace, ['last7Days', 'month']) },
  ...plus(a, b, ['available', 'committed', 'wanted', 'short', 'projected', 'projectedAtPace', 'ifResumed', 'unpriced']),
})

/** If one of the figures is `null`, the sum is `null`. */
const plus = <Name extends string, Of extends { readonly [name in Name]: number | null }>(
  a: Of,
  b: Of,
  names: readonly Name[],
) => Object.fromEntries(names.map((name) => [name, both(a[name], b[name])])) as Pick<Of, Name>
