import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { unescaped } from '../../infra/local/commands/budgets-cells.ts'
import { folded } from '../../shared/ledger/definitions/definitions.ts'
import { project, subject } from '../../shared/records/common-fields.ts'
import { readOptions } from '../support/process/command-line.ts'
import { withStarted } from '../support/process/started.ts'
import { type Checked, call, exitCodeOf, pythonWith, report, type Variables } from './tools.ts'

const usage = `Lets LibreOffice, Python's csv and openpyxl read the file of "npm run budgets -- export" and write it again, and applies the
result: nothing may differ. Then the same without the apostrophes of the file, which must differ.
It needs python3 with venv, PyPI the first time, and LibreOffice; on Debian: apt-get install --no-install-recommends libreoffice-calc

  npm run check:spreadsheets [-- --names <number> --seed <number>]

What is missing is named, and not checked. With CI=true that fails.`

const options = readOptions(usage, { names: '150', seed: '1' })

// biome-ignore format: a list
const hostile = [
  '=1+1', '+1', '-1', '@x', '＝2', '＋2', '－2', '＠y', "'=1", "'", "'acme", "''a", ' acme', 'shop ', 'sep=;', 'TRUE', 'false',
  '007', '1001', '1e3', '12345678901234567890', '.5', '1-2', '1/2', '12:30', '2026-11-20', 'Jan-1', '5 march 2026', '1.5', '1,5',
  '10%', '$5', '1 000', '１２', 'a;b', 'a,b', 'a"b', '"quoted"', '\u00a0z', '\u2028v', '#REF!', '=SUM(A1)',
  '=HYPERLINK("http://127.0.0.1";"y")', 'Ünïcode 漢字 😀',
]

/** How programs write the file again. A step in Python names the way; a step of LibreOffice its filters. */
type Step =
  | { readonly python: string; readonly to: string }
  | { readonly office: string; readonly to: string; readonly from?: string }

const asCsv = (delimiter: ',' | ';', language = 1033) =>
  `csv:Text - txt - csv (StarCalc):${delimiter.charCodeAt(0)},34,76,1,,${language},false,true`
/** @param detects as a person who ticks "Detect special numbers" */
const fromCsv = (detects: boolean) => `CSV:44,34,76,1,,1033,false,${detects}`

const plain: Step = { office: asCsv(','), from: fromCsv(false), to: 'csv' }
const ways: Readonly<Record<string, readonly Step[]>> = {
  'Python, commas': [{ python: 'commas', to: 'csv' }],
  'Python, sep=; and a byte order mark': [{ python: 'semicolons', to: 'csv' }],
  'Python, tabs': [{ python: 'tabs', to: 'csv' }],
  'Python, quotes': [{ python: 'quotes', to: 'csv' }],
  'Python, empty columns at the end': [{ python: 'columns', to: 'csv' }],
  'openpyxl, xlsx': [
    { python: 'cells', to: 'xlsx' },
    { python: 'commas', to: 'csv' },
  ],
  LibreOffice: [plain],
  'LibreOffice, special numbers': [{ office: asCsv(','), from: fromCsv(true), to: 'csv' }],
  'LibreOffice, xlsx, semicolons, German': [
    { office: 'xlsx', from: fromCsv(true), to: 'xlsx' },
    { office: asCsv(';', 1031), to: 'csv' },
  ],
  'LibreOffice, ods': [
    { office: 'ods', from: fromCsv(false), to: 'ods' },
    { office: asCsv(','), to: 'csv' },
  ],
  'openpyxl, then LibreOffice': [
    { python: 'cells', to: 'xlsx' },
    { office: asCsv(','), to: 'csv' },
  ],
}

function budgetsWithHostileNames() {
  const piece = fc.constantFrom(...'=+-@＝＋－＠\'"; ,.:/%\u00a0aje01'.split(''), 'TRUE', 'jan')
  const text = fc.oneof(
    fc.string({ unit: piece, minLength: 1, maxLength: 6 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
  )
  const sample = { numRuns: Number(options.names), seed: Number(options.seed) }
  const names = fc.sample(text, sample).filter((name) => project.safeParse(name).success)
  // Two names that may be read as each other are refused.
  const all = [...new Map([...names, ...hostile].map((name) => [folded(name), name])).values()]
  // The stand-in lists ids of digits, so others are refused. Spreadsheets keep 15 digits of a number.
  const idOf = (at: number) => `${at + 1}${'0'.repeat(at % 25)}7`
  const approvers = [...hostile, ...names].filter((name) => subject.safeParse(name).success).slice(0, 50)
  const limits = [{ window: 'month', units: 1_234_567 }]
  return [
    {
      name: 'hostile',
      limits,
      enforce: false,
      approvers: [...new Set(approvers)],
      projects: all.map((name, at) => (at % 2 === 0 ? { name, id: idOf(at) } : { name })),
    },
    { name: '007', parent: 'hostile', limits: [{ window: 'day', units: 'unlimited' }], perUpdate: 1_000 },
    { name: '2026', parent: '007', limits, approvalAbove: 0 },
  ]
}

async function check(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-spreadsheets-'))
  const programs = await pythonWith(['openpyxl==3.1.5'])
  const office = (await call('soffice', ['--version'])).output.match(/^LibreOffice \S+/m)?.[0] ?? null
  try {
    return exitCodeOf(await withStarted('spreadsheets', ({ env }) => checkAll({ folder, programs, office, env })))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Parts {
  readonly folder: string
  readonly programs: string | null
  readonly office: string | null
  readonly env: Variables
}

async function checkAll(parts: Parts): Promise<Checked[]> {
  const { folder, env } = parts
  const wanted = join(folder, 'wanted.json')
  await writeFile(wanted, JSON.stringify({ budgets: budgetsWithHostileNames(), reason: 'a check of spreadsheets' }))
  const applied = await budgets(env, 'apply', wanted, '--as-written')
  if (!applied.isWell) return [report('budgets apply', 'failed', applied.output)]
  const exported = join(folder, 'exported.csv')
  const { output } = await budgets(env, 'export')
  await writeFile(exported, output)

  const states: Checked[] = []
  for (const [way, steps] of Object.entries(ways)) states.push(await checkWay(way, { steps, exported, parts }))
  states.push(await checkPlanted(exported, parts))
  return states
}

const budgets = (env: Variables, ...args: string[]) =>
  call(process.execPath, ['--import', 'tsx', 'infra/local/run.ts', 'budgets', ...args], { env })

const lacksFor = (steps: readonly Step[], { programs, office }: Parts): string[] => [
  ...(programs === null && steps.some((step) => 'python' in step) ? ['python3 with venv and PyPI'] : []),
  ...(office === null && steps.some((step) => 'office' in step) ? ['soffice of LibreOffice'] : []),
]

async function checkWay(
  way: string,
  { steps, exported, parts }: { steps: readonly Step[]; exported: string; parts: Parts },
): Promise<Checked> {
  const lacks = lacksFor(steps, parts)
  if (lacks.length > 0) return report(way, 'not checked', `it needs ${lacks.join(' and ')}`)
  const difference = await differenceAfter(steps, exported, parts)
  if (difference !== null) return report(way, 'failed', difference)
  return report(way, 'well', 'nothing differs')
}

/** @returns `null` if the file that the steps write says the same. */
async function differenceAfter(steps: readonly Step[], exported: string, parts: Parts): Promise<string | null> {
  let file = exported
  for (const [at, step] of steps.entries()) {
    const to = join(parts.folder, `step-${at}`, `written.${step.to}`)
    await rm(to, { force: true })
    const { output } = await take(step, { file, to, parts })
    if (!(await exists(to))) return `nothing was written: ${output}`
    file = to
  }
  const { isWell, output } = await budgets(parts.env, 'apply', file, '--dry-run', '--prune', '--as-written')
  return isWell && /^Nothing to apply/m.test(output) ? null : output.trim()
}

const exists = (file: string) =>
  readFile(file).then(
    () => true,
    () => false,
  )

async function take(step: Step, { file, to, parts }: { file: string; to: string; parts: Parts }) {
  const { folder, programs } = parts
  const into = resolve(to, '..')
  await call('mkdir', ['-p', into])
  if ('python' in step) {
    const script = resolve('test', 'others', 'spreadsheets.py')
    return call(join(programs ?? '', 'python'), [script, step.python, file, to])
  }
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile'))}`
  const filter = step.from === undefined ? [] : [`--infilter=${step.from}`]
  const copy = join(folder, `written.${file.split('.').at(-1)}`)
  await call('cp', [file, copy])
  return call('soffice', ['--headless', profile, ...filter, '--convert-to', step.office, '--outdir', into, copy])
}

/** Without its apostrophes LibreOffice calculates names and rewrites ids, so a check that finds no difference checks nothing. */
async function checkPlanted(exported: string, parts: Parts): Promise<Checked> {
  const what = 'the file without its apostrophes'
  const lacks = lacksFor([plain], parts)
  if (lacks.length > 0) return report(what, 'not checked', `it needs ${lacks.join(' and ')}`)
  const rows: string[][] = parse(await readFile(exported, 'utf8'))
  const planted = join(parts.folder, 'planted.csv')
  await writeFile(planted, stringify(rows.map((row) => row.map(unescaped))))
  const difference = await differenceAfter([plain], planted, parts)
  if (difference === null) return report(what, 'failed', 'nothing differs, so this check shows nothing')
  return report(what, 'well', `differs as it must: ${difference.replace(/\s+/g, ' ').slice(0, 160)}`)
}

process.exitCode = await check()
