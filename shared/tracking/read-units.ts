import { isObject, type Json, parseStrictJson } from '../platform/json.ts'
import { isUnits, type Units } from '../platform/words.ts'
import { holdsErrorEnvelope } from './answer.ts'

export type UnitsReading =
  | { readonly kind: 'units'; readonly units: Units; readonly source: string }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Units under another name need a configured pointer. */
const wellKnownNames: ReadonlySet<string> = new Set([
  ...['keyword_units', 'units', 'estimated_units', 'required_units', 'total_units'],
  ...['keywordUnits', 'estimatedUnits', 'requiredUnits', 'totalUnits'],
  ...['estimate', 'cost', 'total'],
])

type Finding =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'number'; readonly units: Units; readonly names: readonly string[]; readonly summed: boolean }
  | { readonly kind: 'unreadable'; readonly reason: string }
type NumberFound = Extract<Finding, { kind: 'number' }>

/** An ambiguous body is unreadable, because a wrong number would be spent. */
export function readUnits(text: string, pointer: JsonPointer | undefined): UnitsReading {
  if (text.trim() === '') return unreadable('the body is empty')
  const json = parseStrictJson(text)
  if (!json.ok) return unreadable(json.reason)
  if (holdsErrorEnvelope(json.value)) return unreadable('the body is an error envelope')
  return pointer === undefined ? readByNames(json.value) : readByPointer(json.value, pointer)
}

/** Reads a safe integer, or a string of its digits. */
export function integerOf(value: Json | undefined): number | null {
  const digits = typeof value === 'string' && /^\d{1,16}$/.test(value)
  const number = digits ? Number(value) : value
  return Number.isSafeInteger(number) ? Number(number) + 0 : null // −0 becomes 0
}

export const pointerSource = (pointer: JsonPointer): string => (pointer.text === '' ? 'the whole body' : pointer.text)

function readByPointer(document: Json, pointer: JsonPointer): UnitsReading {
  const units = integerOf(resolvePointer(document, pointer))
  if (!isUnits(units)) return unreadable(`no non-negative integer at ${pointerSource(pointer)}`)
  return { kind: 'units', units, source: pointerSource(pointer) }
}

function readByNames(document: Json): UnitsReading {
  const units = integerOf(document)
  if (isUnits(units)) return { kind: 'units', units, source: 'the whole body' }
  const found = findIn(document, '')
  if (found.kind === 'unreadable') return found
  if (found.kind === 'nothing') return unreadable('no well-known name of units')
  const names = found.names.join(', ')
  return { kind: 'units', units: found.units, source: found.summed ? `sum of ${names}` : names }
}

/** Strict JSON limits the depth of the recursion. */
function findIn(value: Json, name: string): Finding {
  if (Array.isArray(value)) return sumOfRows(value.map((row) => findIn(row, '')))
  if (!isObject(value)) return { kind: 'nothing' }
  return name === 'projects' ? findInProjects(value) : findInObject(value)
}

function findInObject(object: { [name: string]: Json }): Finding {
  const own: NumberFound[] = []
  const nested: NumberFound[] = []
  for (const [name, member] of Object.entries(object)) {
    const isKnown = wellKnownNames.has(name)
    const isScalar = typeof member !== 'object' || member === null
    const found = isKnown && isScalar ? findInScalar(member, name) : findIn(member, name)
    if (found.kind === 'unreadable') return found
    // Unreadable rows must not hide behind a total.
    if (found.kind === 'nothing' && isKnown) return unreadable(`${name} holds no readable units`)
    if (found.kind === 'number') (isScalar ? own : nested).push(found)
  }
  return conclude(own, nested)
}

function findInScalar(value: Json, name: string): Finding {
  const units = integerOf(value)
  if (!isUnits(units)) return unreadable(`${name} is not a non-negative integer`)
  return { kind: 'number', units, names: [name], summed: false }
}

/** A member `cost` that is not an object may be a project of that name, or a cost. */
function findInProjects(projects: { [name: string]: Json }): Finding {
  const isAmbiguous = ([name, member]: [string, Json]) => wellKnownNames.has(name) && !isObject(member)
  if (Object.entries(projects).some(isAmbiguous)) return unreadable('a well-known name among the projects')
  return sumOfRows(Object.values(projects).map((row) => findIn(row, '')))
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
  return { kind: 'number', units: sum, names: [...new Set(numbers.flatMap((row) => row.names))], summed: true }
}

/** A total must agree with its rows and with other totals. */
function conclude(own: readonly NumberFound[], nested: readonly NumberFound[]): Finding {
  const [total] = own
  if (total === undefined) return onlyOne(nested)
  const names = own.flatMap((found) => found.names)
  const disagrees = [...own, ...nested].some((found) => found.units !== total.units)
  if (disagrees) return unreadable(`${names.join(', ')} and the rest of the body disagree`)
  return { kind: 'number', units: total.units, names, summed: false }
}

function onlyOne(nested: readonly NumberFound[]): Finding {
  if (nested.length > 1) return unreadable('more than one member states units and none is their total')
  return nested[0] ?? { kind: 'nothing' }
}

const unreadable = (reason: string) => ({ kind: 'unreadable', reason }) as const

/** `tokens` are unescaped. */
export interface JsonPointer {
  readonly text: string
  readonly tokens: readonly string[]
}

/** @throws RangeError */
export function parsePointer(text: string): JsonPointer {
  if (text === '') return { text, tokens: [] }
  if (!text.startsWith('/') || /~(?![01])/.test(text)) throw new RangeError(`not a JSON Pointer: ${text}`)
  const unescaped = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')
  return { text, tokens: text.slice(1).split('/').map(unescaped) }
}

export function resolvePointer(document: Json, pointer: JsonPointer): Json | undefined {
  let value: Json | undefined = document
  for (const token of pointer.tokens) {
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined
    else if (isObject(value)) value = Object.hasOwn(value, token) ? value[token] : undefined
    else return undefined
  }
  return value
}
