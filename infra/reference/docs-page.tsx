import { Page } from '../../functions/api/pages/layout.tsx'
import { problems } from '../../shared/guard/problems.ts'
import { curlOf } from './curl.ts'
import { allOperations, problemsByStatus } from './document.ts'
import { requestHeaders } from './headers.ts'
import { meaningOf } from './members.ts'
import type { Operation } from './operations.ts'
import { pathParameters } from './path-parameters.ts'
import { Prose } from './prose.tsx'
import { type JsonSchema, queryParameters } from './schemas.ts'
import { typeIn } from './type-in.ts'

type Schemas = Readonly<Record<string, JsonSchema>>

/** The OpenAPI document as a page: every operation by its group, with a command that can be pasted. */
export const DocsPage = ({ schemas }: { schemas: Schemas }) => {
  const groups = [...new Set(allOperations.map(({ group }) => group))]
  return (
    <Page title="The HTTP API">
      <section>
        <p>
          Every address but those of the last group of the guard’s own takes <code>Authorization: Bearer</code> and a
          token; nothing else lets in. Bodies are JSON, times RFC 3339 in UTC, units whole numbers; what is not known is{' '}
          <code>null</code>, never 0. For programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1). The
          commands take two variables:
        </p>
        <pre>{'auth="Authorization: Bearer $UNIT_GUARD_TOKEN"\njson="Content-Type: application/json"'}</pre>
        <nav aria-label="Groups">
          <ul>
            {groups.map((group) => (
              <li>
                <a href={`#${anchorOf(group)}`}>{group}</a>
              </li>
            ))}
          </ul>
        </nav>
      </section>
      {groups.map((group) => (
        <section aria-labelledby={anchorOf(group)}>
          <h2 id={anchorOf(group)}>{group}</h2>
          {allOperations
            .filter((operation) => operation.group === group)
            .map((operation) => (
              <OperationShown operation={operation} schemas={schemas} />
            ))}
        </section>
      ))}
    </Page>
  )
}

const anchorOf = (group: string): string => group.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

const OperationShown = ({ operation, schemas }: { operation: Operation; schemas: Schemas }) => {
  const { id, method, path, summary, more, scopes } = operation
  return (
    <article id={id}>
      <h3>
        <code>
          {method} {path}
        </code>
      </h3>
      <p>
        <Prose of={summary} />. {scopes ? `Scope: ${scopes.join(' or ')}.` : 'No token.'}
      </p>
      {more === undefined ? null : (
        <p>
          <Prose of={more} />
        </p>
      )}
      <Inputs of={inputsOf(operation, schemas)} />
      <pre>{curlOf(operation)}</pre>
      <Answers of={operation} />
    </article>
  )
}

interface Input {
  readonly name: string
  readonly where: string
  readonly takes: string
  readonly meaning: string
}

const Inputs = ({ of: inputs }: { of: readonly Input[] }) => {
  if (inputs.length === 0) return null
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">In</th>
            <th scope="col">Takes</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {inputs.map(({ name, where, takes, meaning }) => (
            <tr>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{where}</td>
              <td>{takes}</td>
              <td>
                <Prose of={meaning} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inputsOf({ path, query, headers = [], body }: Operation, schemas: Schemas): Input[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { description, schema } = pathParameters(path, name)
    return { name, where: 'path', takes: typeIn(schema), meaning: description }
  })
  const inQuery = (query ? queryParameters(query) : []).map(({ name, required, schema }) => ({
    ...{ name, where: required ? 'query, needed' : 'query', takes: typeIn(schema) },
    meaning: meaningOf(`query ${query}`, name) ?? '',
  }))
  const inHeaders = headers.map((name) => {
    const { description, schema } = requestHeaders[name]
    return { name, where: 'header', takes: typeIn(schema), meaning: description }
  })
  return [...inPath, ...inQuery, ...inHeaders, ...(body ? membersOf(schemas[body.schema] ?? {}) : [])]
}

/** The members of a body; of one that has several shapes, each shape by what it begins with. */
function membersOf(schema: JsonSchema): Input[] {
  const shapes: JsonSchema[] = Array.isArray(schema.oneOf) && !schema.properties ? schema.oneOf : [schema]
  return shapes.flatMap((shape) => {
    const { properties = {}, required = [] } = shape as { properties?: Record<string, JsonSchema>; required?: string[] }
    const kind = properties.type?.const
    return Object.entries(properties).map(([name, member]) => ({
      name,
      where: `${kind === undefined ? 'body' : `body of ${kind}`}${required.includes(name) ? ', needed' : ''}`,
      takes: typeIn(member),
      meaning: String(member.description ?? ''),
    }))
  })
}

const Answers = ({ of }: { of: Operation }) => (
  <ul>
    {Object.entries(of.answers).map(([status, answer]) => (
      <li>
        <strong>{status}</strong> <Prose of={answer?.means ?? ''} />
        {answer?.csv ? ' (with Accept: text/csv all rows as CSV)' : ''}
      </li>
    ))}
    {[...problemsByStatus(of)].map(([status, slugs]) => (
      <li>
        <strong>{status}</strong>{' '}
        {slugs.map((slug, at) => (
          <>
            {at > 0 ? ', ' : ''}
            <a href={`/problems/${slug}`} title={problems[slug].title}>
              {slug}
            </a>
          </>
        ))}
      </li>
    ))}
  </ul>
)
