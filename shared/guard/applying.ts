import { type Budget, budgetNamed, type Definitions, faultsOf, rootBudget } from '../ledger/definitions.ts'
import { isSame, type Member } from '../ledger/difference.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Problem } from '../ledger/update.ts'
import { type By, staleness, toProblem } from './budgeting.ts'

/** A budget of a file: members that are not named stay as they are; a new budget has the defaults. */
export type BudgetChange = { readonly name: string } & Partial<Omit<Budget, 'name' | 'frozen'>>

/** What a file would change, one row for each budget that is not the same already. */
export interface BudgetDifference {
  readonly budget: string
  readonly isNew: boolean
  readonly members: readonly Member[]
}

export type Applied =
  | { readonly kind: 'applied'; readonly revision: number; readonly differences: readonly BudgetDifference[] }
  | { readonly kind: 'problem'; readonly problem: Problem }

/** Many budgets at once, as one revision; nothing is deleted. */
export function createApplying({ ledger }: { ledger: Ledger }) {
  async function applyBudgets(wanted: readonly BudgetChange[], by: By, how: { dryRun: boolean }): Promise<Applied> {
    if (how.dryRun) {
      const { definitions } = await ledger.view()
      const stale = staleness(definitions, by)
      if (stale) return { kind: 'problem', problem: stale }
      const made = merged(definitions, wanted)
      if ('slug' in made) return { kind: 'problem', problem: made }
      const faults = faultsOf(made.definitions, definitions)
      if (faults.length > 0) return { kind: 'problem', problem: toProblem(faults) }
      return { kind: 'applied', revision: definitions.revision, differences: made.differences }
    }
    let differences: readonly BudgetDifference[] = []
    let revision = 0
    const outcome = await ledger.change(by.caller, ({ definitions }) => {
      const stale = staleness(definitions, by)
      if (stale) return { refused: stale }
      const made = merged(definitions, wanted)
      if ('slug' in made) return { refused: made }
      differences = made.differences
      revision = definitions.revision
      // The same file twice changes nothing the second time, not even the revision.
      if (differences.length === 0) return { refused: null }
      const { length } = differences
      const reason = by.reason ?? `${length} ${length === 1 ? 'budget' : 'budgets'} from a file`
      return { definitions: made.definitions, note: { type: 'limit', budget: rootBudget, reason } }
    })
    switch (outcome.kind) {
      case 'changed':
        return { kind: 'applied', revision: outcome.definitions.revision, differences }
      case 'refused':
        return outcome.refused === null
          ? { kind: 'applied', revision, differences }
          : { kind: 'problem', problem: outcome.refused as Problem }
      case 'faulty':
        return { kind: 'problem', problem: toProblem(outcome.faults) }
    }
  }

  return { applyBudgets }
}

function merged(
  definitions: Definitions,
  wanted: readonly BudgetChange[],
): { readonly definitions: Definitions; readonly differences: readonly BudgetDifference[] } | Problem {
  const faults = wanted.flatMap((change) => faultOf(definitions, change))
  if (faults.length > 0) return toProblem(faults)
  const differences: BudgetDifference[] = []
  const budgets: Record<string, Budget> = { ...definitions.budgets }
  for (const change of wanted) {
    const { name } = change
    const old = budgetNamed(definitions, name)
    const made: Budget = { ...(old ?? { name, parent: rootBudget, limits: [], projects: [] }), ...change }
    const members = Object.keys(change).flatMap((member) => {
      const from = old?.[member as keyof Budget]
      const to = made[member as keyof Budget]
      return member === 'name' || isSame(from, to) ? [] : [{ member, from: from ?? null, to }]
    })
    if (old && members.length === 0) continue
    differences.push({ budget: name, isNew: !old, members })
    budgets[name] = made
  }
  return { definitions: { ...definitions, budgets }, differences }
}

function faultOf(definitions: Definitions, { name, limits, parent }: BudgetChange) {
  if (name === rootBudget && parent) return [{ path: name, message: `${rootBudget} is the root and has no parent` }]
  const needsLimits = !limits && !budgetNamed(definitions, name)
  return needsLimits ? [{ path: name, message: `the budget ${name} is new, so it needs limits` }] : []
}
