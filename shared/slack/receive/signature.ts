import { createHmac, timingSafeEqual } from 'node:crypto'

/** Slack's recommendation against replays, in either direction. */
const toleranceSeconds = 300

/**
 * Whether Slack signed this request a moment ago. Never throws.
 *
 * @param timestamp X-Slack-Request-Timestamp. @param signature X-Slack-Signature. @param rawBody the bytes as received.
 * @see https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
export function isSigned({
  secret,
  timestamp,
  signature,
  rawBody,
  now,
}: {
  readonly secret: string
  readonly timestamp: string | null | undefined
  readonly signature: string | null | undefined
  readonly rawBody: Uint8Array
  readonly now: number
}): boolean {
  // HMAC accepts an empty key, which everyone knows.
  if (secret === '') return false
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return false
  if (typeof signature !== 'string' || !/^v0=[0-9a-f]{64}$/.test(signature)) return false
  if (!(Math.abs(Math.floor(now / 1000) - Number(timestamp)) <= toleranceSeconds)) return false
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(rawBody).digest()
  // Both have 32 bytes; timingSafeEqual throws on other lengths.
  return timingSafeEqual(expected, Buffer.from(signature.slice('v0='.length), 'hex'))
}
