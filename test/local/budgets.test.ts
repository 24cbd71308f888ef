import { describe, expect, test } from 'vitest'
import { readBudgetsFile } from '../../infra/local/commands/budgets-file.ts'
import { budgetsFiles, lines } from '../support/process/budgets-file.ts'

const { fileOf, listening } = await budgetsFiles()

describe('a CSV of budgets', () => {
  const budgets = [
    {
      name: 'acme',
      limits: [{ window: 'month', units: 900 }],
      projects: [{ name: 'a, b', id: '1' }],
      approvers: ['bob', 'eve'],
    },
    { name: 'globex', limits: [{ window: 'month', units: 5 }] },
  ]

  test.each([
    ['commas', lines('budget,month,project,id,approvers', 'acme,900,"a, b",1,bob; eve', 'globex,5,,,')],
    [
      'semicolons, as Excel saves it in German',
      '\ufeff' +
        lines('budget;month;project;id;approvers', 'acme;900;a, b;1;"bob; eve"', 'globex;5;;;').replaceAll(
          '\n',
          '\r\n',
        ),
    ],
    ['tabs', lines('budget\tmonth\tproject\tid\tapprovers', 'acme\t900\ta, b\t1\tbob; eve', 'globex\t5\t\t\t')],
  ])('a CSV with %s between the cells is read', async (_what, text) => {
    expect((await readBudgetsFile(await fileOf(text), [])).budgets).toEqual(budgets)
  })
})

describe('npm run budgets', () => {
  async function withAcme(listed?: readonly object[]) {
    const { product, run } = await listening(listed)
    await product.call('PUT', '/budgets/acme', {
      body: {
        limits: [
          { window: 'month', units: 900 },
          { window: 'day', units: 90 },
        ],
        projects: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name: `${name}.example` })),
        perUpdate: 50,
        approvers: ['bob'],
        kinds: ['ranking'],
      },
    })
    const read = async () => (await product.call('GET', '/budgets/acme')).body
    return { product, read, run }
  }

  test('apply keeps projects that the file does not name', async () => {
    const { read, run } = await withAcme([])
    const file = await fileOf(lines('budget,project', 'acme,f.example'))
    const before = await read()
    expect(await run('apply', file)).toEqual({
      code: 0,
      err: '',
      out: lines(
        '~ acme  5 → 6 projects (+ f.example)',
        '= 5 projects stay that the file does not name; --prune removes them',
        '! the service does not list f.example of acme, a.example of acme, b.example of acme, c.example of acme, d.example of acme and e.example of acme; correct the name, or create the project there',
        'Applied: revision 3.',
      ),
    })
    expect(await read()).toMatchObject({
      projects: [...before.projects, { name: 'f.example' }],
      limits: before.limits,
      perUpdate: 50,
      approvers: ['bob'],
      kinds: ['ranking'],
    })
  })

  test('--prune removes projects and settings that the CSV does not have, and shows them', async () => {
    const { read, run } = await withAcme([])
    const file = await fileOf(lines('budget;month;day;project;perUpdate', 'acme;900;;a.example;'))
    const difference = [
      '~ acme  day 90 → none, 5 → 1 project (− b.example, − c.example, − d.example and 1 more), perUpdate 50 → none',
      '    removes the limit of the day, the project b.example, the project c.example, the project d.example, the project e.example, perUpdate',
      '! the service does not list a.example of acme; correct the name, or create the project there',
    ]
    expect((await run('apply', file, '--prune', '--release', '--dry-run')).out).toBe(
      lines(...difference, 'Not applied (--dry-run); revision 2.'),
    )
    expect((await run('apply', file, '--prune', '--release')).out).toBe(lines(...difference, 'Applied: revision 3.'))
    expect(await read()).toMatchObject({
      projects: [{ name: 'a.example' }],
      limits: [{ window: 'month', units: 900 }],
      // No column of the file has these members.
      approvers: ['bob'],
      kinds: ['ranking'],
    })
  })

  test('--prune without --release says which projects would be left without a budget, and applies nothing', async () => {
    const { read, run } = await withAcme([])
    const before = await read()
    const { code, err } = await run('apply', await fileOf('[{"name": "acme", "projects": []}]', 'left.json'), '--prune')
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('no budget would list them: from then on account pays for them'),
    ])
    expect(await read()).toEqual(before)
  })

  test('--prune with JSON removes every rule that the file does not have', async () => {
    const { read, run } = await withAcme([])
    const file = await fileOf('[{"name": "acme", "approvers": ["eve"]}]', 'prune.json')
    expect((await run('apply', file, '--prune', '--release')).code).toBe(0)
    expect(await read()).toMatchObject({
      projects: [],
      approvers: ['eve'],
      kinds: ['ranking', 'keyword-difficulty'],
      limits: [
        { window: 'month', units: 900 },
        { window: 'day', units: 90 },
      ],
    })
  })

  test('apply gives projects of a file the ids that the service lists, and names unowned ones', async () => {
    const { read, run } = await withAcme([
      { name: 'a.example', id: 1001 },
      { name: 'f.example', id: '1006' },
      { name: 'x.example', id: '7' },
      { name: 'g.example', id: '8' },
      { name: 'g.example', id: '9' },
    ])
    const file = await fileOf(
      lines(
        'budget,month,project,id',
        'acme,,a.example,',
        'acme,,f.example,',
        'acme,,b.example,77',
        'globex,5,G.example,',
      ),
    )
    const difference = [
      '~ acme  5 → 6 projects (a.example: id none → 1001, b.example: id none → 77, + f.example)',
      '+ globex  new: 5 a month, 1 project',
      '= 3 projects stay that the file does not name; --prune removes them',
      '    a.example has the id 1001 at the service',
      '    f.example has the id 1006 at the service',
      '! the service does not list b.example of acme, c.example of acme, d.example of acme and e.example of acme; correct the name, or create the project there',
      '! no budget owns x.example; account pays for its updates',
    ]
    expect((await run('apply', file, '--dry-run')).out).toBe(
      lines(...difference, 'Not applied (--dry-run); revision 2.'),
    )
    expect(await run('apply', file)).toMatchObject({ code: 0, out: lines(...difference, 'Applied: revision 3.') })
    const { projects } = await read()
    expect(projects.slice(0, 2)).toEqual([
      { name: 'a.example', id: '1001' },
      { name: 'b.example', id: '77' },
    ])
    expect(projects.at(-1)).toEqual({ name: 'f.example', id: '1006' })
  })

  test('apply names the rule of account for unowned projects, also a rule from the file', async () => {
    const { product, run } = await withAcme([{ name: 'new' }])
    await product.call('PUT', '/budgets', { body: { budgets: [{ name: 'account', unowned: 'refuse' }] } })
    const rule = (unowned: string) => `{"budgets": [{"name": "account", "unowned": "${unowned}"}]}`
    const file = await fileOf('{"budgets": [{"name": "acme", "perUpdate": 5}]}', 'kept.json')
    expect((await run('apply', file, '--dry-run')).out).toContain('! no budget owns new; account refuses its updates')
    const { out } = await run('apply', await fileOf(rule('pay'), 'rule.json'), '--dry-run')
    expect(out).toContain('~ account  unowned refuse → pay')
    expect(out).toContain('! no budget owns new; account pays for its updates')
  })

  const acmeAndGlobex = [
    { name: 'acme.example', id: 1001 },
    { name: 'globex', id: '1002' },
  ]

  test('a wrong id in a file is refused with its line, and --as-written applies it', async () => {
    const { product, run } = await listening(acmeAndGlobex)
    const file = await fileOf(lines('budget,month,project,id', 'acme-a,100,acme.example,1002', 'acme-a,,new,7'))
    const message = '! the service lists acme.example under 1001; 1002 is globex'
    for (const flags of [[], ['--dry-run']]) {
      expect(await run('apply', file, ...flags)).toEqual({
        code: 1,
        out: '',
        err: lines(
          'Nothing was applied:',
          `  ${message} (line 2, acme-a, id)`,
          'If these rows are right, add --as-written.',
        ),
      })
    }
    expect((await product.call('GET', '/budgets/acme-a')).status).toBe(404)
    const { code, out } = await run('apply', file, '--as-written')
    expect([code, out.split(message).length]).toEqual([0, 2])
    expect((await product.call('GET', '/budgets/acme-a')).body.projects[0]).toEqual({
      name: 'acme.example',
      id: '1002',
    })
    expect((await run('ids')).out).toContain(`${message} (acme.example of acme-a has 1002)`)
  })

  test.each(['1.001E+03', '1,001', '1.001', "'1001", '01001', '1001,00'])(
    'the id %j, as a spreadsheet may have written it, is refused, and --as-written does not help',
    async (id) => {
      const { product, run } = await listening(acmeAndGlobex)
      const file = await fileOf(lines('budget,month,project,id', `acme-a,100,acme.example,"${id}"`))
      for (const flags of [[], ['--as-written']]) {
        const { code, err } = await run('apply', file, ...flags)
        expect([code, err]).toEqual([
          1,
          expect.stringContaining(`! ${id} of acme.example is not an id that the service`),
        ])
        expect(err).toContain('(the service lists acme.example under 1001, not under')
      }
      expect((await product.call('GET', '/budgets/acme-a')).status).toBe(404)
    },
  )

  test('a new id is refused while the service does not list its projects, and taken with --as-written', async () => {
    const { run } = await listening()
    const file = await fileOf(lines('budget,month,project,id', 'acme-a,100,acme.example,1001'))
    const { code, err } = await run('apply', file)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('so the id 1001 of acme.example cannot be checked (line 2'),
    ])
    expect(await run('apply', file, '--as-written')).toMatchObject({ code: 0 })
    // Ids that the budgets already have need no list.
    expect(await run('apply', file)).toMatchObject({ code: 0, out: expect.stringContaining('Nothing to apply') })
  })

  test('ids adds missing ids to all budgets and replaces none', async () => {
    const { product, read, run } = await withAcme([
      { name: 'a.example', id: '1001' },
      { name: 'b.example', id: '1002' },
    ])
    await product.call('PUT', '/budgets/globex', {
      body: { limits: [{ window: 'month', units: 5 }], projects: [{ name: '1002' }, { name: 'z', id: '26' }] },
    })
    const twice = '! b.example of acme and 1002 of globex are one project (id 1002): keep one of them'
    const unknown =
      '! the service does not list c.example of acme, d.example of acme, e.example of acme and z of globex; correct the name, or create the project there'
    expect(await run('ids')).toEqual({
      code: 0,
      err: '',
      out: lines(
        '~ acme  5 projects (a.example: id none → 1001)',
        '= 2 unchanged',
        '    a.example has the id 1001 at the service',
        twice,
        unknown,
        'Applied: revision 4.',
      ),
    })
    expect((await read()).projects[0]).toEqual({ name: 'a.example', id: '1001' })
    expect((await run('ids')).out).toBe(lines('= 3 unchanged', twice, unknown, 'Nothing to apply; revision 4.'))
  })
})
