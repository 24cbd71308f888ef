import { createHmac, timingSafeEqual } from 'node:crypto'

/** How far a request's time may be from ours, either way: Slack's own recommendation against replays. */
const toleranceSeconds = 300

/**
 * Whether Slack signed this request, and signed it a moment ago. Answers `false` to anything that is missing or odd,
 * and never throws.
 *
 * @param secret the app's signing secret.
 * @param timestamp the header X-Slack-Request-Timestamp. @param signature the header X-Slack-Signature.
 * @param rawBody the bytes as they came: parsed and written again they would have another signature.
 * @param now milliseconds since the epoch.
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
  // An empty key is a valid key of HMAC, and one that everybody knows.
  if (secret === '') return false
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return false
  if (typeof signature !== 'string' || !/^v0=[0-9a-f]{64}$/.test(signature)) return false
  if (!(Math.abs(Math.floor(now / 1000) - Number(timestamp)) <= toleranceSeconds)) return false
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(rawBody).digest()
  // Both have 32 bytes by now; of other lengths timingSafeEqual would throw.
  return timingSafeEqual(expected, Buffer.from(signature.slice('v0='.length), 'hex'))
}
