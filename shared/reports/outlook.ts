import { type Figures, figuresOf } from '../guard/sentences.ts'
import type { BudgetExtra, NextStop } from '../guard/shown-budget.ts'
import type { Entry } from '../ledger/book/entry.ts'
import type { View } from '../ledger/book/view.ts'
import { callerCounter, unlistedCallers, type WindowKind } from '../ledger/definitions/definitions.ts'
import { monthBefore } from '../ledger/definitions/windows.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Page } from '../ledger/store/pages.ts'
import { dayMs } from '../platform/clock.ts'
import type { Recent } from './figures.ts'
import { type History, historyOf, type Saved, savedIn } from './history.ts'
import { type Lasts, lastsOf, latestOf } from './last-updates.ts'
import { nextStopOf, nextStopOfCaller } from './next-stop.ts'
import type { ForecastReading, NextRun } from './plans/calendar.ts'
import type { Forecast } from './plans/forecast.ts'
import { type Reason, type Remedy, reasonsOf, reconcileEveryDays, risks, type ToldReason, toldOf } from './reasons.ts'

export interface BudgetOutlook extends BudgetExtra {
  readonly parent: string | null
  /** The gravest reason comes first. Empty: on track. */
  readonly reasons: readonly ToldReason[]
  readonly remedy: Remedy | null
  readonly figures: Figures
  readonly month: Forecast
  readonly day: Forecast
  readonly history: History
}

export interface Outlook {
  readonly view: View
  readonly budgets: readonly BudgetOutlook[]
  readonly saved: Saved | null
  readonly next: NextRun | null
}

const entriesRead = 100

export function createOutlook({
  ledger,
  forecastWith,
  recent,
}: {
  ledger: Ledger
  forecastWith: (given?: View | Promise<View>, later?: Recent['updates']) => Promise<ForecastReading>
  recent: Recent
}) {
  /** @param later updates that no summary counts yet, such as an update that was just refused. */
  async function outlook(given?: View | Promise<View>, later?: Recent['updates']): Promise<Outlook> {
    const looked = Promise.resolve(given ?? ledger.view())
    const [reading, isOverdue] = await Promise.all([forecastWith(looked, later), looked.then(isReconcileOverdue)])
    return outlookOf(reading, isOverdue)
  }

  async function callerStops(view: View): Promise<ReadonlyMap<string, NextStop>> {
    const [summaries, later] = await Promise.all([recent.summaries(view), recent.updates(view)])
    return callerStopsOf(view, [...summaries, lastsOf(view.definitions, later)])
  }

  async function isReconcileOverdue({ definitions, month, now }: View): Promise<boolean> {
    const since = now - reconcileEveryDays * dayMs
    if (definitions.createdAt > since) return false
    const months = month.start > since ? [month, monthBefore(definitions.calendar, month)] : [month]
    const pages = await Promise.all(months.map(({ name }) => ledger.entries({ month: name, since }, entriesRead)))
    return pages.every(({ rows, next }: Page<Entry>) => !next && !rows.some(({ type }) => type === 'reconcile'))
  }

  return { outlook, callerStops }
}

/** The next stop of each listed caller, and of `*`. */
export function callerStopsOf(view: View, all: readonly Lasts[]): ReadonlyMap<string, NextStop> {
  const { callers, unlisted } = view.definitions
  const { runs, refusals } = latestOf(view.definitions, all)
  const entries = Object.entries({ ...callers, ...(unlisted && { [unlistedCallers]: unlisted }) })
  const stops = entries.map(([sub, caller]) => {
    const party = callerCounter(sub)
    const past = { last: runs.get(party), lastRefused: refusals.get(party) ?? null }
    return [sub, nextStopOfCaller(view, sub, caller, past)] as const
  })
  return new Map(stops)
}

function outlookOf(reading: ForecastReading, isReconcileOverdue: boolean): Outlook {
  const { view, forecasts, summaries, latest, next } = reading
  const forecastOf = new Map(forecasts.map((each) => [`${each.window} ${each.budget}`, each]))
  const budgets = Object.values(view.definitions.budgets).flatMap((budget): BudgetOutlook[] => {
    const of = (window: WindowKind) => forecastOf.get(`${window} ${budget.name}`)
    const [month, day] = [of('month'), of('day')]
    if (!month || !day) return []
    const lastRefused = latest.refusals.get(budget.name) ?? null
    const reasons = reasonsOf(reading, budget, { month, isReconcileOverdue, lastRefused }).map((reason): ToldReason => {
      const [sentence, remedy] = toldOf(reason, budget.name, view)
      return { ...reason, sentence, remedy }
    })
    const { sentence, remedy } = reasons[0] ?? { sentence: null, remedy: null }
    return [
      {
        budget: budget.name,
        parent: budget.parent,
        status: statusOf(reasons[0]),
        reasons,
        sentence,
        remedy,
        figures: figuresOf(view, budget, 'month'),
        month,
        day,
        history: historyOf(view, summaries, budget.name),
        next: nextStopOf(view, budget, { last: latest.runs.get(budget.name), lastRefused }),
      },
    ]
  })
  return { view, budgets: budgets.toSorted(byRisk), saved: savedIn(view, summaries), next }
}

function statusOf(first: Reason | undefined): BudgetExtra['status'] {
  if (!first) return 'on-track'
  return first.kind === 'frozen' || first.kind === 'exhausted' ? first.kind : 'at-risk'
}

function byRisk(a: BudgetOutlook, b: BudgetOutlook): number {
  const risk = ({ reasons: [first] }: BudgetOutlook) => (first ? risks.indexOf(first.kind) : risks.length)
  const soonest = ({ month }: BudgetOutlook) => month.exhaustedAt ?? month.exhaustedAtPace ?? Number.MAX_SAFE_INTEGER
  return risk(a) - risk(b) || soonest(a) - soonest(b) || (a.budget < b.budget ? -1 : 1)
}
