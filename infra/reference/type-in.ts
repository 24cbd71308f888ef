import type { JsonSchema } from './schemas.ts'

/** What a schema takes, in a few words: `ranking | keyword-difficulty`, `list of whole number ≥ 1`. */
export function typeIn(schema: JsonSchema): string {
  const { type, minimum, maximum, format, items, properties } = schema
  const among = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (Array.isArray(among)) return among.length > mostNamed ? `one of ${among.length} values` : among.join(' | ')
  const either = schema.anyOf ?? schema.oneOf
  if (either) return either.map(typeIn).join(' | ')
  switch (type) {
    case 'array':
      return `list of ${typeIn(items ?? {})}`
    case 'object':
      return properties ? `{${Object.keys(properties).join(', ')}}` : 'object'
    case 'integer':
      return `whole number${minimum === undefined ? '' : ` from ${minimum}`}${typeof maximum === 'number' && maximum < 1e6 ? ` to ${maximum}` : ''}`
    case 'boolean':
      return 'true | false'
    case 'string':
      return format === 'date-time' ? 'time' : 'text'
    default:
      return typeof type === 'string' ? type : 'any'
  }
}

const mostNamed = 16
