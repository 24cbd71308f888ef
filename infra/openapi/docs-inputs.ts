import type { Operation } from '../../functions/api/operation.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { pathParameters } from './gateway-operations.ts'
import { requestHeaders } from './headers.ts'
import { type JsonSchema, queryParameters, shapesOf } from './schemas.ts'

export interface Input {
  readonly name: string
  /** `query`, `body of grant` */
  readonly where: string
  readonly needed: boolean
  readonly takes: string
  readonly meaning: string
}

/** In the order in which a command has them. */
export function inputsOf(
  { path, query, headers = [], body }: Operation,
  schemas: Readonly<Record<string, JsonSchema>>,
  kinds: Kinds,
): Input[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { description, schema } = pathParameters(path, name)
    return { name, where: 'path', needed: true, takes: typeIn(schema), meaning: description }
  })
  const inQuery = (query ? queryParameters(query, kinds) : []).map(({ name, required, description, schema }) => ({
    ...{ name, where: 'query', needed: required, takes: typeIn(schema), meaning: description },
  }))
  const inHeaders = headers.map((name) => {
    const { description, schema } = requestHeaders[name]
    return { name, where: 'header', needed: false, takes: typeIn(schema), meaning: description }
  })
  return [...inPath, ...inQuery, ...inHeaders, ...(body ? membersOf(schemas[body.input.name] ?? {}) : [])]
}

/** Of a body with several shapes, those of each. */
function membersOf(schema: JsonSchema): Input[] {
  return shapesOf(schema).flatMap(({ properties = {}, required = [] }) => {
    const kind = properties.type?.const
    return Object.entries(properties).map(([name, member]) => ({
      name,
      where: kind === undefined ? 'body' : `body of ${kind}`,
      needed: required.includes(name),
      takes: typeIn(member),
      meaning: member.description ?? '',
    }))
  })
}

/** In a few words: `ranking | keyword-difficulty`, `list of whole number ≥ 1`. */
function typeIn(schema: JsonSchema): string {
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
