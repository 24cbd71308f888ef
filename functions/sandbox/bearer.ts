import { createHash, timingSafeEqual } from 'node:crypto'

/** The tokens that open the sandbox: one that is known, or those of a secret, the previous one too. */
export type TokenSource = string | (() => Promise<readonly string[]>)

/**
 * "Authentication" of the interface: the scheme is HTTP bearer and the token a JWT. The sandbox opens to the tokens it
 * was given and to no other; one that is a JWT opens nothing once its `exp` is over.
 */
export async function isAuthorized(header: string | undefined, source: TokenSource, now: number): Promise<boolean> {
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1]
  if (given === undefined) return false
  const tokens = typeof source === 'string' ? [source] : await source()
  return tokens.some((token) => isSame(given, token)) && !isOver(given, now)
}

/** Digests have one length, which the comparison needs, and tell nothing of the token's. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** RFC 7519, 4.1.4. A token of another shape has no end. */
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
