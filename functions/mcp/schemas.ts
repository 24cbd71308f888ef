import * as z from 'zod/mini'
import { kind } from '../../shared/api/answers/pieces.ts'
import { commonTexts, type Texts } from '../../shared/api/schemas.ts'
import { type Kinds, namesOf } from '../../shared/tracking/kinds.ts'

interface JsonSchema {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, { description?: string }>>
  readonly [keyword: string]: unknown
}

/** @param texts of members; where the schema has a description, that one stays. */
export function toInputSchema(schema: z.ZodMiniType, texts: Texts, kinds: Kinds): JsonSchema {
  const json = toJson(schema, 'input', kinds)
  for (const [name, member] of Object.entries(json.properties ?? {})) {
    const text = texts[name] ?? commonTexts[name]
    const description = member.description ?? (typeof text === 'function' ? text(kinds) : text)
    if (description !== undefined) member.description = description
  }
  return json
}

export const toOutputSchema = (schema: z.ZodMiniType, kinds: Kinds): JsonSchema => toJson(schema, 'output', kinds)

function toJson(schema: z.ZodMiniType, io: 'input' | 'output', kinds: Kinds): JsonSchema {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === kind) jsonSchema.enum = namesOf(kinds)
      // `format` says it all.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return json as JsonSchema
}
