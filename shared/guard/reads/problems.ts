import { isDeepStrictEqual } from 'node:util'
import { unseenBudget } from '../../ledger/definitions/definitions.ts'
import type { Value } from '../../ledger/store/store.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import { noProject } from '../people/sees.ts'
import { describe } from '../problem-types.ts'
import { units as inUnits, list } from '../sentences.ts'
import type { Sight } from './sight.ts'

export interface Shown {
  /** Whether the reader sees an update that a problem names. */
  isSeen(id: string): boolean
  /** Names that the request itself contains. A refusal may repeat them. */
  readonly typed?: readonly string[]
}

/**
 * A problem as a narrowed reader sees it. An unseen budget becomes `{budget: null, short}`. Replaces
 * details that reveal more.
 */
export function seenProblem(sight: Sight, problem: Problem, { isSeen, typed = [] }: Shown): Problem {
  const { slug, detail } = problem
  // The same answer as for a project that the reader does not see.
  if (slug === 'project-unowned') return noProject(String(problem.members.project))
  const isTelling = (text: string) => sight.isTelling(typed.reduce((rest, name) => rest.replaceAll(name, ''), text))
  const hides = (value: unknown) => typeof value === 'string' && !sight.seesCounter(value)
  const rows = rowsOf(problem.members)
  const isAbove = hides(problem.members.budget) || rows.some(({ budget }) => hides(budget))
  const seenRows = rows.map((row) => (hides(row.budget) ? { budget: null, short: row.short ?? null } : row))
  const shown = (name: string, value: Value): Value | undefined => {
    if (name === 'budget') return hides(value) ? null : value
    if (name === 'budgets') return seenRows
    if (name === 'perUpdate' || name === 'wouldPass') return isAbove ? undefined : value
    if (name === 'update') return typeof value === 'string' && !isSeen(value) ? undefined : value
    if (name === 'plan') return value === null || sight.plans.some((plan) => plan.name === value) ? value : undefined
    if (name === 'errors' && Array.isArray(value))
      return value.map((each) => (isTelling(JSON.stringify(each)) ? { path: '', message: notYours } : each))
    return typeof value === 'string' && isTelling(value) ? undefined : value
  }
  const all = Object.entries(problem.members).map(([name, value]) => [name, shown(name, value)] as const)
  const members = Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  if (isDeepStrictEqual(members, problem.members) && !isTelling(detail)) return problem
  return { slug, members, detail: slug === 'over-budget' ? lackOf(seenRows) : decidedAbove(slug, isAbove) }
}

const notYours = 'is not among the budgets that you read'

const rowsOf = ({ budgets }: Problem['members']) =>
  (Array.isArray(budgets) ? budgets : []) as readonly { readonly budget?: string | null; readonly short?: Value }[]

function lackOf(rows: ReturnType<typeof rowsOf>): string {
  const lacks = rows.map(({ budget, short }) => {
    const name = budget ?? unseenBudget
    return typeof short === 'number' ? `${name} is ${inUnits(short)} short` : `${name} has nothing left`
  })
  return `There are not enough units for this: ${list([...new Set(lacks)])}. Ask an administrator for more.`
}

function decidedAbove(slug: string, isAbove: boolean): string {
  const { title } = describe(slug)
  if (!isAbove) return `${title}. What decided this is not among the budgets that you read; ask an administrator.`
  return `A budget above decides this: ${title.charAt(0).toLowerCase()}${title.slice(1)}. Ask an administrator.`
}
