import { payersOf } from '../guard/plans/payers.ts'
import { limited } from '../guard/rules/counters.ts'
import {
  count,
  type Figures,
  figuresOf,
  percent,
  refuses,
  shownCaller,
  thisWindow,
  tightest,
  units,
  when,
  zoneOf,
} from '../guard/sentences.ts'
import type { BudgetExtra, NextStop } from '../guard/shown-budget.ts'
import { thresholdsOf, totalOf } from '../guard/sweep/thresholds.ts'
import type { Entry } from '../ledger/book/entry.ts'
import type { View } from '../ledger/book/view.ts'
import {
  type Budget,
  callerCounter,
  chainOf,
  pauseOf,
  rootBudget,
  type Stop,
  unlistedCallers,
  type WindowKind,
} from '../ledger/definitions/definitions.ts'
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
import type { LastRefusal } from './stored-summary.ts'

type Remedy =
  | { readonly kind: 'grant'; readonly budget: string; readonly window: WindowKind; readonly units: number }
  | { readonly kind: 'unfreeze'; readonly budget: string }
  | { readonly kind: 'resume'; readonly plan: string }
  | { readonly kind: 'reconcile' }

type ToldReason = Reason & { readonly sentence: string; readonly remedy: Remedy | null }

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

const reconcileEveryDays = 14

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

interface Seen {
  readonly month: Forecast
  readonly isReconcileOverdue: boolean
  readonly lastRefused: LastRefusal | null
}

type Reason = ReturnType<typeof reasonsOf>[number]

/** The gravest reason comes first. */
function reasonsOf(reading: ForecastReading, budget: Budget, { month, isReconcileOverdue, lastRefused }: Seen) {
  const { view, plans } = reading
  const chain = chainOf(view.definitions, budget.name)
  const frozen = chain.find((each) => each.frozen)
  const paused = plans.filter(({ plan, paused }) => {
    return plan.enabled && paused && payersOf(view.definitions, plan).includes(budget.name)
  })
  const figures = figuresOf(view, budget, 'month')
  const { passed, used, of } = thresholdsOf(view, figures)
  return [
    ...(frozen?.frozen ? [{ kind: 'frozen', budget: frozen.name, stop: frozen.frozen } as const] : []),
    ...exhaustedWindows(view, budget),
    ...notPayable(reading, chain, { month, lastRefused }),
    ...runsOut(month),
    ...whatAncestorsLack(view, chain.slice(1), month),
    ...(passed.length > 0 ? [{ kind: 'threshold', used, of, spent: figures.spent } as const] : []),
    ...paused.flatMap(({ plan }) => {
      const stop = pauseOf(view.definitions, plan.name)
      return stop ? [{ kind: 'plan-paused', plan: plan.name, stop } as const] : []
    }),
    ...(isReconcileOverdue && budget.name === rootBudget
      ? [{ kind: 'reconcile-overdue', days: reconcileEveryDays } as const]
      : []),
  ]
}

/** `over`: the number of units above an observed limit. */
const exhaustedWindows = (view: View, budget: Budget) =>
  limited(view, [budget])
    .filter(({ available }) => available <= 0)
    .map((figures) => {
      const over = refuses(figures) ? {} : { over: -figures.available }
      return { kind: 'exhausted', window: figures.window, of: totalOf(figures), ...over } as const
    })

/** Looks only at the month, because a day's limit renews tomorrow. `budget`: the tightest budget of the chain. */
function notPayable(
  { view, latest }: ForecastReading,
  chain: readonly Budget[],
  { month, lastRefused }: Pick<Seen, 'month' | 'lastRefused'>,
) {
  const { budget, lastPrice: price } = month
  const least = tightest(chain.map((each) => figuresOf(view, each, 'month')))
  if (!price || !least || least.available >= price) return []
  const left = Math.max(0, least.available)
  const isSince = lastRefused !== null && lastRefused.at > (latest.runs.get(budget)?.at ?? 0)
  const refusedAt = isSince ? lastRefused.at : null
  return [{ kind: 'cannot-pay', budget: least.budget, price, left, refusedAt } as const]
}

function runsOut({ available, wanted, short, projected, projectedAtPace, pace, ...month }: Forecast) {
  if (available === null) return []
  const left = Math.max(0, available)
  const { exhaustedAt: at, exhaustedBy: plan, exhaustedAtPace } = month
  if (at !== null) return [{ kind: 'plans-run-out', at, plan, needed: wanted, left, short } as const]
  if (exhaustedAtPace === null || projectedAtPace === null) return []
  const lacks = projectedAtPace - projected + month.committed - left
  return [
    { kind: 'pace-runs-out', at: exhaustedAtPace, perDay: pace.last7Days ?? pace.month ?? 0, short: lacks } as const,
  ]
}

function whatAncestorsLack(view: View, above: readonly Budget[], { available, wanted: needed }: Forecast) {
  const least = tightest(above.map((each) => figuresOf(view, each, 'month')))
  if (!least || least.available >= needed || least.available >= (available ?? Number.POSITIVE_INFINITY)) return []
  return [{ kind: 'ancestor-binds', budget: least.budget, left: Math.max(0, least.available), needed } as const]
}

/** The reason as a sentence, and the remedy. */
function toldOf(reason: Reason, budget: string, view: View): readonly [sentence: string, remedy: Remedy | null] {
  const zone = zoneOf(view)
  const stopped = (what: string, { by, at, reason: why }: Stop, did: string) =>
    `${what} was ${did} by ${shownCaller(view.definitions, by)} on ${when(at, zone)}: ${why}`
  const grant = (to: string, units: number) => ({ kind: 'grant', budget: to, window: 'month', units }) as const
  switch (reason.kind) {
    case 'frozen':
      return [stopped(reason.budget, reason.stop, 'frozen'), { kind: 'unfreeze', budget: reason.budget }]
    case 'exhausted': {
      const { over } = reason
      const more = over === undefined || over === 0 ? '' : `: ${count(over)} more are used`
      const observed = over === undefined ? '' : ` It is only observed and refuses nothing${more}.`
      return [`Nothing of ${units(reason.of)} is left ${thisWindow(reason.window)}.${observed}`, null]
    }
    case 'cannot-pay': {
      const { price, left, refusedAt } = reason
      const since = refusedAt === null ? '' : `; last refused on ${when(refusedAt, zone)}`
      const has = `${reason.budget} has ${units(left)} left, and the last one cost ${count(price)}`
      return [`Cannot pay its next update: ${has}${since}.`, grant(reason.budget, price - left)]
    }
    case 'plans-run-out': {
      const { plan, needed, left, short, at } = reason
      const need = plan === null ? 'Plans need' : `Runs out with the plan ${plan}: plans need`
      const lack = `${count(left)} are left, so ${count(short)} are short from ${when(at, zone)}`
      return [`${need} ${units(needed)} until the reset, ${lack}.`, grant(budget, short)]
    }
    case 'pace-runs-out': {
      const pace = `at the recent pace of ${count(reason.perDay)} units a day beside its plans`
      return [`Runs out on ${when(reason.at, zone)} ${pace}.`, grant(budget, reason.short)]
    }
    case 'ancestor-binds': {
      const { needed, left } = reason
      const has = `${reason.budget} has ${count(left)} left`
      return [`Its plans need ${units(needed)} until the reset, and ${has}.`, grant(reason.budget, needed - left)]
    }
    case 'threshold': {
      const { used, spent, of } = reason
      const figures =
        used === spent ? count(used) : `${count(spent)} spent and ${count(used - spent)} held or in doubt,`
      return [`${percent(used, of)} is used: ${figures} of ${units(of)}.`, null]
    }
    case 'plan-paused':
      return [stopped(`The plan ${reason.plan}`, reason.stop, 'paused'), { kind: 'resume', plan: reason.plan }]
    case 'reconcile-overdue':
      return [`Not reconciled with the vendor's figure for ${reason.days} days or more.`, { kind: 'reconcile' }]
  }
}

const risks: readonly Reason['kind'][] = [
  'exhausted',
  'cannot-pay',
  'plans-run-out',
  'pace-runs-out',
  'ancestor-binds',
  'threshold',
  'frozen',
  'plan-paused',
  'reconcile-overdue',
]

function byRisk(a: BudgetOutlook, b: BudgetOutlook): number {
  const risk = ({ reasons: [first] }: BudgetOutlook) => (first ? risks.indexOf(first.kind) : risks.length)
  const soonest = ({ month }: BudgetOutlook) => month.exhaustedAt ?? month.exhaustedAtPace ?? Number.MAX_SAFE_INTEGER
  return risk(a) - risk(b) || soonest(a) - soonest(b) || (a.budget < b.budget ? -1 : 1)
}
