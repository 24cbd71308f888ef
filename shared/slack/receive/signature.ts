import { createHmac, timingSafeEqual } from 'node:crypto'

/** Slack recommends this limit against replays. */
const toleranceSeconds = 300

/**
 * Checks that Slack signed this request within the last five minutes. Never throws.
 *
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
  // HMAC accepts an empty key, with which anyone could sign.
  if (secret === '') return false
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return false
  if (typeof signature !== 'string' || !/^v0=[0-9a-f]{64}$/.test(signature)) return false
  if (!(Math.abs(Math.floor(now / 1000) - Number(timestamp)) <= toleranceSeconds)) return false
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(rawBody).digest()
  // timingSafeEqual throws if lengths differ.
  return timingSafeEqual(expected, Buffer.from(signature.slice('v0='.length), 'hex'))
}
