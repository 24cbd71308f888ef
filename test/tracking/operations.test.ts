import { describe, expect, it, test } from 'vitest'
import {
  decodeSegment,
  isGuarded,
  matchOperation,
  type OperationName,
  operationNames,
  operationPath,
  operations,
} from '../../shared/tracking/operations.ts'

/** The endpoints of the interface, copied from its tables. */
const endpoints = [
  'GET /projects',
  'POST /projects/{name}/create',
  'POST /projects/{name}/update',
  'GET /projects/{name}/details',
  'GET /projects/{id}/keywords',
  'GET /projects/{name}/dates',
  'GET /projects/{name}/export-rankings',
  'GET /projects/{name}/export-visibility',
  'GET /projects/{name}/export-pages',
  'GET /projects/{name}/export-topsites',
  'GET /projects/{name}/export-gsc',
  'POST /projects/{name}/export-ctr',
  'GET /projects/{id}/export-keyword-difficulty',
  'GET /on-demand/{name}/estimate',
  'GET /on-demand/{name}/run',
  'GET /keyword-difficulty/{projectIds}/estimate',
  'GET /keyword-difficulty/{projectIds}/run',
  'GET /marketshare/projects',
  'GET /marketshare/projects/{projectId}/websites',
  'GET /marketshare/projects/{projectId}/search-engines',
  'GET /marketshare/projects/{projectId}/metadata',
  'GET /marketshare/projects/{projectId}/url-keywords',
  'GET /marketshare/projects/{projectId}/domain-urls',
]

describe('the table', () => {
  test('the table of operations has each of the interface’s 23 operations once', () => {
    expect(endpoints).toHaveLength(23)
    expect(operationNames.map((name) => `${operations[name].method} ${operations[name].path}`)).toEqual(endpoints)
  })

  test('the table of operations guards only the two runs', () => {
    expect(operationNames.filter(isGuarded)).toEqual(['run-ranking', 'run-difficulty'])
    expect(operations['run-ranking'].guarded).toBe('ranking')
    expect(operations['run-difficulty'].guarded).toBe('keyword-difficulty')
  })

  test('the table of operations has a body only for creation and update', () => {
    const withBody = operationNames.filter((name) => operations[name].body).map((name) => [name, operations[name].body])
    expect(withBody).toEqual([
      ['create-project', 'CreateProjectInput'],
      ['update-project', 'UpdateProjectInput'],
    ])
  })

  const notRead: Partial<Record<OperationName, string>> = {
    'create-project': 'write',
    'update-project': 'write',
    'run-ranking': 'run',
    'run-difficulty': 'run',
  }
  test.each(operationNames)('the operation %s needs read, write or run', (name) => {
    expect(operations[name].scope).toBe(notRead[name] ?? 'read')
  })
})

describe('a path of an operation', () => {
  it.each(operationNames)('a path is the operation %s', (name) => {
    const { method, path } = operations[name]
    const hasSegment = path.includes('{')
    expect(matchOperation(method, path.replace(/\{\w+\}/, 'alpha'))).toEqual({
      kind: 'operation',
      operation: name,
      segment: hasSegment ? 'alpha' : null,
    })
  })

  it.each([
    'a',
    '17',
    '1,2,3',
    'a;b',
    'a%2Fb',
    'a%2fb',
    'a%20b%25',
    '%C3%A9',
    '%c3%a9',
    '%E9',
    'example.com',
    '...',
    '.a',
    'a..b',
    '%2e%2e%2e',
    "!$&'()*+,;=:@-._~",
    'a|b[c]^',
    '$&$1',
    'run',
    'create',
    'x'.repeat(6_144),
  ])('a path is an operation with the segment %s', (segment) => {
    const path = `/on-demand/${segment}/run`
    expect(matchOperation('GET', path)).toEqual({ kind: 'operation', operation: 'run-ranking', segment })
    expect(operationPath('run-ranking', segment, '')).toBe(path)
  })

  it.each<[method: string, path: string, allow: string]>([
    ['HEAD', '/on-demand/alpha/run', 'GET'],
    ['POST', '/on-demand/alpha/run', 'GET'],
    ['get', '/on-demand/alpha/run', 'GET'],
    ['OPTIONS', '/on-demand/alpha/run', 'GET'],
    ['', '/keyword-difficulty/17/run', 'GET'],
    ['HEAD', '/projects', 'GET'],
    ['POST', '/projects', 'GET'],
    ['DELETE', '/projects/alpha/details', 'GET'],
    ['GET', '/projects/alpha/create', 'POST'],
    ['PUT', '/projects/alpha/update', 'POST'],
    ['GET', '/projects/alpha/export-ctr', 'POST'],
  ])('a path with another method is no operation: %s %s', (method, path, allow) => {
    expect(matchOperation(method, path)).toEqual({ kind: 'method-not-allowed', allow: [allow] })
  })
})

describe('a path of no operation', () => {
  const hostileSegments = [
    '',
    '.',
    '..',
    '%2e',
    '%2E',
    '%2e%2e',
    '.%2e',
    '%2E.',
    '%252e',
    '%252e%252e',
    '%25252E.',
    '%25%32%65',
    '..%2f',
    '..%2F..%2Fx',
    'x%2f..',
    'x%2f..%2fy',
    'x%2f.%2fy',
    '%2e%2e%252fy',
    '..%5c',
    'x%5C..',
    '\\',
    '..\\x',
    'a b',
    'a\tb',
    'a\u0000b',
    'a\r\nb',
    'a\u007fb',
    'é',
    '%',
    '%2',
    '%zz',
    'a%',
    '%u0061',
    '%00',
    '%01',
    '%0d%0a',
    '%0D',
    '%1f',
    '%7f',
    '%7F',
    'a"b',
    'a<b>',
    'a`b',
    'a{b}',
    'a?b',
    'a#b',
    'x'.repeat(6_145),
  ]
  it.each(hostileSegments)('a path is no operation with the segment %j', (segment) => {
    for (const path of [`/on-demand/${segment}/run`, `/projects/${segment}/create`]) {
      for (const method of ['GET', 'POST', 'HEAD']) expect(matchOperation(method, path)).toBeNull()
    }
    expect(() => operationPath('project-details', segment, '')).toThrow(RangeError)
  })

  it.each([
    '',
    '/',
    '//',
    'projects',
    '/projects/',
    '//projects',
    '/Projects',
    '/PROJECTS',
    '/projects?x',
    '/projects#x',
    '/projects;x',
    '/projects%20',
    '/projects ',
    '/%70rojects',
    '/projects/alpha',
    '/projects/alpha/',
    '/projects/alpha/delete',
    '/projects/alpha/estimate',
    '/projects/alpha/run',
    '/projects/alpha/details/',
    '/projects/alpha/details/more',
    '/projects//details',
    '/projects/alpha//details',
    '/projects/a/b/details',
    '/projects/alpha/Details',
    '/projects/alpha/details;x',
    '/projects/alpha/export_ctr',
    '/on-demand/alpha/r%75n',
    '/on-demand/alpha/%72un',
    '/on-demand/alpha/RUN',
    '/on-demand/alpha/run/',
    '/on-demand/alpha/run//',
    '/on-demand/alpha/run;x',
    '/on-demand/alpha/run%00',
    '/on-demand/alpha/run%20',
    '/on-demand/alpha/run?x=y',
    '/on-demand/alpha/run\\',
    '/on-demand/alpha/./run',
    '/on-demand/alpha/../run',
    '/on-demand/alpha/x/../run',
    '/on-demand/run',
    '/on-demand//alpha/run',
    '//on-demand/alpha/run',
    '/./on-demand/alpha/run',
    '/../on-demand/alpha/run',
    '/on%2Ddemand/alpha/run',
    '/on-demand%2Falpha/run',
    '/on-demand/alpha%2Frun',
    '/On-Demand/alpha/run',
    '\\on-demand\\alpha\\run',
    '/v3/on-demand/alpha/run',
    'http://evil.example/on-demand/alpha/run',
    '//evil.example/on-demand/alpha/run',
    'x/on-demand/alpha/run',
    '/keyword-difficulty/17/Run',
    '/marketshare',
    '/marketshare/projects/17',
    '/marketshare/projects/17/run',
    '/marketshare/17/websites',
    '/../updates',
    '/updates',
    '/constructor',
    '/__proto__',
  ])('%j is the path of no operation', (path) => {
    for (const method of ['GET', 'POST', 'HEAD']) expect(matchOperation(method, path)).toBeNull()
  })
})

describe('the path on the wire', () => {
  it.each<[operation: OperationName, segment: string | null, search: string, path: string]>([
    ['list-projects', null, '', '/projects'],
    ['list-projects', null, 'a=b&&c=%zz[]?/', '/projects?a=b&&c=%zz[]?/'],
    ['create-project', 'a%2fb;c', 'frequency=ondemand', '/projects/a%2fb;c/create?frequency=ondemand'],
    ['estimate-difficulty', '1,2', '', '/keyword-difficulty/1,2/estimate'],
    ['project-details', '$&', '', '/projects/$&/details'],
    ['marketshare-metadata', '17', 'date=2026-11-02', '/marketshare/projects/17/metadata?date=2026-11-02'],
  ])('the operation %s has its path on the wire: %s %s', (operation, segment, search, path) => {
    expect(operationPath(operation, segment, search)).toBe(path)
  })

  it.each<[operation: OperationName, segment: string | null, search: string]>([
    ['list-projects', 'alpha', ''],
    ['project-details', null, ''],
    ['project-details', 'a/b', ''],
    ['project-details', 'alpha', 'a b'],
    ['project-details', 'alpha', 'a#b'],
    ['project-details', 'alpha', 'a\r\nx: y'],
    ['project-details', 'alpha', 'é'],
  ])('the operation %s is refused with %j %j', (operation, segment, search) => {
    expect(() => operationPath(operation, segment, search)).toThrow(RangeError)
  })
})

describe('the project of a segment', () => {
  it.each<[raw: string, project: string | null]>([
    ['alpha', 'alpha'],
    ['a%2Fb', 'a/b'],
    ['a%252Fb', 'a%2Fb'],
    ['a+b', 'a+b'],
    ['%C3%A9', 'é'],
    ['%F0%9F%90%98', '🐘'],
    ['%E9', null],
    ['%C0%AE', null],
    ['%ED%A0%80', null],
    ['%', null],
  ])('a segment names a project or none: %s', (raw, project) => {
    expect(decodeSegment(raw)).toBe(project)
  })
})
