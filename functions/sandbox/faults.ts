import * as z from 'zod/mini'
import { kinds } from '../../shared/platform/words.ts'
import { estimateShapes } from './estimate-shapes.ts'
import type { Requested } from './request.ts'

const longestMs = 600_000
const mostFaults = 50
const mostUnits = 1_000_000_000

const oneOf = <const Value extends string>(values: readonly Value[]) => z.enum(values, `takes ${values.join(', ')}`)
const integer = (takes: string, from: number, to: number = Number.MAX_SAFE_INTEGER) =>
  z.number(takes).check(z.int(takes), z.gte(from, takes), z.lte(to, takes))
const ms = integer(`takes 0 to ${longestMs} milliseconds`, 0, longestMs)
const consumes = (byDefault: boolean) => z._default(z.boolean('takes true or false'), byDefault)

const where = {
  operation: oneOf(['run', 'estimate', 'dates', 'any']),
  kind: z.optional(oneOf(kinds)),
  project: z.optional(z.string('takes the name or id of a project')),
  times: z.optional(integer('takes a whole number from 1', 1)),
}
/** These change what one operation does, so with `any` they would be used up by requests they cannot change. */
const ofEstimate = { ...where, operation: oneOf(['estimate']) }
const ofRun = { ...where, operation: oneOf(['run']) }
const ofRankingRun = { ...ofRun, kind: z._default(oneOf(['ranking']), 'ranking') }

/**
 * `consumes` says whether the request takes effect although its answer is spoiled; `afterMs`, that a run does so late,
 * perhaps when its caller has long given up.
 */
const spoils = (byDefault: boolean) => ({ consumes: consumes(byDefault), afterMs: z.optional(ms) })

const fault = z.discriminatedUnion(
  'fault',
  [
    z.strictObject({ ...where, fault: z.literal('delay'), ms }),
    z.strictObject({ ...where, fault: z.literal('hang'), ...spoils(true) }),
    z.strictObject({ ...where, fault: z.literal('reset'), ...spoils(true) }),
    z.strictObject({ ...where, fault: z.literal('reset-mid-body'), ...spoils(true) }),
    z.strictObject({
      ...where,
      fault: z.literal('status'),
      status: integer('takes an HTTP status from 200 to 599', 200, 599),
      retryAfter: z.optional(integer('takes a whole number of seconds', 0)),
      ...spoils(false),
    }),
    z.strictObject({ ...where, fault: z.literal('html'), ...spoils(true) }),
    z.strictObject({ ...where, fault: z.literal('envelope'), consumes: consumes(false) }),
    z.strictObject({ ...ofEstimate, fault: z.literal('estimate-shape'), shape: oneOf(estimateShapes) }),
    z.strictObject({
      ...ofRun,
      fault: z.literal('run-units'),
      units: integer(`takes 0 to ${mostUnits} units`, 0, mostUnits),
    }),
    z.strictObject({ ...ofRankingRun, fault: z.literal('late-date'), ms }),
  ],
  'takes one of the faults that GET /sandbox/faults explains',
)

export type Fault = z.output<typeof fault>

/** How much later than the request a run takes effect. */
export const lateMsOf = (fault: Fault | undefined): number =>
  fault !== undefined && 'afterMs' in fault ? (fault.afterMs ?? 0) : 0

/** The body of `PUT /sandbox/faults`: the whole list, so that what is not in it is over. */
export const faultList = z.strictObject(
  {
    faults: z
      .array(fault, 'takes a list of faults')
      .check(z.maxLength(mostFaults, `takes at most ${mostFaults} faults`)),
  },
  'takes a JSON object with faults',
)

/** `known` are the names and ids that the request stands for. */
export function matches(fault: Fault, requested: Requested, known: readonly string[]): boolean {
  if (fault.operation !== 'any' && fault.operation !== requested.operation) return false
  if (fault.kind !== undefined && fault.kind !== requested.kind) return false
  return fault.project === undefined || known.includes(fault.project)
}

export const help = {
  every:
    'operation (run, estimate, dates, any); kind (ranking, keyword-difficulty), project (name or id) and times (until deleted) are optional; the first fault that matches a request is used; afterMs: a run takes effect so much later, whatever consumes says',
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
  'late-date': 'of a ranking run: ms; its date appears so much later',
} as const satisfies Record<'every' | Fault['fault'], string>
