import { hourMs } from '../platform/clock.ts'

const shortestMs = 1_000
const longestMs = hourMs

/**
 * How long Slack asks to wait, between a second and an hour whatever it says; `null` where it does not say.
 *
 * @see https://docs.slack.dev/apis/web-api/rate-limits, RFC 9110 section 10.2.3 (seconds, or a date)
 */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const asked = headers.get('retry-after')?.trim() ?? ''
  const isSeconds = /^\d+$/.test(asked)
  // Left to itself, Date.parse finds a date in nearly anything.
  if (!isSeconds && !/^\w{3}, .* GMT$/.test(asked)) return null
  const ms = isSeconds ? Number(asked) * 1000 : Date.parse(asked) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, shortestMs), longestMs)
}
