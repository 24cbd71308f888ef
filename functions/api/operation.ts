import type * as z from 'zod/mini'
import type { AnswerName } from '../../shared/api/answers/answers.ts'
import type { Texts } from '../../shared/api/texts.ts'
import type { Slug } from '../../shared/guard/problems.ts'
import type { Scope } from '../../shared/platform/words.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'

// What a route says about itself. Only the OpenAPI document reads it: the bundles of functions leave it out, as long as such
// a table is made of literals, without calls and spreads.

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

/** What a request brings: its schema, and what the members mean. */
export interface Input {
  readonly schema: z.ZodMiniType | ((kinds: Kinds) => z.ZodMiniType)
  readonly texts?: Texts
}

export interface Body extends Input {
  /** Of the component in the document. */
  readonly name: string
  /** What the schema checks by code, as JSON Schema. */
  readonly also?: Readonly<Record<string, unknown>>
}

export interface OperationAnswer {
  readonly means: string
  /** JSON of this schema; or another media type; `null`: no body. */
  readonly body: AnswerName | { readonly type: string } | null
  /** With `Accept: text/csv` all rows as CSV. */
  readonly csv?: true
  readonly headers?: readonly AnswerHeader[]
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With parameters as `{name}`. */
  readonly path: `/${string}`
  readonly id: string
  readonly summary: string
  readonly more?: string
  /** Any of these; `null`: no token is needed. */
  readonly scopes: readonly Scope[] | null
  readonly query?: Input
  readonly headers?: readonly RequestHeader[]
  readonly body?: { readonly takes: Body; readonly optional?: true; readonly example: unknown }
  /** What stands for the parameters of the path, and behind it, in examples. */
  readonly example?: string
  readonly answers: Readonly<Partial<Record<number | '2XX' | 'default', OperationAnswer>>>
  /** Beside those that every such operation has. */
  readonly problems: readonly Slug[]
  /** Problems that come with another status than their own: what is recorded answers for the whole request. */
  readonly alsoAs?: Readonly<Record<number, readonly Slug[]>>
  /** Where an answer may be the service's own, whatever its status. */
  readonly passedOn?: true
}

/** What keeps an update from running, and stands in its record. */
// biome-ignore format: a list
export const refusals = [
  'over-budget', 'over-update-limit', 'kind-not-allowed', 'over-max-units', 'already-fresh', 'budget-frozen', 'plan-paused',
  'rejected', 'cancelled', 'expired', 'duplicate-work', 'in-progress', 'wrong-state', 'ledger-restored', 'key-reused',
  'estimate-unreadable', 'service-refused', 'service-unreachable',
] as const satisfies readonly Slug[]

/** A refusal that was recorded is 402 whatever its type, and what came to nothing is 502. */
export const recordedAs = {
  402: ['forbidden', 'not-found'],
  502: ['ledger-unavailable'],
} as const satisfies Operation['alsoAs']
