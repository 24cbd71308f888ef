import type { AnswerHeader, RequestHeader } from '../../functions/api/operation.ts'
import type { JsonSchema } from './schemas.ts'

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
