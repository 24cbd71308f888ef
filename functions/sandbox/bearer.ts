import { createHash, timingSafeEqual } from 'node:crypto'

/** The tokens that the sandbox accepts: one, or the current and the previous value of a secret. */
export type TokenSource = string | (() => Promise<readonly string[]>)

/**
 * The service takes a JWT as an HTTP bearer token. The sandbox accepts only its own tokens, and a JWT only until its
 * `exp`.
 */
export async function isAuthorized(header: string | undefined, source: TokenSource, now: number): Promise<boolean> {
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1]
  if (given === undefined) return false
  const tokens = typeof source === 'string' ? [source] : await source()
  return tokens.some((token) => isSame(given, token)) && !isOver(given, now)
}

/** The comparison needs equal lengths: digests have one. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A token of another shape does not expire. */
function isOver(token: string, now: number): boolean {
  const payload = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token)?.[1]
  if (payload === undefined) return false
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const isObject = typeof claims === 'object' && claims !== null
    return isObject && 'exp' in claims && typeof claims.exp === 'number' && claims.exp * 1000 <= now
  } catch {
    return false
  }
}
