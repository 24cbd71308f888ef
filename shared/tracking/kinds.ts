/** A new kind needs a row here, its operations (operations.ts), and its name in shared/client. */
export interface KindFacts {
  /** In `/{path}/{project}/estimate` and `…/run`. */
  readonly path: string
  /** The name in Slack. */
  readonly short: string
  readonly projectBy: 'name' | 'id'
  /** True if a run adds a date to `/projects/{name}/dates`. */
  readonly leavesDates: boolean
  readonly cooldown: string
  /** The names of the settings: JSON Pointers to the units, how answers are read, and the cool-down. */
  readonly settings: {
    readonly estimatePointer: `ESTIMATE_POINTER_${string}`
    readonly runPointer: `RUN_POINTER_${string}`
    readonly refused: `RUN_REFUSED_${string}`
    readonly started: `RUN_STARTED_${string}`
    readonly well: `ANSWERS_WELL_${string}`
    readonly cooldown: `COOLDOWN_${string}`
  }
  /** The units that the stand-in takes for each keyword. */
  readonly standInCost: (project: { readonly searchengines: readonly { readonly country: string }[] }) => number
}

export const productKinds = {
  ranking: {
    path: 'on-demand',
    short: 'ranking',
    projectBy: 'name',
    leavesDates: true,
    cooldown: 'day',
    settings: {
      estimatePointer: 'ESTIMATE_POINTER_RANKING',
      runPointer: 'RUN_POINTER_RANKING',
      refused: 'RUN_REFUSED_RANKING',
      started: 'RUN_STARTED_RANKING',
      well: 'ANSWERS_WELL_RANKING',
      cooldown: 'COOLDOWN_RANKING',
    },
    standInCost: ({ searchengines }) => searchengines.length,
  },
  'keyword-difficulty': {
    path: 'keyword-difficulty',
    short: 'difficulty',
    projectBy: 'id',
    leavesDates: false,
    cooldown: '7d',
    settings: {
      estimatePointer: 'ESTIMATE_POINTER_DIFFICULTY',
      runPointer: 'RUN_POINTER_DIFFICULTY',
      refused: 'RUN_REFUSED_DIFFICULTY',
      started: 'RUN_STARTED_DIFFICULTY',
      well: 'ANSWERS_WELL_DIFFICULTY',
      cooldown: 'COOLDOWN_DIFFICULTY',
    },
    standInCost: ({ searchengines }) => new Set(searchengines.map(({ country }) => country)).size,
  },
} as const satisfies Readonly<Record<string, KindFacts>>

export type Kind = keyof typeof productKinds

export type Kinds = Readonly<Record<Kind, KindFacts>>

export const namesOf = (kinds: Kinds) => Object.keys(kinds) as [Kind, ...Kind[]]

export const kindsBy = (kinds: Kinds, projectBy: KindFacts['projectBy']) =>
  namesOf(kinds).filter((kind) => kinds[kind].projectBy === projectBy)

export const datedKinds = (kinds: Kinds) => namesOf(kinds).filter((kind) => kinds[kind].leavesDates)

export const eachKind = <T>(kinds: Kinds, of: (facts: KindFacts) => T) =>
  Object.fromEntries(Object.entries(kinds).map(([name, facts]) => [name, of(facts)])) as Record<Kind, T>

export const allOf = (kinds: Kinds): 'both' | 'all' => (namesOf(kinds).length === 2 ? 'both' : 'all')

export const anyOf = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' or ')

export interface Target {
  readonly kind: Kind
  /** Already encoded. */
  readonly segment: string
  readonly search: string
  /** The other names of the project. In an answer, a name such as `limit.example` is no sign of failure. */
  readonly names?: readonly string[]
}

/**
 * Equal arguments give equal bytes, so a run has the same target as its estimate.
 * @throws RangeError for a project that cannot be one path segment.
 */
export function targetOf(kind: Kind, project: string, query: Readonly<Record<string, string>> = {}): Target {
  const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return checked({ kind, segment: encode(project), search: search.join('&') })
}

/** All names of the target's project. */
export function namesIn({ segment, names = [] }: Target): readonly string[] {
  try {
    return [decodeURIComponent(segment), ...names]
  } catch {
    return names
  }
}

export function updatePath(target: Target, operation: 'estimate' | 'run', kinds: Kinds = productKinds): string {
  const { kind, segment, search } = checked(target)
  const path = `/${kinds[kind].path}/${segment}/${operation}`
  return search === '' ? path : `${path}?${search}`
}

export const datesPath = (target: Target): string => `/projects/${checked(target).segment}/dates`

/** A last check: the gateway has already refused such targets. */
function checked(target: Target): Target {
  const isSegment = /^[\x21-\x7e]+$/.test(target.segment) && !/[/?#\\]/.test(target.segment)
  const isDots = /^(\.|%2e){1,2}$/i.test(target.segment)
  const isSearch = /^[\x21-\x7e]*$/.test(target.search) && !target.search.includes('#')
  if (!isSegment || isDots || !isSearch) throw new RangeError('a target must be one path segment and a query')
  return target
}

function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw new RangeError('not well-formed Unicode')
  }
}
