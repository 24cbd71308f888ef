import * as z from 'zod/mini'
import { windowKinds } from '../ledger/definitions/definitions.ts'
import { vias } from '../ledger/updates/update.ts'
import { functionNames } from '../platform/log.ts'
import type { Counted } from '../platform/metrics.ts'
import { tokenFaults } from '../platform/words.ts'

/** Other tools read these lines (docs/runbook.md). Readers drop unknown members, so that they accept later versions. */

const text = z.string()
const units = z.int().check(z.gte(0))
const ids = z.readonly(z.array(text))

const common = {
  at: z.iso.datetime(),
  level: z.literal('info'),
  /** Absent in lines of earlier versions. */
  function: z.exactOptional(z.enum(functionNames)),
  requestId: z.exactOptional(text),
  lambdaRequestId: z.exactOptional(text),
  coldStart: z.exactOptional(z.literal(true)),
  traceparent: z.exactOptional(text),
}

const held = {
  update: text,
  kind: text,
  project: text,
  budget: text,
  budgets: ids,
  owners: z.optional(ids),
  month: text,
  day: text,
  caller: text,
  via: z.enum(vias),
  plan: z.optional(text),
  held: units,
  heldAt: z.iso.datetime(),
  grants: z.optional(z.readonly(z.array(z.object({ budget: text, window: z.enum(windowKinds), units })))),
}
const ended = {
  found: z.enum(['ran', 'did-not-run', 'unknown']),
  charged: z.nullable(units),
  stated: z.optional(z.number()),
  status: z.optional(z.int()),
  note: text,
  ms: z.number(),
}

const sum = z.exactOptional(z.number())
const each = z.exactOptional(z.readonly(z.array(z.number())))

const counted = {
  Settled: sum,
  Released: sum,
  InDoubt: sum,
  Refused: sum,
  UnitsCharged: sum,
  Conflicts: sum,
  EstimateMs: each,
  RunMs: each,
} as const satisfies Record<Counted, object>

const noted = {
  updates: z.exactOptional(ids),
  moreUpdates: z.exactOptional(z.int()),
  ...counted,
}

export const requestLine = z.object({
  ...common,
  event: z.literal('request'),
  method: text,
  route: text,
  status: z.int(),
  caller: z.exactOptional(text),
  /** Why the token was refused. `issuer` is the trusted issuer that the token names. */
  reason: z.exactOptional(z.enum(tokenFaults)),
  issuer: z.exactOptional(text),
  sourceIp: z.exactOptional(text),
  ms: z.number(),
  ...noted,
})
export const jobLine = z.object({
  ...common,
  event: z.literal('job'),
  job: z.enum(['sweep', 'digest', 'plan', 'start', 'tell']),
  plan: z.exactOptional(text),
  time: z.exactOptional(z.iso.datetime()),
  slackEvents: z.exactOptional(ids),
  ms: z.number(),
  failed: z.exactOptional(z.literal(true)),
  ...noted,
})
export const holdLine = z.object({ ...common, event: z.literal('hold'), ...held })
export const runLine = z.object({ ...common, event: z.literal('run'), ...held, ...ended })
export const closedLine = z.object({
  ...common,
  event: z.literal('closed'),
  update: text,
  state: z.enum(['settled', 'released']),
  found: z.enum(['ran', 'did-not-run']),
  closedBy: z.enum(['evidence', 'time', 'person']),
  by: text,
  charged: units,
})

export const chargeCorrectedLine = z.object({
  ...common,
  event: z.literal('charge-corrected'),
  update: text,
  charged: units,
  by: text,
  entry: text,
})

export type HoldFields = Omit<z.infer<typeof holdLine>, 'event' | keyof typeof common>
export type RunFields = Omit<z.infer<typeof runLine>, 'event' | keyof typeof common>
