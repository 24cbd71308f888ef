import { createHash, timingSafeEqual } from 'node:crypto'
import { decodeJwt } from 'jose'
import { type Kind, type Kinds, namesOf } from '../../shared/tracking/kinds.ts'

export type SandboxRequest = {
  readonly operation: 'estimate' | 'run' | 'dates' | 'other'
  readonly kind: Kind | undefined
  /** The decoded project name; empty where the path has no project. */
  readonly name: string
}

/** Hono decodes before it matches, which breaks projects called `a/b` or `100%`. */
export const rawPath = (request: Request): string => new URL(request.url).pathname

export function readRequest(path: string, kinds: Kinds): SandboxRequest {
  const [, , family = '', ...rest] = path.split('/')
  const [segment = '', verb = ''] = family === 'marketshare' ? rest.slice(1) : rest
  const kind = namesOf(kinds).find((name) => kinds[name].path === family)
  return { operation: operationOf(kind, family, verb), kind, name: decode(segment) }
}

function operationOf(kind: Kind | undefined, family: string, verb: string): SandboxRequest['operation'] {
  if (kind !== undefined && (verb === 'estimate' || verb === 'run')) return verb
  if (family === 'projects' && verb === 'dates') return verb
  return 'other'
}

/** Returns a segment with a broken escape unchanged. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** One token, or the current and the previous value of a secret. */
export type TokenSource = string | (() => Promise<readonly string[]>)

/** Whether the header has one of the sandbox's tokens. A JWT is valid until its `exp`. */
export async function isAuthorized(header: string | undefined, source: TokenSource, now: number): Promise<boolean> {
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1]
  if (given === undefined) return false
  const tokens = typeof source === 'string' ? [source] : await source()
  return tokens.some((token) => isSame(given, token)) && !isExpired(given, now)
}

/** Compares digests, because `timingSafeEqual` needs equal lengths. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

function isExpired(token: string, now: number): boolean {
  try {
    const { exp } = decodeJwt(token)
    return exp !== undefined && exp * 1000 <= now
  } catch {
    return false
  }
}
