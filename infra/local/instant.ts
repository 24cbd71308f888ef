import { instant } from '../../functions/api/input.ts'

/** Milliseconds since the epoch of a time in RFC 3339, as the API takes it; `null` where it is none, such as 30 February. */
export function parseInstant(text: string): number | null {
  const parsed = instant.safeParse(text)
  return parsed.success ? parsed.data : null
}
