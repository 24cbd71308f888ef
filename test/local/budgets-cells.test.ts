import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readBudgetsFile, type ShownBudget, toBudgetsCsv } from '../../infra/local/commands/budgets-file.ts'
import { project, subject } from '../../shared/records/common-fields.ts'
import { budgetsFiles, lines } from '../support/process/budgets-file.ts'

const { fileOf } = await budgetsFiles()
const read = async (text: string) => (await readBudgetsFile(await fileOf(text), [])).budgets
const budgetOf = (more: Partial<ShownBudget>): ShownBudget => ({
  name: 'acme',
  parent: 'account',
  limits: [{ window: 'month', units: 5 }],
  projects: [],
  approvers: [],
  ...more,
})

/** Budgets as a file names them: lists without a name are not named. */
const named = ({ projects, approvers, ...budget }: ShownBudget) => ({
  ...budget,
  ...(projects.length > 0 && { projects }),
  ...(approvers && approvers.length > 0 && { approvers }),
})

describe('names in a CSV', () => {
  test.each(
    [
      '=1+1',
      '＝1',
      '＋1',
      '－1',
      '＠x',
      "'=1",
      "''＝1",
      "'",
      "'acme",
      ' acme',
      'acme ',
      '\u00a0',
      "' acme",
      'a;b',
      'sep=;',
      '\u2028',
      '007',
      "'007",
      "''7",
      'TRUE',
    ].map((name) => [name]),
  )('the project %j is exported and read as the same name', async (name) => {
    const budget = budgetOf({ projects: [{ name, id: '7' }, { name: 'z' }] })
    expect(await read(toBudgetsCsv([budget]))).toEqual([named(budget)])
  })

  test.each([
    '007',
    '00',
    '1e3',
    '1E5',
    '.5',
    '1.0',
    '1,5',
    '10%',
    '$5',
    '1 000',
    '12345678901234567890',
    '１２',
    '1-2',
    '1/2',
    '12:30',
    '5 pm',
    '2026-11-20',
    'Jan-1',
    '5 march 2026',
    'TRUE',
    'false',
    "'007",
  ])('the name and the id %s get an apostrophe, because a spreadsheet would rewrite them', (text) => {
    const csv = toBudgetsCsv([budgetOf({ projects: [{ name: text, id: text }] })])
    const cell = text.includes(',') ? `"'${text}"` : `'${text}`
    expect(csv).toContain(`,${cell},${cell},`)
  })

  test.each(['0', '1001', '123456789012345', 'acme.example', 'jan.example', 'acme-1', '0x10', '#1', "'7"])(
    'the name and the id %s stay as they are, because a spreadsheet keeps them',
    (text) => {
      expect(toBudgetsCsv([budgetOf({ projects: [{ name: text, id: text }] })])).toContain(`,${text},${text},`)
    },
  )

  test('numbers and truth values of a budget get no apostrophe', () => {
    const csv = toBudgetsCsv([
      budgetOf({ limits: [{ window: 'month', units: 'unlimited' }], perUpdate: 5, enforce: false }),
    ])
    expect(csv.trim().split('\n').at(-1)).toBe('acme,account,unlimited,,,,5,,,,false')
  })

  test('each name and id, however hostile, is exported and read as the same text', async () => {
    const piece = fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '＝',
      '＋',
      '－',
      '＠',
      "'",
      '"',
      ';',
      ',',
      ' ',
      '\u00a0',
      '\ufeff',
      'a',
      '0',
      '1',
      'e',
      '.',
      ':',
      'jan',
      'TRUE',
    )
    const name = fc
      .oneof(
        fc.string({ unit: piece, minLength: 1, maxLength: 6 }),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
      )
      .filter((text) => project.safeParse(text).success)
    const caller = fc
      .string({ unit: piece, minLength: 1, maxLength: 6 })
      .filter((text) => subject.safeParse(text).success)
    const row = fc.record({ name, id: name }, { requiredKeys: ['name'] })
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 4 }),
        fc.array(caller, { maxLength: 3 }),
        async (projects, approvers) => {
          const budgets = [
            budgetOf({ projects, approvers }),
            budgetOf({ name: 'globex', projects: projects.toReversed() }),
          ]
          expect(await read(toBudgetsCsv(budgets))).toEqual(budgets.map(named))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a CSV as spreadsheets write it', () => {
  const acme = [{ name: 'acme', limits: [{ window: 'month', units: 100 }] }]

  test.each([
    ['sep=;', 'budget;month', 'acme;100'],
    ['\ufeffSEP=;', 'budget;month', 'acme;100'],
    ['"sep=;"', 'budget;month', 'acme;100'],
    ['sep=,', 'budget,month', 'acme,100'],
    ['sep=|', 'budget|month', 'acme|100'],
    ['sep=\t', 'budget\tmonth', 'acme\t100'],
  ])('the line %j names the separator', async (...of) => {
    expect(await read(of.join('\r\n'))).toEqual(acme)
  })

  test('lines below a line with the separator keep their numbers', async () => {
    await expect(read(lines('sep=;', 'budget;month', 'acme;x'))).rejects.toThrow('line 3: month "x"')
  })

  test.each([
    [lines('budget;month;;', 'acme;100;;', ';;;')],
    [lines('budget;month', 'acme;100;;', ';;;')],
    [lines('budget,month,,,', 'acme,100,, ,', ',,,,')],
    [lines('budget\tmonth\t', 'acme\t100\t')],
  ])('empty columns at the end are left out: %j', async (text) => {
    expect(await read(text)).toEqual(acme)
  })

  test.each([
    [lines('budget;month;;', 'acme;100;;x'), 'line 2: has 4 cells, but the header has 2'],
    [lines('budget;;month', 'acme;;100'), 'line 1: there is no column ""'],
    [lines('budget;month;day', 'acme;100'), 'line 2: has 2 cells, but the header has 3'],
  ])('a cell without the name of a column is refused: %j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  test.each([
    ['TRUE', true],
    ['true', true],
    ['False', false],
    ['FALSE', false],
  ])('enforce %s is read', async (text, enforce) => {
    expect(await read(lines('budget,month,enforce', `acme,100,${text}`))).toEqual([{ ...acme[0], enforce }])
  })

  test.each([['Unlimited'], ['UNLIMITED']])('the limit %s is read', async (text) => {
    expect(await read(lines('budget,month', `acme,${text}`))).toEqual([
      { name: 'acme', limits: [{ window: 'month', units: 'unlimited' }] },
    ])
  })

  test.each([['1,200'], ['1.200'], ['1 200'], ['1\u202f200'], ['1’200']])('the units %j are read', async (text) => {
    expect(await read(lines('budget,month,perUpdate', `acme,"${text}","${text}"`, 'acme,1200,1200'))).toEqual([
      { name: 'acme', limits: [{ window: 'month', units: 1_200 }], perUpdate: 1_200 },
    ])
  })

  test.each([['1.200,000'], ['1,200.000'], ['0,500'], ['1e3'], ['1.5'], ['１２００']])(
    'the units %j are refused with the text',
    async (text) => {
      await expect(read(lines('budget,month,perUpdate', `acme,"${text}","${text}"`))).rejects.toThrow(
        `line 2: month "${text}": must be a whole number of units, such as 2000, or unlimited\n  line 2: perUpdate "${text}"`,
      )
    },
  )

  test.each([['1,001'], ['1.001E+03'], ['1.001'], ['01001'], ['1 001']])('the id %j stays a text', async (id) => {
    expect(await read(lines('budget,project,id', `acme,acme.example,"${id}"`))).toEqual([
      { name: 'acme', projects: [{ name: 'acme.example', id }] },
    ])
  })
})
