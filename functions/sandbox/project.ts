import { dayMs, toRfc3339 } from '../../shared/platform/clock.ts'
import type { Kind, Units } from '../../shared/platform/words.ts'
import type { frequencies } from '../../shared/tracking/enumerations.ts'
import type { CreateProjectInput } from '../../shared/tracking/schemas.ts'

export type Frequency = (typeof frequencies)[number]

/** SearchEngine of the interface, with the `svc_id` by which SearchEngineID refers to it. */
export type Engine = CreateProjectInput['searchengines'][number] & { readonly svc_id: number }

/** A tracked project; its lists keep the interface's own field names ("Resources and their fields"). */
export type Project = {
  readonly keywords: CreateProjectInput['keywords']
  readonly searchengines: readonly Engine[]
  readonly websites: CreateProjectInput['websites']
  readonly id: string
  readonly name: string
  readonly frequency: Frequency
  readonly country: string
  readonly createdAt: number
  /** Dates it had data for before this sandbox began to count. */
  readonly earlierDates: readonly string[]
  /** The last `svc_id` it has given to a search engine: an id is never given twice. */
  readonly lastSvcId: number
}

/** Before it has an id. */
export type ProjectInput = Omit<Project, 'id'>

/**
 * One run. Its units are taken at `at`, which lies ahead while its effect is late; its data can be seen from
 * `visibleFrom`.
 */
export type Run = {
  readonly at: number
  readonly kind: Kind
  readonly projects: readonly string[]
  readonly units: Units
  readonly visibleFrom: number
}

/**
 * The days (UTC) for which a project has data, oldest first. A set: a second run on one day is paid for and adds
 * nothing, which is what makes a guard worth having.
 *
 * @param runs of this project.
 */
export function datesOf(project: Project, runs: readonly Run[], now: number): string[] {
  return sortedSet([...project.earlierDates, ...scheduledDates(project, now), ...daysOfRuns('ranking', runs, now)])
}

/** The days (UTC) for which the difficulty of its keywords is known: those of its keyword-difficulty updates. */
export const difficultyDatesOf = (runs: readonly Run[], now: number): string[] =>
  sortedSet(daysOfRuns('keyword-difficulty', runs, now))

const daysOfRuns = (kind: Kind, runs: readonly Run[], now: number): string[] =>
  runs.filter((run) => run.kind === kind && run.visibleFrom <= now).map((run) => day(run.at))

const sortedSet = (dates: readonly string[]): string[] => [...new Set(dates)].sort()

/** The UTC day of an instant, as the interface writes dates. */
export const day = (instant: number): string => toRfc3339(instant).slice(0, 10)

const everyDays = { ondemand: undefined, daily: 1, weekly: 7 } as const satisfies Record<Frequency, number | undefined>

function scheduledDates(project: Project, now: number): string[] {
  const every = everyDays[project.frequency]
  if (every === undefined) return []
  const dates: string[] = []
  const first = Date.parse(day(project.createdAt))
  for (let at = first; at <= now; at += every * dayMs) dates.push(day(at))
  return dates
}

type Found =
  | { readonly kind: 'found'; readonly projects: readonly Project[] }
  | { readonly kind: 'unknown'; readonly name: string }

/**
 * The projects that a path segment names, by name or id. How several are written is not shown (rule 5 of the
 * endpoints); here commas separate them, unless the whole segment is the name of one. Each counts once.
 */
export function findProjects(all: readonly Project[], segment: string): Found {
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
