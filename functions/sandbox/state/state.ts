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

/** Everything that a state holds. */
export interface Contents {
  readonly projects: readonly Project[]
  readonly runs: readonly Run[]
  readonly faults: readonly Fault[]
}

export const demonstrated = (demonstration: readonly ProjectInput[]): Contents => ({
  projects: demonstration.map((project, index) => ({ id: String(firstId + index), ...project })),
  runs: [],
  faults: [],
})

export const createMemoryState = (demonstration: readonly ProjectInput[]): State =>
  createState(demonstrated(demonstration), async () => {})

/** @param keep gets each project and run that is new or changed, and all faults. */
export function createState(contents: Contents, keep: (changed: Partial<Contents>) => Promise<void>): State {
  const projects = [...contents.projects]
  const runs = [...contents.runs]
  let { faults } = contents
  let lastId = Math.max(firstId - 1, ...projects.map(({ id }) => Number(id)))

  async function keepOr(changed: Partial<Contents>, undo: () => void): Promise<void> {
    try {
      await keep(changed)
    } catch (error) {
      undo()
      throw error
    }
  }

  async function setFaults(replacement: readonly Fault[]): Promise<void> {
    faults = replacement
    await keep({ faults })
  }

  return {
    meet: async (matches) => {
      const met = [...projects]
      const fault = faults.find((each) => matches(each, met))
      if (fault?.times !== undefined) await setFaults(countDown(faults, fault))
      return { projects: met, fault }
    },
    addProject: async (project) => {
      if (projects.some(({ name }) => name === project.name)) return undefined
      const added = { id: String(++lastId), ...project }
      projects.push(added)
      await keepOr({ projects: [added] }, () => projects.splice(projects.indexOf(added), 1))
      return added
    },
    changeProject: async (id, change) => {
      const index = projects.findIndex((project) => project.id === id)
      const found = projects[index]
      const changed = found && change(found)
      if (!changed) return undefined
      projects[index] = changed
      await keepOr({ projects: [changed] }, () => projects.splice(index, 1, found))
      return changed
    },
    addRun: async (run, unitsPerMonth) => {
      if (usedInMonth(runs, run.at) + run.units > unitsPerMonth) return false
      runs.push(run)
      await keep({ runs: [run] })
      return true
    },
    runs: async () => runs.toSorted((a, b) => a.at - b.at),
    runsOf: async (project) => runs.filter(({ projects }) => projects.includes(project)).sort((a, b) => a.at - b.at),
    faults: async () => faults,
    replaceFaults: setFaults,
  }
}
