import {
  budgetNamed,
  type CounterOwner,
  callerNamed,
  callerOfCounter,
  callerOfPlan,
  chainOf,
  type Definitions,
  limitsOfCaller,
  rootBudget,
} from '../../ledger/book/definitions.ts'
import { dayAt } from '../../ledger/book/windows.ts'
import { leftOf } from '../../ledger/updates/leave.ts'
import type { View } from '../../ledger/views/views.ts'
import { ruledOutBy } from '../rules/early.ts'
import { count, figuresOf, list, refuses, shownCaller, shownCounter, units } from '../sentences.ts'
import { leavesToNoBudget, strictFor } from '../update/limits.ts'
import { budgetFor, ruledBy, spellingFaults, whyNotPaid } from '../update/projects.ts'
import { whyNotUnowned } from '../update/unowned.ts'
import { type Demand, dueIn, firstInstant, type PriceOf, takenUntil } from './forecast.ts'
import type { Plan } from './plans-file.ts'

/** Says whether a plan's runs will pass until the month of its next run ends, if only plans spend. */
export type Verdict =
  | { readonly kind: 'passes' }
  /** A price or a counter is not known. */
  | { readonly kind: 'unknown' }
  /** Runs are refused even if enough units are left. `isWhole`: all projects are refused. */
  | { readonly kind: 'refused'; readonly why: string; readonly isWhole: boolean }
  | {
      readonly kind: 'short'
      /** The time of the first run with too few units. */
      readonly at: number
      readonly budget: string
      readonly isNext: boolean
      /** Whether not even the cheapest project can be paid. */
      readonly isWhole: boolean
      /** Whether the run then asks for approval. */
      readonly asks: boolean
    }

export interface VerdictParts {
  /** The views of this month and of the next, each with its book. */
  readonly views: readonly View[]
  /** The demands of all enabled plans. */
  readonly demands: readonly Demand[]
  readonly priceOf: PriceOf
  readonly separator: string | undefined
}

/** @param next when the plan runs next. */
export function verdictOf(parts: VerdictParts, plan: Plan, next: number | null): Verdict {
  const { views, demands, priceOf, separator } = parts
  const [now] = views
  const view = views.find(({ month }) => next !== null && month.start <= next && next < month.end)
  const own = demands.find((demand) => demand.plan === plan.name)
  if (!now || !view || !own || next === null) return { kind: 'unknown' }
  const { definitions } = view
  const day = dayAt(definitions.calendar, next).name
  const whys = plan.projects.flatMap(
    (project) => whyNever(definitions, plan, { project, priceOf, separator, day }) ?? [],
  )
  const leave = leavesTooMuch(now, plan)
  if (leave) return { kind: 'refused', why: leave.short, isWhole: true }
  if (whys.length > 0) {
    return { kind: 'refused', why: joined([...new Set(whys)]), isWhole: whys.length === plan.projects.length }
  }
  const prices = plan.projects.map((project) => priceOf(plan.kind, project)?.units ?? 0)
  const shortages = ownersOf(definitions, plan).flatMap((owner) =>
    countersOf(view, owner, next).flatMap(({ start, end, left }) => {
      const times = own.times.filter((time) => time >= Math.max(start, next) && time < end)
      const due = dueIn({ budget: owner.name, start, end }, demands)
      const taken = (instant: number) => takenUntil(due, instant)
      const mayTake = left - leftOf({ ...plan, plan: plan.name }, owner)
      const isShort = (position: number) => taken(times[position] ?? end) > mayTake
      const last = times.length - 1
      if (last < 0 || !isShort(last)) return []
      const at = times[firstInstant({ from: 0, to: last }, isShort)] ?? next
      const remaining = mayTake - taken(at) + (own.charges.get(owner.name)?.units ?? 0)
      return [{ at, budget: owner.name, isWhole: prices.every((price) => price > remaining) }]
    }),
  )
  const [first] = shortages.toSorted((a, b) => a.at - b.at)
  const isPriced = plan.projects.every((project) => priceOf(plan.kind, project) !== null)
  if (!first) return isPriced ? { kind: 'passes' } : { kind: 'unknown' }
  const mayGrant = first.budget !== rootBudget && callerOfCounter(first.budget) === null
  return { kind: 'short', ...first, isNext: first.at === next, asks: plan.whenShort === 'ask' && mayGrant }
}

/** Joins short phrases as a list, and puts full sentences one after another. */
const joined = (whys: readonly string[]): string =>
  whys.some((why) => why.endsWith('.')) ? whys.map((why) => why.replace(/\.?$/, '.')).join(' ') : list(whys)

/** The budgets that a project of the plan is charged to, then the plan's own counter as a caller. */
export function chargedBy(definitions: Definitions, plan: Plan, project: string): readonly CounterOwner[] {
  const name = budgetFor(definitions, plan, project)
  // The plans file may name a budget that was deleted, or not created yet.
  const budgets = budgetNamed(definitions, name) ? chainOf(definitions, name) : []
  return [...budgets, ...limitsOfCaller(definitions, callerOfPlan(plan.name))]
}

function ownersOf(definitions: Definitions, plan: Plan): readonly CounterOwner[] {
  const owners = plan.projects.flatMap((project) => chargedBy(definitions, plan, project))
  return [...new Map(owners.map((owner) => [owner.name, owner])).values()]
}

type Counter = { readonly start: number; readonly end: number; readonly left: number }

/** Counters that can refuse an update in a month: the month's counter, and one for each day from `from` on. */
function countersOf(view: View, owner: CounterOwner, from: number): readonly Counter[] {
  const { month, now, definitions } = view
  const [ofMonth, ofDay] = [figuresOf(view, owner, 'month'), figuresOf(view, owner, 'day')]
  const counters: Counter[] = refuses(ofMonth) ? [{ ...month, left: ofMonth.available }] : []
  if (!refuses(ofDay) || ofDay.limit === 'unlimited') return counters
  for (let at = from; at < month.end; ) {
    const { start, end } = dayAt(definitions.calendar, at)
    const isToday = start <= now && now < end && month.start <= now
    counters.push({ start, end: Math.min(end, month.end), left: isToday ? ofDay.available : ofDay.limit })
    at = end
  }
  return counters
}

/** A few words on why each run refuses the project. */
function whyNever(
  definitions: Definitions,
  plan: Plan,
  {
    project,
    priceOf,
    separator,
    day,
  }: Pick<VerdictParts, 'priceOf' | 'separator'> & { readonly project: string; readonly day: string },
): string | null {
  const { kind } = plan
  const caller = callerOfPlan(plan.name)
  const charge = { project, budget: budgetFor(definitions, plan, project), caller }
  if (!budgetNamed(definitions, charge.budget)) return `there is no budget ${charge.budget}`
  const rules = ruledBy(definitions, charge)
  if (callerNamed(definitions, caller)?.disabled) return `${shownCaller(definitions, caller)} disabled`
  const found = ruledOutBy(rules, { kind, day })
  if (found) return `${found.budget.name} ${found.rule.brief({ kind, day })}`
  const price = priceOf(kind, project)?.units ?? 0
  const strict = strictFor(definitions, rules, { name: caller, shown: shownCaller(definitions, caller) }, price)
  if (strict) return `${strict.by.shown} ${strict.rule.brief(strict.by)}`
  return (
    spellingFaults(definitions, [{ project }], separator)[0]?.message ??
    whyNotPaid(definitions, charge, plan.mayChargeAncestors)?.detail ??
    (whyNotUnowned(definitions, project) && `${rootBudget} refuses projects that no budget lists`) ??
    leavesToNoBudget(definitions, { ...plan, plan: plan.name })?.detail ??
    null
  )
}

/** Finds a reserve that leaves nothing of a window's limit, so that no update can pass. */
function leavesTooMuch(view: View, plan: Plan): { readonly short: string; readonly sentence: string } | null {
  for (const owner of ownersOf(view.definitions, plan)) {
    const leave = leftOf({ ...plan, plan: plan.name }, owner)
    for (const window of ['month', 'day'] as const) {
      const figures = figuresOf(view, owner, window)
      const { limit, granted } = figures
      if (leave === 0 || !refuses(figures) || limit === 'unlimited' || leave < limit + granted) continue
      const name = shownCounter(view.definitions, owner.name)
      const has = `has ${count(limit + granted)} a ${window}`
      return {
        short: `it leaves ${count(leave)} of ${name}, which ${has}`,
        sentence: `The plan ${plan.name} leaves ${units(leave)} of ${name} to others, but ${name} ${has}. None of the plan’s updates can pass. Lower leave in the plans file.`,
      }
    }
  }
  return null
}

/** A sentence for each enabled plan whose reserve refuses all of its updates. */
export const leavesInWords = (view: View, plans: readonly Plan[]): readonly string[] =>
  plans.flatMap((plan) => (plan.enabled ? (leavesTooMuch(view, plan)?.sentence ?? []) : []))
