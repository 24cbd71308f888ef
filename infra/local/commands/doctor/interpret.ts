import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { type Json, parseStrictJson } from '../../../../shared/platform/json.ts'
import { answerRulesOf } from '../../../../shared/services/services.ts'
import { textOf } from '../../../../shared/tracking/answer.ts'
import type { AnswerRules } from '../../../../shared/tracking/conditions.ts'
import { type Kind, type Kinds, productKinds } from '../../../../shared/tracking/kinds.ts'
import { type JsonPointer, parsePointer } from '../../../../shared/tracking/pointer.ts'
import { type DatesReading, readDates } from '../../../../shared/tracking/read-dates.ts'
import { type EstimateReading, readEstimate } from '../../../../shared/tracking/read-estimate.ts'
import { type RunResult, readRun } from '../../../../shared/tracking/read-run.ts'
import { type Call, type Sign, signsIn } from '../../../../shared/tracking/signs.ts'
import type { Exchange } from '../../../../shared/tracking/transport.ts'

/** An answer of the service, and what it answers. */
export interface Asked {
  readonly call: Call
  readonly kind: Kind
  readonly exchange: Exchange
  /** The names of the project. */
  readonly names?: readonly string[]
  /** The units of the hold, and the place of the estimate's figure. Absent: unknown. */
  readonly held?: number | undefined
  readonly place?: string | undefined
}

export type Interpretation =
  | { readonly call: 'run'; readonly reading: RunResult }
  | { readonly call: 'estimate'; readonly reading: EstimateReading }
  /** `sign`: why the dates are unreadable. */
  | { readonly call: 'dates'; readonly reading: DatesReading; readonly sign: Sign | null }

/** No answer that is read here can have the service's token: it is pasted by a person, or stored without it. */
const noToken = 'unit-guard:no-token'
export const asItIs = (text: string): string => text

/** Reads an answer as the guard would with these settings. */
export function interpret(settings: GuardSettings, asked: Asked, kinds: Kinds = productKinds): Interpretation {
  const { call, kind, exchange, names = [], place } = asked
  const { estimatePointer, runPointer } = kinds[kind].settings
  const rules = answerRulesOf(settings, kinds)[kind]
  const how = { rules, names, token: noToken }
  switch (call) {
    case 'run':
      return { call, reading: readRun(exchange, { ...how, pointer: pointerOf(settings[runPointer]), place }) }
    case 'estimate':
      return { call, reading: readEstimate(exchange, { ...how, pointer: pointerOf(settings[estimatePointer]) }) }
    case 'dates':
      return { call, reading: readDates(exchange, how), sign: signOfDates(exchange, names, rules) }
  }
}

const pointerOf = (text: string | undefined): JsonPointer | undefined =>
  text === undefined ? undefined : parsePointer(text)

function signOfDates(exchange: Exchange, names: readonly string[], { well }: AnswerRules): Sign | null {
  const document = documentOf(exchange)
  if (document === undefined) return null
  return signsIn(document, { call: 'dates', names, well, redact: asItIs })[0] ?? null
}

/** `undefined`: not JSON. */
export function documentOf(exchange: Exchange): Json | undefined {
  if (exchange.kind === 'failed') return undefined
  const text = textOf(exchange)
  if (!text.ok) return undefined
  const json = parseStrictJson(text.text)
  return json.ok ? json.value : undefined
}

/** The sign that decided. */
export function signOf(interpretation: Interpretation): Sign | null {
  if (interpretation.call === 'dates') {
    return interpretation.reading.kind === 'unreadable' ? interpretation.sign : null
  }
  const { reading } = interpretation
  return reading.kind === 'unknown' || reading.kind === 'unreadable' ? (reading.sign ?? null) : null
}
