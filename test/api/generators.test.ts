import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../infra/openapi/document.ts'

/** Rules without which a generator of clients fails, or makes a client that fails. `npm run check:clients` tries some. */

// biome-ignore lint/suspicious/noExplicitAny: the document is read here as a stranger reads it.
type Node = any
type Visit = (node: Node, path: readonly string[]) => boolean

const document: Node = JSON.parse(JSON.stringify(openApiDocument()))

/** Generators do not read what these keywords hold. Examples are no schemas. */
const unread = ['not', 'if', 'then', 'else', 'contains', 'example', 'examples', 'propertyNames']

function placesOf(root: Node, isFault: Visit): string[] {
  const places: string[] = []
  const walk = (node: Node, path: readonly string[]): void => {
    if (node === null || typeof node !== 'object') return
    if (!Array.isArray(node) && isFault(node, path)) places.push(path.join('/'))
    for (const [name, member] of Object.entries(node)) {
      const isName = path.at(-1) === 'properties'
      if (isName || !unread.includes(name)) walk(member, [...path, name])
    }
  }
  walk(root, [])
  return places
}

const unionOf = ({ oneOf, anyOf }: Node): readonly Node[] => [...(oneOf ?? []), ...(anyOf ?? [])]
const typesOf = ({ type }: Node): readonly string[] => [type ?? []].flat()

const rules: readonly (readonly [name: string, reason: string, isFault: Visit, planted: Node])[] = [
  [
    'a boolean that only one value may be',
    'openapi-generator compares true with the text "true", so a Python client reads no update with force',
    ({ type, const: only, enum: among }) => typeof only === 'boolean' || (type === 'boolean' && among !== undefined),
    { properties: { force: { type: 'boolean', const: true } } },
  ],
  [
    'a type that is only null',
    'openapi-generator ends with an exception for Python, and writes a type that does not compile for Go and TypeScript',
    (node, path) => typesOf(node).join() === 'null' && !['anyOf', 'oneOf'].includes(path.at(-2) ?? ''),
    { properties: { budget: { type: 'null' } } },
  ],
  [
    'a union beside members',
    'every generator takes the union for the whole type, and leaves out the members: no update could be asked for',
    (node) => unionOf(node).length > 0 && ['properties', '$ref', 'items'].some((name) => name in node),
    { type: 'object', properties: { project: {} }, oneOf: [{ required: ['project'] }] },
  ],
  [
    'two unions side by side',
    'openapi-python-client joins them to one union',
    ({ oneOf, anyOf }) => oneOf !== undefined && anyOf !== undefined,
    { oneOf: [{}], anyOf: [{}] },
  ],
  [
    'a constant text in a union',
    'openapi-python-client compares every other value with the constant, so it reads no budget with a limit of 100; an enum is tried in turn',
    (node) => unionOf(node).some((part) => part.const !== undefined),
    { anyOf: [{ type: 'integer' }, { type: 'string', const: 'unlimited' }] },
  ],
  [
    'an unnamed shape in a union that has a name',
    'openapi-python-client makes the types inside twice, and leaves out the shape',
    (node, path) => path.length === 3 && path[1] === 'schemas' && unionOf(node).some((part) => part.$ref === undefined),
    { components: { schemas: { Resolved: { anyOf: [{ type: 'object' }] } } } },
  ],
  [
    'an unnamed map in a union',
    'oapi-codegen gives two types one name, and ends',
    (node) => unionOf(node).some((part) => part.type === 'object' && part.properties === undefined),
    { anyOf: [{ type: 'integer' }, { type: 'object', additionalProperties: {} }] },
  ],
  [
    'a range of statuses',
    'oazapfts writes it as a number, which does not compile',
    (node) => Object.keys(node.responses ?? {}).some((status) => /XX/i.test(status)),
    { responses: { '2XX': {} } },
  ],
]

describe('generators of clients can read the OpenAPI document', () => {
  test.each(rules)('the OpenAPI document has no place with %s, because %s', (_name, _reason, isFault) => {
    expect(placesOf(document, isFault)).toEqual([])
  })

  test.each(rules)('a planted fault is found: %s', (_name, _reason, isFault, planted) => {
    expect(placesOf(planted, isFault)).toHaveLength(1)
  })

  // openapi-generator gives both one name in TypeScript, such as EstimateKindEnum, and the client does not compile.
  test('no operation and no schema have names that differ only in case and signs', () => {
    const operations = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods as Node).map(({ operationId }: Node) => operationId),
    )
    const names: string[] = [...operations, ...Object.keys(document.components.schemas)]
    expect(names.length).toBeGreaterThan(100)
    const plain = (name: string) => name.replace(/[^a-z0-9]/gi, '').toLowerCase()
    const shared = names.filter((name) => names.some((other) => other !== name && plain(other) === plain(name)))
    expect(shared).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})
