import type { Problem, Request } from '../ledger/update.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { EstimateReading, Target, Tracking } from '../tracking/tracking.ts'
import { targetOf } from '../tracking/tracking.ts'
import type { Quote } from './decide.ts'
import { problem } from './problems.ts'

/** @property at when the service had answered with these units. */
export type TimedQuote = Quote & { readonly at: number }

export type Quoted = ({ readonly kind: 'quote' } & TimedQuote) | { readonly kind: 'problem'; readonly problem: Problem }

type Asked = Pick<Request, 'kind' | 'project' | 'query' | 'target'>

export const targetOfRequest = ({ kind, project, query, target }: Asked): Target =>
  target ? { kind, ...target } : targetOf(kind, project, query)

/** Asks the service what an update needs and, side by side, what data there is. Free, and repeated at most once. */
export type Quoting = ReturnType<typeof createQuoting>

export function createQuoting({ tracking, clock, log }: { tracking: Tracking; clock: Clock; log: Log }) {
  async function quote(asked: Asked): Promise<Quoted> {
    const target = targetOfRequest(asked)
    const [[estimate, at], dates] = await Promise.all([
      tracking.estimate(target).then((estimate) => [estimate, clock.now()] as const),
      datesOf(asked, target),
    ])
    if (estimate.kind === 'units') return { kind: 'quote', units: estimate.units, dates, at }
    const { kind: found, ...fields } = estimate
    const seen = { project: asked.project, updateKind: asked.kind, found, ...fields }
    if (estimate.kind === 'refused' && estimate.status === 404) log.info('no-such-project', seen)
    else log.error('no-estimate', seen)
    return { kind: 'problem', problem: problemOf(asked, estimate) }
  }

  /** Advice only: without dates there is no check of freshness, and no evidence later. */
  async function datesOf(asked: Asked, target: Target): Promise<readonly string[] | null> {
    if (asked.kind !== 'ranking') return null
    const reading = await tracking
      .dates(target)
      .catch((error: Error) => ({ kind: 'unreadable', reason: error.name }) as const)
    if (reading.kind === 'dates') return reading.dates
    log.info('no-dates', { project: asked.project, reason: reading.reason })
    return null
  }

  return { quote }
}

function problemOf({ kind, project }: Asked, reading: Exclude<EstimateReading, { kind: 'units' }>): Problem {
  const what = `The estimate of the ${kind} update of ${project}`
  switch (reading.kind) {
    case 'unreadable':
      return problem(
        'estimate-unreadable',
        `${what} could not be read (${reading.reason}), so nothing was run and nothing spent. If the figure is in there, set ESTIMATE_POINTER_${kind === 'ranking' ? 'RANKING' : 'DIFFICULTY'} to where it is.`,
        { shape: reading.shape },
      )
    case 'refused':
      return problem(
        'service-refused',
        `${what} was refused by the service with status ${reading.status}, so nothing was run and nothing spent.${hints[reading.status] ?? ''}`,
        { serviceStatus: reading.status },
      )
    case 'unreachable':
      return problem(
        'service-unreachable',
        `${what} could not be had: ${reading.reason}. Nothing was run and nothing spent; the same request may be sent again.`,
        { serviceStatus: reading.status },
      )
  }
}

/** What to do about a refusal of the service. */
const hints: Readonly<Record<number, string>> = {
  401: ' It does not accept our token: whoever operates the guard has to put in a valid one.',
  404: ' It does not seem to know that project: check the name.',
}
