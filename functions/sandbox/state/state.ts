import type { Fault } from '../faults.ts'
import type { Project, ProjectInput, Run } from '../project.ts'

/** Each method is atomic. */
export interface State {
  /** With the first fault that matches, which is counted down. */
  meet(matches: (fault: Fault, projects: readonly Project[]) => boolean): Promise<MatchResult>
  /** `undefined` if the name is taken. */
  addProject(project: ProjectInput): Promise<Project | undefined>
  /** `undefined` if the project is missing or `change` returns `undefined`. */
  changeProject(id: string, change: (project: Project) => Project | undefined): Promise<Project | undefined>
  /** `false`, without a change, if the month has too few units. */
  addRun(run: Run, unitsPerMonth: number): Promise<boolean>
  /** Oldest first. */
  runs(): Promise<readonly Run[]>
  /** Oldest first, by the project's name. */
  runsOf(project: string): Promise<readonly Run[]>
  faults(): Promise<readonly Fault[]>
  replaceFaults(faults: readonly Fault[]): Promise<void>
}

interface MatchResult {
  readonly projects: readonly Project[]
  readonly fault: Fault | undefined
}

export const firstId = 1001

export function usedInMonth(runs: readonly Run[], instant: number): number {
  const month = monthOf(instant)
  return runs.filter((run) => monthOf(run.at) === month).reduce((sum, run) => sum + run.units, 0)
}

export const monthOf = (instant: number): string => new Date(instant).toISOString().slice(0, 7)

export const countDown = (faults: readonly Fault[], usedFault: Fault): readonly Fault[] =>
  faults.flatMap((fault) => (fault === usedFault ? decrement(fault) : [fault]))

function decrement(fault: Fault): Fault[] {
  if (fault.times === undefined) return [fault]
  return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
}

export class ProjectTooLarge extends Error {
  override readonly name = 'ProjectTooLarge'
}

export function createMemoryState(demonstration: readonly ProjectInput[]): State {
  const projects: Project[] = []
  const runs: Run[] = []
  let faults: readonly Fault[] = []

  const add = (project: ProjectInput): Project => {
    const added = { id: String(firstId + projects.length), ...project }
    projects.push(added)
    return added
  }
  for (const project of demonstration) add(project)

  return {
    meet: async (matches) => {
      const fault = faults.find((each) => matches(each, projects))
      if (fault) faults = countDown(faults, fault)
      return { projects: [...projects], fault }
    },
    addProject: async (project) => (projects.some(({ name }) => name === project.name) ? undefined : add(project)),
    changeProject: async (id, change) => {
      const index = projects.findIndex((project) => project.id === id)
      const found = projects[index]
      const changed = found && change(found)
      if (changed) projects[index] = changed
      return changed
    },
    addRun: async (run, unitsPerMonth) => {
      if (usedInMonth(runs, run.at) + run.units > unitsPerMonth) return false
      runs.push(run)
      return true
    },
    runs: async () => runs.toSorted((a, b) => a.at - b.at),
    runsOf: async (project) => runs.filter(({ projects }) => projects.includes(project)).sort((a, b) => a.at - b.at),
    faults: async () => faults,
    replaceFaults: async (replacement) => {
      faults = replacement
    },
  }
}
