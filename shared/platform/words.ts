export type Units = number & { readonly [unitsBrand]: true }
declare const unitsBrand: unique symbol

/** Every sum of a book stays a safe integer. */
export const maxUnits = 1_000_000_000_000

export const isUnits = (value: unknown): value is Units => Number.isSafeInteger(value) && (value as number) >= 0

/** @throws RangeError: units are never rounded. */
export function toUnits(value: number): Units {
  if (!isUnits(value)) throw new RangeError(`not a number of units: ${value}`)
  return value
}

/** A formatter of Intl would cost a cold start ten milliseconds. */
export const grouped = (whole: number): string => String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',')

export const scopes = ['read', 'run', 'propose', 'write', 'approve', 'admin'] as const
export type Scope = (typeof scopes)[number]

export const statementKeys = ['budget', 'project', 'caller'] as const
/** `tag:client`: by the values of the tag `client`. */
export type StatementKey = (typeof statementKeys)[number] | `tag:${string}`

export const tagKeyIn = (by: StatementKey): string | null => (by.startsWith('tag:') ? by.slice('tag:'.length) : null)

/** A new member of a union is a type error here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected: ${JSON.stringify(value)}`)
}

/** The names of budgets and plans. */
export const shortName = /^[a-z0-9][a-z0-9-]{0,62}$/

export const slackChannelId = /^[CG][A-Z0-9]{2,20}$/

/** Why a token was refused. Only the log and `npm run doctor` say it, because every refusal has the same answer. */
export const tokenFaults = [
  'form',
  'algorithm',
  'issuer-unknown',
  'audience',
  'id-token',
  'expired',
  'not-yet',
  'lifetime',
  'subject',
  'email-unverified',
  'claims',
  'key-unknown',
  'signature',
  'minted-off',
] as const
export type TokenFault = (typeof tokenFaults)[number]
