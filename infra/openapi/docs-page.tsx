import type { Operation } from '../../functions/api/operation.ts'
import { Page } from '../../functions/dashboard/kit/layout.tsx'
import { type JsonSchema, shapesOf } from '../../shared/api/json-schema.ts'
import { problems, type Slug } from '../../shared/guard/problem-types.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { allOperations, problemsByStatus, problemsWithBody, problemsWithToken } from './document.ts'
import { pathParameters } from './gateway-operations.ts'
import { queryParameters, requestHeaders } from './schemas.ts'

type Schemas = Readonly<Record<string, JsonSchema>>

export const DocsPage = ({ schemas, kinds }: { schemas: Schemas; kinds: Kinds }) => {
  const groups = [...new Set(allOperations.map(({ group }) => group))]
  return (
    <Page title="The HTTP API">
      <link rel="stylesheet" href="/docs.css" />
      <nav aria-label="Contents" class="contents">
        <ul>
          {groups.map((group) => (
            <li>
              <a href={`#${anchorOf(group)}`}>{group}</a>
            </li>
          ))}
        </ul>
      </nav>
      <section>
        <p>
          For programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1). Bodies are JSON, times are RFC 3339 in
          UTC, units are whole numbers. An unknown value is <code>null</code>, never 0. An operation with a scope needs
          a bearer token with this very scope. The commands use three variables:
        </p>
        <pre>
          {
            'UNIT_GUARD_URL=https://…   # the address of the API\nauth="Authorization: Bearer $UNIT_GUARD_TOKEN"\njson="Content-Type: application/json"'
          }
        </pre>
        <p>
          An answer with a status from 400 is a problem, with a sentence in <code>detail</code>. Every operation with a
          token may answer <ProblemLinks of={everywhere} />. Every operation with a body may answer{' '}
          <ProblemLinks of={problemsWithBody} />. A wrong method is <ProblemLinks of={['method-not-allowed']} />.
        </p>
      </section>
      {groups.map((group) => (
        <section aria-labelledby={anchorOf(group)}>
          <h2 id={anchorOf(group)}>{group}</h2>
          {allOperations
            .filter((operation) => operation.group === group)
            .map((operation) => (
              <OperationShown operation={operation} schemas={schemas} kinds={kinds} />
            ))}
        </section>
      ))}
    </Page>
  )
}

const everywhere: readonly Slug[] = ['wrong-address', ...problemsWithToken]

const anchorOf = (group: string): string => group.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

const OperationShown = ({ operation, schemas, kinds }: { operation: Operation; schemas: Schemas; kinds: Kinds }) => {
  const { id, method, path, summary, details, scopes } = operation
  return (
    <article id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>
        <span class="method">{method}</span>
        <a href={`#${id}`}>
          <code>{path}</code>
        </a>
      </h3>
      <p>
        <Prose of={summary} />. <span class="note">{scopes ? `Scope: ${scopes.join(' or ')}.` : 'No token.'}</span>
      </p>
      {details === undefined ? null : (
        <p>
          <Prose of={details} />
        </p>
      )}
      <Inputs of={inputsOf(operation, schemas, kinds)} />
      <pre>{curlOf(operation)}</pre>
      <Answers of={operation} />
    </article>
  )
}

const Inputs = ({ of: inputs }: { of: readonly Input[] }) =>
  inputs.length === 0 ? null : (
    <dl class="inputs">
      {inputs.map(({ name, where, needed, takes, meaning }) => (
        <div>
          <dt>
            <code>{name}</code>
            <span class="note">{needed ? `${where}, needed` : where}</span>
          </dt>
          <dd>
            <Prose of={meaning} />
            <span class="note">{takes}</span>
          </dd>
        </div>
      ))}
    </dl>
  )

const Answers = ({ of }: { of: Operation }) => {
  const own = [...problemsByStatus(of)]
    .map(
      ([status, slugs]) =>
        [status, slugs.filter((slug) => !everywhere.includes(slug) && !problemsWithBody.includes(slug))] as const,
    )
    .filter(([, slugs]) => slugs.length > 0)
  return (
    <ul class="answers">
      {Object.entries(of.answers).map(([status, answer]) => (
        <li>
          <strong>{status}</strong> <Prose of={answer?.description ?? ''} />
          {answer?.csv ? ' (with Accept: text/csv all rows as CSV)' : ''}
        </li>
      ))}
      {own.map(([status, slugs]) => (
        <li>
          <strong>{status}</strong> <ProblemLinks of={slugs} />
        </li>
      ))}
    </ul>
  )
}

const ProblemLinks = ({ of: slugs }: { of: readonly Slug[] }) => (
  <>
    {slugs.map((slug, at) => (
      <>
        {at > 0 ? ', ' : ''}
        <a href={`/problems/${slug}`} title={problems[slug].title}>
          {slug}
        </a>
      </>
    ))}
  </>
)

/** Uses the variables `auth` and `json`. */
function curlOf({ method, path, example, scopes, body }: Operation): string {
  const target = example ?? path.replace(/\{(\w+)\}/g, (_, name) => pathParameters(path, name).example ?? name)
  const asked = method === 'GET' ? 'curl -s' : `curl -s -X ${method}`
  const auth = scopes ? ' -H "$auth"' : ''
  const sent = body ? ` -H "$json" \\\n  -d '${JSON.stringify(body.example)}'` : ''
  return `${asked} "$UNIT_GUARD_URL${target}"${auth}${sent}`
}

interface Input {
  readonly name: string
  /** `query`, `body of grant` */
  readonly where: string
  readonly needed: boolean
  readonly takes: string
  readonly meaning: string
}

function inputsOf(
  { path, query, headers = [], body }: Operation,
  schemas: Readonly<Record<string, JsonSchema>>,
  kinds: Kinds,
): Input[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { description, schema } = pathParameters(path, name)
    return { name, where: 'path', needed: true, takes: typeIn(schema), meaning: description }
  })
  const inQuery = (query ? queryParameters(query, kinds) : []).map(({ name, required, description, schema }) => ({
    name,
    where: 'query',
    needed: required,
    takes: typeIn(schema),
    meaning: description,
  }))
  const inHeaders = headers.map((name) => {
    const { description, schema } = requestHeaders[name]
    return { name, where: 'header', needed: false, takes: typeIn(schema), meaning: description }
  })
  return [...inPath, ...inQuery, ...inHeaders, ...(body ? membersOf(schemas[body.input.name] ?? {}, schemas) : [])]
}

/** The members of a body. If it has several shapes, the members of each shape. */
function membersOf(schema: JsonSchema, schemas: Schemas): Input[] {
  const shapes = shapesOf(schema).map((shape) => schemas[String(shape.$ref).split('/').at(-1) ?? ''] ?? shape)
  return shapes.flatMap(({ properties = {}, required = [] }) => {
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

/** A type in a few words, such as `ranking | keyword-difficulty` or `whole number from 1`. */
function typeIn(schema: JsonSchema): string {
  const { type, minimum, maximum, format, items, properties } = schema
  const among = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (Array.isArray(among)) return among.length > maxNamed ? `one of ${among.length} values` : among.join(' | ')
  const either = schema.anyOf ?? schema.oneOf
  if (either) return either.map(typeIn).join(' | ')
  if (schema.$ref) return 'object'
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

const maxNamed = 16

/** Text between backticks is code. */
export const Prose = ({ of }: { of: string }) => (
  <>{of.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
)
