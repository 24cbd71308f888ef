import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { isErrorEnvelope, textOf } from './answer.ts'
import { type Exchange, isSuccess } from './transport.ts'

export type DatesReading =
  /** `dates`: calendar dates as YYYY-MM-DD, sorted, each once. */
  | { readonly kind: 'dates'; readonly dates: readonly string[] }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** More than fifty years of days. */
const maxDates = 20_000

/**
 * The dates for which a project has data. The vendor does not document the body, so every string and every name in it
 * that is an ISO 8601 calendar date counts, alone or before a `T`. Advice only.
 */
export function readDates(exchange: Exchange): DatesReading {
  if (exchange.kind === 'failed') return unreadable(exchange.reason)
  if (!isSuccess(exchange.status)) return unreadable(`answered with status ${exchange.status}`)
  const body = textOf(exchange)
  if (!body.ok) return unreadable(body.reason)
  const json = parseStrictJson(body.text)
  if (!json.ok) return unreadable(json.reason)
  if (isErrorEnvelope(json.value)) return unreadable('the body is an error envelope')

  const dates = new Set<string>()
  collectDates(json.value, dates)
  if (dates.size > maxDates) return unreadable(`more than ${maxDates} dates`)
  if (dates.size === 0 && !statesNoDates(json.value, 'dates')) return unreadable('no date in the body')
  return { kind: 'dates', dates: [...dates].sort() }
}

/** Recursion is bounded by the nesting limit of strict JSON, like the size of the set by the size of an answer. */
function collectDates(value: Json, dates: Set<string>): void {
  if (typeof value === 'string') {
    const date = dateIn(value)
    if (date !== null) dates.add(date)
  } else if (Array.isArray(value)) {
    for (const element of value) collectDates(element, dates)
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      collectDates(name, dates)
      collectDates(member, dates)
    }
  }
}

/** A project without data is news; a body without dates is only a body that is not understood. */
function statesNoDates(value: Json, name: string): boolean {
  if (Array.isArray(value) && value.length === 0) return name === 'dates'
  if (Array.isArray(value)) return value.some((element) => statesNoDates(element, ''))
  return isObject(value) && Object.entries(value).some(([name, member]) => statesNoDates(member, name))
}

function dateIn(text: string): string | null {
  const date = /^(\d{4}-\d{2}-\d{2})(T.*)?$/s.exec(text)?.[1]
  return date !== undefined && isRealDate(date) ? date : null
}

/** Date.parse moves the 30th of February into March; a real date comes back as it went in. */
function isRealDate(date: string): boolean {
  const instant = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(date)
}

const unreadable = (reason: string): DatesReading => ({ kind: 'unreadable', reason })
