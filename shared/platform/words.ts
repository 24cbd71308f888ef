/** The words that every room uses. */

/** A number of keyword units, the service's cost unit: a non-negative safe integer. */
export type Units = number & { readonly [unitsBrand]: true }
declare const unitsBrand: unique symbol

/** No more move at once: far above any account, and so far below 2⁵³ that no sum of a book leaves the safe integers. */
export const maxUnits = 1_000_000_000_000

export const isUnits = (value: unknown): value is Units => Number.isSafeInteger(value) && (value as number) >= 0

/** @throws RangeError when `value` is not a non-negative safe integer: units are never rounded or clipped. */
export function toUnits(value: number): Units {
  if (!isUnits(value)) throw new RangeError(`not a number of units: ${value}`)
  return value
}

/** `12,345`, as people read it. A formatter of Intl would cost a cold start ten milliseconds. */
export const grouped = (whole: number): string => String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** What a caller may do. */
export const scopes = ['read', 'run', 'propose', 'write', 'approve', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** The end of an exhaustive switch: a new member of a union is a type error here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected: ${JSON.stringify(value)}`)
}
