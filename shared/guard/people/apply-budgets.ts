import {
  type Budget,
  budgetNamed,
  type Definitions,
  folded,
  type OwnedProject,
  rootBudget,
  type WindowLimit,
} from '../../ledger/definitions/definitions.ts'
import { isSame, type Member } from '../../ledger/definitions/difference.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import type { Fault } from '../../platform/faults.ts'
import { maxProjects, type RemovableMember } from '../../records/budget.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import type { Plan } from '../plans-file.ts'
import { type Refused, refused } from '../problems.ts'
import {
  type Author,
  type Enforcement,
  refusalOf,
  rootIsEnforced,
  staleness,
  toBudget,
  toProblem,
  whyNotReleased,
} from './budgets.ts'
import { checkIds, type IdLists, idListsFor } from './listed-ids.ts'
import { moveNotes, moveRows } from './moves.ts'

export type BudgetChange = { readonly name: string } & Partial<Omit<Budget, 'name' | 'frozen' | 'enforce'>> &
  Enforcement

export interface BudgetDifference {
  readonly budget: string
  readonly isNew: boolean
  readonly members: readonly Member[]
}

interface Applied {
  readonly kind: 'applied'
  readonly revision: number
  readonly differences: readonly BudgetDifference[]
  /** Sentences about projects that move between budgets, and about ids. */
  readonly notes: readonly string[]
}

export type ApplyResult = Applied | Refused

/** Applies a file of budgets as one revision. Deletes no budget. */
export function createBudgetsFile({
  ledger,
  plans: readPlans,
  tracking,
}: {
  ledger: Ledger
  plans: () => Promise<readonly Plan[]>
  tracking: Pick<Tracking, 'projects'>
}) {
  async function applyBudgets(wanted: readonly BudgetChange[], by: Author, how: ApplyOptions): Promise<ApplyResult> {
    const plans = await readPlans()
    const rows = new Map(wanted.map(({ name, projects = [] }) => [name, projects.map((row) => folded(row.name))]))
    const pathOf = (budget: string, name: string) =>
      `budgets.${[...rows.keys()].indexOf(budget)}.projects.${rows.get(budget)?.indexOf(folded(name))}.id`
    const make = (definitions: Definitions, ids?: IdLists) => {
      const made = staleness(definitions, by) ?? merged(definitions, wanted, by, how)
      if ('slug' in made) return made
      const checked = ids
        ? checkIds(definitions, made.definitions, { ...ids, asWritten: by.asWritten, pathOf })
        : { notes: [] }
      if ('slug' in checked) return checked
      const notes = [...moveNotes({ before: { definitions }, after: made }, plans), ...checked.notes]
      const { differences } = made
      const done: Applied = { kind: 'applied', revision: definitions.revision, differences, notes }
      return whyNotReleased(definitions, made.definitions, by) ?? { definitions: made.definitions, done }
    }
    const ids = await idListsFor({ ledger, tracking }, ({ definitions }) => make(definitions))
    if (how.dryRun) {
      const view = await ledger.view()
      const made = make(view.definitions, ids)
      if ('slug' in made) return refused(made)
      const faults = await ledger.faultsOfChange(view, made.definitions)
      return faults.length > 0 ? refused(toProblem(faults)) : made.done
    }
    let done: Applied = { kind: 'applied', revision: 0, differences: [], notes: [] }
    const outcome = await ledger.change(by.caller, ({ definitions }) => {
      const made = make(definitions, ids)
      if ('slug' in made) return { refused: made }
      done = made.done
      const { length } = done.differences
      if (length === 0) return { refused: null }
      const reason = by.reason ?? `${length} ${length === 1 ? 'budget' : 'budgets'} from a file`
      return { definitions: made.definitions, note: { type: 'limit', budget: rootBudget, reason } }
    })
    if (outcome.kind === 'changed') return { ...done, revision: outcome.definitions.revision }
    return refusalOf(outcome) ?? done
  }

  return { applyBudgets }
}

interface ApplyOptions {
  readonly dryRun: boolean
  readonly prune?: readonly RemovableMember[]
}

function merged(
  definitions: Definitions,
  wanted: readonly BudgetChange[],
  by: Author,
  how: ApplyOptions,
): { readonly definitions: Definitions; readonly differences: readonly BudgetDifference[] } | Problem {
  const budgets: Record<string, Budget> = { ...definitions.budgets }
  const faults = wanted.flatMap((change) => faultOf(definitions, change))
  for (const change of wanted) {
    const { name } = change
    const made = madeOf(budgetNamed(definitions, name), change, how)
    if (made.projects.length > maxProjects) faults.push(tooManyProjects(made))
    budgets[name] = made
  }
  const named = new Map(wanted.map(({ name, projects = [] }) => [name, projects]))
  const moved = moveRows(definitions, budgets, named, {
    mayMove: by.move !== undefined,
    pathOf: (budget, row) => `budgets.${budget}.projects.${row}`,
  })
  faults.push(...moved.faults)
  if (faults.length > 0) return toProblem(faults)
  const names = new Set([...named.keys(), ...Object.keys(moved.budgets)])
  const differences = [...names].flatMap((name): BudgetDifference[] => {
    const [old, made] = [budgetNamed(definitions, name), moved.budgets[name]]
    if (!made) return []
    const members = membersOf(old, made, wanted.find((change) => change.name === name) ?? { name })
    return old && members.length === 0 ? [] : [{ budget: name, isNew: !old, members }]
  })
  return { definitions: { ...definitions, budgets: moved.budgets }, differences }
}

function membersOf(old: Budget | undefined, made: Budget, change: BudgetChange): Member[] {
  const names = new Set([...Object.keys(change), ...Object.keys(old ?? {})]) as Set<keyof Budget>
  return [...names].flatMap((member) => {
    const [from, to] = [old?.[member] ?? null, made[member] ?? null]
    return member === 'name' || isSame(from, to) ? [] : [{ member, from, to }]
  })
}

function madeOf(old: Budget | undefined, change: BudgetChange, { prune = [] }: ApplyOptions): Budget {
  if (!old) return { parent: rootBudget, limits: [], projects: [], ...toBudget(change) }
  const pruned: readonly string[] = prune
  const kept = Object.fromEntries(Object.entries(old).filter(([member]) => !pruned.includes(member))) as Partial<Budget>
  const limits = change.limits ?? old.limits
  const isNamed = ({ window }: WindowLimit) => limits.some((limit) => limit.window === window)
  return {
    ...toBudget({ parent: old.parent, ...kept, ...change }),
    limits: [...limits, ...(pruned.includes('limits') ? [] : old.limits.filter((limit) => !isNamed(limit)))],
    projects: projectsOf(old, change.projects ?? [], pruned.includes('projects')),
  }
}

function projectsOf({ projects: old }: Budget, rows: readonly OwnedProject[], prune: boolean): OwnedProject[] {
  const listed = new Map(old.map((project) => [folded(project.name), project]))
  const named = new Map(rows.map((row) => [folded(row.name), { ...listed.get(folded(row.name)), ...row }]))
  const added = [...named].filter(([key]) => !listed.has(key)).map(([, project]) => project)
  const stay = old.flatMap((project) => named.get(folded(project.name)) ?? (prune ? [] : [project]))
  return [...stay, ...added]
}

function faultOf(definitions: Definitions, { name, limits, parent, enforce }: BudgetChange): Fault[] {
  if (name === rootBudget && parent) return [{ path: name, message: `${rootBudget} is the root and has no parent` }]
  if (name === rootBudget && enforce === false) return [{ path: `${name}.enforce`, message: rootIsEnforced }]
  const needsLimits = !limits && !budgetNamed(definitions, name)
  return needsLimits ? [{ path: name, message: `the budget ${name} is new, so it needs limits` }] : []
}

const tooManyProjects = ({ name, projects: { length } }: Budget): Fault => ({
  path: name,
  message: `${name} would own ${length} projects, and at most ${maxProjects} are allowed`,
})
