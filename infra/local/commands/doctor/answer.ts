import { type GuardSettings, guardSettings } from '../../../../shared/guard/options.ts'
import { count, countOf, list, units } from '../../../../shared/guard/sentences.ts'
import { runOutcomeOf } from '../../../../shared/guard/update/settle.ts'
import { parseSettings } from '../../../../shared/platform/settings.ts'
import { maxUnits, toUnits } from '../../../../shared/platform/words.ts'
import { meets } from '../../../../shared/tracking/conditions.ts'
import { type Kind, type Kinds, namesOf, productKinds } from '../../../../shared/tracking/kinds.ts'
import type { RunResult } from '../../../../shared/tracking/read-run.ts'
import { shapeOf } from '../../../../shared/tracking/shape.ts'
import type { Call } from '../../../../shared/tracking/signs.ts'
import type { Exchange } from '../../../../shared/tracking/transport.ts'
import type { Environment } from '../../settings.ts'
import { mustBeOneOf, WrongUsage } from '../command.ts'
import { type Advice, adviceFor } from './advice.ts'
import { type Asked, asItIs, documentOf, type Interpretation, interpret } from './interpret.ts'
import { type AnswerHead, parseHeader, readPastedAnswer } from './pasted-answer.ts'

const calls = ['run', 'estimate', 'dates'] as const satisfies readonly Call[]

export interface AnswerOptions {
  readonly answer: string
  readonly call?: string | undefined
  readonly kind?: string | undefined
  readonly status?: string | undefined
  readonly header?: readonly string[] | undefined
  readonly held?: string | undefined
  /** The names of the project. */
  readonly names: readonly string[]
}

/**
 * Says how the guard would read an answer, and which setting would change that. Needs no ledger, network or token.
 * @throws WrongUsage, WrongSettings, CannotContinue
 */
export async function tellAnswer(
  { answer: file, names, ...given }: AnswerOptions,
  env: Environment,
  kinds: Kinds = productKinds,
): Promise<readonly Section[]> {
  if (given.call === undefined) throw new WrongUsage(`--call is needed: ${list(calls)}`)
  const call = mustBeOneOf(given.call, calls, 'call')
  const kind = mustBeOneOf(given.kind ?? namesOf(kinds)[0], namesOf(kinds), 'kind of update')
  if (call === 'dates' && !kinds[kind].leavesDates) throw new WrongUsage(`dates are not read for ${kind} updates`)
  const held = given.held === undefined ? undefined : wholeNumber('--held', given.held, 0, maxUnits)
  const head = headOf(given)
  // Neither is read here.
  const elsewhere = { TABLE_NAME: 'ledger', TRACKING_BASE_URL: 'https://service.invalid/v3' }
  const settings = parseSettings(guardSettings, { ...env, ...elsewhere })
  const asked = { call, kind, names, held, exchange: await readPastedAnswer(file, head) }
  return sectionsFor(settings, asked, kinds)
}

function headOf({ status, header = [] }: Pick<AnswerOptions, 'status' | 'header'>): AnswerHead {
  const headers: Record<string, string> = {}
  for (const line of header) {
    const parsed = parseHeader(line)
    if (parsed === null) throw new WrongUsage(`--header must be a header such as 'Age: 900'`)
    headers[parsed.name] = parsed.value
  }
  return { headers, status: status === undefined ? undefined : wholeNumber('--status', status, 100, 599) }
}

function wholeNumber(flag: string, text: string, from: number, to: number): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (number >= from && number <= to) return number
  throw new WrongUsage(`${flag} must be a whole number from ${from} to ${to}`)
}

export interface Section {
  readonly heading: string
  readonly lines: readonly string[]
}

function sectionsFor(settings: GuardSettings, asked: Asked, kinds: Kinds = productKinds): readonly Section[] {
  const interpretation = interpret(settings, asked, kinds)
  const advice = adviceFor(settings, asked, kinds)
  const read = [...linesOf(interpretation, { settings, asked, kinds }), `its shape: ${shapeIn(asked.exchange)}`]
  if (advice.length === 0) return [{ heading: headingOf(asked), lines: [...read, ...noAdviceReasons(interpretation)] }]
  return [
    { heading: headingOf(asked), lines: read },
    { heading: 'Settings that change this (each was tried on the answer)', lines: adviceLines(advice) },
  ]
}

export const adviceLines = (advice: readonly Advice[]): readonly string[] =>
  advice.flatMap(({ when, lines, verdict, effect }) => [
    `if ${when}:`,
    ...lines.map((line) => `  ${line}`),
    `  reads it as: ${verdict}. ${effect}`,
  ])

const subjects = {
  run: (kind: Kind) => `Run of a ${kind} update`,
  estimate: (kind: Kind) => `Estimate of a ${kind} update`,
  dates: () => 'Dates of a project',
} as const satisfies Readonly<Record<Call, (kind: Kind) => string>>

const headingOf = ({ call, kind, exchange: { status } }: Asked): string =>
  `${subjects[call](kind)}, answered with status ${status}`

const shapeIn = (exchange: Exchange): string =>
  exchange.kind === 'answered' ? shapeOf(exchange, asItIs) : exchange.reason

interface Told {
  readonly settings: GuardSettings
  readonly asked: Asked
  readonly kinds: Kinds
}

function linesOf(interpretation: Interpretation, told: Told): readonly string[] {
  if (interpretation.call === 'run') return runLines(interpretation.reading, told)
  if (interpretation.call === 'dates') return datesLines(interpretation)
  return estimateLines(interpretation, told)
}

function runLines(result: RunResult, told: Told): readonly string[] {
  if (result.kind === 'did-not-run') return [`did not run: ${result.reason}. The hold is given back`]
  if (result.kind === 'unknown') {
    return [`unknown: ${result.reason}. The update is in doubt, and its units stay counted`]
  }
  return [`ran: ${ranReason(result, told)}`, chargeLine(result, told)]
}

function ranReason({ isSilent }: Extract<RunResult, { kind: 'ran' }>, { settings, asked, kinds }: Told): string {
  const document = documentOf(asked.exchange)
  const isNamed = (kind: Kind) =>
    [settings.RUN_STARTED, settings[kinds[kind].settings.started]].some(
      (conditions) => conditions && document !== undefined && meets(document, conditions),
    )
  if (isNamed(asked.kind)) return 'RUN_STARTED names this answer'
  if (!isSilent) return 'it says so, and has no sign of a failure'
  return 'it has no sign of a failure. It does not say that it ran either, so set RUN_STARTED if you know what your service says then'
}

function chargeLine(result: Extract<RunResult, { kind: 'ran' }>, { settings, asked, kinds }: Told): string {
  const { runPointer } = kinds[asked.kind].settings
  const isZeroFree = settings.ZERO_PRICE === 'free'
  if (asked.held !== undefined) {
    const outcome = runOutcomeOf(result, { held: toUnits(asked.held), isZeroFree, runPointer })
    const charged = outcome.kind === 'ran' ? outcome.units : 0
    return `charged for a hold of ${units(asked.held)}: ${count(charged)}. The history says: ${outcome.note}`
  }
  const { stated } = result
  if (!stated) return 'charged: the hold, because the answer states no units'
  const states = `${units(stated.units)} at ${stated.source}`
  if (stated.by === 'pointer' && (stated.units > 0 || isZeroFree)) return `charged: ${states} (${runPointer})`
  if (stated.by === 'pointer') return `charged: the hold, because it states ${states}`
  return `charged: the hold. It states ${states}, which counts only if the estimate had its units there, and from the hold up to ten times it`
}

function estimateLines({ reading }: Extract<Interpretation, { call: 'estimate' }>, { settings }: Told) {
  switch (reading.kind) {
    case 'units': {
      const { place, source, sign } = reading
      const at = place === undefined ? `${source}, which is no single place` : place
      const isPrice = reading.units > 0 || settings.ZERO_PRICE === 'free'
      return [
        `${units(reading.units)}, read at ${at}`,
        ...(sign ? [`it has ${sign.text}, which the pointer overrides`] : []),
        ...(isPrice ? [] : ['0 is no price, so nothing is started (402 no-price)']),
      ]
    }
    case 'refused':
      return [`refused with status ${reading.status}, so nothing is started`]
    case 'unreachable':
      return [`not available (${reading.reason}), so nothing is started`]
    case 'unreadable':
      return [`unreadable: ${reading.reason}. Nothing is started`]
  }
}

function datesLines({ reading }: Extract<Interpretation, { call: 'dates' }>): readonly string[] {
  if (reading.kind === 'dates') return [datesInWords(reading.dates)]
  return [
    `unreadable: ${reading.reason}. Updates run, but no date shows whether data is fresh or whether an update in doubt ran`,
  ]
}

const datesInWords = (dates: readonly string[]): string =>
  dates.length === 0 ? 'no date' : `${countOf(dates.length, 'date')}, the latest ${dates.at(-1)}`

export const isOfCache = (reason: string): boolean => reason === 'answered by a cache'

export const cacheAdvice =
  'look at what stands between Unit Guard and the service (a proxy or CDN): it adds the header Age, and must pass these requests on'

/** Empty: there is nothing to change. */
function noAdviceReasons({ reading }: Interpretation): readonly string[] {
  if (reading.kind !== 'unknown' && reading.kind !== 'unreadable') return []
  if (isOfCache(reading.reason)) return [`no setting changes this: ${cacheAdvice}`]
  if (reading.kind === 'unknown' && !hasReadBody(reading.status)) return ['no setting changes this: the status decides']
  if (reading.reason.startsWith('RUN_REFUSED and RUN_STARTED')) return ['take it out of one of them']
  return ['no setting changes this: it has no short value that a setting can name']
}

/** The bodies of other answers to run are not read. */
const hasReadBody = (status: number | null): boolean => status !== null && status >= 200 && status <= 204
