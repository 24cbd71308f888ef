import type { Kind } from '../platform/words.ts'

/** What an estimate and a run are about, byte for byte as it goes on the wire. */
export interface Target {
  readonly kind: Kind
  /** One path segment, already encoded. */
  readonly segment: string
  /** A raw query string without `?`; may be empty. */
  readonly search: string
}

const familyOf = { ranking: 'on-demand', 'keyword-difficulty': 'keyword-difficulty' } as const satisfies Record<
  Kind,
  string
>

/**
 * The target of a project's name or identifier. Equal arguments give equal bytes, so that what was estimated is what
 * is run.
 *
 * @throws RangeError when `project` cannot be one path segment: empty, `.`, `..` (both change the path in the hands of
 * whoever normalizes it), or not well-formed Unicode.
 */
export function targetOf(kind: Kind, project: string, query: Readonly<Record<string, string>> = {}): Target {
  const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return checked({ kind, segment: encode(project), search: search.join('&') })
}

/** `/on-demand/{name}/estimate` and its three sisters (interface document, "On-demand ranking updates" and after). */
export function updatePath(target: Target, operation: 'estimate' | 'run'): string {
  const { kind, segment, search } = checked(target)
  const path = `/${familyOf[kind]}/${segment}/${operation}`
  return search === '' ? path : `${path}?${search}`
}

/** `/projects/{name}/dates` (interface document, "Projects"). */
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
