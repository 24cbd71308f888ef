import type { Fault } from './faults.ts'
import type { Project, ProjectInput, Run } from './project.ts'
import { counted, firstId, type State, usedInMonth } from './state.ts'

/** Gone with the process. */
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
      if (fault) faults = counted(faults, fault)
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
