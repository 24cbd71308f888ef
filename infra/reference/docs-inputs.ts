import { requestHeaders } from './headers.ts'
import { meaningOf, shapesOf } from './members.ts'
import type { Operation } from './operation.ts'
import { pathParameters } from './path-parameters.ts'
import { type JsonSchema, queryParameters } from './schemas.ts'
import { typeIn } from './type-in.ts'

/** Something that an operation takes. */
export interface Input {
  readonly name: string
  /** `query`, `body of grant` */
  readonly where: string
  readonly needed: boolean
  readonly takes: string
  readonly meaning: string
}

/** Everything that an operation takes, in the order in which a command has it. */
export function inputsOf(
  { path, query, headers = [], body }: Operation,
  schemas: Readonly<Record<string, JsonSchema>>,
): Input[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { description, schema } = pathParameters(path, name)
    return { name, where: 'path', needed: true, takes: typeIn(schema), meaning: description }
  })
  const inQuery = (query ? queryParameters(query) : []).map(({ name, required, schema }) => ({
    ...{ name, where: 'query', needed: required, takes: typeIn(schema) },
    meaning: meaningOf(`query ${query}`, name) ?? '',
  }))
  const inHeaders = headers.map((name) => {
    const { description, schema } = requestHeaders[name]
    return { name, where: 'header', needed: false, takes: typeIn(schema), meaning: description }
  })
  return [...inPath, ...inQuery, ...inHeaders, ...(body ? membersOf(schemas[body.schema] ?? {}) : [])]
}

/** The members of a body; of one that has several shapes, those of each. */
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
