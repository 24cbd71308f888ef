import { dayMs, toRfc3339 } from '../../shared/platform/clock.ts'
import type { Units } from '../../shared/platform/words.ts'
import { datedKinds, type Kind, type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import type { CreateProjectInput, frequencies, UpdateProjectInput } from '../../shared/tracking/projects.ts'

export type Frequency = (typeof frequencies)[number]

export const habits = ['usual', 'strange'] as const
export type Habits = (typeof habits)[number]

/** What a creation without a frequency gets. The interface names no default, so each of these costs units. */
export const usualFrequency: Readonly<Record<Habits, Frequency>> = { usual: 'weekly', strange: 'daily' }

/** What a strange stand-in's demonstration projects have in place of `ondemand`. */
export const demonstrationFrequency: Readonly<Record<Habits, Frequency>> = { usual: 'ondemand', strange: 'weekly' }

export type Engine = CreateProjectInput['searchengines'][number] & { readonly svc_id: number }

/** The lists of a project keep the service's field names. */
export type Project = {
  readonly keywords: CreateProjectInput['keywords']
  readonly searchengines: readonly Engine[]
  readonly websites: CreateProjectInput['websites']
  readonly id: string
  readonly name: string
  readonly frequency: Frequency
  readonly country: string
  readonly createdAt: number
  /** Dates with data before the sandbox existed. */
  readonly earlierDates: readonly string[]
  /** Also counts removed engines, so that no `svc_id` is used twice. */
  readonly lastSvcId: number
}

export type ProjectInput = Omit<Project, 'id'>

/** `at` is in the future for a delayed effect; data is visible from `visibleFrom`. */
export type Run = {
  readonly at: number
  readonly kind: string
  readonly projects: readonly string[]
  readonly units: Units
  readonly visibleFrom: number
}

/** UTC days, oldest first. */
export function datesOf(project: Project, runs: readonly Run[], now: number, kinds: Kinds = productKinds): string[] {
  const days = datedKinds(kinds).flatMap((kind) => daysOfRuns(kind, runs, now))
  return sortedSet([...project.earlierDates, ...scheduledDays(project, now), ...days])
}

export const difficultyDatesOf = (runs: readonly Run[], now: number): string[] =>
  sortedSet(daysOfRuns('keyword-difficulty', runs, now))

const daysOfRuns = (kind: Kind, runs: readonly Run[], now: number): string[] =>
  runs.filter((run) => run.kind === kind && run.visibleFrom <= now).map((run) => day(run.at))

const sortedSet = (dates: readonly string[]): string[] => [...new Set(dates)].sort()

export const day = (instant: number): string => toRfc3339(instant).slice(0, 10)

const intervalDays: Readonly<Record<Frequency, number>> = { ondemand: Number.POSITIVE_INFINITY, daily: 1, weekly: 7 }

/** The UTC days on which the project is updated by itself, oldest first. */
export function scheduledDays({ frequency, createdAt }: Project, until: number): string[] {
  const everyMs = intervalDays[frequency] * dayMs
  const first = Date.parse(day(createdAt))
  if (everyMs === Number.POSITIVE_INFINITY || until < first) return []
  return Array.from({ length: Math.floor((until - first) / everyMs) + 1 }, (_, index) => day(first + index * everyMs))
}

type FoundProjects =
  | { readonly kind: 'found'; readonly projects: readonly Project[] }
  | { readonly kind: 'unknown'; readonly name: string }

/** Finds projects by name or id, separated by commas. First looks for one project with the whole segment as its name. */
export function findProjects(all: readonly Project[], segment: string): FoundProjects {
  const one = findProject(all, segment)
  if (one) return { kind: 'found', projects: [one] }
  const found = new Set<Project>()
  for (const name of segment.split(',')) {
    const project = findProject(all, name)
    if (!project) return { kind: 'unknown', name }
    found.add(project)
  }
  return { kind: 'found', projects: [...found] }
}

export const findProject = (all: readonly Project[], nameOrId: string): Project | undefined =>
  all.find((project) => project.name === nameOrId) ?? all.find((project) => project.id === nameOrId)

export function newProject(
  input: CreateProjectInput,
  about: { name: string; frequency: Frequency; country: string; now: number },
): ProjectInput {
  const { now, ...named } = about
  const { keywords, websites } = input
  const searchengines = numberEngines(input.searchengines, 0)
  return {
    ...named,
    createdAt: now,
    earlierDates: [],
    keywords,
    searchengines,
    websites,
    lastSvcId: searchengines.length,
  }
}

/** Replaces the lists of the project, but adds and removes search engines one by one. */
export function updatedProject(project: Project, input: UpdateProjectInput): Project {
  const removed = new Set(input.removeSearchengines?.map(({ svc_id }) => svc_id))
  const added = numberEngines(input.addSearchengines ?? [], project.lastSvcId)
  return {
    ...project,
    keywords: input.keywords ?? project.keywords,
    websites: input.websites ?? project.websites,
    searchengines: [...project.searchengines.filter(({ svc_id }) => !removed.has(svc_id)), ...added],
    lastSvcId: project.lastSvcId + added.length,
  }
}

export const unknownEngines = (project: Project, { removeSearchengines = [] }: UpdateProjectInput): number[] => {
  const known = new Set(project.searchengines.map(({ svc_id }) => svc_id))
  return removeSearchengines.map(({ svc_id }) => svc_id).filter((id) => !known.has(id))
}

const numberEngines = (engines: CreateProjectInput['searchengines'], last: number): Engine[] =>
  engines.map((engine, index) => ({ ...engine, svc_id: last + index + 1 }))
