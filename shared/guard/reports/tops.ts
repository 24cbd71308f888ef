import { toUnits } from '../../platform/words.ts'
import type { Forecast } from '../plans/forecast.ts'
import type { Figures } from '../sentences.ts'
import type { History } from './history.ts'
import type { BudgetOutlook } from './outlook.ts'

const allBudgets = 'all budgets'

/**
 * The account; or, of a narrowed reader, their one top budget, or several as one summed up. `null`: they
 * read none.
 */
export function topOf(outlooks: readonly BudgetOutlook[]): BudgetOutlook | null {
  const tops = outlooks.filter(({ parent }) => parent === null)
  const [first, ...others] = tops
  if (!first || others.length === 0) return first ?? null
  return {
    ...{ budget: allBudgets, parent: null, status: 'on-track', reasons: [], sentence: null, remedy: null },
    figures: sumOfFigures(tops.map(({ figures }) => figures)),
    month: tops.map(({ month }) => month).reduce(plusForecast),
    day: tops.map(({ day }) => day).reduce(plusForecast),
    history: sumOfHistories(tops.map(({ history }) => history)),
  }
}

/** @param all at least one. */
export const sumOfFigures = (all: readonly Figures[]): Figures => all.reduce(plusFigures)

function plusFigures(a: Figures, b: Figures): Figures {
  return {
    ...a,
    budget: allBudgets,
    limit: a.limit === 'unlimited' || b.limit === 'unlimited' ? 'unlimited' : toUnits(a.limit + b.limit),
    granted: a.granted + b.granted,
    spent: a.spent + b.spent,
    held: a.held + b.held,
    inDoubt: a.inDoubt + b.inDoubt,
    available: a.available + b.available,
  }
}

const both = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)

/** When one of them runs out stays with that budget. */
function plusForecast(a: Forecast, b: Forecast): Forecast {
  return {
    ...a,
    ...{ budget: allBudgets, exhaustedAt: null, exhaustedBy: null, exhaustedAtPace: null },
    ...{ lastPrice: null, updatesLeft: null },
    available: both(a.available, b.available),
    committed: a.committed + b.committed,
    projected: a.projected + b.projected,
    projectedAtPace: both(a.projectedAtPace, b.projectedAtPace),
    pace: { last7Days: both(a.pace.last7Days, b.pace.last7Days), month: both(a.pace.month, b.pace.month) },
    ifResumed: a.ifResumed + b.ifResumed,
    unpriced: a.unpriced + b.unpriced,
  }
}

/** @param all at least one. Leaves out nights that one of them does not know. */
export const sumOfHistories = (all: readonly History[]): History => all.reduce(plusHistory)

function plusHistory(a: History, b: History): History {
  const nights = [...new Set([...a.nights, ...b.nights].map(({ at }) => at))].toSorted((one, two) => one - two)
  return {
    start: { at: Math.min(a.start.at, b.start.at), used: a.start.used + b.start.used },
    nights: nights.flatMap((night) => {
      const [one, other] = [nightOf(a, night), nightOf(b, night)]
      return one && other ? { at: night, used: one.used + other.used, limit: both(one.limit, other.limit) } : []
    }),
    now: { at: a.now.at, used: a.now.used + b.now.used, limit: both(a.now.limit, b.now.limit) },
  }
}

/** Before it began, a budget had and used nothing. */
const nightOf = ({ start, nights }: History, night: number) =>
  nights.find(({ at }) => at === night) ?? (start.at >= night ? { used: 0, limit: 0 } : null)
