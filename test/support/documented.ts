import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApiDocument } from '../../infra/openapi/document.ts'
import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'

export interface Answered {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

// biome-ignore lint/suspicious/noExplicitAny: the document is read here as a stranger reads it.
type Node = any

/**
 * Fails if an answer does not match the OpenAPI document, or shows an error in a library's words. On other paths JSON must be a problem;
 * the service's own answers are not checked.
 */
export function mustBeDocumented(answered: Answered, kinds: Kinds = productKinds): void {
  const { method, path, status, headers, text } = answered
  const reference = referenceOf(kinds)
  if (text.includes('Invalid input')) throw new Error(`${method} ${path} does not say what it takes: ${text}`)
  const type = headers.get('content-type')?.split(';')[0] ?? null
  const operation = operationAt(reference, method, path)
  if (!operation) {
    if (/json/.test(type ?? '')) mustFit(reference, '#/components/schemas/Problem', answered)
    return
  }
  const response = responseTo(reference, operation, status)
  if (!response) throw new Error(`${method} ${path} answered ${status}, which is not in the OpenAPI document`)
  const { content } = response.node
  const isAny = content?.['*/*'] !== undefined && type !== 'application/problem+json'
  if (isAny || (text === '' && content === undefined)) return
  if (content?.[type ?? ''] === undefined) {
    throw new Error(`${method} ${path} answered ${status} as ${type}, which is not in the OpenAPI document`)
  }
  if (/json/.test(type ?? '') && content[type ?? ''].schema) {
    mustFit(reference, `${response.at}/content/${pointed(type ?? '')}/schema`, answered)
  }
}

interface Reference {
  readonly document: Node
  readonly ajv: Ajv2020
  readonly paths: readonly { template: string; pattern: RegExp }[]
  readonly compiled: Map<string, ValidateFunction>
}

const references = new Map<Kinds, Reference>()

/** Made once in each process for each table of kinds, when it is first needed. */
function referenceOf(kinds: Kinds): Reference {
  const known = references.get(kinds)
  if (known) return known
  const document = openApiDocument(kinds)
  // Another test validates the document, so compiling can be fast here.
  const quick = { validateSchema: false, meta: false, inlineRefs: false, code: { optimize: false } }
  const ajv = new Ajv2020({ ...quick, strict: false, formats: { 'date-time': isTime } })
  ajv.addSchema({ $id: 'openapi', ...document })
  // Literal segments go before parameters.
  const templates = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length)
  const paths = templates.map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  const made = { document, ajv, paths, compiled: new Map() }
  references.set(kinds, made)
  return made
}

const isTime = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)

function operationAt(
  { document, paths }: Reference,
  method: string,
  path: string,
): { at: string; node: Node } | undefined {
  const plain = decoded(path.replace(/[?#].*$/, ''))
  const template = paths.find(({ pattern }) => pattern.test(plain))?.template
  const node = template && document.paths[template]?.[method.toLowerCase()]
  return node && { at: `#/paths/${pointed(template)}/${method.toLowerCase()}`, node }
}

/** The router decodes escaped letters, too. */
function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

function responseTo(
  { document }: Reference,
  { at, node }: { at: string; node: Node },
  status: number,
): { at: string; node: Node } | undefined {
  const key = [String(status), 'default'].find((each) => each in node.responses)
  if (key === undefined) return undefined
  const response = node.responses[key]
  if (response.$ref === undefined) return { at: `${at}/responses/${key}`, node: response }
  const name = response.$ref.replace('#/components/responses/', '')
  return { at: response.$ref, node: document.components.responses[name] }
}

function mustFit({ ajv, compiled }: Reference, pointer: string, { method, path, status, text }: Answered): void {
  const fits = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi${pointer}` })
  compiled.set(pointer, fits)
  const body = JSON.parse(text)
  if (fits(body)) return
  const faults = (fits.errors ?? []).map(({ instancePath, message, params, schemaPath }) => ({
    instancePath,
    message,
    schemaPath,
    ...params,
  }))
  throw new Error(
    `${method} ${path} answered ${status} with a body that is not in the OpenAPI document: ${JSON.stringify(faults.slice(0, 8), null, 1)}\n${text.slice(0, 2_000)}`,
  )
}

/** RFC 6901, in a URI fragment. */
const pointed = (segment: string): string => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))
