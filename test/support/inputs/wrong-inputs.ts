import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'

/** The parts of a JSON Schema that are read in the OpenAPI document. */
export interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: false | Schema
  readonly if?: Schema
  readonly else?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly const?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}
/** The place and kind of the fault, and the whole body. */
type WrongBody = readonly [at: string, wrong: string, body: string]
type Path = readonly string[]

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const takes = (schema: Schema, text: string) =>
  !/1e400|ud800/.test(text) && ajv.validate(schema as AnySchema, JSON.parse(text))

const texts = ['acme', 'ent_1', '4h', 'C0123456', '2026-11-20T05:00:00Z']

/** A value that the schema accepts. */
function sampleOf(schema: Schema): unknown {
  const { type, anyOf, items = {}, properties = {}, required = [] } = schema
  if (anyOf && !type) return sampleOf(anyOf[0] ?? {})
  if (schema.const ?? schema.enum) return schema.const ?? schema.enum?.[0]
  if (type === 'integer') return Math.max(1, schema.minimum ?? 0)
  if (type === 'string') return texts.find((text) => takes(schema, JSON.stringify(text)))
  if (type === 'array') return [sampleOf(items)]
  if (type === 'object') return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]))
  return true
}

/** The schemas with the members: the schema itself, or its alternatives. */
const partsOf = (schema: Schema): readonly Schema[] =>
  schema.type ? [schema] : (schema.anyOf ?? []).filter(({ properties, items }) => properties ?? items)

const memberOf = (schema: Schema, name: string): Schema =>
  schema.properties?.[name] ?? schema.items ?? Object(schema.additionalProperties)

/** A valid body, except that the member at the path is `text` or missing. */
export function bodyWith(schema: Schema, [name = '', ...rest]: Path, text?: string): string {
  const [part = schema] = partsOf(schema)
  const inner = rest.length > 0 ? bodyWith(memberOf(part, name), rest, text) : text
  if (part.items) return `[${inner ?? ''}]`
  const either = [part.if, part.else].flatMap((rule) => (part.else ? (rule?.required ?? []) : []))
  const needed = [...(part.required ?? []), ...(either.includes(name) ? [] : either.slice(0, 1))]
  const members = needed.filter((each) => each !== name).map((each) => [each, sampleOf(memberOf(part, each))] as const)
  const others = members.map(([each, value]) => `${JSON.stringify(each)}:${JSON.stringify(value)}`)
  return `{${[...others, ...(inner === undefined ? [] : [`${JSON.stringify(name)}:${inner}`])].join()}}`
}

function* membersOf(schema: Schema, at: Path = []): Generator<readonly [Path, Schema, isRequired: boolean]> {
  for (const { properties = {}, items, additionalProperties, required = [] } of partsOf(schema)) {
    const inner = items ? { 0: items } : additionalProperties ? { a: additionalProperties } : properties
    for (const [name, member] of Object.entries(inner)) {
      yield [[...at, name], member, required.includes(name)]
      yield* membersOf(member, [...at, name])
    }
  }
}

const ofEachType =
  'null|true|-1|0|1.5|1e400|9007199254740993|"0x10"|"5"|""|"A b"|"a\\u0085"|"\\ud800"|"constructor"|[]|[null]|{}'.split(
    '|',
  )
const list = (count: number, of: (position: number) => unknown) => Array.from({ length: count }, (_, each) => of(each))

/** A value that is one too long or too large. */
function tooMuchOf(schema: Schema): readonly (readonly [name: string, value: unknown])[] {
  const { maximum, maxLength, maxItems, maxProperties, items = {} } = schema
  const item = sampleOf(items)
  const own = (at: number) => (typeof item === 'string' ? `acme${at}` : { ...Object(item), name: `acme${at}` })
  const fromEntries = (count: number) => Object.fromEntries(list(count, (at) => [`a${at}`, '1']) as [string, string][])
  const isNamed = !items.enum && (typeof item === 'string' || items.properties?.name)
  return [
    ...(maximum === undefined ? [] : ([[`${maximum + 1}`, maximum + 1]] as const)),
    ...(maxItems ? ([[`${maxItems + 1} items`, list(maxItems + 1, (at) => (isNamed ? own(at) : item))]] as const) : []),
    ...(maxProperties ? ([[`${maxProperties + 1} names`, fromEntries(maxProperties + 1)]] as const) : []),
    ...[64, 257, ...(maxLength ? [maxLength + 1] : [])].map((of) => [`${of} characters`, 'x'.repeat(of)] as const),
  ]
}

/** Values of every type and values that are too large, which the schema forbids. */
const wrongFor = (schema: Schema): readonly (readonly [name: string, text: string])[] =>
  [
    ...ofEachType.map((text) => [text, text] as const),
    ...[schema, ...(schema.anyOf ?? [])]
      .flatMap(tooMuchOf)
      .map(([name, value]) => [name, JSON.stringify(value)] as const),
  ].filter(([name, text], at, all) => !takes(schema, text) && all.findIndex(([other]) => other === name) === at)

const inCapitals = (name: string) => name.replace(/^./, (first) => first.toUpperCase())

/** Bodies with each member missing, of every wrong type, too long and in two spellings, and with unknown members. */
export function* wrongBodies(schema: Schema): Generator<WrongBody> {
  for (const [path, member, isRequired] of membersOf(schema)) {
    if (isRequired) yield [path.join('.'), 'missing', bodyWith(schema, path)]
    for (const [name, text] of wrongFor(member)) yield [path.join('.'), name, bodyWith(schema, path, text)]
  }
  for (const [path, member] of [[[], schema] as const, ...membersOf(schema)])
    for (const { properties = {}, additionalProperties } of partsOf(member)) {
      const [name = ''] = Object.keys(properties)
      if (additionalProperties !== false) continue
      for (const unknown of ['__proto__', 'constructor', inCapitals(name)].map((each) => [...path, each]))
        yield [unknown.join('.'), 'unknown', bodyWith(schema, unknown, '1')]
      const twice = `{"${name}":1,"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":1}`
      yield [[...path, name].join('.'), 'in two spellings', path.length > 0 ? bodyWith(schema, path, twice) : twice]
    }
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

const values = [
  '',
  'x',
  '0',
  '-1',
  '201',
  '1.5',
  '1e2',
  '0x10',
  '050',
  '%2B5',
  '100%',
  '%ff',
  '%ed%a0%80',
  'a%00',
  '..',
]
const times = ['2026-11-20', '2026-11-20T10:00:00', '2026-02-30T00:00:00Z', '2026-11-20T24:00:00Z']
const windows = ['month:2026-11-02', 'month:2026-13-45', 'day:2026-11-20']

/** Queries with each parameter given mostly wrong values, twice and in capitals, beside the required ones. */
export function* wrongQueries(parameters: readonly Parameter[]): Generator<WrongBody> {
  for (const { name } of parameters) {
    const needed = parameters.filter((each) => each.required && each.name !== name)
    const others = needed.map((each) => `&${each.name}=${[sampleOf(each.schema)].flat()[0]}`).join('')
    const all = [...values, ...times, ...windows].map((value) => [`“${value}”`, value])
    for (const [shown = '', value] of [...all, ['2001 characters', 'x'.repeat(2_001)]])
      yield [name, shown, `${name}=${value}${others}`]
    yield [name, 'twice', `${name}=a&${name}=a${others}`]
    yield [inCapitals(name), 'unknown', `${inCapitals(name)}=a${others}`]
  }
}
