export type Units = number & { readonly [unitsBrand]: true }
declare const unitsBrand: unique symbol

/** Low enough that every sum of a book is a safe integer. */
export const maxUnits = 1_000_000_000_000

export const isUnits = (value: unknown): value is Units => Number.isSafeInteger(value) && (value as number) >= 0

/** @throws RangeError, because units are never rounded. */
export function toUnits(value: number): Units {
  if (!isUnits(value)) throw new RangeError(`not a number of units: ${value}`)
  return value
}

/** Without Intl, whose formatter would cost a cold start ten milliseconds. */
export const grouped = (whole: number): string => String(whole).replace(/\B(?=(?:\d{3})+$)/g, ',')

export const scopes = ['read', 'run', 'propose', 'write', 'approve', 'admin'] as const
export type Scope = (typeof scopes)[number]

export const statementKeys = ['budget', 'project', 'caller'] as const
/** `tag:client` groups by the values of the tag `client`. */
export type StatementKey = (typeof statementKeys)[number] | `tag:${string}`

/** In the order of the CSV. */
export const statementFigures = ['updates', 'charged', 'external', 'granted', 'held', 'inDoubt', 'refused'] as const
/** Updates that limits of observed budgets would have refused, and the units charged for them. */
export const figuresOverLimits = ['wouldHaveRefused', 'wouldHaveRefusedUnits'] as const
export type StatementFigure = (typeof statementFigures)[number] | (typeof figuresOverLimits)[number]

export const tagKeyIn = (by: StatementKey): string | null => (by.startsWith('tag:') ? by.slice('tag:'.length) : null)

/** Makes a forgotten member of a union a type error. */
export function assertNever(value: never): never {
  throw new Error(`unexpected: ${JSON.stringify(value)}`)
}

/** The names of budgets and plans. */
export const shortName = /^[a-z0-9][a-z0-9-]{0,62}$/

export const slackChannelId = /^[CG][A-Z0-9]{2,20}$/

/** The id of a workspace, or of an organization of several workspaces. */
export const slackTeam = /^[TE][A-Z0-9]{2,20}$/

/** Line separators, and characters that are invisible or reverse text. Joiners are allowed: Persian and emoji need them. */
const hidden = String.raw`\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff`
export const hiddenCharacters = new RegExp(`[${hidden}]`, 'gu')
/** Characters that must not be in a one-line text for other people. */
export const unreadable = new RegExp(String.raw`[\u0000-\u001f\u007f-\u009f${hidden}]`, 'u')

/** Names of this form are reserved for Slack, schedules and trusted issuers, even if no such issuer exists. */
export const issuerForm = /^[\w.-]*:/

/** Records and entries name one of these as the actor if no person acted. `*` means all callers. */
export const reservedNames: readonly string[] = ['guard', 'sweep', 'service', 'setup', '*']

/** Why a token was refused. Only the log and `npm run doctor` show it, because all refused callers get the same answer. */
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
