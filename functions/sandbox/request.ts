import { type Kind, type Kinds, namesOf } from '../../shared/tracking/kinds.ts'

export type Requested = {
  readonly operation: 'estimate' | 'run' | 'dates' | 'other'
  readonly kind: Kind | undefined
  /** The project segment, decoded once; empty where the path has none. */
  readonly name: string
}

/** The path as it was sent. Hono decodes before it matches, which breaks projects called `a/b` or `100%`. */
export const rawPath = (request: Request): string => new URL(request.url).pathname

/** The project segment is decoded once, and here only. */
export function readRequest(path: string, kinds: Kinds): Requested {
  const [, , family = '', ...rest] = path.split('/')
  const [segment = '', verb = ''] = family === 'marketshare' ? rest.slice(1) : rest
  const kind = namesOf(kinds).find((name) => kinds[name].path === family)
  return { operation: operationOf(kind, family, verb), kind, name: decode(segment) }
}

function operationOf(kind: Kind | undefined, family: string, verb: string): Requested['operation'] {
  if (kind !== undefined && (verb === 'estimate' || verb === 'run')) return verb
  if (family === 'projects' && verb === 'dates') return verb
  return 'other'
}

/** A broken escape stands for itself, and so names no project. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
