import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import * as z from 'zod/mini'

/** Encrypts with node:crypto, because the dashboard would load jose's encryption at every start. */

const startSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
  until: z.number(),
})

/** The browser keeps these values between the start of a login and the callback. */
export type Start = z.output<typeof startSchema>

const cipher = 'aes-256-gcm'
const [keyLength, ivLength, tagLength] = [32, 12, 16]

/** Derives a key and an IV for one cookie. Two cookies never share a key or IV, and the signing key encrypts nothing. */
function keysOf(secret: string, id: string): { readonly key: Buffer; readonly iv: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', secret, id, 'unit-guard-login', keyLength + ivLength))
  return { key: bytes.subarray(0, keyLength), iv: bytes.subarray(keyLength) }
}

/** @param id must be random, because the key and the IV derive from it. */
export function seal(start: Start, secret: string, id: string): string {
  const { key, iv } = keysOf(secret, id)
  const sealing = createCipheriv(cipher, key, iv)
  const text = Buffer.concat([sealing.update(JSON.stringify(start)), sealing.final()])
  return `${id}.${Buffer.concat([sealing.getAuthTag(), text]).toString('base64url')}`
}

/** `null`: not sealed with this secret. */
export function unseal(cookie: string, secret: string): Start | null {
  const [id = '', sealed = ''] = cookie.split('.')
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length <= tagLength) return null
  const { key, iv } = keysOf(secret, id)
  const opening = createDecipheriv(cipher, key, iv, { authTagLength: tagLength })
  opening.setAuthTag(bytes.subarray(0, tagLength))
  const text = opening.update(bytes.subarray(tagLength))
  try {
    return startSchema.parse(JSON.parse(Buffer.concat([text, opening.final()]).toString()))
  } catch {
    return null
  }
}
