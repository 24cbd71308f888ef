import { isObject, type Json } from '../platform/json.ts'
import { type Condition, scalarText } from './conditions.ts'
import { below, parsePointer } from './pointer.ts'
import { shortName } from './shape.ts'
import { failureIn, plainText, saysNothing } from './sign-words.ts'
import type { Redact } from './transport.ts'

/** Something in an answer that speaks of a failure. It proves nothing, because no document says what it means. */
export interface Sign {
  /** The member's name, its value if that is short and ours to show, and its place: `response_code 26 at /response_code`. */
  readonly text: string
  readonly family: 'error' | 'success' | 'state' | 'code' | 'form'
  /** The condition that would name this sign in a setting. `null`: the value is too long, or not a scalar. */
  readonly condition: string | null
}

export type Call = 'run' | 'estimate' | 'dates'

interface Looking {
  readonly call: Call
  /** The project's own names may contain words such as `limit`. */
  readonly names: readonly string[]
  /** Values that a person configured to be no sign. */
  readonly well: readonly Condition[]
  readonly redact: Redact
}

interface Member {
  readonly name: string
  readonly value: Json
  /** A JSON Pointer. */
  readonly place: string
  /** Whether all signs count here. At other places only an estimate's errors and successes do. */
  readonly isPlace: boolean
  readonly isTop: boolean
}

/** Every sign of failure in an answer, the first one first. Strict JSON limits the depth of the recursion. */
export function signsIn(document: Json, looking: Looking): readonly Sign[] {
  const signs = looking.call === 'run' ? formSigns(document) : []
  for (const member of membersOf(document, looking.call)) {
    const sign = signOf(member, looking)
    if (sign) signs.push(sign)
  }
  return signs
}

/** A run's whole body, or an element of a list at its top, must be an object or a list. */
function formSigns(document: Json): Sign[] {
  const form = (text: string): Sign[] => [{ text, family: 'form', condition: null }]
  if (isObject(document)) return []
  if (!Array.isArray(document)) return form('a body that is no object')
  const at = document.findIndex((element) => typeof element !== 'object' || element === null)
  return at < 0 ? [] : form(`a value that is no object at /${at}`)
}

const containers: ReadonlySet<string> = new Set([
  'result',
  'results',
  'data',
  'response',
  'details',
  'meta',
  'error',
  'projects',
  'tasks',
  'items',
  'payload',
  'body',
])

function membersOf(document: Json, call: Call): readonly Member[] {
  const members: Member[] = []
  const walk = (value: Json, place: string, { isPlace, isInside }: { isPlace: boolean; isInside: boolean }): void => {
    if (Array.isArray(value)) {
      for (const [at, element] of value.entries()) walk(element, below(place, at), { isPlace, isInside })
      return
    }
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(value)) {
      const here = below(place, name)
      members.push({ name, value: member, place: here, isPlace, isTop: place === '' })
      const goesInside = isInside || containers.has(plainName(name))
      if (goesInside || call === 'estimate') walk(member, here, { isPlace: goesInside, isInside: goesInside })
    }
  }
  walk(document, '', { isPlace: true, isInside: false })
  return members
}

/** Case, `_` and `-` of a name do not count. */
const plainName = (name: string): string => name.replace(/[_-]/g, '').toLowerCase()

const errorNames: ReadonlySet<string> = new Set([
  'error',
  'errors',
  'err',
  'fault',
  'failure',
  'failures',
  'failed',
  'exception',
  'iserror',
  'haserrors',
  'errormessage',
  'errmsg',
  'errormsg',
  'errordescription',
])
const successNames: ReadonlySet<string> = new Set(['success', 'ok', 'issuccess', 'successful', 'started', 'accepted'])
/** Elsewhere the number 0 is a count. */
const flagNames: ReadonlySet<string> = new Set(['success', 'ok', 'issuccess', 'successful'])
const successTexts: ReadonlySet<string> = new Set(['true', 'yes', 'y', 'ok', 'success', '1'])
const stateNames: ReadonlySet<string> = new Set(['status', 'state', 'result'])
const codeNames: ReadonlySet<string> = new Set(['code', 'statuscode', 'responsecode', 'errorcode', 'errcode', 'errno'])
const codeTexts: ReadonlySet<string> = new Set([
  'ok',
  'success',
  'accepted',
  'queued',
  'created',
  'started',
  'done',
  'completed',
])

function signOf(member: Member, looking: Looking): Sign | null {
  const { value, place, isPlace } = member
  if (isWell(value, place, looking)) return null
  const name = plainName(member.name)
  const counts = isPlace || looking.call === 'estimate'
  if (counts && errorNames.has(name) && saysSomething(value, place, looking)) return sign(member, 'error', looking)
  if (counts && successNames.has(name) && isNoSuccess(name, value)) return sign(member, 'success', looking)
  if (!isPlace) return null
  if (stateNames.has(name) && isFailedState(value, looking)) return sign(member, 'state', looking)
  if (codeNames.has(name) && isFailedCode(member, looking)) return sign(member, 'code', looking)
  return null
}

const isWell = (value: Json, place: string, { well }: Looking): boolean => {
  const text = scalarText(value)
  return text !== null && well.some(({ pointer, values }) => pointer.text === place && values.includes(text))
}

function saysSomething(value: Json, place: string, looking: Looking): boolean {
  if (isWell(value, place, looking)) return false
  if (Array.isArray(value)) return value.some((element, at) => saysSomething(element, below(place, at), looking))
  if (isObject(value)) {
    const members = Object.entries(value)
    if (members.some(([name, member]) => codeNames.has(plainName(name)) && isGoodCode(member))) return false
    return members.some(([name, member]) => saysSomething(member, below(place, name), looking))
  }
  return !saysNothing(scalarText(value) ?? '')
}

function isNoSuccess(name: string, value: Json): boolean {
  if (value === false || value === null) return true
  if (value === 0) return flagNames.has(name)
  return typeof value === 'string' && !successTexts.has(plainText(value))
}

function isFailedState(value: Json, { names }: Looking): boolean {
  if (value === false) return true
  const number = numberIn(value)
  if (number !== null) return number < 0 || number >= 400
  return typeof value === 'string' && failureIn(value, names) !== null
}

function isFailedCode({ value, isTop }: Member, { names }: Looking): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  if (isGoodCode(value)) return false
  if (numberIn(value) !== null) return true
  return isTop || failureIn(String(value), names) !== null
}

/** 0, 200 to 299, or a text that says so. */
function isGoodCode(value: Json): boolean {
  const number = numberIn(value)
  if (number !== null) return number === 0 || (number >= 200 && number <= 299)
  if (typeof value !== 'string') return false
  const text = plainText(value)
  return text === '' || codeTexts.has(text) || /^2\d\d(\D|$)/.test(text)
}

function numberIn(value: Json): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : null
}

const maxCodeDigits = 12

function sign(member: Member, family: Sign['family'], looking: Looking): Sign {
  const { name, value, place } = member
  const shown = [shortName(name, looking.redact), shownValue(value, family, looking)].filter(Boolean).join(' ')
  const text = `${shown} at ${shownPlace(place, looking.redact)}`
  return { text, family, condition: conditionOf(value, place) }
}

/** Never a text of the service, but a short code, or a word of our own table. */
function shownValue(value: Json, family: Sign['family'], { names }: Looking): string {
  if (typeof value === 'boolean' || value === null) return String(value)
  if (typeof value === 'object') return ''
  const text = String(value)
  if (numberIn(value) !== null) return text.length <= maxCodeDigits ? text.trim() : ''
  return family === 'state' || family === 'code' ? (failureIn(text, names) ?? '') : ''
}

/** The names are unescaped first, because an escaped token would not be found. */
const shownPlace = (place: string, redact: Redact): string =>
  parsePointer(place).tokens.reduce((shown, token) => below(shown, shortName(token, redact)), '')

const maxConditionLength = 100

export function conditionOf(value: Json, place: string): string | null {
  const text = scalarText(value)
  if (text === null || /[=\s]/.test(place)) return null
  const condition = `${place}=${text.replace(/[%|]|\s/g, (character) => encodeURIComponent(character))}`
  return condition.length <= maxConditionLength ? condition : null
}

const startWords: ReadonlySet<string> = new Set([
  ...codeTexts,
  'true',
  'yes',
  'running',
  'pending',
  'processing',
  'scheduled',
  'successful',
])

/** Whether a member says that the run was accepted. */
export const showsStart = (document: Json): boolean =>
  membersOf(document, 'run').some(({ name, value }) => {
    const plain = plainName(name)
    if (successNames.has(plain)) return value === true || value === 1 || startWords.has(plainText(String(value)))
    if (stateNames.has(plain)) return value === true || startWords.has(plainText(String(value)))
    return codeNames.has(plain) && isGoodCode(value) && value !== ''
  })
