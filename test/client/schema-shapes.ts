import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { answers } from '../../shared/api/answers/answers.ts'
import { problemMembers, problemTexts } from '../../shared/api/answers/problems.ts'
import { entryTexts } from '../../shared/api/entries.ts'
import { describeMembers, type JsonSchema, jsonSchemaOptions } from '../../shared/api/json-schema.ts'
import type { Texts } from '../../shared/api/schemas.ts'
import { budgetMembers } from '../../shared/records/budget.ts'
import type { Members } from '../../shared/records/record.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'

const head = `// Generated from the schemas in shared/api/answers. After a change there, run:
// npx vitest run --config test/vitest.config.ts client/shapes --update

// Units are whole numbers. Times are RFC 3339 in UTC.

/** RFC 9457. \`type\` narrows the members: \`if (problem.type === '/problems/over-budget') problem.budgets …\` */
export type Problem = {
  [Slug in keyof ProblemMembers]: ProblemMembers[Slug] & {
    type: \`/problems/\${Slug}\`
    title: string
    status: number
    detail: string
    requestId?: string
  }
}[keyof ProblemMembers]`

const textsOf: Readonly<Record<string, Texts | Members>> = {
  Update: {},
  Updates: {},
  UpdateList: {},
  Cancelled: {},
  Estimate: {},
  Budget: budgetMembers,
  BudgetList: {},
  Entry: entryTexts,
  Plan: {},
  Audit: {},
  Status: {},
}

/** The content of shared/client/shapes.ts. */
export function clientShapes(): string {
  const { NotRecorded: _inlined, ...named } = answers
  const schemas = schemasOf({ ...named, ProblemMembers: problemShapes })
  const interfaces = Object.entries({ ...textsOf, ProblemMembers: {} }).map(([name, texts]) => {
    const schema = describeMembers(schemas[name] ?? {}, texts, productKinds)
    return `export interface ${name} ${typeOf(schema)}`
  })
  return formatted([head, ...interfaces].join('\n\n'))
}

const problemShapes = z.strictObject(
  Object.fromEntries(Object.entries(problemMembers).map(([slug, members]) => [slug, z.strictObject(members)])),
)

/** A named shape inside another one is a `$ref`. */
function schemasOf(named: Readonly<Record<string, z.ZodMiniType>>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { ...jsonSchemaOptions('output', productKinds), uri: (id) => id })
  const { properties = {} } = schemas.ProblemMembers as JsonSchema
  for (const members of Object.values(properties)) describeMembers(members, problemTexts, productKinds)
  return schemas as Record<string, JsonSchema>
}

function typeOf(schema: JsonSchema): string {
  const { $ref: name, const: value, enum: values, properties, items, additionalProperties = {} } = schema
  if (typeof name === 'string') return name
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).join(' | ')
  const shapes = schema.anyOf ?? schema.oneOf
  if (shapes) return shapes.map(typeOf).join(' | ')
  if (items) return `(${typeOf(items)})[]`
  if (properties) return objectOf(schema)
  if (schema.type === 'object') return `Record<string, ${typeOf(additionalProperties as JsonSchema)}>`
  const types = [schema.type ?? 'unknown'].flat()
  return types.map((type) => (type === 'integer' ? 'number' : String(type))).join(' | ')
}

function objectOf({ properties = {}, required = [] }: JsonSchema): string {
  const members = Object.entries(properties)
  if (members.length === 0) return 'object'
  const isDescribed = members.some(([, { description }]) => description !== undefined)
  const lines = members.map(([name, member]) => {
    const comment = member.description === undefined ? '' : `/** ${member.description} */\n`
    return `${comment}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(member)}`
  })
  return isDescribed ? `{\n${lines.join('\n')}\n}` : `{ ${lines.join('; ')} }`
}

/** Biome keeps an object on one line if its first member is on the first line and the object is short. */
function formatted(text: string): string {
  const biome = join('node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const options = ['format', '--stdin-file-path=shared/client/shapes.ts']
  return execFileSync(process.execPath, [biome, ...options], { input: text, encoding: 'utf8' })
}
