/** Keyword units, the service's cost unit. */
export type Units = number & { readonly [unitsBrand]: true }
declare const unitsBrand: unique symbol

/** So far below 2⁵³ that every sum of a book is a safe integer. */
export const maxUnits = 1_000_000_000_000

export const isUnits = (value: unknown): value is Units => Number.isSafeInteger(value) && (value as number) >= 0

/** @throws RangeError if it is not a non-negative safe integer: units are never rounded. */
export function toUnits(value: number): Units {
  if (!isUnits(value)) throw new RangeError(`not a number of units: ${value}`)
  return value
}

/** `12,345`. A formatter of Intl would cost a cold start ten milliseconds. */
export const grouped = (whole: number): string => String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',')

export const scopes = ['read', 'run', 'propose', 'write', 'approve', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** What a row of a statement is. */
export const statementKeys = ['budget', 'project', 'caller'] as const
export type StatementKey = (typeof statementKeys)[number]

/** A new member of a union is a type error here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected: ${JSON.stringify(value)}`)
}

export const slackChannelId = /^[CG][A-Z0-9]{2,20}$/
