import { readNumber } from '../../../shared/platform/typed-number.ts'
import { budgetMembers, csvMembers } from '../../../shared/records/budget.ts'
import type { ValueKind } from '../../../shared/records/record.ts'

/** How the cells of a budgets' CSV are read and written. */

interface CellKind {
  readonly wanted: string
  fits(text: string): boolean
  read(text: string): unknown
}

const whole: CellKind = {
  wanted: 'a whole number of units, such as 500',
  fits: (text) => readNumber(text) !== null,
  read: readNumber,
}
export const limit: CellKind = {
  wanted: 'a whole number of units, such as 2000, or unlimited',
  fits: (text) => isUnlimited(text) || whole.fits(text),
  read: (text) => (isUnlimited(text) ? 'unlimited' : readNumber(text)),
}
const isUnlimited = (text: string) => text.toLowerCase() === 'unlimited'
/** Excel writes TRUE and FALSE. */
const truth: CellKind = {
  wanted: 'true or false',
  fits: (text) => /^(true|false)$/i.test(text),
  read: (text) => text.toLowerCase() === 'true',
}
export const plain: CellKind = { wanted: 'text', fits: () => true, read: (text) => text }
const list: CellKind = { ...plain, read: namesIn }
const cellKinds: Partial<Record<ValueKind, CellKind>> = {
  units: whole,
  number: whole,
  yes: truth,
  no: truth,
  flag: truth,
  texts: list,
}

/** The members with a column of their own name. */
export const rules = csvMembers.map((name) => ({ name, ...(cellKinds[budgetMembers[name].value] ?? plain) }))
/** How cells are read. Others are text, an id above all: no digit of it may be lost. */
export const kindOfColumn: Readonly<Record<string, CellKind>> = {
  month: limit,
  day: limit,
  ...Object.fromEntries(rules.map((rule) => [rule.name, rule])),
}

/** Semicolons separate the names of a list. */
export const listCell = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((name) => quoted(String(name))).join(';') : value

/** Quotes a name that would not be read as one name. */
const quoted = (name: string): string => (/^"|;/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)

function namesIn(cell: string): string[] {
  const names = cell.match(/\s*"(?:[^"]|"")*"\s*(?=;|$)|[^;]+/g) ?? []
  return names.flatMap((each) => {
    const name = each.trim()
    const isQuoted = /^"(?:[^"]|"")*"$/.test(name)
    return (isQuoted ? name.slice(1, -1).replaceAll('""', '"') : name) || []
  })
}

/**
 * An apostrophe before a text says that it is meant as it stands, also if it begins with an apostrophe itself. Blanks at an
 * end are no part of other cells. Spreadsheets calculate formulas, and rewrite numbers, dates and truth values: 007 becomes 7.
 */
const needsApostrophe = (text: string): boolean =>
  /^'*[=+\-@＝＋－＠\s]|\s$/.test(text) || isRewritten(text.replace(/^'+/, ''))

const isRewritten = (text: string): boolean => likeValue.some((like) => like.test(text)) && !keptNumber.test(text)

const likeValue = [
  /^(?=.*[\d０-９])[\d０-９\s.,:/%$€£¥()'’eE+-]*( ?[ap]m?)?$/i,
  /^(?=.*\d)[\d\s./,-]*(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[\d\s./,:-]*$/i,
  /^(true|false)$/i,
]

/** Spreadsheets keep 15 digits. */
const keptNumber = /^(0|[1-9]\d{0,14})$/

/** Only texts are escaped: a number and a truth value may be written in the words of the spreadsheet. */
export const escaped = (value: unknown): string =>
  typeof value === 'string' && needsApostrophe(value) ? `'${value}` : String(value ?? '')

export function unescaped(cell: string): string {
  if (isEscaped(cell)) return cell.slice(1)
  const text = cell.trim()
  return isEscaped(text) ? text.slice(1) : text
}

const isEscaped = (cell: string): boolean => cell.startsWith("'") && needsApostrophe(cell.slice(1))
