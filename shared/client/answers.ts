import type { Budget, Problem, ProblemMembers, Update } from './shapes.ts'

export type { Audit, Budget, Entry, Estimate, Plan, Problem, ProblemMembers, Status, Update } from './shapes.ts'

export type Kind = Update['kind']
export type State = Update['state']
export type Limit = Budget['limits'][number]['units']
/** `available` + `held` + `inDoubt` + `spent` = `limit` + `granted`; `available` is `null` if unlimited. */
export type Figures = Omit<Budget['windows'][number], 'childrenLimit'>
export type ShortCounter = Extract<ProblemMembers['over-budget']['budgets'][number], { resetsAt: string }>

/** `list` throws this error if a page is refused. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}
