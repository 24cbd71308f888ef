import type { Answers, ProblemMembers } from './shapes.ts'

/** Units are whole numbers. */

export type Budget = Answers['Budget']
export type Entry = Answers['Entry']
export type Plan = Answers['Plan']
export type Audit = Answers['Audit']
export type Status = Answers['Status']

type WithProblem<Shown> = Omit<Shown, 'problem'> & { problem?: Problem }

export type Update = WithProblem<Answers['Update']>

/** The `problem` of a project says why it would be refused. The `problem` of the estimate is about all projects together. */
export type Estimate = Omit<WithProblem<Answers['Estimate']>, 'projects'> & {
  projects: WithProblem<Answers['Estimate']['projects'][number]>[]
}

export type Kind = Update['kind']
export type State = Update['state']
export type Limit = Budget['limits'][number]['units']
/** `available` + `held` + `inDoubt` + `spent` = `limit` + `granted`; `available` is `null` if unlimited. */
export type Figures = Omit<Budget['windows'][number], 'childrenLimit'>
export type ShortCounter = Extract<ProblemMembers['over-budget']['budgets'][number], { resetsAt: string }>

export type { ProblemMembers }

/** RFC 9457. `type` narrows the members: `if (problem.type === '/problems/over-budget') problem.budgets …` */
export type Problem = {
  [Slug in keyof ProblemMembers]: ProblemMembers[Slug] & {
    type: `/problems/${Slug}`
    title: string
    status: number
    detail: string
    requestId?: string
  }
}[keyof ProblemMembers]

/** `list` throws this error if a page is refused. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}
