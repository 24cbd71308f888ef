import * as z from 'zod/mini'
import { kinds, toUnits } from '../../shared/platform/words.ts'
import { frequencies } from '../../shared/tracking/enumerations.ts'
import { createProjectInput } from '../../shared/tracking/schemas.ts'
import { type Fault, faultList } from './faults.ts'
import type { Project, Run } from './project.ts'

/** The sandbox's own table: its key, as the state reads it and as the infrastructure creates it. No index, no stream. */
export const sandboxTableKey = { partition: 'pk', sort: 'sk' } as const

/** The one item that every request reads: the faults, and whether the projects are still those that are known. */
export interface Head {
  /** Moves with every change of a project. */
  readonly projectsRevision: number
  readonly faultsRevision: number
  readonly faults: readonly Fault[]
  readonly lastId: number
}

const text = z.string()
const whole = z.number().check(z.int())

const head = z.pipe(
  z.object({ projectsRevision: whole, faultsRevision: whole, faults: text, lastId: whole }),
  z.transform(
    ({ faults, ...rest }): Head => ({ ...rest, faults: faultList.parse({ faults: JSON.parse(faults) }).faults }),
  ),
)

/** Items come back as they were written, or not at all: the table may be older than the program. */
export const parseHead = (item: unknown): Head => head.parse(item)

const engine = z.intersection(createProjectInput.shape.searchengines.def.element, z.looseObject({ svc_id: whole }))

const project = z.object({
  id: text,
  name: text,
  frequency: z.enum(frequencies),
  country: text,
  createdAt: whole,
  earlierDates: z.array(text),
  keywords: createProjectInput.shape.keywords,
  searchengines: z.array(engine),
  websites: createProjectInput.shape.websites,
  lastSvcId: whole,
})

export const parseProject = (json: string): Project => project.parse(JSON.parse(json))

const run = z.object({
  at: whole,
  kind: z.enum(kinds),
  projects: z.array(text),
  units: z.pipe(whole, z.transform(toUnits)),
  visibleFrom: whole,
})

export const parseRun = (json: string): Run => run.parse(JSON.parse(json))
