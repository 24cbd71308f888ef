import type { Kind } from '../../shared/platform/words.ts'

/** What a request under /v3 asks for, as far as faults care. */
export type Requested = {
  readonly operation: 'estimate' | 'run' | 'dates' | 'other'
  readonly kind: Kind | undefined
  /** The project segment, decoded once; empty where the path has none. */
  readonly name: string
}

/**
 * The path exactly as it was sent. Hono's own reading decodes before it matches, and then a project called `a/b`
 * or `100%` is not the segment that its caller wrote.
 */
export const rawPath = (request: Request): string => new URL(request.url).pathname

/** Reads a raw path of the interface ("Path parameters"): its project segment is decoded once, and here only. */
export function readRequest(path: string): Requested {
  const [, , family = '', ...rest] = path.split('/')
  const [segment = '', verb = ''] = family === 'marketshare' ? rest.slice(1) : rest
  const kind = kindOf(family)
  return { operation: operationOf(kind, family, verb), kind, name: decode(segment) }
}

function kindOf(family: string): Kind | undefined {
  if (family === 'on-demand') return 'ranking'
  if (family === 'keyword-difficulty') return 'keyword-difficulty'
  return undefined
}

function operationOf(kind: Kind | undefined, family: string, verb: string): Requested['operation'] {
  if (kind !== undefined && (verb === 'estimate' || verb === 'run')) return verb
  if (family === 'projects' && verb === 'dates') return verb
  return 'other'
}

/** A broken escape stands for itself: it then names a project that does not exist. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
