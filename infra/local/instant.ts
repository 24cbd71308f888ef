/** Milliseconds since the epoch of a time in RFC 3339; `null` where it is none. */
export function parseInstant(text: string): number | null {
  const instant = Date.parse(text)
  const isRfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i.test(text)
  return isRfc3339 && !Number.isNaN(instant) ? instant : null
}
