import type { Kind } from './kinds.ts'

type Method = 'GET' | 'POST'

/** The interface's "Path parameters". */
export const parameters = {
  name: 'a project, by name',
  id: 'a project, by identifier',
  projectId: 'a single project, by identifier',
  projectIds: 'one or more projects; the interface does not say how to write several',
} as const

interface Row {
  readonly method: Method
  readonly path: `/${string}`
  /** The parameters that the interface lists. Other parameters pass, too. */
  readonly query: readonly string[]
  readonly body: 'CreateProjectInput' | 'UpdateProjectInput' | null
  readonly scope: 'read' | 'write' | 'run'
  /** The operation consumes units as this kind of update, so only the guard may send it. `null`: it consumes no units. */
  readonly guarded: Kind | null
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

/** Every operation of the interface. */
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
  'project-keywords': { ...read, ...projects, path: '/projects/{id}/keywords', purpose: 'lists a project’s keywords' },
  'project-dates': {
    ...read,
    ...projects,
    path: '/projects/{name}/dates',
    purpose: 'lists a project’s dates with data',
  },

  'export-rankings': { ...read, ...exports, path: '/projects/{name}/export-rankings', purpose: 'exports rankings' },
  'export-visibility': {
    ...read,
    ...exports,
    path: '/projects/{name}/export-visibility',
    purpose: 'exports visibility',
  },
  'export-pages': { ...read, ...exports, path: '/projects/{name}/export-pages', purpose: 'exports landing pages' },
  'export-topsites': {
    ...read,
    ...exports,
    path: '/projects/{name}/export-topsites',
    purpose: 'exports top-sites data',
  },
  'export-gsc': { ...read, ...exports, path: '/projects/{name}/export-gsc', purpose: 'exports search-console data' },
  'export-ctr': {
    ...read,
    ...exports,
    method: 'POST',
    path: '/projects/{name}/export-ctr',
    purpose: 'exports click-through-rate data',
  },
  'export-keyword-difficulty': {
    ...read,
    ...exports,
    path: '/projects/{id}/export-keyword-difficulty',
    purpose: 'exports keyword-difficulty data',
  },

  'estimate-ranking': {
    ...read,
    ...onDemand,
    path: '/on-demand/{name}/estimate',
    purpose: 'estimates the units that an on-demand ranking update needs',
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
    purpose: 'estimates the units that a keyword-difficulty update needs',
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
    purpose: 'lists market-share projects with ID and name',
  },
  'marketshare-websites': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/websites',
    purpose: 'lists the websites of a project with IDs and names',
  },
  'marketshare-search-engines': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/search-engines',
    purpose: 'lists the search engines of a project with IDs and names',
  },
  'marketshare-metadata': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/metadata',
    purpose: 'returns the metadata of the main website and its competitors',
  },
  'marketshare-url-keywords': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/url-keywords',
    purpose: 'lists the keywords for which a URL ranked on a date',
  },
  'marketshare-domain-urls': {
    ...read,
    ...marketShare,
    path: '/marketshare/projects/{projectId}/domain-urls',
    purpose: 'lists the URLs of a domain that search results show from a date on',
  },
} as const satisfies Record<string, Row>

export type OperationName = keyof typeof operations
export type GuardedOperation = {
  [Name in OperationName]: (typeof operations)[Name]['guarded'] extends Kind ? Name : never
}[OperationName]
export type OpenOperation = Exclude<OperationName, GuardedOperation>

export const operationNames = Object.keys(operations) as readonly OperationName[]

export const isGuarded = (name: OperationName): name is GuardedOperation => operations[name].guarded !== null

export type OperationMatch =
  | {
      readonly kind: 'operation'
      readonly operation: OperationName
      readonly segment: string | null
    }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly Method[] }

/** 512 characters of up to four bytes. A byte is written with three characters, such as `%C3`. */
const maxSegmentLength = 512 * 4 * 3

const templates = operationNames.map((name) => ({ name, words: operations[name].path.split('/') }))

/** Compares raw bytes, so a path that matches only after decoding is `null`. HEAD is not GET, because a GET may be a run. */
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

/** @throws RangeError if `segment` or `search` would change the path. */
export function operationPath(operation: OperationName, segment: string | null, search: string): string {
  const { path } = operations[operation]
  const hasParameter = path.split('/').some(isParameter)
  const isQuery = /^[\x21-\x7e]*$/.test(search) && !search.includes('#')
  if (hasParameter !== (segment !== null) || (segment !== null && !isSegment(segment)) || !isQuery) {
    throw new RangeError(`not one path segment and a query for ${operation}`)
  }
  const whole = path.replace(/\{\w+\}/, () => segment ?? '') // `$&` in a segment means itself
  return search === '' ? whole : `${whole}?${search}`
}

/** Segments are decoded once, only here. `null`: not percent-encoded UTF-8. */
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

/** `pchar` (RFC 3986), and four characters that browsers do not encode. */
const characters = /^(?:[\w.~!$&'()*+,;=:@[\]^|-]|%[\da-f]{2})+$/i
const encodedControl = /%(?:[01][\da-f]|7f)/i
const escapes = /%(?:25)*([\da-f]{2})/gi
/** Escapes may be nested: `%25%32%65` is `%2e`, and that is `.`. */
const maxDecodings = 4

/** Refuses dot segments, also behind an encoded slash, because the service could read such a path as a run. */
function isSegment(raw: string): boolean {
  if (raw.length > maxSegmentLength || !characters.test(raw) || encodedControl.test(raw)) return false
  let plain = raw
  for (let times = 0; times < maxDecodings; times++) {
    plain = plain.replace(escapes, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  }
  return !plain.split(/[/\\]/).some((part) => part === '.' || part === '..')
}

/**
 * The values of a parameter that is checked. No spelling may hide the parameter: case and blanks of a name do
 * not count, and `[` or NUL ends a name. `null`: the value is not percent-encoded UTF-8.
 */
export function queryValues(search: string, wanted: string): readonly (string | null)[] {
  return queryPairs(search)
    .filter(([name]) => plain(decoded(name)) === wanted)
    .map(([, value]) => decoded(value))
}

/** Names and values as encoded. A part with `;` counts whole and split, because some services separate with `;`. */
export function queryPairs(search: string): readonly (readonly [name: string, value: string])[] {
  const parts = search.split('&').flatMap((part) => (part.includes(';') ? [part, ...part.split(';')] : [part]))
  return parts.map((part) => {
    const [name = '', ...value] = part.split('=')
    return [name, value.join('=')]
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
