import type { HttpBindings } from '@hono/node-server'
import type { Context, Handler, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type * as z from 'zod/mini'
import { readWhole } from '../../shared/platform/http.ts'
import type { Fault } from './faults.ts'
import type { Project } from './project.ts'
import type { Requested } from './request.ts'

/** The sandbox's own envelope: the service documents no body but that of GET /projects. */
export const succeeded = (c: Context, data: object, status: ContentfulStatusCode = 200) =>
  c.json({ response_code: 0, data }, status)

export const failed = (c: Context, status: ContentfulStatusCode, error: string, more: object = {}) =>
  c.json({ response_code: status, error, ...more }, status)

export function unauthorized(c: Context) {
  c.header('WWW-Authenticate', 'Bearer')
  return failed(c, 401, 'Unauthorized')
}

export const unknownProject = (c: Context, name: string) => failed(c, 404, `There is no project called ${name}`)

/** Every fault of a body or a query at once. */
export const wrongInput = (c: Context, error: z.core.$ZodError) =>
  failed(c, 400, 'Bad Request', { errors: error.issues.map(describe) })

function describe(issue: z.core.$ZodIssue) {
  const path = issue.path.join('.')
  return issue.code === 'unrecognized_keys'
    ? { path, message: `has unknown fields: ${issue.keys.join(', ')}` }
    : { path, message: issue.message }
}

const maxBodyBytes = 1024 * 1024

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/**
 * `undefined`: the body is not JSON, or incomplete; every schema refuses it with its own sentence.
 *
 * @throws BodyTooLarge
 */
export async function readJson(c: Context<SandboxEnv>): Promise<unknown> {
  const bytes = await readWhole(c, maxBodyBytes)
  if (bytes === 'too-large') throw new BodyTooLarge()
  if (bytes === 'cut') return undefined
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** On Lambda there is no node request to bind, hence `Partial`. */
export type SandboxEnv = {
  Bindings: Partial<HttpBindings>
  Variables: { requested: Requested; fault: Fault | undefined; projects: readonly Project[] }
}

type Method = 'GET' | 'POST'

/**
 * Adds one operation. The same path under another method is 405 with the right one; HEAD is GET without a body.
 */
export function operation(routes: Hono<SandboxEnv>, method: Method, path: string, handler: Handler<SandboxEnv>): void {
  routes.on(method, path, handler)
  routes.all(path, (c: Context<SandboxEnv>) => {
    c.header('Allow', method === 'GET' ? 'GET, HEAD' : method)
    return failed(c, 405, 'Method Not Allowed')
  })
}
