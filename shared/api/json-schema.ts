import * as z from 'zod/mini'
import type { Members } from '../records/record.ts'
import { type Kinds, namesOf } from '../tracking/kinds.ts'
import { kind } from './answers/pieces.ts'
import { commonTexts, type Texts } from './schemas.ts'

/** A schema of draft 2020-12, which OpenAPI 3.1 and the Model Context Protocol use. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  description?: string
  readonly [keyword: string]: unknown
}

type Io = 'input' | 'output'
type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'] & {}

/** Options for the JSON Schema of a zod schema. @param more Adds what zod cannot express. */
export const jsonSchemaOptions = (io: Io, kinds: Kinds, more: Override = () => {}) => ({
  target: 'draft-2020-12' as const,
  io,
  override: (found: Parameters<Override>[0]) => {
    const { zodSchema, jsonSchema } = found
    more(found)
    if (zodSchema === kind) jsonSchema.enum = namesOf(kinds)
    // `format` already describes the text.
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    // All integers of answers are safe, so these limits are superfluous.
    if (io === 'output' && jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    if (io === 'output' && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  },
})

export function toJsonSchema(schema: z.ZodMiniType, io: Io, kinds: Kinds): JsonSchema {
  const { $schema, ...json } = z.toJSONSchema(schema, jsonSchemaOptions(io, kinds))
  return json as JsonSchema
}

/** The shapes of a discriminated union, or the schema itself. */
export const shapesOf = (schema: JsonSchema): readonly JsonSchema[] =>
  !schema.properties && schema.oneOf ? schema.oneOf : [schema]

/** Adds a description to each member that has none. */
export function describeMembers(schema: JsonSchema, texts: Texts | Members = {}, kinds: Kinds): JsonSchema {
  for (const { properties = {} } of shapesOf(schema)) {
    for (const [name, member] of Object.entries(properties)) {
      const row = texts[name] ?? commonTexts[name]
      const text = typeof row === 'object' ? row.text : row
      const description = member.description ?? (typeof text === 'function' ? text(kinds) : text)
      if (description !== undefined) member.description = description
    }
  }
  return schema
}
