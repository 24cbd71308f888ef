import type { Fault } from './faults.ts'
import type { Project, Run } from './project.ts'

/** Everything the sandbox remembers. Each method is one atomic step, so that a table can take the memory's place. */
export interface State {
  projects(): Promise<readonly Project[]>
  /** Gives the project its id; `undefined` when its name is taken. */
  addProject(project: Omit<Project, 'id'>): Promise<Project | undefined>
  runs(): Promise<readonly Run[]>
  /** Takes the run's units and keeps the run, or does neither when its month cannot pay for it. */
  addRun(run: Run, unitsPerMonth: number): Promise<boolean>
  faults(): Promise<readonly Fault[]>
  replaceFaults(faults: readonly Fault[]): Promise<void>
  /** The first fault that matches, counted down. */
  takeFault(matches: (fault: Fault) => boolean): Promise<Fault | undefined>
}

const firstId = 1001

export function createMemoryState(demonstration: readonly Omit<Project, 'id'>[]): State {
  const projects: Project[] = []
  const runs: Run[] = []
  let faults: readonly Fault[] = []

  const add = (project: Omit<Project, 'id'>): Project => {
    const added = { id: String(firstId + projects.length), ...project }
    projects.push(added)
    return added
  }
  for (const project of demonstration) add(project)

  return {
    projects: async () => [...projects],
    addProject: async (project) => (projects.some(({ name }) => name === project.name) ? undefined : add(project)),
    runs: async () => [...runs],
    addRun: async (run, unitsPerMonth) => {
      if (usedInMonth(runs, run.at) + run.units > unitsPerMonth) return false
      runs.push(run)
      return true
    },
    faults: async () => faults,
    replaceFaults: async (replacement) => {
      faults = replacement
    },
    takeFault: async (matches) => {
      const taken = faults.find(matches)
      if (taken) faults = faults.flatMap((fault) => (fault === taken ? countedDown(fault) : [fault]))
      return taken
    },
  }
}

/** The units of the UTC calendar month that `instant` lies in. */
export function usedInMonth(runs: readonly Run[], instant: number): number {
  const month = monthOf(instant)
  return runs.filter((run) => monthOf(run.at) === month).reduce((sum, run) => sum + run.units, 0)
}

const monthOf = (instant: number): string => new Date(instant).toISOString().slice(0, 7)

function countedDown(fault: Fault): Fault[] {
  if (fault.times === undefined) return [fault]
  return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
}
