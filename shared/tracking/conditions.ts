import { isObject, type Json } from '../platform/json.ts'
import { type JsonPointer, parsePointer, resolvePointer } from './pointer.ts'
import { saysNothing } from './sign-words.ts'

/** The value at the pointer must be one of `values`, as JSON text without quotes. */
export interface Condition {
  readonly pointer: JsonPointer
  readonly values: readonly string[]
}

/** How a person configured the service's answers to be read. One condition of a list is enough. */
export interface AnswerRules {
  /** These bodies prove that a run did not happen. */
  readonly refused: readonly Condition[]
  /** These bodies prove that a run happened. If there are any, no other body does. */
  readonly started: readonly Condition[]
  /** These values are no sign of failure at their places. */
  readonly well: readonly Condition[]
}

export const noRules: AnswerRules = { refused: [], started: [], well: [] }

const form = 'must be conditions such as /response_code=26|27, separated by blanks'

/**
 * Reads `/status_code=20000|20100 /ok=true`. In a value, `|`, `%` and a blank are written as %7C, %25 and %20.
 * @throws RangeError with a sentence that follows the setting's name.
 */
export function parseConditions(text: string): readonly Condition[] {
  return text.trim().split(/\s+/).map(parseCondition)
}

function parseCondition(text: string): Condition {
  const at = text.indexOf('=')
  if (!text.startsWith('/') || at < 0) throw new RangeError(form)
  try {
    return {
      pointer: parsePointer(text.slice(0, at)),
      values: text
        .slice(at + 1)
        .split('|')
        .map(decodeURIComponent),
    }
  } catch {
    throw new RangeError(form)
  }
}

/**
 * Conditions of answers that prove a refusal.
 * @throws RangeError for a value that says nothing, because an answer without an error has such values, too.
 */
export function parseRefusals(text: string): readonly Condition[] {
  const conditions = parseConditions(text)
  const empty = conditions.flatMap(({ values }) => values).find(saysNothing)
  if (empty === undefined) return conditions
  throw new RangeError(
    `must name values that say why a run was refused; ${empty === '' ? 'an empty value' : empty} says nothing`,
  )
}

export const meets = (document: Json, conditions: readonly Condition[]): boolean =>
  conditions.some(({ pointer, values }) => {
    const text = scalarText(resolvePointer(document, pointer))
    return text !== null && values.includes(text)
  })

/** The JSON text of a scalar, without quotes. `null`: the value is an object, a list or missing. */
export function scalarText(value: Json | undefined): string | null {
  if (value === undefined || Array.isArray(value) || isObject(value)) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}
