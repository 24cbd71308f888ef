import * as z from 'zod/mini'
import type { AnswerHeader, Body, Input, RequestHeader } from '../../functions/api/operation.ts'
import { updateIds } from '../../functions/api/routes/decisions.ts'
import { projectParameters } from '../../functions/api/routes/estimates.ts'
import { projectList } from '../../functions/api/routes/updates.ts'
import { type AnswerName, answers } from '../../shared/api/answers/answers.ts'
import { problemMembers, problemTexts } from '../../shared/api/answers/problems.ts'
import { spentOutside } from '../../shared/api/entries.ts'
import { describeMembers, type JsonSchema, jsonSchemaOptions } from '../../shared/api/json-schema.ts'
import { instant, pageLimit, reason } from '../../shared/api/schemas.ts'
import { problems, type Slug } from '../../shared/guard/problem-types.ts'
import { tagCriterion, tagKeyPattern, tags } from '../../shared/guard/tags.ts'
import { windowKinds } from '../../shared/ledger/definitions/definitions.ts'
import { maxUnits, unreadable } from '../../shared/platform/words.ts'
import { approvalExpiresAfter, limits } from '../../shared/records/budget.ts'
import { project, query, someUnits, units } from '../../shared/records/common-fields.ts'
import { type Kinds, namesOf } from '../../shared/tracking/kinds.ts'

export const slugs = Object.keys(problems) as readonly Slug[]

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

export const problemSchemaOf = (slug: Slug): string => `problem-${slug}`

/** These answers describe their members with the texts of the request. */
const showsRequest: Partial<Record<AnswerName, string>> = {
  Budget: 'BudgetRequest',
  Caller: 'CallerRequest',
  Entry: 'EntryRequest',
}

export function componentSchemas(bodies: readonly Body[], kinds: Kinds): Record<string, JsonSchema> {
  const requests = toJson(Object.fromEntries(bodies.map((body) => [body.name, schemaOf(body, kinds)])), 'input', kinds)
  for (const { name, extraRules, texts } of bodies)
    describeMembers(Object.assign(requests[name] ?? {}, extraRules), texts, kinds)
  const answered = toJson(answers, 'output', kinds)
  for (const [name, schema] of Object.entries(answered)) {
    const body = bodies.find((each) => each.name === showsRequest[name as AnswerName])
    describeMembers(schema, body?.texts, kinds)
  }
  return {
    ...Object.fromEntries(Object.entries({ ...requests, ...answered }).flatMap(withNamedShapes)),
    Problem: { anyOf: slugs.map((slug) => refTo(problemSchemaOf(slug))) },
    ...Object.fromEntries(slugs.map((slug) => [problemSchemaOf(slug), typeOf(slug, kinds)])),
  }
}

/** Names of the shapes of a union: generators of clients would number them, or leave them out. */
const shapeNames: Readonly<Record<string, readonly string[]>> = {
  EntryRequest: ['GrantRequest', 'TransferRequest', 'ExternalSpendRequest', 'CorrectionRequest'],
  ManyResolutions: ['StatedResolutions', 'ResolutionsByAnswers'],
  Resolved: ['ResolvedUpdates', 'ProposedResolutions'],
}

function withNamedShapes([name, schema]: readonly [string, JsonSchema]): [string, JsonSchema][] {
  const names = shapeNames[name]
  if (names === undefined) return withNamedMaps(name, schema)
  const keyword = schema.oneOf ? 'oneOf' : 'anyOf'
  const shapes = schema[keyword] ?? []
  if (shapes.length !== names.length) throw new Error(`${name} has ${shapes.length} shapes, but ${names.length} names`)
  const named = shapes.map((shape, at): [string, JsonSchema] => [names[at] ?? '', shape])
  return [[name, { ...schema, [keyword]: names.map(refTo) }], ...named]
}

const isMap = ({ type, properties }: JsonSchema): boolean => type === 'object' && properties === undefined

/** Names each map that a member may be beside another type. */
function withNamedMaps(name: string, schema: JsonSchema): [string, JsonSchema][] {
  const maps: [string, JsonSchema][] = []
  const members = Object.entries(schema.properties ?? {}).map(([member, each]) => {
    const mapName = `${name}${member.charAt(0).toUpperCase()}${member.slice(1)}Map`
    const map = each.anyOf?.find(isMap)
    if (map === undefined) return [member, each] as const
    maps.push([mapName, map])
    return [member, { ...each, anyOf: each.anyOf?.map((part) => (part === map ? refTo(mapName) : part)) }] as const
  })
  if (maps.length === 0) return [[name, schema]]
  return [[name, { ...schema, properties: Object.fromEntries(members) as Record<string, JsonSchema> }], ...maps]
}

export function queryParameters(input: Input, kinds: Kinds) {
  const { query = {} } = toJson({ query: schemaOf(input, kinds) }, 'input', kinds)
  describeMembers(query, input.texts, kinds)
  return Object.entries(query.properties ?? {}).map(([name, { description = '', ...schema }]) => {
    return { name, required: query.required?.includes(name) ?? false, description, schema: schema as JsonSchema }
  })
}

const schemaOf = ({ schema }: Input, kinds: Kinds): z.ZodMiniType =>
  typeof schema === 'function' ? schema(kinds) : schema

function typeOf(slug: Slug, kinds: Kinds): JsonSchema {
  const { members = {} } = toJson({ members: z.strictObject(problemMembers[slug]) }, 'output', kinds)
  describeMembers(members, problemTexts, kinds)
  const { properties, required = [] } = members
  const { title, status } = problems[slug]
  return {
    type: 'object',
    description: `${title}; usually status ${status}.`,
    properties: {
      type: { type: 'string', const: `/problems/${slug}` },
      title: { type: 'string', const: title },
      status: {
        type: 'integer',
        description: 'The status of the answer. A problem inside another answer has its own status.',
      },
      detail: { type: 'string', description: 'One sentence with the numbers, which can be shown as it is.' },
      ...properties,
      requestId: { type: 'string', description: 'The id of the request in the log. Absent inside another answer.' },
      updates: { type: 'array', items: refTo('Update'), description: 'The recorded updates (POST /updates).' },
      notRecorded: { type: 'array', items: refTo('NotRecorded'), description: 'Projects to try again with the key.' },
    },
    required: ['type', 'title', 'status', 'detail', ...required],
    additionalProperties: false,
  }
}

/** Few readers of a document know `\p{Cc}`. */
const noControlCharacter = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

export const projectName: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  pattern: noControlCharacter,
  not: { enum: ['.', '..'] },
}

const atMostOneOf = (window: string): JsonSchema => ({
  contains: { properties: { window: { const: window } } },
  minContains: 0,
  maxContains: 1,
})

/** The JSON Schema of checks that zod cannot translate, because they are code. */
const checkedByCode = new Map<unknown, JsonSchema>([
  [units, { type: 'integer', minimum: 0, maximum: maxUnits }],
  [someUnits, { type: 'integer', minimum: 1, maximum: maxUnits }],
  [spentOutside, { type: 'integer', minimum: 1, maximum: maxUnits }],
  [project, projectName],
  [query, { maxProperties: 20, propertyNames: { minLength: 1, maxLength: 64, pattern: noControlCharacter } }],
  [
    tags,
    {
      maxProperties: 5,
      propertyNames: { pattern: tagKeyPattern.source },
      additionalProperties: { type: 'string', minLength: 1, maxLength: 64, pattern: noControlCharacter },
    },
  ],
  [tagCriterion, { pattern: `${tagKeyPattern.source.slice(0, -1)}:[^\\u0000-\\u001f\\u007f-\\u009f]{1,64}$` }],
  [instant, { format: 'date-time' }],
  [reason, { pattern: `^[^${unreadable.source.slice(1)}*$` }],
  // 15 minutes to 7 days, in each unit.
  [
    approvalExpiresAfter,
    {
      pattern:
        '^((1[5-9]|[2-9][0-9]|[1-9][0-9]{2,3}|100[0-7][0-9]|10080)m|([1-9]|[1-9][0-9]|1[0-5][0-9]|16[0-8])h|[1-7]d)$',
    },
  ],
  // Authors of clients expect digits in a query to be an integer.
  [pageLimit, { type: 'integer', minimum: 1, maximum: 200, default: 50, pattern: undefined }],
  [limits, { allOf: windowKinds.map(atMostOneOf) }],
  ...[projectList, projectParameters, updateIds].map((list) => [list, { uniqueItems: true }] as const),
])

function toJson(
  named: Readonly<Record<string, z.ZodMiniType>>,
  io: 'input' | 'output',
  kinds: Kinds,
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    ...jsonSchemaOptions(io, kinds, ({ zodSchema, jsonSchema }) => {
      const items = jsonSchema.items as JsonSchema | undefined
      Object.assign(jsonSchema, checkedByCode.get(zodSchema), constantFor(jsonSchema as JsonSchema))
      // A budget names each kind once.
      if (io === 'input' && String(items?.enum) === String(namesOf(kinds))) jsonSchema.uniqueItems = true
    }),
    uri: (id) => `#/components/schemas/${id}`,
  })
  return JSON.parse(JSON.stringify(schemas, (key, value) => (key === '$schema' || key === '$id' ? undefined : value)))
}

/** Writes constants so that generators of clients can read them: `test/api/generators.test.ts` has the reasons. */
function constantFor({ type, const: only, anyOf }: JsonSchema): JsonSchema | undefined {
  if (typeof only === 'boolean') return { const: undefined, not: { enum: [!only] } }
  if (type === 'null') return { type: ['string', 'null'], not: { type: 'string' } }
  if (!anyOf?.some((part) => typeof part.const === 'string')) return undefined
  const parts = anyOf.map(({ const: text, ...part }) => (typeof text === 'string' ? { ...part, enum: [text] } : part))
  return { anyOf: parts }
}

interface Header {
  readonly description: string
  readonly schema: JsonSchema
}

const text = { type: 'string' }

const tag = String.raw`[a-z][a-z0-9_.\-]{0,31}=(?:[!#$&-+\-./0-9:<-\[\]-~]|%[0-9A-Fa-f]{2})+`

export const requestHeaders: Readonly<Record<RequestHeader, Header>> = {
  'Idempotency-Key': {
    description:
      'A key counts for one caller and one route; all routes `/v3/…/run` are one. The same key and content always have the same answer. Other content is 422.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
  Prefer: {
    description: '`respond-async`: the answer is 202 at once, and the queue starts the updates.',
    schema: text,
  },
  'If-Match': {
    description:
      'The `ETag` of an answer: 412 if the definitions have changed since. `*`: 412 if the budget or caller does not exist.',
    schema: text,
  },
  'Unit-Guard-Budget': {
    description: 'The budget that pays. Default: the project’s owner, else `account`.',
    schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,62}$' },
  },
  'Unit-Guard-Tags': {
    description:
      'Up to 5 tags: `client=acme, ticket=SEO-47`. In a value, percent-encode all but visible ASCII, and also `"`, `,`, `;`, `\\` and `%`.',
    schema: { type: 'string', maxLength: 5_000, pattern: String.raw`^\s*${tag}\s*(?:,\s*${tag}\s*){0,4}$` },
  },
}

export const answerHeaders: Readonly<
  Record<AnswerHeader | 'X-Request-Id' | 'WWW-Authenticate' | 'Allow' | 'Retry-After', Header>
> = {
  'X-Request-Id': { description: 'The id of the request in the log.', schema: text },
  ETag: { description: 'The revision of the definitions, for `If-Match`.', schema: text },
  Location: { description: 'The address of the one update, or of the page.', schema: text },
  'Idempotency-Replayed': { description: '`true`: answered from the records of the first request.', schema: text },
  'Unit-Guard-Replayed': { description: 'The earlier updates that answer within the cool-down.', schema: text },
  'Unit-Guard-Update': { description: 'The update.', schema: text },
  'Unit-Guard-State': {
    description: '`in-doubt`: the service’s answer does not prove whether the update ran. Absent in every other state.',
    schema: { type: 'string', enum: ['in-doubt'] },
  },
  'Unit-Guard-Units-Charged': {
    description: 'The units that the update cost, also in a replay. For several updates, their sum.',
    schema: { type: 'integer' },
  },
  'Unit-Guard-Units-Charged-Now': {
    description: 'The units that this request charged: 0 in a replay.',
    schema: { type: 'integer' },
  },
  'Unit-Guard-Units-Available': {
    description:
      'The units that its budget has left this month. Absent if they are unlimited, or if several budgets pay.',
    schema: { type: 'integer' },
  },
  'WWW-Authenticate': { description: '`Bearer`, where the platform lets it through.', schema: text },
  Allow: { description: 'The methods of this address.', schema: text },
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
}
