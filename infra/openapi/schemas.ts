import * as z from 'zod/mini'
import { pageQuery } from '../../functions/api/routes/changes.ts'
import { entryFilter } from '../../functions/api/routes/entries.ts'
import { estimateQueryOf, projectParameters } from '../../functions/api/routes/estimates.ts'
import { occurrence } from '../../functions/api/routes/plans.ts'
import {
  approval,
  manyCancellations,
  manyResolutions,
  oneResolution,
  projectList,
  updateIds,
  updatesRequestOf,
} from '../../functions/api/routes/updates.ts'
import * as answers from '../../shared/api/answers.ts'
import { applyQuery, approvalExpiresAfter, budgetBodies, limits, windowQuery } from '../../shared/api/budgets.ts'
import { callerRequest } from '../../shared/api/callers.ts'
import { entryRequest, reconciliation, spentOutside } from '../../shared/api/entries.ts'
import { problemMembers } from '../../shared/api/problem-members.ts'
import { instant, optionalReasonBody, pageLimit, reason, reasonBody } from '../../shared/api/schemas.ts'
import { statementQuery } from '../../shared/api/statements.ts'
import { updateFilterOf } from '../../shared/api/updates.ts'
import { project, query, someUnits, units } from '../../shared/guard/fields.ts'
import { problems, type Slug } from '../../shared/guard/problems.ts'
import { windowKinds } from '../../shared/ledger/book/definitions.ts'
import { maxUnits } from '../../shared/platform/words.ts'
import { type Kinds, namesOf } from '../../shared/tracking/kinds.ts'
import { createProjectInput, createProjectQuery, updateProjectInput } from '../../shared/tracking/projects.ts'
import { describeMembers } from './members.ts'

/** A JSON Schema of draft 2020-12, which OpenAPI 3.1 takes as it is. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  description?: string
  readonly [keyword: string]: unknown
}

/** The schemas that name kinds of updates. */
const kindSchemas = (kinds: Kinds) => ({
  ...budgetBodies(kinds),
  updatesRequest: updatesRequestOf(kinds),
  updateFilter: updateFilterOf(kinds),
  estimateQuery: estimateQueryOf(kinds),
})
type KindSchemas = ReturnType<typeof kindSchemas>

/** The bodies that the API parses, under the names that the document gives them. */
const requestsOf = ({ updatesRequest, budgetRequest, applyRequest }: KindSchemas) => ({
  UpdatesRequest: updatesRequest,
  Approval: approval,
  OptionalReason: optionalReasonBody,
  Reason: reasonBody,
  Resolution: oneResolution,
  ManyResolutions: manyResolutions,
  ManyCancellations: manyCancellations,
  BudgetRequest: budgetRequest,
  BudgetsRequest: applyRequest,
  EntryRequest: entryRequest,
  Reconciliation: reconciliation,
  CallerRequest: callerRequest,
  OccurrenceRequest: occurrence,
  CreateProjectInput: createProjectInput,
  UpdateProjectInput: updateProjectInput,
})

const answered = {
  Update: answers.update,
  Updates: answers.updatesAnswer,
  UpdateList: answers.updateList,
  Resolved: answers.resolvedAnswer,
  Cancelled: answers.cancelledAnswer,
  NotRecorded: answers.notRecorded,
  Estimate: answers.estimate,
  Budget: answers.budget,
  BudgetList: answers.budgetList,
  AppliedBudgets: answers.appliedBudgets,
  Entry: answers.entry,
  EntryList: answers.entryList,
  Statement: answers.statement,
  Audit: answers.audit,
  Plan: answers.plan,
  PlanList: answers.planList,
  Occurrence: answers.occurrence,
  Forecast: answers.forecast,
  Caller: answers.caller,
  CallerList: answers.callerList,
  ChangeList: answers.changeList,
  Health: answers.health,
  Problem: answers.problem,
}

const queriesOf = ({ updateFilter, estimateQuery }: KindSchemas) => ({
  updates: updateFilter,
  estimate: estimateQuery,
  page: pageQuery,
  window: windowQuery,
  apply: applyQuery,
  entries: entryFilter,
  statement: statementQuery,
  createProject: createProjectQuery,
})

export type SchemaName = keyof ReturnType<typeof requestsOf> | keyof typeof answered
export type QueryName = keyof ReturnType<typeof queriesOf>

export const slugs = Object.keys(problems) as readonly Slug[]

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** `problem-over-budget`: the schema of one type of problem. */
export const problemSchemaOf = (slug: Slug): string => `problem-${slug}`

/** Every schema of the document by its name, the members of bodies with what they mean. */
export function componentSchemas(kinds: Kinds): Record<string, JsonSchema> {
  const schemas = kindSchemas(kinds)
  const checked = checkedByCode(schemas, kinds)
  const named = { ...toJson(requestsOf(schemas), 'input', checked), ...toJson(answered, 'output', checked) }
  for (const [name, schema] of Object.entries(named)) describeMembers(name, schema, kinds)
  // Which one it is, `type` says.
  const problem = { anyOf: slugs.map((slug) => refTo(problemSchemaOf(slug))) }
  return {
    ...named,
    Problem: problem,
    ...Object.fromEntries(slugs.map((slug) => [problemSchemaOf(slug), typeOf(slug)])),
  }
}

/** Names and schemas of the parameters of a query, and which have to be given. */
export function queryParameters(
  query: QueryName,
  kinds: Kinds,
): readonly { name: string; required: boolean; schema: JsonSchema }[] {
  const schemas = kindSchemas(kinds)
  const checked = checkedByCode(schemas, kinds)
  const { properties = {}, required } = toJson({ query: queriesOf(schemas)[query] }, 'input', checked).query ?? {}
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, schema },
    required: required?.includes(name) ?? false,
  }))
}

function typeOf(slug: Slug): JsonSchema {
  const { properties, required = [] } =
    toJson({ members: z.strictObject(problemMembers[slug]) }, 'output', new Map()).members ?? {}
  const { title, status } = problems[slug]
  return {
    type: 'object',
    description: `${title}; usually status ${status}.`,
    properties: {
      type: { type: 'string', const: `/problems/${slug}` },
      title: { type: 'string', const: title },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'One sentence with the numbers, to be forwarded as it is.' },
      ...properties,
      requestId: { type: 'string', description: 'Names the request in the log; absent inside another answer.' },
      updates: { type: 'array', items: refTo('Update'), description: 'What this request recorded (POST /updates).' },
      notRecorded: { type: 'array', items: refTo('NotRecorded'), description: 'What may be tried again with the key.' },
    },
    required: ['type', 'title', 'status', 'detail', ...required],
    additionalProperties: false,
  }
}

/** Written out, because few readers of a document know `\p{Cc}`. */
const noControlCharacter = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

/** The name of a project, where an update is asked for. */
export const projectName: JsonSchema = {
  ...{ type: 'string', minLength: 1, maxLength: 512 },
  ...{ pattern: noControlCharacter, not: { enum: ['.', '..'] } },
}

const unitsOnlyIfRan = [{ properties: { outcome: { const: 'ran' } } }, { not: { required: ['units'] } }]

const atMostOneOf = (window: string): JsonSchema => ({
  contains: { properties: { window: { const: window } } },
  minContains: 0,
  maxContains: 1,
})

/** What a check by code says about itself in no way that zod could tell. */
const checkedByCode = ({ updatesRequest, kindList }: KindSchemas, kinds: Kinds) =>
  new Map<unknown, JsonSchema>([
    [answers.kind, { enum: namesOf(kinds) }],
    [units, { type: 'integer', minimum: 0, maximum: maxUnits }],
    [someUnits, { type: 'integer', minimum: 1, maximum: maxUnits }],
    [spentOutside, { type: 'integer', minimum: 1, maximum: maxUnits }],
    [project, projectName],
    [query, { maxProperties: 20, propertyNames: { minLength: 1, maxLength: 64, pattern: noControlCharacter } }],
    [instant, { format: 'date-time' }],
    [reason, { pattern: noControlCharacter }],
    // 15 minutes to 7 days, in each unit.
    [
      approvalExpiresAfter,
      {
        pattern:
          '^((1[5-9]|[2-9][0-9]|[1-9][0-9]{2,3}|100[0-7][0-9]|10080)m|([1-9]|[1-9][0-9]|1[0-5][0-9]|16[0-8])h|[1-7]d)$',
      },
    ],
    // Digits in a query are an integer to the author of a client.
    [pageLimit, { type: 'integer', minimum: 1, maximum: 200, default: 50, pattern: undefined }],
    [
      updatesRequest,
      {
        oneOf: [{ required: ['project'] }, { required: ['projects'] }],
        anyOf: [{ properties: { force: { const: false } } }, { required: ['reason'] }],
      },
    ],
    [oneResolution, { anyOf: unitsOnlyIfRan }],
    [manyResolutions, { anyOf: unitsOnlyIfRan }],
    [limits, { allOf: windowKinds.map(atMostOneOf) }],
    ...[projectList, projectParameters, updateIds, kindList].map((list) => [list, { uniqueItems: true }] as const),
  ])

/** Schemas that name each other refer to each other. */
function toJson(
  named: Readonly<Record<string, z.ZodMiniType>>,
  io: 'input' | 'output',
  checked: ReadonlyMap<unknown, JsonSchema>,
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      Object.assign(jsonSchema, checked.get(zodSchema))
      // Its length says nothing that `format` does not.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
      // Every whole number that is answered is safe; of those that arrive only these are taken.
      if (io === 'output' && jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (io === 'output' && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return JSON.parse(JSON.stringify(schemas, (key, value) => (key === '$schema' || key === '$id' ? undefined : value)))
}
