import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type * as z from 'zod/mini'

/** The sandbox's own envelope: the interface shows no body but that of GET /projects (rule 1 of its endpoints). */
export const succeeded = (c: Context, data: object, status: ContentfulStatusCode = 200) =>
  c.json({ response_code: 0, data }, status)

/** The sandbox's own envelope for errors; the interface shows none ("Errors"). `response_code` repeats the status. */
export const failed = (c: Context, status: ContentfulStatusCode, error: string, more: object = {}) =>
  c.json({ response_code: status, error, ...more }, status)

/** Nothing is said to a stranger but what is wanted (RFC 6750, 3). */
export function unauthorized(c: Context) {
  c.header('WWW-Authenticate', 'Bearer')
  return failed(c, 401, 'Unauthorized')
}

export const unknownProject = (c: Context, name: string) => failed(c, 404, `There is no project called ${name}`)

/** Every fault of a body or a query at once, so that nobody has to mend it one 400 at a time. */
export const wrongInput = (c: Context, error: z.core.$ZodError) =>
  failed(c, 400, 'Bad Request', { errors: error.issues.map(describe) })

function describe(issue: z.core.$ZodIssue) {
  const path = issue.path.join('.')
  return issue.code === 'unrecognized_keys'
    ? { path, message: `has unknown fields: ${issue.keys.join(', ')}` }
    : { path, message: issue.message }
}

/** `undefined` stands for a body that is not JSON; every schema refuses it with its own sentence. */
export async function readJson(c: Context): Promise<unknown> {
  try {
    return await c.req.json()
  } catch {
    return undefined
  }
}
