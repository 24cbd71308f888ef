import type { View, ViewResult } from '../../ledger/book/view.ts'
import type { KeptToken, Problem, Update, UpdateRequest } from '../../ledger/updates/update.ts'
import { minuteMs, toRfc3339 } from '../../platform/clock.ts'
import { noteCount } from '../../platform/log.ts'
import type { Units } from '../../platform/words.ts'
import { type Kinds, productKinds } from '../../tracking/kinds.ts'
import { type EstimateReading, type Target, targetOf } from '../../tracking/tracking.ts'
import type { GuardParts } from '../options.ts'
import { problem, type Refused, refused, retryAfter, waitFor } from '../problems.ts'
import { when } from '../sentences.ts'

export interface DecisionInput {
  readonly view: View
  readonly asked: ViewResult
  readonly request: UpdateRequest
  /** The token as the issuers file maps it now. `null`: the issuer is no longer trusted. Absent: use the kept token. */
  readonly token?: KeptToken | null
  /** From the current plans file. */
  readonly plan?: { readonly enabled: boolean; readonly mayChargeAncestors: boolean }
  readonly waiting?: readonly Update[]
  /** The key may be from before a restore that lost its record. */
  readonly isOldKey?: boolean
}

/** The result of the view's query at this position. */
export function resultAt({ results }: View, position: number): ViewResult {
  const asked = results[position]
  if (!asked) throw new Error('a view shows all that was asked for')
  return asked
}

export interface Quote {
  readonly units: Units
  /** Sorted dates with data; `null`: unreadable, or this kind leaves no dates. */
  readonly dates: readonly string[] | null
  /** The JSON Pointer of the figure in the estimate, if it is one scalar with a name. */
  readonly place?: string
  /** A sign of failure that the configured place of the figure overrides. */
  readonly sign?: string
}

export type TimedQuote = Quote & { readonly at: number }

export type QuoteResult = ({ readonly kind: 'quote' } & TimedQuote) | Refused

type QuoteRequest = Pick<UpdateRequest, 'kind' | 'project' | 'query' | 'target'>

/** @param names the other names of the project, which are no signs of failure in an answer. */
export function targetOfRequest({ kind, project, query, target }: QuoteRequest, names: readonly string[] = []): Target {
  const written = target ? { kind, ...target } : targetOf(kind, project, query)
  return names.length === 0 ? written : { ...written, names }
}

export type Quotes = ReturnType<typeof createQuotes>

export function createQuotes({
  tracking,
  clock,
  log,
  kinds = productKinds,
}: Pick<GuardParts, 'tracking' | 'clock' | 'log' | 'kinds'>) {
  async function quote(asked: QuoteRequest, names: readonly string[] = []): Promise<QuoteResult> {
    const target = targetOfRequest(asked, names)
    const from = clock.now()
    const [[estimate, at], dates] = await Promise.all([
      tracking.estimate(target).then((estimate) => [estimate, clock.now()] as const),
      datesOf(asked, target),
    ])
    noteCount('EstimateMs', at - from)
    if (estimate.kind === 'units') {
      const wrong = whyWrongClock(estimate, at)
      if (wrong === null) return quoteOf(estimate, dates, at)
      log.error('wrong-clock', { ...wrong.members, project: asked.project, updateKind: asked.kind })
      return refused(wrong)
    }
    const { kind: found } = estimate
    const seen = { project: asked.project, updateKind: asked.kind, found, ...logFields(estimate) }
    if (estimate.kind === 'unreadable') log.error('estimate-unreadable', seen)
    else if (estimate.status === 404) log.info('no-such-project', seen)
    else log.info('no-estimate', seen)
    return refused(problemOf(asked, estimate, kinds))
  }

  /** Without dates there is no freshness check, and no evidence later. */
  async function datesOf(asked: QuoteRequest, target: Target): Promise<readonly string[] | null> {
    if (!kinds[asked.kind].leavesDates) return null
    const reading = await tracking
      .dates(target)
      .catch((error: Error) => ({ kind: 'unreadable', reason: error.name }) as const)
    if (reading.kind === 'dates') return reading.dates
    log.info('no-dates', { project: asked.project, reason: reading.reason })
    return null
  }

  return { quote }
}

function quoteOf(
  { units, place, sign }: Extract<EstimateReading, { kind: 'units' }>,
  dates: Quote['dates'],
  at: number,
): QuoteResult {
  return { kind: 'quote', units, dates, at, ...(place !== undefined && { place }), ...(sign && { sign: sign.text }) }
}

function logFields(reading: Exclude<EstimateReading, { kind: 'units' }>) {
  if (reading.kind === 'unreadable') return { reason: reading.reason, shape: reading.shape }
  if (reading.kind === 'refused') return { status: reading.status }
  return { reason: reading.reason, status: reading.status }
}

const maxClockDifferenceMs = 5 * minuteMs

/** Days, windows, cool-downs and evidence need the same time on both sides. */
export function whyWrongClock({ sentAt }: { readonly sentAt?: number }, now: number): Problem | null {
  if (sentAt === undefined || Math.abs(now - sentAt) <= maxClockDifferenceMs) return null
  const [here, atService] = [toRfc3339(now), toRfc3339(sentAt)]
  return problem(
    'wrong-clock',
    `It is ${when(now, 'UTC')} by the clock of this machine and ${when(sentAt, 'UTC')} by that of the service: more than five minutes apart, so nothing was run and nothing spent. Set the clock that is wrong, then send the same request again.`,
    { here, atService },
  )
}

function problemOf(
  { kind, project }: QuoteRequest,
  reading: Exclude<EstimateReading, { kind: 'units' }>,
  kinds: Kinds,
): Problem {
  const what = `The estimate of the ${kind} update of ${project}`
  switch (reading.kind) {
    case 'unreadable':
      return problem(
        'estimate-unreadable',
        `${what} could not be read (${reading.reason}), so nothing was run and nothing spent.${adviceFor(reading, kinds[kind].settings.estimatePointer)}`,
        { shape: reading.shape },
      )
    case 'refused':
      return problem(
        'service-refused',
        `${what} was refused by the service with status ${reading.status}, so nothing was run and nothing spent.${hints[reading.status] ?? ''}${reading.retryAfterMs === undefined ? '' : ` ${waitFor(reading.retryAfterMs)}`}`,
        { serviceStatus: reading.status, ...retryAfter(reading.retryAfterMs) },
      )
    case 'unreachable':
      return problem(
        'service-unreachable',
        `${what} could not be fetched: ${reading.reason}. Nothing was run and nothing spent; the same request may be sent again.`,
        { serviceStatus: reading.status },
      )
  }
}

function adviceFor(
  { sign, pointerHelps }: Extract<EstimateReading, { kind: 'unreadable' }>,
  estimatePointer: string,
): string {
  if (sign) return ' The settings that decide such answers: npm run doctor.'
  return pointerHelps ? ` If the figure is in there, set ${estimatePointer} to where it is.` : ''
}

const hints: Readonly<Record<number, string>> = {
  401: ' It does not accept our token: an operator of the guard has to put in a valid one.',
  404: ' It does not seem to know that project: check the name.',
}
