import { createHmac } from 'node:crypto'
import * as z from 'zod/mini'
import { type Secret, SecretUnavailable } from '../platform/secrets.ts'

/** Bytes of a key (Standard Webhooks, signature scheme). */
const minBytes = 24
const maxBytes = 64

/** The stack generates keys without the prefix, which is optional for receivers, too. */
const keySchema = z.pipe(
  z.string().check(z.regex(/^(whsec_)?[A-Za-z0-9+/]+={0,2}$/)),
  z.transform((text) => Buffer.from(text.replace(/^whsec_/, ''), 'base64')),
)
const key = keySchema.check(z.refine(({ length }) => length >= minBytes && length <= maxBytes))
const secretSchema = z.union([
  z.pipe(
    key,
    z.transform((current) => ({ current })),
  ),
  z.strictObject({ current: key, previous: z.exactOptional(key) }),
])

/**
 * The keys of a target, the current one first. During a rotation there are two keys, and both sign.
 *
 * @throws SecretUnavailable
 */
export async function readSigningKeys(secret: Secret, name: string): Promise<readonly Uint8Array[]> {
  const { current: text } = await secret.read()
  const parsed = secretSchema.safeParse(text.startsWith('{') ? toJson(text) : text)
  if (parsed.success) {
    const { current, previous } = { previous: undefined, ...parsed.data }
    return previous ? [current, previous] : [current]
  }
  // The cause would show part of the secret.
  throw new SecretUnavailable(
    name,
    new Error('it must be whsec_… or {"current":"whsec_…","previous":"whsec_…"}, with 24 to 64 bytes in base64'),
  )
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * The headers of one attempt.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: number },
  keys: readonly Uint8Array[],
) {
  const timestamp = String(Math.floor(now / 1000))
  const signed = `${id}.${timestamp}.${body}`
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
