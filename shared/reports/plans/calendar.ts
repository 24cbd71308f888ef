import type { ReportParts } from '../../guard/background.ts'
import { withParts } from '../../guard/options.ts'
import { takenUntil } from '../../guard/plans/played-counters.ts'
import type { PlayedPlans } from '../../guard/plans/player.ts'
import { nextOf } from '../../guard/plans/statuses.ts'
import type { Plan } from '../../guard/plans-file.ts'
import { whyNotPaidBy } from '../../guard/rules/projects.ts'
import { figuresOfChain } from '../../guard/sentences.ts'
import type { View } from '../../ledger/book/view.ts'
import { budgetNamed, topsOf } from '../../ledger/definitions/definitions.ts'
import { minuteMs } from '../../platform/clock.ts'
import type { Recent } from '../figures.ts'
import { createPace } from '../history.ts'
import { lastsOf, latestOf } from '../last-updates.ts'
import { type Cost, daysAhead, lookAhead } from './days-ahead.ts'
import { type Forecast, forecastOf } from './forecast.ts'
import { verdictOf } from './verdict.ts'

export type Upcoming = Awaited<ReturnType<typeof upcoming>>
export type DayAhead = Upcoming['days'][number]

/** The next run of any plan. */
export interface NextRun extends Cost {
  readonly plan: string
  readonly at: number
}

/** `pricedAt`: when the oldest of its prices was read. */
export interface PlanCost extends Cost {
  readonly pricedAt: number | null
}

interface CalendarParts extends ReportParts {
  recent: Recent
}

export const createCalendar = (parts: CalendarParts) => withParts(parts, { forecast, forecastWith, upcoming })

async function forecast(parts: CalendarParts, given?: View | Promise<View>): Promise<readonly Forecast[]> {
  return (await forecastWith(parts, given)).forecasts
}

export type ForecastReading = Awaited<ReturnType<typeof forecastWith>>

/**
 * The number of requests depends on the plans alone.
 *
 * @param later updates that no summary counts yet.
 */
async function forecastWith(parts: CalendarParts, given?: View | Promise<View>, later = parts.recent.updates) {
  const looked = Promise.resolve(given ?? parts.ledger.view())
  const [plans, summaries, uncounted] = await Promise.all([
    parts.playPlans(looked),
    looked.then(parts.recent.summaries),
    looked.then(later),
  ])
  const { view, lasts } = plans
  const { now, definitions } = view
  const latest = latestOf(definitions, [...summaries, lastsOf(definitions, uncounted)])
  const isPlanRunning = lasts.some((last) => last && now - (last.doneAt ?? now) < countedWithinMs)
  const paceOf = createPace(view, summaries, isPlanRunning)
  const forecasts = Object.values(definitions.budgets).flatMap((budget) => {
    const about = { now, pace: paceOf(budget.name), lastPrice: latest.runs.get(budget.name)?.units ?? null }
    return figuresOfChain(view, [budget]).map((figures) => forecastOf(plans, figures, about))
  })
  return { view, plans: plans.plans, summaries, latest, forecasts, next: nextRun(plans) }
}

function nextRun(played: PlayedPlans): NextRun | null {
  const runs = played.plans.flatMap(({ plan, paused, last }) => {
    const at = plan.enabled && !paused ? nextOf(plan, last, played.view.now) : null
    return at === null ? [] : [{ plan, at }]
  })
  const [first] = runs.toSorted((a, b) => a.at - b.at)
  if (!first) return null
  const run = played.played.runs.find((each) => each.plan.name === first.plan.name)
  const { units, unpriced } = run ?? costOf(played, first.plan)
  return { plan: first.plan.name, at: first.at, units, unpriced }
}

/** The prices of the projects that the plan's next run can update, if each budget has enough units. */
function costOf({ view, played, resumed, priceOf }: PlayedPlans, plan: Plan): PlanCost {
  const run = [...played.runs, ...(resumed?.runs ?? [])].find(
    ({ plan: { name }, rows }) => name === plan.name && rows.length > 0,
  )
  const payable = run
    ? run.rows.flatMap(({ project, outcome, why }) =>
        outcome !== 'refused' || why?.slug === 'over-budget' ? project : [],
      )
    : plan.projects.filter((project) => whyNotPaidBy(view.definitions, plan, project) === null)
  const prices = payable.flatMap((project) => priceOf(plan.kind, project) ?? [])
  return {
    units: prices.reduce((sum, { units }) => sum + units, 0),
    unpriced: payable.length - prices.length,
    pricedAt: prices.length === 0 ? null : Math.min(...prices.map(({ at }) => at)),
  }
}

async function upcoming(parts: CalendarParts, weeks: number, given?: Promise<View>) {
  const reading = await parts.playPlans(given ?? parts.ledger.view())
  const { view, plans, played, resumed } = reading
  const { definitions, now } = view
  const cells = played.months.flat()
  const pausedPlans = new Set(plans.flatMap(({ plan, paused }) => (paused ? plan.name : [])))
  const [top, ...others] = topsOf(definitions)
  const accounts = others.length === 0 ? cells.filter(({ budget }) => budget === top) : []
  /** The units left if only plans spend. `null`: unlimited, or the reader sees several top budgets. */
  const leftAt = (at: number) => {
    const cell = accounts.find(({ start, end }) => start <= at && at < end)
    if (!cell?.isLimited) return { left: null, isLeftAtMost: false }
    const left = cell.available + cell.committed - takenUntil(cell, at)
    return { left, isLeftAtMost: cell.unpricedFrom !== null && cell.unpricedFrom <= at }
  }
  const verdicts = plans.flatMap(({ plan, paused, last }) => {
    if (!plan.enabled || paused) return []
    return [[plan.name, verdictOf(reading, plan, nextOf(plan, last, now))] as const]
  })
  const days = lookAhead({
    days: daysAhead(definitions.calendar, now, weeks),
    runs: played.runs,
    paused: (resumed?.runs ?? []).filter(({ plan }) => pausedPlans.has(plan.name)),
    runsOut: cells.flatMap(({ budget, exhaustedAt: at, available, committed }) =>
      at === null || !budgetNamed(definitions, budget)
        ? []
        : [{ budget, at, hadNothingLeft: available + committed <= 0 }],
    ),
    resets: accounts.length > 0 ? accounts.map(({ end }) => end) : [view.month.end],
  })
  return {
    days: days.map((each) => ({ ...each, ...leftAt(each.day.end - 1) })),
    costs: new Map(plans.map(({ plan }) => [plan.name, costOf(reading, plan)] as const)),
    verdicts: new Map(verdicts),
    sumsFrom: played.sumsFrom,
    priceOf: reading.priceOf,
  }
}

/** A sweep runs every five minutes and adds a plan's charges to the day's summary. */
const countedWithinMs = 6 * minuteMs
