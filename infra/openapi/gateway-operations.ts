import { gatewayPath } from '../../functions/api/context.ts'
import {
  type Body,
  type Operation,
  type OperationAnswer,
  recordedProblems,
  refusals,
} from '../../functions/api/operation.ts'
import type { JsonSchema } from '../../shared/api/json-schema.ts'
import { type OperationName, operationNames, operations, parameters } from '../../shared/tracking/operations.ts'
import { createProjectInput, createProjectQuery, updateProjectInput } from '../../shared/tracking/projects.ts'
import { projectName } from './schemas.ts'

const serviceAnswer: OperationAnswer = {
  description: 'The service’s own answer: its status, its headers, its bytes',
  body: { type: '*/*' },
}
const otherStatus: OperationAnswer = {
  ...serviceAnswer,
  description: 'Any other status of the service, with its headers and bytes',
}

const updateHeaders: NonNullable<OperationAnswer['headers']> = [
  'Unit-Guard-Update',
  'Unit-Guard-State',
  'Unit-Guard-Units-Charged',
  'Unit-Guard-Units-Charged-Now',
  'Unit-Guard-Units-Available',
  'Unit-Guard-Replayed',
  'Idempotency-Replayed',
]

const ran: OperationAnswer = {
  description:
    'The service’s own status and body, within the cool-down those of the earlier update. 200 with the Update if its body was not stored whole. 200 with Updates for several projects. With `Unit-Guard-State: in-doubt` the answer does not prove that the update ran',
  body: { type: '*/*' },
  headers: updateHeaders,
}
const pending: OperationAnswer = {
  description:
    'Updates: the update is running, requested or awaiting approval, or it is in doubt and no whole answer of the service was stored. Or the service’s own 202, with its body',
  body: { type: '*/*' },
  headers: updateHeaders,
}

const otherAnswer: OperationAnswer = {
  description:
    'Another status of the service, with its body. From 201 to 299 as in 200. Others are of an update in doubt, with `Unit-Guard-State: in-doubt`; the same request again is 409 `duplicate-work`',
  body: { type: '*/*' },
  headers: ['Unit-Guard-Update', 'Unit-Guard-State', 'Idempotency-Replayed'],
}

const bodies: Readonly<Record<'CreateProjectInput' | 'UpdateProjectInput', { input: Body; example: unknown }>> = {
  CreateProjectInput: {
    input: {
      name: 'CreateProjectInput',
      schema: createProjectInput,
      texts: { keywords: 'Keywords.', searchengines: 'Search engines.', websites: 'Websites.' },
    },
    example: {
      keywords: [{ name: 'running shoes' }],
      searchengines: [{ name: 'Google', country: 'DE', language: 'de' }],
      websites: [{ name: 'acme.example' }],
    },
  },
  UpdateProjectInput: {
    input: {
      name: 'UpdateProjectInput',
      schema: updateProjectInput,
      texts: {
        keywords: 'Keywords that are set.',
        websites: 'Websites that are set.',
        addSearchengines: 'Search engines that are added.',
        removeSearchengines: 'Search engines that are removed.',
      },
    },
    example: { keywords: [{ name: 'trail shoes' }] },
  },
}

const createQuery = {
  schema: createProjectQuery,
  texts: {
    frequency:
      'How often the service updates the project on its own. Any value but `ondemand`, and no value, needs the scope `admin`.',
    country: 'A country code of the interface.',
  },
}

const texts: Partial<Record<OperationName, { readonly example?: string; readonly details: string }>> = {
  'create-project': {
    example: '/v3/projects/acme-shop/create?frequency=ondemand',
    details:
      'Without `?frequency=ondemand`, or with another member called `frequency` or `schedule` in query or body, it also needs the scope `admin`, because a scheduled project reserves units.',
  },
  'update-project': {
    details:
      'With a member called `frequency` or `schedule` in query or body, it also needs the scope `admin`, because a scheduled project reserves units.',
  },
}

export const gatewayOperations: readonly (readonly [group: string, operation: Operation])[] = operationNames.map(
  (name) => [`Gateway: ${operations[name].section}`, toOperation(name)],
)

function toOperation(name: OperationName): Operation {
  const { method, path, purpose, scope, guarded, body, query } = operations[name]
  const common = { method, path: `${gatewayPath}${path}`, id: name } as const
  if (guarded !== null) {
    return {
      ...common,
      scopes: ['run'],
      summary: `${sentence(purpose)}, guarded: held against its budgets, and sent at most once`,
      details:
        'If `PROJECT_SEPARATOR` is set, a segment may name several projects. The answer is then 200 with `updates`, or the problem. If it is not set, such a segment is 400.',
      headers: ['Unit-Guard-Budget', 'Unit-Guard-Tags', 'Idempotency-Key'],
      answers: { 200: ran, 202: pending, default: otherAnswer },
      problems: [...refusals, 'invalid-request'],
      otherStatuses: recordedProblems,
      mayBeOfService: true,
    }
  }
  return {
    ...common,
    scopes: [scope],
    summary: sentence(purpose),
    ...texts[name],
    ...(query.length > 0 && { query: createQuery }),
    ...(body && { body: bodies[body] }),
    answers: { 200: serviceAnswer, default: otherStatus },
    problems: ['invalid-request', 'not-found', 'service-unreachable'],
    mayBeOfService: true,
  }
}

function sentence(purpose: string): string {
  return purpose.replace(/^[a-z]/, (letter) => letter.toUpperCase())
}

interface Parameter {
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: string
}

const text = { type: 'string', minLength: 1 }
const subject = { type: 'string', pattern: '^[\\x21\\x22\\x24-\\x7e]{1,256}$' }
const shortName = { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }

const own: Readonly<Record<string, Parameter>> = {
  '/budgets {name}': { description: 'A budget; `account` is the root of all.', schema: shortName, example: 'seo' },
  '/plans {name}': { description: 'A plan.', schema: shortName, example: 'morning' },
  '/updates {id}': { description: 'An update.', schema: text, example: 'upd_0k3v9q2m' },
  '/callers {sub}': { description: 'A caller.', schema: subject, example: 'eve' },
  '/problems {slug}': { description: 'A type of problem.', schema: text, example: 'over-budget' },
}

/** @throws Error for a parameter without a description. */
export function pathParameters(path: string, name: string): Parameter {
  const [, first = ''] = path.split('/')
  const found = `/${first}` === gatewayPath ? ofService(path, name) : own[`/${first} {${name}}`]
  if (!found) throw new Error(`the parameter {${name}} of ${path} is not described`)
  return found
}

function ofService(path: string, name: string): Parameter | undefined {
  const known = Object.entries(parameters).find(([each]) => each === name)
  const schema = path.endsWith('/run') ? projectName : text
  return known && { description: `${known[1]}; it is forwarded exactly as encoded`, schema, example: exampleOf(name) }
}

const exampleOf = (name: string): string => (name === 'name' ? 'initech' : '1003')
