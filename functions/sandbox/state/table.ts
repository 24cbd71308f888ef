import * as z from 'zod/mini'
import { toUnits } from '../../../shared/platform/words.ts'
import { productKinds } from '../../../shared/tracking/kinds.ts'
import { createProjectInput, frequencies } from '../../../shared/tracking/projects.ts'
import { type Fault, faultListOf } from '../faults.ts'
import type { Project, Run } from '../project.ts'

/** The key of the sandbox's own table, for the state and the infrastructure. */
export const sandboxTableKey = { partition: 'pk', sort: 'sk' } as const

/** The one item that every request reads. */
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
    ({ faults, ...rest }): Head => ({
      ...rest,
      faults: faultListOf(productKinds).parse({ faults: JSON.parse(faults) }).faults,
    }),
  ),
)

/** @throws where an item has another shape: the table may be older than the program. */
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
  kind: text,
  projects: z.array(text),
  units: z.pipe(whole, z.transform(toUnits)),
  visibleFrom: whole,
})

export const parseRun = (json: string): Run => run.parse(JSON.parse(json))
