import type { CreateProjectInput, UpdateProjectInput } from '../../shared/tracking/schemas.ts'
import type { Engine, Frequency, Project, ProjectInput } from './project.ts'

/** A project as CreateProjectInput describes it; `svc_id` is what SearchEngineID refers to. */
export function newProject(
  input: CreateProjectInput,
  about: { name: string; frequency: Frequency; country: string; now: number },
): ProjectInput {
  const { name, frequency, country, now } = about
  return {
    name,
    frequency,
    country,
    createdAt: now,
    earlierDates: [],
    keywords: input.keywords,
    searchengines: numbered(input.searchengines, 0),
    websites: input.websites,
    lastSvcId: input.searchengines.length,
  }
}

/**
 * What UpdateProjectInput makes of a project. Lists that are given replace the ones there are, those that are not stay;
 * search engines are removed and added one by one.
 */
export function updatedProject(project: Project, input: UpdateProjectInput): Project {
  const removed = new Set(input.removeSearchengines?.map(({ svc_id }) => svc_id))
  const added = numbered(input.addSearchengines ?? [], project.lastSvcId)
  return {
    ...project,
    keywords: input.keywords ?? project.keywords,
    websites: input.websites ?? project.websites,
    searchengines: [...project.searchengines.filter(({ svc_id }) => !removed.has(svc_id)), ...added],
    lastSvcId: project.lastSvcId + added.length,
  }
}

/** The search engines that an update removes and that the project does not have. */
export const unknownEngines = (project: Project, { removeSearchengines = [] }: UpdateProjectInput): number[] => {
  const known = new Set(project.searchengines.map(({ svc_id }) => svc_id))
  return removeSearchengines.map(({ svc_id }) => svc_id).filter((id) => !known.has(id))
}

const numbered = (engines: CreateProjectInput['searchengines'], last: number): Engine[] =>
  engines.map((engine, index) => ({ ...engine, svc_id: last + index + 1 }))
