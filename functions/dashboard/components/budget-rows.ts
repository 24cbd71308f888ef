import type { Forecast } from '../../../shared/guard/plans/forecast.ts'
import type { Course } from '../../../shared/guard/reports/summary.ts'
import { type Figures, figuresOf } from '../../../shared/guard/sentences.ts'
import { asNumber } from '../../../shared/ledger/book/book.ts'
import {
  type Budget,
  chainOf,
  childrenOf,
  limitOf,
  rootBudget,
  type Stop,
  type WindowKind,
} from '../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../shared/ledger/views/views.ts'

export interface BudgetRow {
  readonly name: string
  /** 0 for the root. */
  readonly depth: number
  /** May be the freeze of a budget above. */
  readonly frozen: { readonly budget: string; readonly stop: Stop } | null
  readonly month: CounterRow
  /** The month until last night, as far as it is known. */
  readonly past: readonly PastDay[]
  /** `null`: the budget has no daily limit. */
  readonly day: CounterRow | null
}

interface PastDay {
  readonly at: number
  /** 0 to 1. */
  readonly elapsed: number
  readonly used: number
}

export interface CounterRow extends Figures {
  /** `null`: unlimited. */
  readonly total: number | null
  readonly used: number
  /** `null`: unlimited. */
  readonly evenPace: number | null
  /** 0 to 1. */
  readonly elapsed: number
  readonly committed: number
  readonly projected: number
  readonly unpriced: number
  readonly exhaustedAt: number | null
}

/** Each budget, followed by its children in the order of their names. */
export function budgetRows(
  view: View,
  forecasts: readonly Forecast[],
  nights: Course['nights'] = [],
): readonly BudgetRow[] {
  const forecastOf = new Map(forecasts.map((each) => [keyOf(each), each]))
  const rowsFrom = (budget: Budget, depth: number): BudgetRow[] => [
    rowOf(budget, depth),
    ...childrenOf(view.definitions, budget.name)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((child) => rowsFrom(child, depth + 1)),
  ]

  function rowOf(budget: Budget, depth: number): BudgetRow {
    const frozenBudget = chainOf(view.definitions, budget.name).find(({ frozen }) => frozen)
    const counterRow = (window: WindowKind) => {
      const figures = figuresOf(view, budget, window)
      return toCounterRow(figures, forecastOf.get(keyOf(figures)), view.now)
    }
    return {
      name: budget.name,
      depth,
      frozen: frozenBudget?.frozen ? { budget: frozenBudget.name, stop: frozenBudget.frozen } : null,
      month: counterRow('month'),
      past: pastOf(view, nights, budget.name),
      day: limitOf(budget, 'day') === 'unlimited' ? null : counterRow('day'),
    }
  }

  const root = view.definitions.budgets[rootBudget]
  return root ? rowsFrom(root, 0) : []
}

function toCounterRow(figures: Figures, forecast: Forecast | undefined, now: number): CounterRow {
  const { limit, granted, held, inDoubt, spent, start, end } = figures
  const total = limit === 'unlimited' ? null : asNumber(limit) + granted
  const used = spent + held + inDoubt
  const elapsed = Math.min(1, Math.max(0, (now - start) / (end - start)))
  const committed = forecast?.committed ?? 0
  return {
    ...figures,
    ...{ total, used, elapsed, committed },
    evenPace: total === null ? null : Math.round(total * elapsed),
    // The forecast's own projection may come from an older reading of the book.
    projected: used + committed,
    unpriced: forecast?.unpriced ?? 0,
    exhaustedAt: forecast?.exhaustedAt ?? null,
  }
}

function pastOf({ month: { start, end } }: View, nights: Course['nights'], budget: string): readonly PastDay[] {
  return nights.flatMap(({ at, used }) => {
    const counter = Object.hasOwn(used, budget) ? used[budget] : undefined
    return counter ? [{ at, elapsed: (at - start) / (end - start), used: counter.used }] : []
  })
}

const keyOf = ({ budget, window }: { budget: string; window: WindowKind }) => `${window} ${budget}`
