import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { isUnits, type Units } from '../platform/words.ts'
import { type AnswerRules, noRules } from './conditions.ts'
import { below, type JsonPointer, pointerSource, resolvePointer } from './pointer.ts'
import { type Sign, signsIn } from './signs.ts'
import type { Redact } from './transport.ts'

export type UnitsReading =
  | {
      readonly kind: 'units'
      readonly units: Units
      readonly source: string
      /** The JSON Pointer of the figure, if it is one scalar with a name. */
      readonly place?: string
      /** A sign of failure that `ESTIMATE_POINTER_…` overrides. */
      readonly sign?: Sign
    }
  | {
      readonly kind: 'unreadable'
      readonly reason: string
      readonly sign?: Sign
      /** Whether `ESTIMATE_POINTER_…` could help. */
      readonly pointerHelps?: true
    }

/** Units under another name need a configured pointer. */
const wellKnownNames: ReadonlySet<string> = new Set([
  'keyword_units',
  'units',
  'estimated_units',
  'required_units',
  'total_units',
  'keywordUnits',
  'estimatedUnits',
  'requiredUnits',
  'totalUnits',
  'estimate',
  'cost',
  'total',
])

type Finding =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'number'
      readonly units: Units
      readonly names: readonly string[]
      readonly summed: boolean
      /** `null`: several scalars make the figure. */
      readonly place: string | null
    }
  | { readonly kind: 'unreadable'; readonly reason: string }
type NumberFound = Extract<Finding, { kind: 'number' }>

export const isKnownName = (name: string): boolean => wellKnownNames.has(name)

interface UnitsOptions {
  readonly rules?: AnswerRules
  /** The project's own names. */
  readonly names?: readonly string[]
  readonly redact?: Redact
}

const asItIs: Redact = (text) => text

/** An ambiguous body is unreadable, because a wrong number would be spent. */
export function readUnits(
  text: string,
  pointer: JsonPointer | undefined,
  { rules = noRules, names = [], redact = asItIs }: UnitsOptions = {},
): UnitsReading {
  if (text.trim() === '') return unreadable('the body is empty')
  const json = parseStrictJson(text)
  if (!json.ok) return unreadable(json.reason)
  const signs = signsIn(json.value, { call: 'estimate', names, well: rules.well, redact })
  // A person who configured the place has read such an answer. An error or a denied success still counts.
  const sign = signs.find(({ family }) => pointer === undefined || family === 'error' || family === 'success')
  if (sign) return { ...unreadable(`the answer has ${sign.text}`), sign }
  const reading = pointer === undefined ? readByNames(json.value) : readByPointer(json.value, pointer)
  const [named] = signs
  return reading.kind === 'units' && named ? { ...reading, sign: named } : reading
}

/** Reads a safe integer, or a string of its digits. */
export function integerOf(value: Json | undefined): number | null {
  const digits = typeof value === 'string' && /^\d{1,16}$/.test(value)
  const number = digits ? Number(value) : value
  return Number.isSafeInteger(number) ? Number(number) + 0 : null // −0 becomes 0
}

function readByPointer(document: Json, pointer: JsonPointer): UnitsReading {
  const units = integerOf(resolvePointer(document, pointer))
  if (!isUnits(units)) return helped(`no non-negative integer at ${pointerSource(pointer)}`)
  const reading = { kind: 'units', units, source: pointerSource(pointer) } as const
  return pointer.text === '' ? reading : { ...reading, place: pointer.text }
}

function readByNames(document: Json): UnitsReading {
  const units = integerOf(document)
  if (isUnits(units)) return { kind: 'units', units, source: 'the whole body' }
  const found = findIn(document, { name: '', place: '' })
  if (found.kind === 'unreadable') return helped(found.reason)
  if (found.kind === 'nothing') return helped('no well-known name of units')
  const names = found.names.join(', ')
  const reading = { kind: 'units', units: found.units, source: found.summed ? `sum of ${names}` : names } as const
  return found.place === null ? reading : { ...reading, place: found.place }
}

interface At {
  readonly name: string
  readonly place: string
}

/** Strict JSON limits the depth of the recursion. */
function findIn(value: Json, { name, place }: At): Finding {
  if (Array.isArray(value)) return sumOfRows(value.map((row, at) => findIn(row, { name: '', place: below(place, at) })))
  if (!isObject(value)) return { kind: 'nothing' }
  return name === 'projects' ? findInProjects(value, place) : findInObject(value, place)
}

function findInObject(object: { [name: string]: Json }, place: string): Finding {
  const own: NumberFound[] = []
  const nested: NumberFound[] = []
  for (const [name, member] of Object.entries(object)) {
    const at = { name, place: below(place, name) }
    const isKnown = wellKnownNames.has(name) && !countsList(name, member, object)
    const isScalar = typeof member !== 'object' || member === null
    const found = isKnown && isScalar ? findInScalar(member, at) : findIn(member, at)
    if (found.kind === 'unreadable') return found
    // Unreadable rows must not hide behind a total.
    if (found.kind === 'nothing' && isKnown) return unreadable(`${name} holds no readable units`)
    if (found.kind === 'number') (isScalar ? own : nested).push(found)
  }
  return conclude(own, nested)
}

/** A `total` may count the elements of a list beside it, and is then no price. */
export const countsList = (name: string, total: Json, object: { [name: string]: Json }): boolean =>
  name === 'total' &&
  Object.values(object).some((member) => Array.isArray(member) && member.length === integerOf(total))

function findInScalar(value: Json, { name, place }: At): Finding {
  const units = integerOf(value)
  if (!isUnits(units)) return unreadable(`${name} is not a non-negative integer`)
  return { kind: 'number', units, names: [name], summed: false, place }
}

/** A member `cost` that is not an object may be a project of that name, or a cost. */
function findInProjects(projects: { [name: string]: Json }, place: string): Finding {
  const isAmbiguous = ([name, member]: [string, Json]) => wellKnownNames.has(name) && !isObject(member)
  if (Object.entries(projects).some(isAmbiguous)) return unreadable('a well-known name among the projects')
  return sumOfRows(Object.entries(projects).map(([name, row]) => findIn(row, { name: '', place: below(place, name) })))
}

/** If one row states units, all rows must. */
function sumOfRows(rows: readonly Finding[]): Finding {
  const numbers: NumberFound[] = []
  for (const row of rows) {
    if (row.kind === 'unreadable') return row
    if (row.kind === 'number') numbers.push(row)
  }
  if (numbers.length === 0) return { kind: 'nothing' }
  if (numbers.length < rows.length) return unreadable('some rows state units and some do not')
  let sum = 0
  for (const { units } of numbers) sum += units
  if (!isUnits(sum)) return unreadable('the sum is too large')
  const names = [...new Set(numbers.flatMap((row) => row.names))]
  const [first, ...others] = numbers
  const place = first && others.length === 0 ? first.place : null
  return { kind: 'number', units: sum, names, summed: true, place }
}

/** A total must agree with its rows and with other totals. */
function conclude(own: readonly NumberFound[], nested: readonly NumberFound[]): Finding {
  const [total] = own
  if (total === undefined) return onlyOne(nested)
  const names = own.flatMap((found) => found.names)
  const disagrees = [...own, ...nested].some((found) => found.units !== total.units)
  if (disagrees) return unreadable(`${names.join(', ')} and the rest of the body disagree`)
  const isOnly = own.length === 1 && nested.length === 0
  return { kind: 'number', units: total.units, names, summed: false, place: isOnly ? total.place : null }
}

function onlyOne(nested: readonly NumberFound[]): Finding {
  if (nested.length > 1) return unreadable('more than one member states units and none is their total')
  return nested[0] ?? { kind: 'nothing' }
}

const unreadable = (reason: string) => ({ kind: 'unreadable', reason }) as const

const helped = (reason: string) => ({ kind: 'unreadable', reason, pointerHelps: true }) as const
