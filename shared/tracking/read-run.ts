import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { isCached, retryAfterMsOf, type StoredBody, storedBodyOf, textOf, whyNotReadable } from './answer.ts'
import { type AnswerRules, meets, noRules } from './conditions.ts'
import { below, type JsonPointer, parsePointer, resolvePointer } from './pointer.ts'
import { countsList, integerOf, isKnownName } from './read-units.ts'
import { shownName } from './shape.ts'
import { type Sign, showsStart, signsIn } from './signs.ts'
import { type AnsweredExchange, type Exchange, isSuccess, type Redact, redactorOf } from './transport.ts'

export interface StatedUnits {
  /** May be negative. */
  readonly units: number
  readonly source: string
  /** `pointer`: a setting names the place. `estimate`: it is the place of this update's estimate. `none`: no one named it. */
  readonly by: 'pointer' | 'estimate' | 'none'
}

export type RunResult =
  | {
      readonly kind: 'ran'
      readonly stated: StatedUnits | null
      /** Nothing in the answer says that the run was accepted. */
      readonly isSilent?: true
      readonly answer: StoredBody
    }
  | ({ readonly kind: 'did-not-run'; readonly retryAfterMs?: number } & WhyNotRan)
  | ({ readonly kind: 'unknown'; readonly sign?: Sign } & WhyNotRan)

interface WhyNotRan {
  /** Contains no address, no token and no text of the service. */
  readonly reason: string
  readonly status: number | null
  /** `null`: the answer is missing or not complete. */
  readonly answer: StoredBody | null
}

export interface RunReading {
  readonly pointer: JsonPointer | undefined
  /** The place of the estimate's figure in its body. */
  readonly place?: string | undefined
  readonly rules?: AnswerRules
  /** The project's own names. */
  readonly names?: readonly string[]
  readonly token: string
}

/** Statuses that prove a refusal. 408, 409 and 421 do not. */
const refusals: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 410, 422, 429])

/** `did-not-run` gives units back, so it needs proof. `unknown` keeps them counted. */
export function readRun(exchange: Exchange, reading: RunReading): RunResult {
  if (exchange.kind === 'failed') {
    const kind = exchange.sent === 'no' ? 'did-not-run' : 'unknown'
    return { kind, reason: exchange.reason, status: exchange.status, answer: null }
  }
  const { status } = exchange
  const answer = storedBodyOf(exchange, reading.token)
  if (isCached(exchange)) return { kind: 'unknown', reason: 'answered by a cache', status, answer }
  if (refusals.has(status)) {
    const retryAfterMs = status === 429 ? retryAfterMsOf(exchange) : null
    const refused = { kind: 'did-not-run', reason: `refused with status ${status}`, status, answer } as const
    return retryAfterMs === null ? refused : { ...refused, retryAfterMs }
  }
  if (!isSuccess(status) || status > 204) {
    return { kind: 'unknown', reason: `answered with status ${status}`, status, answer }
  }
  const body = judgeBody(exchange, reading)
  return body.kind === 'ran' ? { ...body, answer } : { ...body, status, answer }
}

type Judgement =
  | { readonly kind: 'ran'; readonly stated: StatedUnits | null; readonly isSilent?: true }
  | { readonly kind: 'did-not-run' | 'unknown'; readonly reason: string; readonly sign?: Sign }

/** Judges the body of a 200 to 204. Without a setting, no body proves that the run did not happen. */
function judgeBody(exchange: AnsweredExchange, reading: RunReading): Judgement {
  const { rules = noRules, names = [], token } = reading
  const body = textOf(exchange)
  if (!body.ok) return { kind: 'unknown', reason: body.reason }
  const isEmpty = body.text.trim() === ''
  if (isEmpty && rules.started.length > 0) return unnamed
  if (isEmpty) return { kind: 'ran', stated: null, isSilent: true }
  const json = parseStrictJson(body.text)
  if (!json.ok) return { kind: 'unknown', reason: noJsonReason(json.reason) }

  const document = json.value
  const isRefused = meets(document, rules.refused)
  const isStarted = meets(document, rules.started)
  if (isRefused && isStarted) return { kind: 'unknown', reason: 'RUN_REFUSED and RUN_STARTED both name this answer' }
  if (isRefused) return { kind: 'did-not-run', reason: 'RUN_REFUSED names this answer' }
  const redact = redactorOf(token)
  const ran = { kind: 'ran', stated: statedIn(document, reading, redact) } as const
  if (isStarted) return ran
  const [sign] = signsIn(document, { call: 'run', names, well: rules.well, redact })
  if (sign) return { kind: 'unknown', reason: `the answer has ${sign.text}, so it proves nothing`, sign }
  if (rules.started.length > 0) return unnamed
  return showsStart(document) ? ran : { ...ran, isSilent: true }
}

const unnamed: Judgement = { kind: 'unknown', reason: 'RUN_STARTED does not name this answer' }

const noJsonReason = (reason: string): string =>
  reason === 'not JSON' ? 'the body is neither JSON nor empty' : `the body proves nothing: ${reason}`

/** The figure at the configured place, else at the estimate's place, else any figure under a well-known name. */
function statedIn(document: Json, { pointer, place }: RunReading, redact: Redact): StatedUnits | null {
  if (pointer !== undefined) return stated(document, pointer, 'pointer', redact)
  const atPlace = place === undefined ? null : stated(document, parsePointer(place), 'estimate', redact)
  if (atPlace) return atPlace
  const other = knownPlaceIn(document, '')
  return other === null ? null : stated(document, parsePointer(other), 'none', redact)
}

function stated(document: Json, pointer: JsonPointer, by: StatedUnits['by'], redact: Redact): StatedUnits | null {
  const units = integerOf(resolvePointer(document, pointer))
  if (units === null) return null
  const place = pointer.tokens.reduce((shown, token) => below(shown, shownName(token, redact)), '')
  return { units, source: place === '' ? 'the whole body' : place.slice(0, maxSourceLength), by }
}

const maxSourceLength = 200

/** The first scalar with a well-known name and a whole number. Strict JSON limits the depth of the recursion. */
function knownPlaceIn(value: Json, place: string): string | null {
  if (typeof value !== 'object' || value === null) return null
  const named = isObject(value) ? Object.keys(value).find((name) => isFigure(name, value)) : undefined
  if (named !== undefined) return below(place, named)
  for (const [name, member] of Object.entries(value)) {
    const found = knownPlaceIn(member, below(place, name))
    if (found !== null) return found
  }
  return null
}

function isFigure(name: string, object: { [name: string]: Json }): boolean {
  const member = object[name] ?? null
  return isKnownName(name) && integerOf(member) !== null && !countsList(name, member, object)
}

export type StoredReading = Omit<RunReading, 'token'>

/** A stored body was written without the token, and no body has this character unescaped. */
const noToken = '\u0000'

/** Judges a stored answer again, with the settings of now. `null`: the stored body is not whole, or a cache answered. */
export function readStoredRun(stored: StoredBody, own: StoredReading): RunResult | null {
  if (whyNotReadable(stored) !== null) return null
  const { status, contentType, body } = stored
  const reading = { ...own, token: noToken }
  const headers = contentType === null ? {} : { 'content-type': contentType }
  return readRun({ kind: 'answered', status, headers, body: Buffer.from(body) }, reading)
}
