import type { Slug } from '../../shared/guard/problems.ts'
import type { Scope } from '../../shared/platform/words.ts'
import type { JsonSchema, QueryName, SchemaName } from './schemas.ts'

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
  ...([
    'budget-frozen',
    'plan-paused',
    'rejected',
    'cancelled',
    'expired',
    'duplicate-work',
    'in-progress',
    'wrong-state',
  ] as const),
  'ledger-restored',
  ...(['key-reused', 'estimate-unreadable', 'service-refused', 'service-unreachable'] as const),
] as const satisfies readonly Slug[]

/** A refusal that was recorded is 402 whatever its type, and what came to nothing is 502. */
export const recordedAs = {
  402: ['forbidden', 'not-found'],
  502: ['ledger-unavailable'],
} as const satisfies Operation['alsoAs']

interface Header {
  readonly description: string
  readonly schema: JsonSchema
}

const text = { type: 'string' }

export const requestHeaders: Readonly<Record<RequestHeader, Header>> = {
  'Idempotency-Key': {
    description: 'The same key and content have the same answer for ever; other content is 422.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
  Prefer: {
    description: '`respond-async`: 202 at once; what was asked for is begun by the queue.',
    schema: text,
  },
  'If-Match': {
    description: 'The `ETag` of an answer: 412 where the definitions have changed since. `*`: only if there is one.',
    schema: text,
  },
  'Unit-Guard-Budget': {
    description: 'Who pays; without it the project’s owner, else `account`.',
    schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,62}$' },
  },
}

export const answerHeaders: Readonly<
  Record<AnswerHeader | 'X-Request-Id' | 'WWW-Authenticate' | 'Allow' | 'Retry-After', Header>
> = {
  'X-Request-Id': { description: 'Names the request in the log.', schema: text },
  ETag: { description: 'The revision of the definitions, for `If-Match`.', schema: text },
  Location: { description: 'The address of the one update, or of the page.', schema: text },
  'Idempotency-Replayed': { description: '`true`: answered from the records of the first request.', schema: text },
  'Unit-Guard-Replayed': { description: 'The earlier updates that answer within the cool-down.', schema: text },
  'Unit-Guard-Update': { description: 'The update.', schema: text },
  'Unit-Guard-Units-Charged': {
    description: 'What the update cost, also in a replay; of several updates the sum.',
    schema: { type: 'integer' },
  },
  'Unit-Guard-Units-Charged-Now': {
    description: 'What this request charged: the same, or 0 in a replay.',
    schema: { type: 'integer' },
  },
  'Unit-Guard-Units-Available': {
    description:
      'What is left to its budget this month; absent where that is unlimited, and where several budgets pay.',
    schema: { type: 'integer' },
  },
  'WWW-Authenticate': { description: '`Bearer`, where the platform lets it through.', schema: text },
  Allow: { description: 'The methods that do.', schema: text },
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
}
