import type * as z from 'zod/mini'
import type { AnswerName } from '../../shared/api/answers/answers.ts'
import type { Texts } from '../../shared/api/schemas.ts'
import type { Slug } from '../../shared/guard/problem-types.ts'
import { ruleSlugs } from '../../shared/guard/rules/recorded.ts'
import type { Scope } from '../../shared/platform/words.ts'
import type { Members } from '../../shared/records/record.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'

// Only the OpenAPI document reads tables of these types. A bundle leaves out a table that calls no function.

export type RequestHeader = 'Idempotency-Key' | 'Prefer' | 'If-Match' | 'Unit-Guard-Budget' | 'Unit-Guard-Tags'
export type AnswerHeader =
  | 'ETag'
  | 'Location'
  | 'Idempotency-Replayed'
  | 'Unit-Guard-Replayed'
  | 'Unit-Guard-Update'
  | 'Unit-Guard-State'
  | 'Unit-Guard-Units-Charged'
  | 'Unit-Guard-Units-Charged-Now'
  | 'Unit-Guard-Units-Available'

export interface Input {
  readonly schema: z.ZodMiniType | ((kinds: Kinds) => z.ZodMiniType)
  readonly texts?: Texts | Members
}

export interface Body extends Input {
  /** The name of the schema in the OpenAPI document. */
  readonly name: string
  /** JSON Schema for the rules that `schema` checks in code. */
  readonly extraRules?: Readonly<Record<string, unknown>>
}

export interface OperationAnswer {
  readonly description: string
  /** A schema of `answers`, another media type, or no body. */
  readonly body: AnswerName | { readonly type: string } | null
  /** Answers `Accept: text/csv` with CSV. */
  readonly csv?: true
  readonly headers?: readonly AnswerHeader[]
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters are written as `{name}`. */
  readonly path: `/${string}`
  readonly id: string
  readonly summary: string
  readonly details?: string
  /** The caller needs one of these scopes. `null`: no token is needed. */
  readonly scopes: readonly Scope[] | null
  readonly query?: Input
  readonly headers?: readonly RequestHeader[]
  readonly body?: { readonly input: Body; readonly optional?: true; readonly example: unknown }
  readonly example?: string
  readonly answers: Readonly<Partial<Record<number | 'default', OperationAnswer>>>
  /** The operation's own problems, without the problems that every operation has. */
  readonly problems: readonly Slug[]
  /** Problems whose status here differs from the status of their type. */
  readonly otherStatuses?: Readonly<Record<number, readonly Slug[]>>
  /** Whether the tracking service may write the answer, in any media type. */
  readonly mayBeOfService?: true
}

/** Problems of a request for updates, and of recorded updates. */
// biome-ignore format: a list
export const refusals = [
  'over-budget', ...ruleSlugs, 'project-unowned', 'no-price', 'over-max-units', 'already-fresh', 'plan-paused',
  'rejected', 'cancelled', 'expired', 'duplicate-work', 'in-progress', 'wrong-state', 'ledger-restored', 'key-reused',
  'estimate-unreadable', 'service-refused', 'service-unreachable', 'wrong-clock',
  'not-found',
] as const satisfies readonly Slug[]

/** A recorded refusal is 402, whatever its type. A failure after admission is 502. */
export const recordedProblems = {
  402: ['forbidden', 'not-found'],
  502: ['ledger-unavailable'],
} as const satisfies Operation['otherStatuses']
