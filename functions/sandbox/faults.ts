import * as z from 'zod/mini'
import { anyOf, datedKinds, type Kind, type Kinds, namesOf } from '../../shared/tracking/kinds.ts'
import { estimateShapes } from './costs.ts'
import type { SandboxRequest } from './request.ts'

const maxMs = 600_000
const maxFaults = 50
const maxUnits = 1_000_000_000

const oneOf = <const Value extends string>(values: readonly Value[]) => z.enum(values, `must be ${values.join(', ')}`)
const integer = (error: string, from: number, to: number = Number.MAX_SAFE_INTEGER) =>
  z.number(error).check(z.int(error), z.gte(from, error), z.lte(to, error))
const ms = integer(`must have 0 to ${maxMs} milliseconds`, 0, maxMs)
const consumes = (byDefault: boolean) => z._default(z.boolean('must be true or false'), byDefault)

/** `consumes` lets the request take effect although its answer is spoiled; `afterMs` delays the effect of a run. */
const spoiledAnswer = (byDefault: boolean) => ({ consumes: consumes(byDefault), afterMs: z.optional(ms) })

function faultOf(kinds: Kinds) {
  const requestFilter = {
    operation: oneOf(['run', 'estimate', 'dates', 'any']),
    kind: z.optional(oneOf(namesOf(kinds))),
    project: z.optional(z.string('must be the name or id of a project')),
    times: z.optional(integer('must be a whole number from 1', 1)),
  }
  /** These faults exclude `any`, because requests that they cannot change would use them up. */
  const estimateFilter = { ...requestFilter, operation: oneOf(['estimate']) }
  const runFilter = { ...requestFilter, operation: oneOf(['run']) }
  const dated = datedKinds(kinds)
  const datedRunFilter = { ...runFilter, kind: z._default(oneOf(dated), dated[0] as Kind) }

  return z.discriminatedUnion(
    'fault',
    [
      z.strictObject({ ...requestFilter, fault: z.literal('delay'), ms }),
      z.strictObject({ ...requestFilter, fault: z.literal('hang'), ...spoiledAnswer(true) }),
      z.strictObject({ ...requestFilter, fault: z.literal('reset'), ...spoiledAnswer(true) }),
      z.strictObject({ ...requestFilter, fault: z.literal('reset-mid-body'), ...spoiledAnswer(true) }),
      z.strictObject({
        ...requestFilter,
        fault: z.literal('status'),
        status: integer('must be an HTTP status from 200 to 599', 200, 599),
        retryAfter: z.optional(integer('must be a whole number of seconds', 0)),
        ...spoiledAnswer(false),
      }),
      z.strictObject({ ...requestFilter, fault: z.literal('html'), ...spoiledAnswer(true) }),
      z.strictObject({ ...requestFilter, fault: z.literal('envelope'), consumes: consumes(false) }),
      z.strictObject({ ...estimateFilter, fault: z.literal('estimate-shape'), shape: oneOf(estimateShapes) }),
      z.strictObject({
        ...runFilter,
        fault: z.literal('run-units'),
        units: integer(`must have 0 to ${maxUnits} units`, 0, maxUnits),
      }),
      z.strictObject({ ...datedRunFilter, fault: z.literal('late-date'), ms }),
    ],
    'must be one of the faults that GET /sandbox/faults explains',
  )
}

export type Fault = z.output<ReturnType<typeof faultOf>>

export const lateMsOf = (fault: Fault | undefined): number =>
  fault !== undefined && 'afterMs' in fault ? (fault.afterMs ?? 0) : 0

export const faultListOf = (kinds: Kinds) =>
  z.strictObject(
    {
      faults: z
        .array(faultOf(kinds), 'must be a list of faults')
        .check(z.maxLength(maxFaults, `must have at most ${maxFaults} faults`)),
    },
    'must be a JSON object with faults',
  )

/** @param projectNames names and ids of the request's projects. */
export function matches(fault: Fault, requested: SandboxRequest, projectNames: readonly string[]): boolean {
  if (fault.operation !== 'any' && fault.operation !== requested.operation) return false
  if (fault.kind !== undefined && fault.kind !== requested.kind) return false
  return fault.project === undefined || projectNames.includes(fault.project)
}

export const helpOf = (kinds: Kinds) =>
  ({
    every: `operation (run, estimate, dates, any); kind (${namesOf(kinds).join(', ')}), project (name or id) and times (until deleted) are optional; the first fault that matches a request is used; consumes: the request takes effect although its answer is spoiled; afterMs: a run takes effect that much later, also without consumes`,
    delay: 'ms; takes effect at once, answers normally after ms',
    hang: 'consumes (true), afterMs; never answers',
    reset: 'consumes (true), afterMs; the connection is closed before an answer',
    'reset-mid-body': 'consumes (true), afterMs; the connection is closed in the middle of the body',
    status:
      'status (200 to 599; 3xx redirects to the same address, 2xx has no body), retryAfter (60 with 429 and 503), consumes (false), afterMs',
    html: 'consumes (true), afterMs; 200 with a page',
    envelope: 'consumes (false); 200 with response_code 12',
    'estimate-shape': `for estimate only; shape (${estimateShapes.join(', ')})`,
    'run-units': 'for run only; units, which each project costs',
    'late-date': `for run of ${anyOf(datedKinds(kinds))} only; ms; the date appears that much later`,
  }) satisfies Record<'every' | Fault['fault'], string>
