import { isObject, type Json } from './strict-json.ts'

/**
 * True when a body says by itself, whatever its status, that the operation failed: a `response_code` other than zero,
 * or an `error` that says something. The interface document shows no error body ("Errors"), so both are conventions.
 */
export function isErrorEnvelope(value: Json): boolean {
  if (!isObject(value)) return false
  const code = Object.hasOwn(value, 'response_code') ? value.response_code : null
  if (!isZero(code) && code !== null) return true
  return Object.hasOwn(value, 'error') && saysSomething(value.error)
}

/** True when a body says by its code that all went well; an error beside that contradicts it, and proves nothing. */
export const saysItWentWell = (value: Json): boolean =>
  isObject(value) && Object.hasOwn(value, 'response_code') && isZero(value.response_code)

const isZero = (code: Json | undefined): boolean => code === 0 || code === '0'

/** The same, at any depth: one failed row spoils a sum. Recursion is bounded by the nesting limit of strict JSON. */
export function holdsErrorEnvelope(value: Json): boolean {
  if (isErrorEnvelope(value)) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(holdsErrorEnvelope)
}

/** Null, false, zero and everything empty say "no error". */
function saysSomething(error: Json | undefined): boolean {
  if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0
  return Boolean(error)
}
