import { instant } from '../../functions/api/input.ts'
import { dayMs, hourMs, minuteMs } from '../../shared/platform/clock.ts'

/** The letters behind a number of minutes, hours or days, as commands take them: 30m, 8h, 7d. */
export const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

/** Milliseconds since the epoch of a time in RFC 3339, as the API takes it; `null` where it is none, such as 30 February. */
export function parseInstant(text: string): number | null {
  const parsed = instant.safeParse(text)
  return parsed.success ? parsed.data : null
}
