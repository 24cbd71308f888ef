import { type Kind, type Kinds, productKinds } from './kinds.ts'

/** What an estimate and a run are about, byte for byte as it goes on the wire. */
export interface Target {
  readonly kind: Kind
  /** One path segment, already encoded. */
  readonly segment: string
  /** A raw query string without `?`; may be empty. */
  readonly search: string
}

/**
 * The target of a project's name or identifier. Equal arguments give equal bytes, so that what was estimated is what
 * is run.
 *
 * @throws RangeError when `project` cannot be one path segment: empty, `.`, `..` (both change the path where a
 * server normalizes it), or not well-formed Unicode.
 */
export function targetOf(kind: Kind, project: string, query: Readonly<Record<string, string>> = {}): Target {
  const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return checked({ kind, segment: encode(project), search: search.join('&') })
}

/** `/on-demand/{name}/estimate` and its three sisters. */
export function updatePath(target: Target, operation: 'estimate' | 'run', kinds: Kinds = productKinds): string {
  const { kind, segment, search } = checked(target)
  const path = `/${kinds[kind].path}/${segment}/${operation}`
  return search === '' ? path : `${path}?${search}`
}

/** `/projects/{name}/dates`. */
export const datesPath = (target: Target): string => `/projects/${checked(target).segment}/dates`

/** A segment or a query that would reach another operation is a fault of ours: the gateway refuses it first. */
function checked(target: Target): Target {
  const isSegment = /^[\x21-\x7e]+$/.test(target.segment) && !/[/?#\\]/.test(target.segment)
  const isDots = /^(\.|%2e){1,2}$/i.test(target.segment)
  const isSearch = /^[\x21-\x7e]*$/.test(target.search) && !target.search.includes('#')
  if (!isSegment || isDots || !isSearch) throw new RangeError('not one path segment and a query')
  return target
}

function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw new RangeError('not well-formed Unicode')
  }
}
