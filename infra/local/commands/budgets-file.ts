import { CsvError, parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import type { Budget } from '../../../shared/client/answers.ts'
import { fromUtf8, isObject, type Json, parseStrictJson, placeIn } from '../../../shared/platform/json.ts'
import {
  csvColumns as columns,
  csvMembers,
  type RemovableMember,
  removableMembers,
} from '../../../shared/records/budget.ts'
import { budgetName } from '../../../shared/records/common-fields.ts'
import { CannotContinue, readGiven } from '../failures.ts'
import { escaped, kindOfColumn, limit, listCell, plain, rules, unescaped } from './budgets-cells.ts'

export type ShownBudget = Omit<Budget, 'kinds' | 'frozen' | 'windows'>
type ShownLimit = ShownBudget['limits'][number]

/** A budget of a file. Members that the file does not name keep their values. */
export type WantedBudget = Readonly<Record<string, unknown>> & { readonly name: string }

export interface BudgetsFile {
  readonly budgets: readonly WantedBudget[]
  readonly reason?: Json
  /** The members that `--prune` removes if the file does not name them. */
  readonly removableMembers: readonly RemovableMember[]
  /** @param row counts the projects of the budget. */
  placeOf(position: number, row?: number): string
}

type Cells = Readonly<Record<string, string>>

/** @param current keeps its limit of the day if a CSV file names only the month. @throws CannotContinue with all faults */
export async function readBudgetsFile(
  file: string,
  current: readonly ShownBudget[],
  how: { prune?: boolean } = {},
): Promise<BudgetsFile> {
  const text = fromUtf8(await readGiven(file))
  if (text === null) throw new CannotContinue(`${file} is not UTF-8: save it as CSV UTF-8, or as JSON in UTF-8`)
  return /\.csv$/i.test(file) ? fromCsv(file, text, { current, prune: how.prune === true }) : fromJson(file, text)
}

function fromJson(file: string, text: string): BudgetsFile {
  const parsed = parseStrictJson(text)
  if (!parsed.ok) throw new CannotContinue(`${file} is not valid, unambiguous JSON: ${parsed.reason}${placeIn(text)}`)
  const { budgets, reason, ...others } = isObject(parsed.value) ? parsed.value : { budgets: parsed.value }
  if (!Array.isArray(budgets) || !budgets.every(isWanted))
    throw new CannotContinue(`${file} must be {"budgets": [{"name": …}]}, or such a list`)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new CannotContinue(`${file}: there is no member ${JSON.stringify(unknown)} beside budgets and reason`)
  return {
    budgets,
    ...(reason !== undefined && { reason }),
    removableMembers,
    placeOf: (position, row) =>
      [budgets[position]?.name ?? '', ...(row === undefined ? [] : [`projects.${row}`])].join(', '),
  }
}

const isWanted = (value: Json): value is { [name: string]: Json } & { name: string } =>
  isObject(value) && typeof value.name === 'string'

interface Row {
  readonly line: number
  readonly cells: Cells
}

function fromCsv(
  file: string,
  text: string,
  { current, prune }: { current: readonly ShownBudget[]; prune: boolean },
): BudgetsFile {
  const { names, rows, faults } = readRows(file, text)
  const named = new Map<string, Row[]>()
  for (const row of rows) {
    const name = row.cells.budget ?? ''
    named.set(name, [...(named.get(name) ?? []), row])
  }
  const budgets = [...named].map(([name, of]) => {
    for (const column of ['parent', 'month', 'day', ...csvMembers]) faults.push(...contradictions(column, of))
    const shown = current.find((budget) => budget.name === name)
    return { name, ...toMembers(of), ...toLimits(of, { shown, emptied: prune ? names : [] }) }
  })
  if (faults.length > 0) throw new CannotContinue(`${file} is not applied:\n  ${inOrder(faults).join('\n  ')}`)
  const lineOf = (position: number, row?: number) => {
    const rows = [...named.values()][position] ?? []
    return (row === undefined ? rows : rows.filter(({ cells }) => cells.project !== undefined))[row ?? 0]?.line ?? 1
  }
  const members = removableMembers.filter((member) => names.includes(columnOf[member] ?? member))
  return {
    budgets,
    removableMembers: isLimited(names) ? ['limits', ...members] : members,
    placeOf: (position, row) => `line ${lineOf(position, row)}, ${budgets[position]?.name}`,
  }
}

interface Fault {
  readonly line: number
  readonly message: string
}

const inOrder = (faults: readonly Fault[]): string[] =>
  faults.toSorted((a, b) => a.line - b.line).map(({ line, message }) => `line ${line}: ${message}`)

const columnOf: Partial<Record<RemovableMember, string>> = { projects: 'project' }
const isLimited = (names: readonly string[]) => names.includes('month') || names.includes('day')

function readRows(file: string, text: string): { names: string[]; rows: Row[]; faults: Fault[] } {
  const [header, ...records] = parseCsv(file, text)
  if (!header) throw new CannotContinue(`${file} is empty; its first line names the columns: ${columns.join(',')}`)
  const names = withoutEmptyEnd(header.record.map((name) => name.trim()))
  const faults = faultsOfHeader(names)
  if (faults.length > 0) return { names, rows: [], faults }
  const rows = records.map(({ record, line }): Row => {
    const { length } = withoutEmptyEnd(record.map((cell) => cell.trim()))
    if (record.length < names.length || length > names.length)
      faults.push({ line, message: `has ${record.length} cells, but the header has ${names.length}` })
    const cells = Object.fromEntries(
      names.flatMap((name, position) => {
        const cell = unescaped(record[position] ?? '')
        return cell === '' ? [] : [[name, cell]]
      }),
    )
    faults.push(...faultsOfCells(cells).map((message) => ({ line, message })))
    return { line, cells }
  })
  if (rows.length === 0) faults.push({ line: 1, message: 'there is no budget below the header' })
  return { names, rows, faults }
}

function parseCsv(file: string, text: string): { record: string[]; line: number }[] {
  try {
    const [, named] = separatorLine.exec(text) ?? []
    const delimiter = named ?? delimiterOf(text)
    const options = { delimiter, bom: true, info: true, relax_column_count: true, skip_empty_lines: true } as const
    // An empty line takes its place, so that later lines keep their numbers.
    const parsed = parse(text.replace(separatorLine, ''), options) as unknown as {
      record: string[]
      info: { lines: number }
    }[]
    return parsed
      .map(({ record, info }) => ({ record, line: info.lines }))
      .filter(({ record }) => record.some((cell) => cell.trim() !== ''))
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause
    throw new CannotContinue(`${file} is not CSV: ${cause.message}`, { cause })
  }
}

/** Excel reads and writes this line before the header. */
const separatorLine = /^\ufeff?"?sep=([^\r\n])"?(?=[\r\n])/i

/** Spreadsheets may end all lines with cells for columns without a name. */
const withoutEmptyEnd = (cells: readonly string[]): string[] =>
  cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)

/** Spreadsheets write semicolons where the decimal mark is a comma. */
function delimiterOf(text: string): string {
  const [header = ''] = /[^\r\n\ufeff]+/.exec(text) ?? []
  return [',', ';', '\t'].find((delimiter) => header.includes(delimiter)) ?? ','
}

function faultsOfHeader(names: readonly string[]): Fault[] {
  const isColumn = (name: string) => columns.includes(name)
  const messages = [
    ...names.filter((name) => !isColumn(name)).map((name) => `there is no column ${JSON.stringify(name)}`),
    ...names
      .filter((name, position) => isColumn(name) && names.indexOf(name) < position)
      .map((name) => `${name} twice`),
    ...(names.includes('budget') ? [] : ['the column budget is missing']),
  ]
  const hint = messages.length > 0 ? [`the columns are ${columns.join(',')}`] : []
  return [...messages, ...hint].map((message) => ({ line: 1, message }))
}

const isName = (text: string) => budgetName.safeParse(text).success

function faultsOfCells(cells: Cells): string[] {
  const { budget, parent, project, id } = cells
  const wrong = (column: string, wanted: string) =>
    `${column} ${JSON.stringify(cells[column] ?? '')}: must be ${wanted}`
  const name = 'a name of a-z, 0-9 and -'
  return [
    ...(budget !== undefined && isName(budget) ? [] : [wrong('budget', name)]),
    ...(parent === undefined || isName(parent) ? [] : [wrong('parent', name)]),
    ...Object.entries(kindOfColumn)
      .filter(([column, { fits }]) => cells[column] !== undefined && !fits(cells[column]))
      .map(([column, { wanted }]) => wrong(column, wanted)),
    ...(id !== undefined && project === undefined ? ['an id needs a project'] : []),
  ]
}

/** Any row of a budget may hold a member, but all values of the member must be equal. */
function contradictions(column: string, rows: readonly Row[]): Fault[] {
  const [first, ...others] = rows.filter(({ cells }) => cells[column] !== undefined)
  const valueIn = (row: Row | undefined) =>
    JSON.stringify((kindOfColumn[column] ?? plain).read(row?.cells[column] ?? ''))
  return others
    .filter((row) => valueIn(row) !== valueIn(first))
    .map(({ line, cells }) => ({
      line,
      message: `${column} is ${cells[column]} here, and ${first?.cells[column]} in line ${first?.line}`,
    }))
}

const firstCell = (column: string, rows: readonly Row[]) =>
  rows.map(({ cells }) => cells[column]).find((text) => text !== undefined)

function toMembers(rows: readonly Row[]) {
  const parent = firstCell('parent', rows)
  const projects = rows
    .filter(({ cells: { project } }) => project !== undefined)
    .map(({ cells: { project, id } }) => ({ name: project, ...(id !== undefined && { id }) }))
  return {
    ...(parent !== undefined && { parent }),
    ...(projects.length > 0 && { projects }),
    ...Object.fromEntries(
      rules.flatMap(({ name, read }) => {
        const text = firstCell(name, rows)
        return text === undefined ? [] : [[name, read(text)]]
      }),
    ),
  }
}

/** @param how.emptied columns in which an empty cell removes the limit. */
function toLimits(
  rows: readonly Row[],
  { shown, emptied }: { shown: ShownBudget | undefined; emptied: readonly string[] },
) {
  const limits = (['month', 'day'] as const).flatMap((window): ShownLimit[] => {
    const text = firstCell(window, rows)
    if (text !== undefined) return [{ window, units: limit.read(text) as ShownLimit['units'] }]
    const stays = !emptied.includes(window) && shown?.limits.filter((limit) => limit.window === window)
    return stays || []
  })
  const isNamed = isLimited(emptied) || (['month', 'day'] as const).some((window) => firstCell(window, rows))
  return isNamed && limits.length > 0 ? { limits } : {}
}

/** The first row of a budget holds its other members. */
export function toBudgetsCsv(budgets: readonly ShownBudget[]): string {
  const rows = budgets.flatMap((budget) => {
    const { name, parent, limits, projects } = budget
    const unitsOf = (window: string) => limits.find((limit) => limit.window === window)?.units
    const [first, ...others] = projects
    const members: Readonly<Record<string, unknown>> = budget
    return [
      [
        name,
        parent,
        unitsOf('month'),
        unitsOf('day'),
        first?.name,
        first?.id,
        ...csvMembers.map((rule) => listCell(members[rule] ?? '')),
      ],
      ...others.map((project) => [name, '', '', '', project.name, project.id, ...csvMembers.map(() => '')]),
    ]
  })
  return stringify([[...columns], ...rows.map((cells) => cells.map(escaped))])
}
