import type { Kind } from './kinds.ts'

type Method = 'GET' | 'POST'

/** What the path parameter of an operation stands for ("Path parameters" of the interface). */
export const parameters = {
  name: 'a project, by name',
  id: 'a project, by identifier',
  projectId: 'a single project, by identifier',
  projectIds: 'one or more projects; how several are written is not shown',
} as const

interface Row {
  readonly method: Method
  /** Relative to the base address, with at most one parameter. */
  readonly path: `/${string}`
  /** Query parameters that the interface names; others are left open ("Rules and gaps", 2 to 4), and pass. */
  readonly query: readonly string[]
  /** The schema of the JSON body; null where none is sent. */
  readonly body: 'CreateProjectInput' | 'UpdateProjectInput' | null
  /** What a caller of the gateway needs; see `neededScope`. */
  readonly scope: 'read' | 'write' | 'run'
  /** The kind of update that the operation is: it consumes units, and only the guard may send it. */
  readonly guarded: Kind | null
  /** Where the interface describes it, and what it does there. */
  readonly section: string
  readonly purpose: string
}

const read = { method: 'GET', query: [], body: null, scope: 'read', guarded: null } as const
const write = { ...read, method: 'POST', scope: 'write' } as const
const run = { ...read, scope: 'run' } as const

const projects = { section: 'Projects' } as const
const exports = { section: 'Exports' } as const
const onDemand = { section: 'On-demand ranking updates' } as const
const difficulty = { section: 'Keyword-difficulty updates' } as const
const marketShare = { section: 'Market share' } as const

/** Every operation of the interface ("Endpoints"), once. Whatever speaks of operations is derived from this table. */
export const operations = {
  'list-projects': { ...read, ...projects, path: '/projects', purpose: 'lists all projects of the account' },
  'create-project': {
    ...write,
    ...projects,
    path: '/projects/{name}/create',
    query: ['frequency', 'country'],
    body: 'CreateProjectInput',
    purpose: 'creates a project',
  },
  'update-project': {
    ...write,
    ...projects,
    path: '/projects/{name}/update',
    body: 'UpdateProjectInput',
    purpose: 'updates a project',
  },
  'project-details': { ...read, ...projects, path: '/projects/{name}/details', purpose: 'describes a project' },
  'project-keywords': { ...read, ...projects, path: '/projects/{id}/keywords', purpose: 'the keywords of a project' },
  'project-dates': { ...read, ...projects, path: '/projects/{name}/dates', purpose: 'the dates that have data' },

  'export-rankings': { ...read, ...exports, path: '/projects/{name}/export-rankings', purpose: 'ranking data' },
  'export-visibility': { ...read, ...exports, path: '/projects/{name}/export-visibility', purpose: 'visibility data' },
  'export-pages': { ...read, ...exports, path: '/projects/{name}/export-pages', purpose: 'landing pages' },
  'export-topsites': { ...read, ...exports, path: '/projects/{name}/export-topsites', purpose: 'top-sites data' },
  'export-gsc': { ...read, ...exports, path: '/projects/{name}/export-gsc', purpose: 'search-console data' },
  'export-ctr': {
    ...read,
    ...exports,
    method: 'POST', // the only read that is no GET
    path: '/projects/{name}/export-ctr',
    purpose: 'click-through-rate data',
  },
  'export-keyword-difficulty': {
    ...read,
    ...exports,
    path: '/projects/{id}/export-keyword-difficulty',
    purpose: 'keyword-difficulty data',
  },

  'estimate-ranking': {
    ...read,
    ...onDemand,
    path: '/on-demand/{name}/estimate',
    purpose: 'the units that an on-demand ranking update needs',
  },
  'run-ranking': {
    ...run,
    ...onDemand,
    path: '/on-demand/{name}/run',
    guarded: 'ranking',
    purpose: 'runs an on-demand ranking update',
  },

  'estimate-difficulty': {
    ...read,
    ...difficulty,
    path: '/keyword-difficulty/{projectIds}/estimate',
    purpose: 'the units that a keyword-difficulty update needs',
  },
  'run-difficulty': {
    ...run,
    ...difficulty,
    path: '/keyword-difficulty/{projectIds}/run',
    guarded: 'keyword-difficulty',
    purpose: 'runs a keyword-difficulty update',
  },

  'marketshare-projects': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects',
    purpose: 'projects with ID and name',
  },
  'marketshare-websites': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/websites',
    purpose: 'websites of a project with IDs and names',
  },
  'marketshare-search-engines': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/search-engines',
    purpose: 'search engines of a project with IDs and names',
  },
  'marketshare-metadata': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/metadata',
    purpose: 'metadata of the main website and its competitors',
  },
  'marketshare-url-keywords': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/url-keywords',
    purpose: 'keywords for which a URL ranked on a date',
  },
  'marketshare-domain-urls': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/domain-urls',
    purpose: 'URLs of a domain found in search results from a date',
  },
} as const satisfies Record<string, Row>

export type OperationName = keyof typeof operations
export type GuardedOperation = {
  [Name in OperationName]: (typeof operations)[Name]['guarded'] extends Kind ? Name : never
}[OperationName]
/** What anyone may pass on: nothing of it consumes units. */
export type OpenOperation = Exclude<OperationName, GuardedOperation>
export type OperationScope = Row['scope'] | 'admin'

export const operationNames = Object.keys(operations) as readonly OperationName[]

export const isGuarded = (name: OperationName): name is GuardedOperation => operations[name].guarded !== null

/**
 * The scope that a caller of the gateway needs. A project that is created with a frequency other than `ondemand` is
 * updated by the service on its own, which reserves units: that takes `admin`. Without a frequency it is `write`: the
 * interface names no default.
 *
 * @param search the raw query string, without `?`.
 */
export function neededScope(name: OperationName, search: string): OperationScope {
  const isScheduled = queryValues(search, 'frequency').some((frequency) => frequency !== 'ondemand')
  return name === 'create-project' && isScheduled ? 'admin' : operations[name].scope
}

export type OperationMatch =
  | {
      readonly kind: 'operation'
      readonly operation: OperationName
      /** The project exactly as the caller encoded it; null where the path names none. */
      readonly segment: string | null
    }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly Method[] }

/** 512 characters, the longest project, of at most four bytes, three characters each. */
const maxSegmentLength = 512 * 4 * 3

/** The words of each path, split once. */
const templates = operationNames.map((name) => ({ name, words: operations[name].path.split('/') }))

/**
 * Finds the operation of a raw path, as it was received behind `/v3` and without its query. Words are compared byte by
 * byte: what only becomes the path of an operation when a server decodes or tidies it is null. HEAD is no GET
 * here, because a GET may be a run.
 */
export function matchOperation(method: string, rawPath: string): OperationMatch | null {
  const words = rawPath.split('/')
  const known = templates.filter((template) => fits(template.words, words)).map(({ name }) => name)
  if (known.length === 0) return null
  const operation = known.find((name) => operations[name].method === method)
  if (operation === undefined) {
    return { kind: 'method-not-allowed', allow: known.map((name) => operations[name].method) }
  }
  const template = operations[operation].path.split('/')
  return { kind: 'operation', operation, segment: words.find((_word, at) => isParameter(template[at] ?? '')) ?? null }
}

/**
 * The path of an operation as it goes on the wire, relative to the base address; `segment` and `search` are raw.
 *
 * @throws RangeError when they would make it another path: `matchOperation` refuses such segments first.
 */
export function operationPath(operation: OperationName, segment: string | null, search: string): string {
  const { path } = operations[operation]
  const hasParameter = path.split('/').some(isParameter)
  const isQuery = /^[\x21-\x7e]*$/.test(search) && !search.includes('#')
  if (hasParameter !== (segment !== null) || (segment !== null && !isSegment(segment)) || !isQuery) {
    throw new RangeError(`not one path segment and a query for ${operation}`)
  }
  const whole = path.replace(/\{\w+\}/, () => segment ?? '') // as a function: `$&` in a segment means itself
  return search === '' ? whole : `${whole}?${search}`
}

/** The project that a segment names; null when it is not percent-encoded UTF-8. Decoded once, and here only. */
export function decodeSegment(raw: string): string | null {
  try {
    return decodeURIComponent(raw)
  } catch {
    return null
  }
}

const fits = (template: readonly string[], words: readonly string[]): boolean =>
  template.length === words.length &&
  template.every((word, at) => isParameter(word) || word === words[at]) &&
  template.every((word, at) => !isParameter(word) || isSegment(words[at] ?? ''))

const isParameter = (word: string): boolean => word.startsWith('{')

/** The characters of a path segment (`pchar` of RFC 3986), and the four that the URLs of browsers leave as they are. */
const characters = /^(?:[\w.~!$&'()*+,;=:@[\]^|-]|%[\da-f]{2})+$/i
const encodedControl = /%(?:[01][\da-f]|7f)/i
/** An escape, itself escaped as often as it may be. */
const escapes = /%(?:25)*([\da-f]{2})/gi
/** Escapes may also hide inside each other (`%25%32%65` is `%2e` is `.`); no server decodes more often than this. */
const maxDecodings = 4

/**
 * True for what stays one segment for every server. A dot segment does not, even behind an encoded slash: a server
 * that decodes a path before normalizing it would end up at another operation, perhaps a run.
 */
function isSegment(raw: string): boolean {
  if (raw.length > maxSegmentLength || !characters.test(raw) || encodedControl.test(raw)) return false
  let plain = raw
  for (let times = 0; times < maxDecodings; times++) {
    plain = plain.replace(escapes, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  }
  return !plain.split(/[/\\]/).some((part) => part === '.' || part === '..')
}

/**
 * All values of one parameter of a raw query string, decoded as forms are; null for one that is not percent-encoded
 * UTF-8. A parameter that decides what a caller may do must not be overlooked for its spelling, and how the service
 * reads names is unknown: so case does not count, nor do blanks around a name, nor what servers cut off it (`[]`, a NUL),
 * and `;` may separate as `&` does.
 */
export function queryValues(search: string, wanted: string): readonly (string | null)[] {
  const parts = search.split('&').flatMap((part) => (part.includes(';') ? [part, ...part.split(';')] : [part]))
  return parts.flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return plain(decoded(name)) === wanted ? [decoded(value.join('='))] : []
  })
}

const plain = (name: string | null): string | undefined => name?.split(/[[\0]/)[0]?.trim().toLowerCase()

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
