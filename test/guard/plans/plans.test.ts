import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import { parsePlans, readPlans } from '../../../shared/guard/plans-file.ts'
import { placeOfFault } from '../../../shared/platform/json.ts'
import { WrongFile } from '../../../shared/platform/settings-file.ts'

const morning = { name: 'morning', kind: 'ranking', projects: ['acme.example'], schedule: 'rate(1 day)' }
const everyDay = { kind: 'rate', text: 'rate(1 day)', everyMs: 86_400_000 }

const parse = (...plans: unknown[]) => parsePlans(JSON.stringify(plans))

function faultOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof WrongFile) return error.message
    throw error
  }
  return 'nothing is wrong'
}

describe('a plan of the file', () => {
  test('a plan has defaults', () => {
    const expected = [{ ...morning, schedule: everyDay, whenShort: 'fit', mayChargeAncestors: false, enabled: true }]
    expect(parse(morning)).toEqual(expected)
    expect(parsePlans(JSON.stringify({ plans: [morning] }))).toEqual(expected)
  })

  test('a plan keeps all its members in their order', () => {
    const evening = {
      name: '0-evening',
      kind: 'keyword-difficulty',
      projects: ['1003', 'café & co/paris', '1001'],
      budget: 'seo',
      schedule: 'cron(30 17 ? * 6L 2027)',
      whenShort: 'ask',
      query: { depth: 10, fresh: true, engine: 'a b', ratio: 1.5 },
      mayChargeAncestors: true,
      leave: 0,
      enabled: false,
    }
    const [first, second] = parse(evening, morning)
    expect(first).toEqual({
      ...evening,
      schedule: expect.objectContaining({ kind: 'cron', text: 'cron(30 17 ? * 6L 2027)', hours: [17], minutes: [30] }),
      query: { depth: '10', fresh: 'true', engine: 'a b', ratio: '1.5' },
    })
    expect(second?.name).toBe('morning')
  })

  test('a plans file may be empty', () => {
    expect(parsePlans('[]')).toEqual([])
    expect(parsePlans('{"plans": []}')).toEqual([])
  })

  const unitsFor = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`b${index}`, 1]))
  const names = (count: number) => Array.from({ length: count }, (_, index) => `project ${index}`)
  test.each<[what: string, plan: object]>([
    ['the longest name', { name: 'a'.repeat(63) }],
    ['the most projects', { projects: names(500) }],
    ['the longest project', { projects: ['é'.repeat(512)] }],
    ['the longest budget', { budget: 'a'.repeat(63) }],
    ['the most units to leave', { leave: 1_000_000_000_000 }],
    ['units to leave for budgets', { leave: { account: 2_000, constructor: 0 } }],
    ['units to leave for the most budgets', { leave: unitsFor(50) }],
    ['the longest query', { query: Object.fromEntries(names(20).map((name) => [name, 'x'.repeat(512)])) }],
  ])('a plans file accepts a plan with %s', (_what, plan) => {
    expect(parse({ ...morning, ...plan })).toMatchObject([plan])
  })

  const name = 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'
  const project = 'must have 1 to 512 characters, no control characters, and neither "." nor ".."'
  const units =
    'must be a whole number of units from 0 to 1000000000000, or one for each budget, as in {"account": 2000}'
  const budgets = 'must have 1 to 50 budgets'
  const value = 'must be a string, a number, true or false'
  const cron = 'EventBridge has no @daily: write cron(0 0 * * ? *)'
  test.each<[what: string, plan: object, fault: string]>([
    ['no name', { name: undefined }, 'plan 1, name: must be the name of a plan'],
    ['a name in capitals', { name: 'Morning' }, `plan 1, name: ${name}`],
    ['a name that begins with -', { name: '-a' }, `plan 1, name: ${name}`],
    ['a long name', { name: 'a'.repeat(64) }, `plan 1, name: ${name}`],
    ['another kind', { kind: 'rankings' }, 'plan 1 (morning), kind: must be ranking or keyword-difficulty'],
    ['no projects', { projects: undefined }, 'plan 1 (morning), projects: must be a list of project names'],
    ['one project', { projects: 'acme' }, 'plan 1 (morning), projects: must be a list of project names'],
    ['an empty list', { projects: [] }, 'plan 1 (morning), projects: must have 1 to 500 projects'],
    ['too many projects', { projects: names(501) }, 'plan 1 (morning), projects: must have 1 to 500 projects'],
    ['a project twice', { projects: ['a', 'b', 'a'] }, 'plan 1 (morning), projects: names a project twice'],
    ['a project ..', { projects: ['a', '..'] }, `plan 1 (morning), projects.1: ${project}`],
    ['a project with a line break', { projects: ['a\nb'] }, `plan 1 (morning), projects.0: ${project}`],
    ['a long project', { projects: ['a'.repeat(513)] }, `plan 1 (morning), projects.0: ${project}`],
    ['a project that is a number', { projects: [1001] }, 'plan 1 (morning), projects.0: must be the name of a project'],
    ['half a character', { projects: ['\ud800'] }, 'plan 1 (morning), projects.0: is not Unicode'],
    ['a budget in capitals', { budget: 'SEO' }, `plan 1 (morning), budget: ${name}`],
    ['no budget by null', { budget: null }, 'plan 1 (morning), budget: must be the name of a budget'],
    [
      'no schedule',
      { schedule: undefined },
      'plan 1 (morning), schedule: must be a string such as "cron(0 5 * * ? *)"',
    ],
    ['a wrong schedule', { schedule: '@daily' }, `plan 1 (morning), schedule: ${cron}`],
    ['another whenShort', { whenShort: 'skip' }, 'plan 1 (morning), whenShort: must be fit, refuse or ask'],
    ['a list as query', { query: ['a'] }, 'plan 1 (morning), query: must be a JSON object'],
    ['a query with null', { query: { a: null } }, `plan 1 (morning), query.a: ${value}`],
    ['a query with __proto__', JSON.parse('{"query": {"__proto__": "a"}}'), unknown('query.__proto__')],
    ['too long a query', { query: Object.fromEntries(names(21).map((name) => [name, 1])) }, atMost('20 names')],
    [
      'too long a value',
      { query: { a: 'x'.repeat(513) } },
      'plan 1 (morning), query.a: must have at most 512 characters',
    ],
    ['units below 0', { leave: -1 }, `plan 1 (morning), leave: ${units}`],
    ['half a unit', { leave: 0.5 }, `plan 1 (morning), leave: ${units}`],
    ['too many units', { leave: 1_000_000_000_001 }, `plan 1 (morning), leave: ${units}`],
    ['units as text', { leave: '5' }, `plan 1 (morning), leave: ${units}`],
    ['units for no budget', { leave: {} }, `plan 1 (morning), leave: ${budgets}`],
    [
      'units below 0 for a budget',
      { leave: { account: -1 } },
      'plan 1 (morning), leave.account: must be a whole number of units from 0 to 1000000000000',
    ],
    ['units for a budget in capitals', { leave: { SEO: 1 } }, `plan 1 (morning), leave: ${units}`],
    ['units for too many budgets', { leave: unitsFor(51) }, `plan 1 (morning), leave: ${budgets}`],
    ['enabled as text', { enabled: 'no' }, 'plan 1 (morning), enabled: must be true or false'],
    ['an unknown member', { budgets: 'seo' }, unknown('budgets')],
    ['a long unknown member', { [`x${'canary'.repeat(50)}`]: 1 }, unknown(`x${'canary'.repeat(9)}canar…`)],
  ])('a plans file refuses a plan with %s', (_what, plan, fault) => {
    expect(faultOf(() => parse({ ...morning, ...plan }))).toBe(`these plans are wrong: ${fault}`)
  })

  function unknown(path: string): string {
    return `plan 1 (morning), ${path}: is not a known member`
  }
  function atMost(what: string): string {
    return `plan 1 (morning), query: must have at most ${what}`
  }

  test('a wrong plans file names all faults at once, plan by plan', () => {
    const other = { ...morning, name: 'other', projects: ['a', '.', 'a'], leave: '1' }
    expect(faultOf(() => parse({ ...morning, kind: 'x', enabled: 1 }, 7, other, { ...morning, budget: 5 }))).toBe(
      [
        'these plans are wrong: plan 1 (morning), kind: must be ranking or keyword-difficulty',
        'plan 1 (morning), enabled: must be true or false',
        'plan 2: must be a JSON object',
        `plan 3 (other), projects.1: ${project}`,
        'plan 3 (other), projects: names a project twice',
        `plan 3 (other), leave: ${units}`,
        'plan 4 (morning), name: is the name of plan 1 too',
        'plan 4 (morning), budget: must be the name of a budget',
      ].join('; '),
    )
  })

  test('a plans file with very many faults shows a hundred faults and the number of the others', () => {
    const fault = faultOf(() => parse({ ...morning, projects: Array(150).fill('..').concat('a') }))
    expect(fault.match(/neither "\." nor "\.\."/g)).toHaveLength(100)
    expect(fault).toMatch(/; and 51 more$/)
    const hundred = faultOf(() => parse({ ...morning, projects: Array(99).fill('..') }))
    expect(hundred).toMatch(/; plan 1 \(morning\), projects: names a project twice$/)
  })

  test('two plans without a valid name are not reported as equal', () => {
    const unnamed = [undefined, undefined, 7, 7].map((name) => ({ ...morning, name }))
    const said = [1, 2, 3, 4].map((number) => `plan ${number}, name: must be the name of a plan`).join('; ')
    expect(faultOf(() => parse(...unnamed))).toBe(`these plans are wrong: ${said}`)
  })

  test('a fault of the twelfth plan names plan 12', () => {
    const plans = Array.from({ length: 12 }, (_, index) => ({ ...morning, name: `p${index + 1}`, leave: index && -1 }))
    expect(faultOf(() => parse(...plans))).toMatch(/; plan 11 \(p11\), leave: [^;]*; plan 12 \(p12\), leave: [^;]*$/)
  })

  test.each<[text: string, fault: string]>([
    ['7', 'these plans are wrong: must be a JSON object'],
    ['null', 'these plans are wrong: must be a JSON object'],
    ['{}', 'these plans are wrong: plans: must be a list of plans'],
    [
      '{"plans": {}, "version": 1}',
      'these plans are wrong: plans: must be a list of plans; version: is not a known member',
    ],
    [
      JSON.stringify(Array.from({ length: 201 }, (_, index) => ({ ...morning, name: `plan-${index}` }))),
      'these plans are wrong: plans: must have at most 200 plans',
    ],
    ['', notJson('not JSON at line 1, column 1')],
    ['[{"name": "canary",}]', notJson('not JSON at line 1, column 20')],
    ['[\n  {\n    "name": canary\n  }\n]', notJson('not JSON at line 3, column 13')],
    ['[{"name": "a", "name": "b"}]', notJson('the same name twice in one object')],
    [`${'['.repeat(65)}${']'.repeat(65)}`, notJson('nested deeper than 64 levels')],
  ])('a plans file of %s is refused', (text, fault) => {
    expect(faultOf(() => parsePlans(text))).toBe(fault)
  })

  function notJson(reason: string): string {
    return `the plans are not valid, unambiguous JSON: ${reason}`
  }
})

describe('the place where text stops being JSON', () => {
  test.each<[text: string, line: number, column: number]>([
    ['', 1, 1],
    [' \n ', 2, 2],
    ['[1, 2', 1, 6],
    ['[1,]', 1, 4],
    ['[1 2]', 1, 4],
    ['{"a" 1}', 1, 6],
    ['{"a": 1,\r\n "b": }', 2, 7],
    ['{a: 1}', 1, 2],
    ["['a']", 1, 2],
    ['{"a": 1}}', 1, 9],
    ['[1}', 1, 3],
    ['[01]', 1, 3],
    ['["a\nb"]', 1, 2],
    ['["\\x"]', 1, 2],
    ['[1] // why', 1, 5],
    ['[True]', 1, 2],
    ['{1: 2}', 1, 2],
    ['1, 2', 1, 2],
    ['{"a": 1]', 1, 8],
    ['[1: 2]', 1, 3],
  ])('the text %j stops being JSON in line %i, column %i', (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    expect(placeOfFault(text)).toEqual({ line, column })
  })

  test.each(['[]', ' {} ', '"a\\u00e9\\"\u007f"', '-0.5e+3', '[{"a": [], "b": {"c": null}}, true]'])(
    'a fault in %s has no place',
    (text) => {
      expect(placeOfFault(text)).toBeNull()
    },
  )
})

describe('a plans file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plans-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const write = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }

  test('a missing plans file means no plans', () => {
    expect(readPlans(undefined)).toEqual([])
  })

  test('a plans file is read, also with a byte order mark', () => {
    expect(readPlans(write('plans.json', `\u{feff}${JSON.stringify([morning])}`))).toMatchObject([{ name: 'morning' }])
  })

  test.each<[what: string, path: () => string, fault: string]>([
    ['is missing', () => join(folder, 'none.json'), 'the plans file none.json is not there'],
    ['is a folder', () => folder, `the plans file ${folder.split('/').at(-1)} cannot be read`],
    [
      'is not UTF-8',
      () => write('latin.json', Buffer.from('["é"]', 'latin1')),
      'the plans file latin.json is not UTF-8',
    ],
    [
      'is wrong',
      () => write('wrong.json', '[7]'),
      'the plans file wrong.json: these plans are wrong: plan 1: must be a JSON object',
    ],
  ])('a plans file that %s is refused by its base name', (_what, path, fault) => {
    expect(faultOf(() => readPlans(path()))).toBe(fault)
  })

  test('the sandbox’s plans file names existing projects, by name or by id', () => {
    const plans = readPlans(fileURLToPath(new URL('../../../infra/local/plans.json', import.meta.url)))
    expect(plans).toMatchObject([
      {
        name: 'morning',
        kind: 'ranking',
        projects: ['acme.example', 'globex', 'initech'],
        schedule: { text: 'cron(0 5 * * ? *)' },
        enabled: true,
      },
      {
        name: 'difficulty',
        kind: 'keyword-difficulty',
        projects: ['1001', '1002', '1003'],
        schedule: { text: 'cron(0 6 ? * MON *)' },
        leave: 10_000,
        enabled: false,
      },
    ])
    expect(plans[0]).not.toHaveProperty('budget')
    const known = demonstrationProjects(0).map(({ name }) => name)
    expect(known).toEqual(expect.arrayContaining([...(plans[0]?.projects ?? [])]))
  })
})
