import type { Fault } from './faults.ts'
import type { Project, ProjectInput, Run } from './project.ts'

/** Everything the sandbox remembers, in memory or in a table. Each method is one atomic step. */
export interface State {
  /**
   * What a request meets: the projects as they are, and the first fault that matches, which is counted down.
   */
  meet(matches: (fault: Fault, projects: readonly Project[]) => boolean): Promise<Met>
  /** Gives the project its id; `undefined` when its name is taken. */
  addProject(project: ProjectInput): Promise<Project | undefined>
  /** `undefined` when there is no such project (any more), or when `change` declines. */
  changeProject(id: string, change: (project: Project) => Project | undefined): Promise<Project | undefined>
  /** Takes the run's units and keeps the run, or does neither when its month cannot pay for it. */
  addRun(run: Run, unitsPerMonth: number): Promise<boolean>
  /** Oldest first. */
  runs(): Promise<readonly Run[]>
  /** The runs of one project, by its name, oldest first. */
  runsOf(project: string): Promise<readonly Run[]>
  faults(): Promise<readonly Fault[]>
  replaceFaults(faults: readonly Fault[]): Promise<void>
}

interface Met {
  readonly projects: readonly Project[]
  readonly fault: Fault | undefined
}

/** Project ids begin here. */
export const firstId = 1001

/** The units of the UTC calendar month that `instant` lies in, as far as they have been taken by then. */
export function usedInMonth(runs: readonly Run[], instant: number): number {
  const month = monthOf(instant)
  return runs.filter((run) => monthOf(run.at) === month).reduce((sum, run) => sum + run.units, 0)
}

export const monthOf = (instant: number): string => new Date(instant).toISOString().slice(0, 7)

/** The list after one of its faults was met. */
export const counted = (faults: readonly Fault[], taken: Fault): readonly Fault[] =>
  faults.flatMap((fault) => (fault === taken ? countedDown(fault) : [fault]))

function countedDown(fault: Fault): Fault[] {
  if (fault.times === undefined) return [fault]
  return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
}

/** A project that cannot be kept. */
export class ProjectTooLarge extends Error {
  override readonly name = 'ProjectTooLarge'
}
