import type { Slug } from '../../shared/guard/problems.ts'
import type { Scope } from '../../shared/platform/words.ts'
import type { QueryName, SchemaName } from './schemas.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type RequestHeader = 'Idempotency-Key' | 'Prefer' | 'If-Match' | 'Unit-Guard-Budget'
export type AnswerHeader =
  | 'ETag'
  | 'Location'
  | 'Idempotency-Replayed'
  | 'Unit-Guard-Replayed'
  | 'Unit-Guard-Update'
  | 'Unit-Guard-Units-Charged'
  | 'Unit-Guard-Units-Charged-Now'
  | 'Unit-Guard-Units-Available'

export interface AnswerOf {
  readonly means: string
  /** JSON of this schema; or another media type; `null`: no body. */
  readonly body: SchemaName | { readonly type: string } | null
  /** With `Accept: text/csv` all rows as CSV. */
  readonly csv?: true
  readonly headers?: readonly AnswerHeader[]
}

export interface Operation {
  readonly method: Method
  /** With parameters as `{name}`. */
  readonly path: `/${string}`
  readonly id: string
  readonly group: string
  readonly summary: string
  readonly more?: string
  /** Any of these; `null`: no token is needed. */
  readonly scopes: readonly Scope[] | null
  readonly query?: QueryName
  readonly headers?: readonly RequestHeader[]
  readonly body?: { readonly schema: SchemaName; readonly optional?: true; readonly example: unknown }
  /** What stands for the parameters of the path, and behind it, in examples. */
  readonly example?: string
  readonly answers: Readonly<Partial<Record<number | '2XX' | 'default', AnswerOf>>>
  /** Beside those that every such operation has. */
  readonly problems: readonly Slug[]
  /** Problems that come with another status than their own: what is recorded answers for the whole request. */
  readonly alsoAs?: Readonly<Record<number, readonly Slug[]>>
  /** Where an answer may be the service's own, whatever its status. */
  readonly passedOn?: true
}

/** What keeps an update from running, and stands in its record. */
export const refusals = [
  ...(['over-budget', 'over-update-limit', 'kind-not-allowed', 'over-max-units', 'already-fresh'] as const),
  ...(['budget-frozen', 'plan-paused', 'rejected', 'cancelled', 'expired', 'duplicate-work', 'in-progress'] as const),
  'ledger-restored',
  ...(['key-reused', 'estimate-unreadable', 'service-refused', 'service-unreachable'] as const),
] as const satisfies readonly Slug[]

/** A refusal that was recorded is 402 whatever its type, and what came to nothing is 502. */
export const recordedAs = {
  402: ['forbidden', 'not-found'],
  502: ['ledger-unavailable'],
} as const satisfies Operation['alsoAs']
