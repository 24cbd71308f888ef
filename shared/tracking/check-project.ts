import type * as z from 'zod/mini'
import { fromUtf8 } from '../platform/utf8.ts'
import { queryValues } from './query.ts'
import {
  type CreateProjectInput,
  type CreateProjectQuery,
  createProjectInput,
  createProjectQuery,
  type UpdateProjectInput,
  updateProjectInput,
} from './schemas.ts'
import { parseStrictJson } from './strict-json.ts'

/** One thing that is wrong: where, as `keywords.0.name` (empty: the whole), and what it takes there instead. */
interface Fault {
  readonly path: string
  readonly message: string
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  /** All that is wrong, at once; nothing of what was sent is in it. */
  | { readonly ok: false; readonly faults: readonly Fault[] }

/** CreateProjectInput of the interface; `value` has its defaults. */
export const checkCreateProject = (body: Uint8Array): Checked<CreateProjectInput> => checkBody(createProjectInput, body)

/** UpdateProjectInput of the interface; `value` has the defaults of its search engines. */
export const checkUpdateProject = (body: Uint8Array): Checked<UpdateProjectInput> => checkBody(updateProjectInput, body)

/**
 * `frequency` and `country` of project creation; other parameters pass. One that is there twice is refused, because
 * the service may take the other.
 *
 * @param search the raw query string, without `?`.
 */
export function checkCreateQuery(search: string): Checked<CreateProjectQuery> {
  const names = Object.keys(createProjectQuery.shape)
  const given = names.map((name) => ({ name, values: queryValues(search, name) }))
  const repeated = given.filter(({ values }) => values.length > 1)
  const faults = repeated.map(({ name }) => ({ path: name, message: 'was given more than once' }))
  const single = given.filter(({ values }) => values.length === 1)
  return check(createProjectQuery, Object.fromEntries(single.map(({ name, values }) => [name, values[0]])), faults)
}

/** Bytes that can be read in one way only: the service must not find another project in them than we did. */
function checkBody<Schema extends z.ZodMiniType>(schema: Schema, body: Uint8Array): Checked<z.output<Schema>> {
  const decoded = fromUtf8(body, { keepsMark: true })
  if (decoded === null) return wrong('the body is not UTF-8')
  const json = parseStrictJson(decoded)
  if (!json.ok) return wrong(`the body is not JSON that can be read in one way (${json.reason})`)
  return check(schema, json.value, [])
}

function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  faults: readonly Fault[],
): Checked<z.output<Schema>> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return faults.length === 0 ? { ok: true, value: parsed.data } : { ok: false, faults }
  const more = parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
  return { ok: false, faults: [...faults, ...more] }
}

const wrong = (message: string) => ({ ok: false, faults: [{ path: '', message }] }) as const
