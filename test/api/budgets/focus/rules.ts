import { readFileSync } from 'node:fs'

/** Rules of FOCUS 1.2 from a public validator (the file's first line says which), for the rows of one file. */

type Row = Readonly<Record<string, string>>

interface Check {
  readonly CheckFunction: string
  readonly Items?: readonly Check[]
  readonly ColumnName?: string
  /** Written so in one rule, where the others have `ColumnName`. */
  readonly CheckCondition?: string
  readonly ColumnAName?: string
  readonly ColumnBName?: string
  readonly ResultColumnName?: string
  readonly Value?: string | number | null
  readonly ExpectedCount?: number
  readonly ModelRuleId?: string
}

interface Rule {
  readonly id: string
  readonly kind: string
  readonly keyword: string
  readonly says: string
  readonly criteria?: readonly string[]
  readonly requirement: Check
  readonly condition?: Check
}

const [, ...lines] = readFileSync(new URL('model-1.2.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const rules = lines.map((line) => JSON.parse(line) as Rule)
const named = new Map(rules.map((rule) => [rule.id, rule]))

/** `why`: a rule that cannot be judged here. */
export interface Verdicts {
  readonly passed: readonly string[]
  readonly failed: readonly { readonly rule: string; readonly says: string; readonly row: Row | null }[]
  readonly otherData: readonly string[]
  readonly unknown: readonly { readonly rule: string; readonly why: string }[]
}

const number = /^-?\d+(\.\d+)?(E-?\d+)?$/

const formats: Readonly<Record<string, (value: string) => boolean>> = {
  TypeString: (value) => value.trim() !== '',
  FormatString: (value) => value.isWellFormed(),
  TypeDecimal: (value) => number.test(value),
  FormatNumeric: (value) => number.test(value),
  TypeDateTime: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) && !Number.isNaN(Date.parse(value)),
  FormatDateTime: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value),
  FormatCurrency: (value) => /^[A-Z]{3}$/.test(value),
  CheckNationalCurrency: (value) => Intl.supportedValuesOf('currency').includes(value),
  CheckDecimalValue: (value) => number.test(value),
  FormatUnit: (value) => /^(\d+ )?[A-Z][A-Za-z]*s$/.test(value),
  FormatKeyValue: (value) =>
    Object.values(JSON.parse(value) as object).every((each) => ['string', 'number', 'boolean'].includes(typeof each)),
}

/** An empty cell is null. */
const cell = (row: Row, column = ''): string | null => row[column] || null

const columnsOf = (check: Check): string[] => [
  ...[check.ColumnName, check.CheckCondition, check.ColumnAName, check.ColumnBName, check.ResultColumnName].flatMap(
    (name) => name ?? [],
  ),
  ...(check.Items ?? []).flatMap(columnsOf),
]

const isEqual = (value: string | null, wanted: Check['Value']): boolean =>
  value === null || wanted === null ? value === (wanted ?? null) : value === wanted || Number(value) === wanted

/** `null`: no such check is known. */
function holds(check: Check, row: Row): boolean | null {
  const value = cell(row, check.ColumnName ?? check.CheckCondition)
  const of = (items: readonly Check[] = []) => items.map((item) => holds(item, row))
  const format = formats[check.CheckFunction]
  if (format) return value === null || format(value)
  switch (check.CheckFunction) {
    case 'AND':
      return of(check.Items).every(Boolean)
    case 'OR':
      return of(check.Items).some(Boolean)
    case 'CheckModelRule': {
      const rule = named.get(check.ModelRuleId ?? '')
      return rule ? judged(rule, row) : null
    }
    case 'CheckValue':
      return isEqual(value, check.Value)
    case 'CheckNotValue':
      return !isEqual(value, check.Value)
    case 'CheckGreaterOrEqualThanValue':
      return value === null || Number(value) >= Number(check.Value)
    case 'CheckSameValue':
      return cell(row, check.ColumnAName) === cell(row, check.ColumnBName)
    case 'CheckNotSameValue':
      return cell(row, check.ColumnAName) !== cell(row, check.ColumnBName)
    case 'ColumnByColumnEqualsColumnValue': {
      const [a, b, result] = [check.ColumnAName, check.ColumnBName, check.ResultColumnName].map((name) =>
        Number(cell(row, name)),
      )
      return Math.abs((a ?? 0) * (b ?? 0) - (result ?? 0)) < 1e-9
    }
    default:
      return null
  }
}

/** A rule inside another holds only where that one does. */
const above = new Map(
  rules
    .filter(({ kind }) => kind === 'Composite')
    .flatMap((rule) => (rule.requirement.Items ?? []).map((item) => [item.ModelRuleId, rule] as const)),
)

function applies(rule: Rule, row: Row): boolean {
  const parent = above.get(rule.id)
  return (!rule.condition || holds(rule.condition, row) === true) && (!parent || applies(parent, row))
}

const judged = (rule: Rule, row: Row): boolean | null => !applies(rule, row) || holds(rule.requirement, row)

/** One count of the second column's values for each of the first's. */
function areDistinct({ ColumnAName, ColumnBName, ExpectedCount }: Check, rows: readonly Row[]): boolean {
  const found = new Map<string | null, Set<string | null>>()
  for (const row of rows) {
    const name = cell(row, ColumnAName)
    found.set(name, (found.get(name) ?? new Set()).add(cell(row, ColumnBName)))
  }
  return [...found.values()].every(({ size }) => size === ExpectedCount)
}

function isOfProvider(rule: Rule, supported: ReadonlySet<string>): boolean {
  const parent = above.get(rule.id)
  return (rule.criteria ?? []).every((each) => supported.has(each)) && (!parent || isOfProvider(parent, supported))
}

/** @param supported what the file's provider supports, in the model's words. */
export function judge(rows: readonly Row[], supported: ReadonlySet<string>): Verdicts {
  const passed: string[] = []
  const failed: { rule: string; says: string; row: Row | null }[] = []
  const otherData: string[] = []
  const unknown: { rule: string; why: string }[] = []
  const columns = new Set(Object.keys(rows[0] ?? {}))
  const pass = (rule: Rule, row: Row | null | undefined) =>
    row === undefined ? passed.push(rule.id) : failed.push({ rule: rule.id, says: rule.says, row })
  for (const rule of rules) {
    const { id, kind, keyword, requirement } = rule
    const parent = above.get(id)
    const isOneOfSeveral = parent?.requirement.CheckFunction === 'OR'
    const isAll = kind === 'Composite' && requirement.CheckFunction === 'AND'
    // The parts of AND are judged by themselves, those of OR by it.
    if (keyword === 'MAY' || isAll || isOneOfSeveral) continue
    if (!isOfProvider(rule, supported)) otherData.push(id)
    else if (requirement.CheckFunction === 'ColumnPresent')
      pass(rule, columns.has(requirement.ColumnName ?? '') ? undefined : null)
    else if (requirement.CheckFunction === 'CheckDistinctCount')
      pass(rule, areDistinct(requirement, rows) ? undefined : null)
    else {
      const missing = [requirement, ...(rule.condition ? [rule.condition] : [])]
        .flatMap(columnsOf)
        .find((column) => !columns.has(column))
      if (missing !== undefined) otherData.push(id)
      else if (rows.some((row) => judged(rule, row) === null))
        unknown.push({ rule: id, why: `${requirement.CheckFunction} is not known here` })
      else
        pass(
          rule,
          rows.find((row) => judged(rule, row) === false),
        )
    }
  }
  return { passed, failed, otherData, unknown }
}
