import { type LocalDate, shortMonths, toInstant, toLocal } from '../../platform/clock.ts'

const months = shortMonths.map((name) => name.toLowerCase())

const day = String.raw`(today|yesterday|\d{4}-\d{2}-\d{2}|\d{1,2} [a-z]{3}(?: \d{4})?)`
const pattern = new RegExp(String.raw`^(?:${day}(?:T|,? +(?:at +)?))?(\d{1,2}):(\d{2})(?=$|[\s,;])`, 'i')
/** Words after a time that would change its meaning, such as `pm`, `UTC` or `tomorrow`. */
const qualifier =
  /^[\s,;]*(?:[ap]\.?m\b|z\b|(?:utc|gmt|bst|[cemw]e?s?t|[ecmp][sd]t)\b|[+-]\d|\d|[a-z]+\/[a-z]|yesterday|today|tomorrow|on\b)/i

export const asOfExamples = '03:00, yesterday 23:30 or 2026-11-20 03:00'

/** Reads a local time at the start of a text; `rest` is the text after it. `null`: the time is missing or ambiguous. */
export function readAsOf(
  text: string,
  { now, zone }: { readonly now: number; readonly zone: string },
): { readonly at: number; readonly rest: string } | null {
  const [read = '', named, hour, minute] = pattern.exec(text.trim()) ?? []
  const rest = text.trim().slice(read.length)
  if (read === '' || Number(hour) > 23 || Number(minute) > 59 || qualifier.test(rest)) return null
  const date = dateOf(named?.toLowerCase() ?? 'today', toLocal(now, zone))
  if (!date) return null
  // When clocks go back, `toInstant` takes the earlier instant, so more units count as spent since the figure.
  const at = toInstant({ ...date, hour: Number(hour), minute: Number(minute) }, zone)
  return { at, rest: rest.replace(/^[\s,;]+/, '') }
}

function dateOf(named: string, { year, month, day }: LocalDate): LocalDate | null {
  if (named === 'today') return { year, month, day }
  if (named === 'yesterday') return { year, month, day: day - 1 }
  const [first = '', second = '', third] = named.split(/[- ]/)
  const isIso = named.includes('-')
  const date = isIso
    ? { year: Number(first), month: Number(second), day: Number(third) }
    : { year: third === undefined ? year : Number(third), month: months.indexOf(second) + 1, day: Number(first) }
  const asUtc = new Date(Date.UTC(date.year, date.month - 1, date.day))
  return asUtc.getUTCMonth() === date.month - 1 && asUtc.getUTCDate() === date.day ? date : null
}
