import type { AnswerHeader, Operation, OperationAnswer } from '../../functions/api/operation.ts'
import { auditOperations } from '../../functions/api/routes/audit.ts'
import { budgetOperations } from '../../functions/api/routes/budgets.ts'
import { callerOperations } from '../../functions/api/routes/callers.ts'
import { decisionOperations } from '../../functions/api/routes/decisions.ts'
import { entryOperations } from '../../functions/api/routes/entries.ts'
import { estimateOperations } from '../../functions/api/routes/estimates.ts'
import { lateDataOperations } from '../../functions/api/routes/late-data.ts'
import { planOperations } from '../../functions/api/routes/plans.ts'
import { referenceOperations } from '../../functions/api/routes/reference.ts'
import { reportOperations } from '../../functions/api/routes/reports/reports.ts'
import { statusOperations } from '../../functions/api/routes/status.ts'
import { updateOperations } from '../../functions/api/routes/updates.ts'
import packaged from '../../package.json' with { type: 'json' }
import { problems, type Slug } from '../../shared/guard/problem-types.ts'
import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { gatewayOperations, pathParameters } from './gateway-operations.ts'
import {
  answerHeaders,
  componentSchemas,
  problemSchemaOf,
  queryParameters,
  refTo,
  requestHeaders,
  slugs,
} from './schemas.ts'

/** Operations by group, in the order of the documentation. */
const groups: Readonly<Record<string, readonly Operation[]>> = {
  Updates: [...estimateOperations, ...updateOperations, ...decisionOperations, ...lateDataOperations],
  Budgets: [...budgetOperations, ...reportOperations.Budgets],
  'Entries and statements': [...entryOperations, ...reportOperations['Entries and statements'], ...auditOperations],
  Callers: callerOperations,
  Plans: planOperations,
  'The guard itself': [...statusOperations, ...referenceOperations],
}

type GroupedOperation = Operation & { readonly group: string }
export const allOperations: readonly GroupedOperation[] = [
  ...Object.entries(groups).flatMap(([group, operations]) => operations.map((operation) => ({ ...operation, group }))),
  ...gatewayOperations.map(([group, operation]) => ({ ...operation, group })),
]

type Part = Readonly<Record<string, unknown>>

const json = 'application/json'
const problemJson = 'application/problem+json'
const responsePath = '#/components/responses/'
const headersTooLarge = 'headers-too-large'

export function openApiDocument(kinds: Kinds = productKinds) {
  const paths: Record<string, Record<string, Part>> = {}
  for (const operation of allOperations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: toOperation(operation, kinds),
    }
  }
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Unit Guard',
      version: packaged.version,
      summary: 'A budget guard for on-demand updates of a metered search-ranking tracking service',
      description:
        'Bodies are JSON, times are RFC 3339 in UTC, units are whole numbers. An unknown value is `null`, never 0. An answer with a status from 400 is a problem (RFC 9457); its `type` is the address of a page.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document comes from' }],
    tags: [...new Set(allOperations.map(({ group }) => group))].map((name) => ({ name })),
    paths,
    components: {
      schemas: componentSchemas(
        allOperations.flatMap(({ body }) => body?.input ?? []),
        kinds,
      ),
      responses: {
        ...Object.fromEntries(slugs.map((slug) => [slug, problemAnswer([slug])])),
        [headersTooLarge]: {
          description:
            'The address and the headers are longer than the platform allows (16 KiB on one machine). The guard never sees the request. On AWS the body is the platform’s own.',
          content: {
            [problemJson]: {
              schema: {
                type: 'object',
                required: ['type', 'title', 'status', 'detail'],
                properties: {
                  type: { type: 'string', const: 'about:blank' },
                  title: { type: 'string' },
                  status: { type: 'integer', const: 431 },
                  detail: { type: 'string' },
                },
              },
            },
          },
        },
      },
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'HS256 with `sub`, `exp`, `aud: "unit-guard"`, `scope` (any of read, run, propose, write, approve, admin) and `budgets` (the budgets that may be charged, with their descendants, or `"*"`). The names in a requirement are scopes.',
        },
      },
    },
  }
  return { ...document, components: { ...document.components, responses: referredTo(document) } }
}

/** Leaves out shared answers that no operation refers to. */
function referredTo({ paths, components: { responses } }: { paths: object; components: { responses: Part } }): Part {
  const text = JSON.stringify(paths)
  return Object.fromEntries(Object.entries(responses).filter(([name]) => text.includes(`"${responsePath}${name}"`)))
}

function toOperation(operation: GroupedOperation, kinds: Kinds): Part {
  const { id, group, summary, details, scopes, body } = operation
  const parameters = parametersOf(operation, kinds)
  return {
    operationId: id,
    tags: [group],
    summary,
    ...(details !== undefined && { description: details }),
    security: (scopes ?? []).map((scope) => ({ bearer: [scope] })),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        content: { [json]: { schema: refTo(body.input.name), example: body.example } },
      },
    }),
    responses: responsesOf(operation),
  }
}

function parametersOf({ path, query, headers = [] }: Operation, kinds: Kinds): Part[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...pathParameters(path, name),
  }))
  const inQuery = (query ? queryParameters(query, kinds) : []).map((parameter) => ({ ...parameter, in: 'query' }))
  return [...inPath, ...inQuery, ...headers.map((name) => ({ name, in: 'header', ...requestHeaders[name] }))]
}

function responsesOf(operation: Operation): Part {
  const answers = Object.entries<OperationAnswer | undefined>(operation.answers).flatMap(([status, answer]) =>
    answer ? [[status, answerOf(answer)] as const] : [],
  )
  const failures = [...problemsByStatus(operation)].map(([status, found]) => {
    const [only] = found
    const others = otherTypes(operation)
    const isShared = found.length === 1 && only !== undefined && others === undefined
    if (isShared) return [status, { $ref: `${responsePath}${only}` }] as const
    return [status, problemAnswer(found, { types: others, headers: operation.answers.default?.headers })] as const
  })
  return Object.fromEntries([...answers, ...failures, [431, { $ref: `${responsePath}${headersTooLarge}` }]])
}

function answerOf({ description, body, csv, headers = [] }: OperationAnswer): Part {
  const content = typeof body === 'string' ? { [json]: { schema: refTo(body) } } : body && { [body.type]: {} }
  return {
    description,
    headers: headersOf(headers),
    ...(content && { content: { ...content, ...(csv && { 'text/csv': { schema: { type: 'string' } } }) } }),
  }
}

const headersOf = (names: readonly (keyof typeof answerHeaders)[]): Part =>
  Object.fromEntries(['X-Request-Id' as const, ...names].map((name) => [name, answerHeaders[name]]))

export const problemsWithToken: readonly Slug[] = [
  'unauthorized',
  'forbidden',
  'too-many-requests',
  'ledger-unavailable',
  'undecided',
  'secret-unavailable',
  'identity-unavailable',
  'internal',
]
export const problemsWithBody: readonly Slug[] = ['invalid-request', 'too-large', 'unsupported-media-type']

export function problemsByStatus(operation: Operation): ReadonlyMap<number, readonly Slug[]> {
  const { scopes, body, query, headers = [], otherStatuses = {} } = operation
  const found = new Set<Slug>([
    'wrong-address',
    ...(scopes ? problemsWithToken : []),
    ...(query || headers.includes('Idempotency-Key') || ['PUT', 'DELETE'].includes(operation.method)
      ? (['invalid-request'] as const)
      : []),
    ...(body ? problemsWithBody : []),
    ...operation.problems,
  ])
  const byStatus = new Map<number, Slug[]>()
  const add = (status: number, slug: Slug) => byStatus.set(status, [...(byStatus.get(status) ?? []), slug])
  for (const slug of found) add(problems[slug].status, slug)
  for (const [status, slugs] of Object.entries(otherStatuses)) for (const slug of slugs) add(Number(status), slug)
  return new Map([...byStatus].toSorted(([a], [b]) => a - b))
}

/** If the API and the dashboard share an address, the answer to a missing page is a page. */
function otherTypes({ answers, mayBeOfService }: Operation): Part | undefined {
  if (mayBeOfService) return { '*/*': {} }
  const body = answers[200]?.body
  return typeof body === 'object' && body?.type === 'text/html' ? { 'text/html': {} } : undefined
}

/** @param service what the service's own answers with this status add. */
function problemAnswer(
  found: readonly Slug[],
  service: { readonly types?: Part | undefined; readonly headers?: readonly AnswerHeader[] | undefined } = {},
): Part {
  const refs = found.map((slug) => refTo(problemSchemaOf(slug)))
  return {
    description: found.map((slug) => problems[slug].title).join('; '),
    headers: headersOf([...(service.headers ?? []), ...found.flatMap((slug) => headersOfProblem[slug] ?? [])]),
    content: {
      [problemJson]: { schema: refs.length === 1 ? refs[0] : { anyOf: refs } },
      ...service.types,
    },
  }
}

const headersOfProblem: Partial<Record<Slug, readonly (keyof typeof answerHeaders)[]>> = {
  unauthorized: ['WWW-Authenticate'],
  'method-not-allowed': ['Allow'],
  'too-many-requests': ['Retry-After'],
  undecided: ['Retry-After'],
  'service-refused': ['Retry-After'],
}
