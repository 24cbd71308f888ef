import { gunzipSync, gzipSync } from 'node:zlib'
import * as z from 'zod/mini'
import { toUnits } from '../../../shared/platform/words.ts'
import { productKinds } from '../../../shared/tracking/kinds.ts'
import { createProjectInput, frequencies } from '../../../shared/tracking/projects.ts'
import { type Fault, faultListOf } from '../faults.ts'
import type { Project, Run } from '../project.ts'

const text = z.string()
const integer = z.number().check(z.int())

export const parseFaults = (json: string): readonly Fault[] =>
  faultListOf(productKinds).parse({ faults: JSON.parse(json) }).faults

export const pack = (project: Project): Buffer => gzipSync(JSON.stringify(project))
export const unpack = (packed: Uint8Array): Project => project.parse(JSON.parse(gunzipSync(packed).toString()))

const engine = z.intersection(createProjectInput.shape.searchengines.def.element, z.looseObject({ svc_id: integer }))

const project = z.object({
  id: text,
  name: text,
  frequency: z.enum(frequencies),
  country: text,
  createdAt: integer,
  earlierDates: z.array(text),
  keywords: createProjectInput.shape.keywords,
  searchengines: z.array(engine),
  websites: createProjectInput.shape.websites,
  lastSvcId: integer,
})

const run = z.object({
  at: integer,
  kind: text,
  projects: z.array(text),
  units: z.pipe(integer, z.transform(toUnits)),
  visibleFrom: integer,
})

export const parseRun = (json: string): Run => run.parse(JSON.parse(json))
