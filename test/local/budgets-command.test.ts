import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { countUnnamed, createBudgetsService, linesOf } from '../../infra/local/commands/budgets.ts'
import {
  type BudgetsFile,
  readBudgetsFile,
  type ShownBudget,
  toBudgetsCsv,
  type WantedBudget,
} from '../../infra/local/commands/budgets-file.ts'
import { withIds } from '../../infra/local/commands/projects.ts'
import { budgetsFiles, lines } from '../support/process/budgets-file.ts'
import { runHere } from '../support/process/here.ts'

const { fileOf, listening } = await budgetsFiles()
const acme: ShownBudget = {
  name: 'acme',
  parent: 'account',
  projects: [],
  approvers: [],
  limits: [
    { window: 'month', units: 1_000 },
    { window: 'day', units: 50 },
  ],
}

describe('a CSV of budgets', () => {
  test('the rows of a budget are read as its projects, and limits that the CSV does not name are kept', async () => {
    const file = await fileOf(
      lines(
        '\ufeffbudget,parent,month,day,project,id,perUpdate,approvalAbove,approvers',
        'acme,,1200,,,,,,',
        '',
        'globex,agency,unlimited,300,"shoes, big",1001,50,40,bob; slack:U1ADA',
        'globex,,,,hats,,,,',
        "globex,,,,'=1+1,,,,",
        ',,,,,,,,',
        'agency,,0,,,,,,',
      ),
    )
    const { budgets, placeOf } = await readBudgetsFile(file, [acme])
    expect(budgets).toEqual([
      {
        name: 'acme',
        limits: [
          { window: 'month', units: 1_200 },
          { window: 'day', units: 50 },
        ],
      },
      {
        name: 'globex',
        parent: 'agency',
        perUpdate: 50,
        approvalAbove: 40,
        approvers: ['bob', 'slack:U1ADA'],
        limits: [
          { window: 'month', units: 'unlimited' },
          { window: 'day', units: 300 },
        ],
        projects: [{ name: 'shoes, big', id: '1001' }, { name: 'hats' }, { name: '=1+1' }],
      },
      { name: 'agency', limits: [{ window: 'month', units: 0 }] },
    ])
    expect(placeOf(1)).toBe('line 4, globex')
  })

  test('a refused CSV lists all faults by line', async () => {
    const file = await fileOf(
      lines(
        'budget,month,project,id,perUpdate',
        'Acme,1,a,1,',
        'acme,"1.200,000",,7,-5',
        ',5,,,',
        'globex,10,a,',
        'globex,20,,,',
      ),
    )
    await expect(readBudgetsFile(file, [])).rejects.toThrow(
      [
        `${file} is not applied:`,
        'line 2: budget "Acme": must be a name of a-z, 0-9 and -',
        'line 3: month "1.200,000": must be a whole number of units, such as 2000, or unlimited',
        'line 3: perUpdate "-5": must be a whole number of units, such as 500',
        'line 3: an id needs a project',
        'line 4: budget "": must be a name of a-z, 0-9 and -',
        'line 5: has 4 cells, but the header has 5',
        'line 6: month is 20 here, and 10 in line 5',
      ].join('\n  '),
    )
  })

  test.each([
    [
      'budget,months,day,day',
      /line 1: there is no column "months"\n {2}line 1: day twice\n {2}line 1: the columns are budget,/,
    ],
    ['budget|month', /line 1: there is no column "budget\|month"/],
    ['name,month', /line 1: there is no column "name"\n {2}line 1: the column budget is missing/],
    ['budget,month', /line 1: there is no budget below the header/],
    ['', /is empty; its first line names the columns: budget,parent,month,day,/],
    ['budget\n"acme', /is not CSV: /],
  ])('the CSV %j is refused', async (text, message) => {
    await expect(readBudgetsFile(await fileOf(text), [])).rejects.toThrow(message)
  })

  test.each(['budgets.csv', 'budgets.json'])(
    '%s in another encoding is refused, because it would change names',
    async (name) => {
      const file = await fileOf('', name)
      await writeFile(file, Buffer.from('budget,project\nacme,M\xfcller\n', 'latin1'))
      await expect(readBudgetsFile(file, [])).rejects.toThrow('is not UTF-8')
    },
  )

  test('an exported CSV is read as the same budgets', async () => {
    const budgets: ShownBudget[] = [
      { name: 'account', parent: null, limits: [{ window: 'month', units: 50_000 }], projects: [], approvers: [] },
      {
        name: 'acme',
        parent: 'account',
        perUpdate: 5,
        keep: 8,
        approvers: ['bob', 'eve'],
        enforce: false,
        limits: [{ window: 'day', units: 'unlimited' }],
        projects: [{ name: '=1+1', id: '7' }, { name: 'a "quoted", name' }],
      },
    ]
    const text = toBudgetsCsv(budgets)
    expect(text).toBe(
      lines(
        'budget,parent,month,day,project,id,perUpdate,keep,approvalAbove,approvers,enforce',
        'account,,50000,,,,,,,,',
        "acme,account,,unlimited,'=1+1,7,5,8,,bob;eve,false",
        'acme,,,,"a ""quoted"", name",,,,,,',
      ),
    )
    const { budgets: read } = await readBudgetsFile(await fileOf(text), budgets)
    expect(read).toEqual([{ name: 'account', limits: budgets[0]?.limits }, budgets[1]])
  })
})

describe('a JSON file of budgets', () => {
  test.each([
    ['a list', '[{"name": "acme", "kinds": ["ranking"]}]', undefined],
    ['an object with a reason', '{"budgets": [{"name": "acme", "kinds": ["ranking"]}], "reason": "r"}', 'r'],
  ])('a JSON file with %s is read unchanged', async (_what, text, reason) => {
    const file = await readBudgetsFile(await fileOf(text, 'budgets.json'), [])
    expect([file.budgets, file.reason, file.placeOf(0)]).toEqual([
      [{ name: 'acme', kinds: ['ranking'] }],
      reason,
      'acme',
    ])
  })

  test.each([
    ['a name twice', '[{"name": "acme", "limits": [], "limits": []}]', 'the same name twice in one object'],
    ['an unknown member', '{"budgets": [{"name": "acme"}], "dry-run": true}', 'there is no member "dry-run"'],
  ])('a JSON file with %s is refused, as in a request body', async (_what, text, message) => {
    await expect(readBudgetsFile(await fileOf(text, 'budgets.json'), [])).rejects.toThrow(message)
  })

  test.each(['{', 'null', '{"acme": {}}', '[{"limits": []}]'])(
    'the JSON %s is refused as a file of budgets',
    async (text) => {
      await expect(readBudgetsFile(await fileOf(text, 'budgets.json'), [])).rejects.toThrow(
        /is not valid, unambiguous JSON|must be \{"budgets"/,
      )
    },
  )
})

describe('the difference', () => {
  test('the difference has a line for each new or changed budget, and the number of unchanged ones', () => {
    const limits = (units: number | 'unlimited') => [{ window: 'month', units }]
    const projects = (...names: string[]) => names.map((name) => ({ name }))
    expect(
      linesOf(
        [
          {
            budget: 'acme',
            isNew: true,
            members: [
              { member: 'limits', from: null, to: limits(2_000) },
              { member: 'projects', from: null, to: projects('v', 'w', 'x', 'y', 'z') },
            ],
          },
          { budget: 'globex', isNew: false, members: [{ member: 'limits', from: limits(1_000), to: limits(1_200) }] },
          {
            budget: 'initech',
            isNew: false,
            members: [
              { member: 'projects', from: projects('a', 'b'), to: projects('b', 'c', 'd', 'e') },
              { member: 'perUpdate', from: null, to: 1_500 },
              { member: 'approvers', from: ['bob'], to: ['bob', 'eve'] },
              { member: 'limits', from: [...limits(5), { window: 'day', units: 3 }], to: limits('unlimited') },
            ],
          },
        ],
        Array.from({ length: 60 }, (_, at) => ({ name: ['acme', 'globex', 'initech'][at] ?? `other-${at}` })),
      ),
    ).toEqual([
      '+ acme  new: 2,000 a month, 5 projects',
      '~ globex  month 1,000 → 1,200',
      '~ initech  2 → 4 projects (+ c, + d, + e and 1 more), perUpdate none → 1,500, approvers bob → bob and eve, month 5 → unlimited, day 3 → none',
      '    removes the project a, the limit of the day',
      '= 57 unchanged',
    ])
  })
})

describe('a project that moves in a file', () => {
  const initech = { name: 'initech', id: '1003' }
  const shown = (name: string, ...projects: object[]) => ({ ...acme, name, projects }) as ShownBudget
  const before = [shown('acme', initech, { name: 'hooli' }), shown('press', { name: 'a' })]
  const fileOfRows = (budgets: WantedBudget[]): BudgetsFile => ({
    budgets,
    removableMembers: ['projects'],
    placeOf: (position) => `${position}`,
  })

  test('a project that moves is named with both budgets in both lines of the difference', () => {
    const differences = [
      {
        budget: 'press',
        isNew: false,
        members: [{ member: 'projects', from: [{ name: 'a' }], to: [{ name: 'a' }, { ...initech, name: 'Initech ' }] }],
      },
      {
        budget: 'new',
        isNew: true,
        members: [{ member: 'projects', from: null, to: [{ name: 'b' }, { name: 'hooli' }] }],
      },
      {
        budget: 'acme',
        isNew: false,
        members: [{ member: 'projects', from: [initech, { name: 'hooli' }, { name: 'gone' }], to: [] }],
      },
    ]
    expect(linesOf(differences, [])).toEqual([
      '~ press  1 → 2 projects (Initech  moves from acme to press)',
      '+ new  new: 2 projects (hooli moves from acme to new)',
      '~ acme  3 → 0 projects (Initech  moves from acme to press, hooli moves from acme to new, − gone)',
      '    removes the project gone',
    ])
  })

  test('a project that moves does not stay in the old budget', () => {
    const wanted = [
      { name: 'acme', projects: [{ name: 'new' }] },
      { name: 'press', projects: [{ name: 'Initech' }] },
    ]
    // hooli and a
    expect(countUnnamed(wanted, before)).toBe(2)
    expect(countUnnamed([{ name: 'press', projects: [initech] }], before)).toBe(1)
    expect(countUnnamed([{ name: 'press' }], before)).toBe(0)
  })

  test.each([true, false])('only the new budget lists a moved project, with its id; --prune: %s', (prune) => {
    const lists = [[initech, { name: 'hooli', id: '1004' }, { name: 'a', id: '1' }]]
    const file = fileOfRows([{ name: 'press', projects: [{ name: 'initech' }, { name: 'hooli' }] }])
    const rows = [initech, { name: 'hooli' }]
    const differences = [
      {
        budget: 'press',
        isNew: false,
        members: [{ member: 'projects', from: [], to: prune ? rows : [{ name: 'a' }, ...rows] }],
      },
      { budget: 'acme', isNew: false, members: [{ member: 'projects', from: rows, to: [] }] },
    ]
    const { file: filled, lines: told } = withIds(file, { budgets: before, differences }, lists)
    expect(filled.budgets).toEqual([{ name: 'press', projects: [{ name: 'initech' }, { name: 'hooli', id: '1004' }] }])
    expect(told).toEqual([
      '    hooli has the id 1004 at the service',
      ...(prune ? ['! no budget owns a; account pays for its updates'] : []),
    ])
  })
})

describe('npm run budgets', () => {
  test('npm run budgets shows, applies and exports budgets', async () => {
    const { product, run } = await listening()
    const file = await fileOf(lines('budget,month,project,id', 'acme,2000,a,1', 'acme,,b,', 'globex,100,,'))
    const unlisted = '! the service does not list its projects now: no id is filled in, and no name is checked'
    const unchecked = '! the service does not list its projects now, so these ids are not checked: 1 of a'
    const difference = ['+ acme  new: 2,000 a month, 2 projects', '+ globex  new: 100 a month', unlisted, unchecked]
    const dry = await run('apply', file, '--dry-run', '--as-written')
    expect(dry).toEqual({ code: 0, err: '', out: lines(...difference, 'Not applied (--dry-run); revision 1.') })
    expect((await product.call('GET', '/budgets/acme')).status).toBe(404)
    const applied = await run('apply', file, '--as-written', '--reason', 'contracts of December')
    expect(applied).toEqual({ code: 0, err: '', out: lines(...difference, 'Applied: revision 2.') })
    const { body } = await product.call('GET', '/budgets/acme/entries')
    expect(body.entries).toMatchObject([{ by: 'ada', reason: 'contracts of December' }])
    const exported = await run('export')
    expect(exported).toMatchObject({ code: 0, err: '' })
    const again = await run('apply', await fileOf(exported.out, 'exported.csv'))
    expect(again.out).toBe(lines('= 3 unchanged', unlisted, 'Nothing to apply; revision 2.'))
  })

  test('npm run budgets exits with 1 for a refused file and 2 for wrong usage', async () => {
    const { env } = await listening()
    const wrong = await fileOf(lines('budget,parent,month', 'acme,missing,5', 'globex,,x'), 'wrong.csv')
    const [faulty, usage, away] = await Promise.all([
      runHere('budgets', ['apply', wrong], env),
      runHere('budgets', ['apply', 'budgets.txt'], env),
      runHere('budgets', ['export'], { ...env, UNIT_GUARD_URL: 'http://127.0.0.1:9' }),
    ])
    expect([faulty.code, faulty.out]).toEqual([1, ''])
    expect(faulty.err).toMatch(/wrong\.csv is not applied:\n {2}line 3: month "x": must be a whole number/)
    expect([usage.code, usage.err]).toEqual([2, 'The file must end in .csv or .json (npm run budgets -- --help)\n'])
    expect([away.code, away.err]).toEqual([
      1,
      expect.stringMatching(/^Unit Guard at http:\/\/127\.0\.0\.1:9 does not answer: .+\n$/),
    ])
  })

  test('npm run budgets refuses UNIT_GUARD_TOKEN with other text in it, without showing it', async () => {
    const { env } = await listening()
    const printed = `> unit-guard token\n\n${env.UNIT_GUARD_TOKEN}`
    const { code, err } = await runHere('budgets', ['export'], { ...env, UNIT_GUARD_TOKEN: printed })
    expect([code, err]).toEqual([1, expect.stringContaining('UNIT_GUARD_TOKEN: must be a bearer token alone')])
    expect(err).not.toContain(env.UNIT_GUARD_TOKEN)
  })

  test('npm run budgets applies nothing if the budgets changed meanwhile', async () => {
    const { product, url, token } = await listening()
    const service = createBudgetsService({ url, token })
    const file = await readBudgetsFile(await fileOf(lines('budget,month', 'acme,5')), [])
    const { etag } = await service.read()
    await product.call('PUT', '/budgets/globex', { body: { limits: [{ window: 'month', units: 1 }] } })
    await expect(service.apply(file, { etag })).rejects.toThrow(
      'The budgets changed while this command ran, so nothing was applied: run it again.',
    )
    expect((await product.call('GET', '/budgets/acme')).status).toBe(404)
  })

  test('npm run budgets names the line or the budget that the guard refuses', async () => {
    const { product, url, token } = await listening()
    const service = createBudgetsService({ url, token })
    const { budgets, etag } = await service.read()
    const apply = async (text: string, name?: string) =>
      service.apply(await readBudgetsFile(await fileOf(text, name), budgets), { etag, 'dry-run': true })
    await expect(apply(lines('budget,month', 'acme,5', 'globex,9999999999999'))).rejects.toThrow(
      'Nothing was applied:\n  line 3, globex, limits.0.units: must be a whole number of units, or unlimited',
    )
    await expect(apply('[{"name": "acme", "limit": 5}]', 'a.json')).rejects.toThrow(
      'acme, limit: is not a known member',
    )
    await expect(apply(lines('budget,perUpdate', 'acme,5'))).rejects.toThrow(
      'acme: the budget acme is new, so it needs',
    )
    const twice = lines('budget,month,project', 'acme,5,a', 'acme,,', 'globex,5,b', 'acme,,c', 'globex,,c')
    const named = 'c stands in two budgets of this change, acme and globex; name it in one'
    await expect(apply(twice)).rejects.toThrow(
      `Nothing was applied:\n  line 5, acme: ${named}\n  line 6, globex: ${named}`,
    )
    const rows = ['acme', 'globex'].map((name) => ({
      name,
      limits: [{ window: 'month', units: 5 }],
      projects: [{ name: 'c' }],
    }))
    await expect(apply(JSON.stringify(rows), 'twice.json')).rejects.toThrow(
      `Nothing was applied:\n  acme, projects.0: ${named}\n  globex, projects.0: ${named}`,
    )
    const reader = createBudgetsService({ url, token: await product.signed({ sub: 'bob', scope: 'read' }) })
    const file = await readBudgetsFile(await fileOf(lines('budget,month', 'acme,5')), budgets)
    await expect(reader.apply(file, { etag, 'dry-run': true })).rejects.toThrow('bob needs the scope admin')
  })
})
