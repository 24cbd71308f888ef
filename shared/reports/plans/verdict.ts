import type { PlayedRow } from '../../guard/plans/play.ts'
import type { PlayedPlans } from '../../guard/plans/player.ts'
import type { Plan } from '../../guard/plans-file.ts'
import { budgetFor } from '../../guard/rules/projects.ts'
import { count, figuresOf, refuses, shownCounter, units } from '../../guard/sentences.ts'
import type { View } from '../../ledger/book/view.ts'
import {
  budgetNamed,
  type CounterOwner,
  callerOfPlan,
  chainOf,
  type Definitions,
  limitsOfCaller,
} from '../../ledger/definitions/definitions.ts'
import { monthAt } from '../../ledger/definitions/windows.ts'
import { leftOf } from '../../ledger/updates/leave.ts'

/** Says whether a plan's runs will pass until the month of its next run ends, if only plans spend. */
export type Verdict =
  | { readonly kind: 'passes' }
  /** A price is not known, or the next run is too far away. */
  | { readonly kind: 'unknown' }
  /** No run can ever pass. */
  | { readonly kind: 'never'; readonly why: string }
  | {
      readonly kind: 'fails'
      /** The time of the first run of which some projects do not run. */
      readonly at: number
      readonly isNext: boolean
      /** How many of its projects run, of those that are not up to date. */
      readonly runs: number
      readonly of: number
      readonly groups: readonly FailingProjects[]
    }

/** Projects that do not run for the same reason. */
interface FailingProjects {
  readonly projects: readonly string[]
  /** Whether they wait for an approval. */
  readonly waits: boolean
  readonly why: string
}

/** @param next when the plan runs next. */
export function verdictOf(
  { view, played }: Pick<PlayedPlans, 'view' | 'played'>,
  plan: Plan,
  next: number | null,
): Verdict {
  const runs = played.runs.filter((run) => run.plan.name === plan.name && run.rows.length > 0)
  const first = runs.find(({ time }) => time === next)
  if (!first) return { kind: 'unknown' }
  const leave = leavesTooMuch(view, plan)
  if (leave) return { kind: 'never', why: leave.short }
  const { end } = monthAt(view.definitions.calendar, first.time)
  const failing = runs.find(({ time, rows }) => time >= first.time && time < end && rows.some(hasFailed))
  if (!failing) return first.unpriced === 0 ? { kind: 'passes' } : { kind: 'unknown' }
  const { time: at, rows } = failing
  const groups = groupsOf(rows.filter(hasFailed))
  const ran = rows.filter(({ outcome }) => outcome === 'runs').length
  return {
    kind: 'fails',
    at,
    isNext: failing === first,
    runs: ran,
    of: rows.filter(({ outcome }) => outcome !== 'up-to-date').length,
    groups,
  }
}

const hasFailed = ({ outcome }: PlayedRow): boolean => outcome === 'refused' || outcome === 'waits'

function groupsOf(rows: readonly PlayedRow[]): readonly FailingProjects[] {
  const groups = new Map<string, FailingProjects>()
  for (const { project, outcome, why } of rows) {
    const waits = outcome === 'waits'
    const key = `${waits} ${why?.brief}`
    const { projects = [] } = groups.get(key) ?? {}
    groups.set(key, { projects: [...projects, project], waits, why: why?.brief ?? '' })
  }
  return [...groups.values()]
}

/** The budgets that a project of the plan is charged to, then the plan's own counter as a caller. */
function chargedBy(definitions: Definitions, plan: Plan, project: string): readonly CounterOwner[] {
  const name = budgetFor(definitions, plan, project)
  // The plans file may name a budget that was deleted, or not created yet.
  const budgets = budgetNamed(definitions, name) ? chainOf(definitions, name) : []
  return [...budgets, ...limitsOfCaller(definitions, callerOfPlan(plan.name))]
}

function ownersOf(definitions: Definitions, plan: Plan): readonly CounterOwner[] {
  const owners = plan.projects.flatMap((project) => chargedBy(definitions, plan, project))
  return [...new Map(owners.map((owner) => [owner.name, owner])).values()]
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
