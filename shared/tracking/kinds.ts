/**
 * All there is to know of a kind of update. What names a kind takes it from the table it was built with, so a further
 * kind
 * is a row here, its operations at the gateway (operations.ts), and its name in shared/client, which imports nothing.
 */
export interface KindFacts {
  /** Its paths at the service: `/{path}/{project}/estimate` and `…/run`. */
  readonly path: string
  /** What people may type for its name in Slack. */
  readonly short: string
  /** What the service's paths call the project by. */
  readonly projectBy: 'name' | 'id'
  /** A run adds a date to `/projects/{name}/dates`, so data can be fresh, and a doubt can end by evidence. */
  readonly leavesDates: boolean
  /** How long a run answers for the same work, as the setting says it. */
  readonly cooldown: string
  /** The settings of the units in the service's answers, as JSON Pointers, and of the cool-down. */
  readonly settings: {
    readonly estimatePointer: `ESTIMATE_POINTER_${string}`
    readonly runPointer: `RUN_POINTER_${string}`
    readonly cooldown: `COOLDOWN_${string}`
  }
  /** What the stand-in charges for each keyword. */
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
      cooldown: 'COOLDOWN_DIFFICULTY',
    },
    standInCost: ({ searchengines }) => new Set(searchengines.map(({ country }) => country)).size,
  },
} as const satisfies Readonly<Record<string, KindFacts>>

export type Kind = keyof typeof productKinds

/** A table of kinds: the product's own, or a test's with more of them. */
export type Kinds = Readonly<Record<Kind, KindFacts>>

export const namesOf = (kinds: Kinds) => Object.keys(kinds) as [Kind, ...Kind[]]

/** The kinds whose paths call a project by its name, or by its id. */
export const kindsBy = (kinds: Kinds, projectBy: KindFacts['projectBy']) =>
  namesOf(kinds).filter((kind) => kinds[kind].projectBy === projectBy)

export const datedKinds = (kinds: Kinds) => namesOf(kinds).filter((kind) => kinds[kind].leavesDates)

/** For each kind what `of` makes of its row. */
export const eachKind = <T>(kinds: Kinds, of: (facts: KindFacts) => T) =>
  Object.fromEntries(Object.entries(kinds).map(([name, facts]) => [name, of(facts)])) as Record<Kind, T>

/** `both` of two, `all` of more. */
export const allOf = (kinds: Kinds): 'both' | 'all' => (namesOf(kinds).length === 2 ? 'both' : 'all')

/** `ranking or keyword-difficulty` */
export const anyOf = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' or ')

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
