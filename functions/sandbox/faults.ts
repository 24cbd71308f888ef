import * as z from 'zod/mini'
import { anyOf, datedKinds, type Kind, type Kinds, namesOf } from '../../shared/tracking/kinds.ts'
import { estimateShapes } from './costs.ts'
import type { Requested } from './request.ts'

const longestMs = 600_000
const mostFaults = 50
const mostUnits = 1_000_000_000

const oneOf = <const Value extends string>(values: readonly Value[]) => z.enum(values, `must be ${values.join(', ')}`)
const integer = (takes: string, from: number, to: number = Number.MAX_SAFE_INTEGER) =>
  z.number(takes).check(z.int(takes), z.gte(from, takes), z.lte(to, takes))
const ms = integer(`must have 0 to ${longestMs} milliseconds`, 0, longestMs)
const consumes = (byDefault: boolean) => z._default(z.boolean('must be true or false'), byDefault)

/** `consumes`: the request takes effect although its answer is spoiled. `afterMs`: how late a run takes effect. */
const spoils = (byDefault: boolean) => ({ consumes: consumes(byDefault), afterMs: z.optional(ms) })

function faultOf(kinds: Kinds) {
  const where = {
    operation: oneOf(['run', 'estimate', 'dates', 'any']),
    kind: z.optional(oneOf(namesOf(kinds))),
    project: z.optional(z.string('must be the name or id of a project')),
    times: z.optional(integer('must be a whole number from 1', 1)),
  }
  /** Not with `any`: requests that they cannot change would use them up. */
  const ofEstimate = { ...where, operation: oneOf(['estimate']) }
  const ofRun = { ...where, operation: oneOf(['run']) }
  const dated = datedKinds(kinds)
  const ofDatedRun = { ...ofRun, kind: z._default(oneOf(dated), dated[0] as Kind) }

  return z.discriminatedUnion(
    'fault',
    [
      z.strictObject({ ...where, fault: z.literal('delay'), ms }),
      z.strictObject({ ...where, fault: z.literal('hang'), ...spoils(true) }),
      z.strictObject({ ...where, fault: z.literal('reset'), ...spoils(true) }),
      z.strictObject({ ...where, fault: z.literal('reset-mid-body'), ...spoils(true) }),
      z.strictObject({
        ...where,
        fault: z.literal('status'),
        status: integer('must be an HTTP status from 200 to 599', 200, 599),
        retryAfter: z.optional(integer('must be a whole number of seconds', 0)),
        ...spoils(false),
      }),
      z.strictObject({ ...where, fault: z.literal('html'), ...spoils(true) }),
      z.strictObject({ ...where, fault: z.literal('envelope'), consumes: consumes(false) }),
      z.strictObject({ ...ofEstimate, fault: z.literal('estimate-shape'), shape: oneOf(estimateShapes) }),
      z.strictObject({
        ...ofRun,
        fault: z.literal('run-units'),
        units: integer(`must have 0 to ${mostUnits} units`, 0, mostUnits),
      }),
      z.strictObject({ ...ofDatedRun, fault: z.literal('late-date'), ms }),
    ],
    'must be one of the faults that GET /sandbox/faults explains',
  )
}

export type Fault = z.output<ReturnType<typeof faultOf>>

export const lateMsOf = (fault: Fault | undefined): number =>
  fault !== undefined && 'afterMs' in fault ? (fault.afterMs ?? 0) : 0

/** The body of `PUT /sandbox/faults`. */
export const faultListOf = (kinds: Kinds) =>
  z.strictObject(
    {
      faults: z
        .array(faultOf(kinds), 'must be a list of faults')
        .check(z.maxLength(mostFaults, `must have at most ${mostFaults} faults`)),
    },
    'must be a JSON object with faults',
  )

/** @param known names and ids of the request's projects. */
export function matches(fault: Fault, requested: Requested, known: readonly string[]): boolean {
  if (fault.operation !== 'any' && fault.operation !== requested.operation) return false
  if (fault.kind !== undefined && fault.kind !== requested.kind) return false
  return fault.project === undefined || known.includes(fault.project)
}

export const helpOf = (kinds: Kinds) =>
  ({
    every: `operation (run, estimate, dates, any); kind (${namesOf(kinds).join(', ')}), project (name or id) and times (until deleted) are optional; the first fault that matches a request is used; afterMs: a run takes effect so much later, whatever consumes says`,
    delay: 'ms; takes effect at once, answers normally after ms',
    hang: 'consumes (true), afterMs; never answers',
    reset: 'consumes (true), afterMs; the connection is closed before an answer',
    'reset-mid-body': 'consumes (true), afterMs; the connection is closed in the middle of the body',
    status:
      'status (200 to 599; 3xx points to itself, 2xx has no body), retryAfter (60 with 429 and 503), consumes (false), afterMs',
    html: 'consumes (true), afterMs; 200 with a page',
    envelope: 'consumes (false); 200 with response_code 12',
    'estimate-shape': `of an estimate: shape (${estimateShapes.join(', ')})`,
    'run-units': 'of a run: units; it states and consumes so many for each project',
    'late-date': `of a ${anyOf(datedKinds(kinds))} run: ms; its date appears so much later`,
  }) satisfies Record<'every' | Fault['fault'], string>
