import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { isCached, textOf } from './answer.ts'
import { type AnswerRules, noRules } from './conditions.ts'
import { signsIn } from './signs.ts'
import { type Exchange, isSuccess, redactorOf } from './transport.ts'

export type DatesReading =
  /** Sorted, without duplicates. */
  | { readonly kind: 'dates'; readonly dates: readonly string[] }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** More than fifty years. */
const maxDates = 20_000

interface DatesOptions {
  readonly rules?: AnswerRules
  readonly names?: readonly string[]
  readonly token: string
}

/** The vendor does not document the body, so every date in a list, and every member name that is a date, counts. */
export function readDates(exchange: Exchange, { rules = noRules, names = [], token }: DatesOptions): DatesReading {
  if (exchange.kind === 'failed') return unreadable(exchange.reason)
  if (isCached(exchange)) return unreadable('answered by a cache')
  if (!isSuccess(exchange.status)) return unreadable(`answered with status ${exchange.status}`)
  const body = textOf(exchange)
  if (!body.ok) return unreadable(body.reason)
  const json = parseStrictJson(body.text)
  if (!json.ok) return unreadable(json.reason)
  const [sign] = signsIn(json.value, { call: 'dates', names, well: rules.well, redact: redactorOf(token) })
  if (sign) return unreadable(`the answer has ${sign.text}`)

  const dates = new Set<string>()
  collectDates(json.value, false, dates)
  if (dates.size > maxDates) return unreadable(`more than ${maxDates} dates`)
  if (dates.size === 0 && !statesNoDates(json.value, 'dates')) return unreadable('no date in the body')
  return { kind: 'dates', dates: [...dates].sort() }
}

/** A date beside a list, such as `next_update`, is no date with data. A time may follow a date. */
function collectDates(value: Json, isInList: boolean, dates: Set<string>): void {
  if (typeof value === 'string') {
    const date = isInList ? dateIn(value) : null
    if (date !== null) dates.add(date)
  } else if (Array.isArray(value)) {
    for (const element of value) collectDates(element, true, dates)
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const date = dateIn(name)
      if (date !== null) dates.add(date)
      collectDates(member, isInList, dates)
    }
  }
}

/** An empty list of dates is a project without data. Other bodies without a date are unreadable. */
function statesNoDates(value: Json, name: string): boolean {
  if (Array.isArray(value) && value.length === 0) return name === 'dates'
  if (Array.isArray(value)) return value.some((element) => statesNoDates(element, ''))
  return isObject(value) && Object.entries(value).some(([name, member]) => statesNoDates(member, name))
}

function dateIn(text: string): string | null {
  const date = /^(\d{4}-\d{2}-\d{2})([T ].*)?$/s.exec(text)?.[1]
  return date !== undefined && isRealDate(date) ? date : null
}

/** Date.parse moves 30 February into March. */
function isRealDate(date: string): boolean {
  const instant = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(date)
}

const unreadable = (reason: string): DatesReading => ({ kind: 'unreadable', reason })
