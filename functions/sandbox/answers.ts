import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type * as z from 'zod/mini'
import { readWhole } from '../../shared/platform/http.ts'
import type { Fault } from './faults.ts'
import type { Project } from './project.ts'
import type { SandboxRequest } from './request.ts'

/** The service documents only the body of GET /projects, so this envelope is the sandbox's own. */
export const succeeded = (c: Context, data: object, status: ContentfulStatusCode = 200) =>
  c.json({ response_code: 0, data }, status)

export const failed = (c: Context, status: ContentfulStatusCode, error: string, more: object = {}) =>
  c.json({ response_code: status, error, ...more }, status)

export function unauthorized(c: Context) {
  c.header('WWW-Authenticate', 'Bearer')
  return failed(c, 401, 'Unauthorized')
}

export const unknownProject = (c: Context, name: string) => failed(c, 404, `There is no project called ${name}`)

export const wrongInput = (c: Context, error: z.core.$ZodError) =>
  failed(c, 400, 'Bad Request', { errors: error.issues.map(describeIssue) })

function describeIssue(issue: z.core.$ZodIssue) {
  const path = issue.path.join('.')
  return issue.code === 'unrecognized_keys'
    ? { path, message: `has unknown fields: ${issue.keys.join(', ')}` }
    : { path, message: issue.message }
}

const maxBodyBytes = 1024 * 1024

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** Returns `undefined` if the body is not JSON or is incomplete. @throws BodyTooLarge */
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

/** The bindings are `Partial`, because Lambda has no node request. */
export type SandboxEnv = {
  Bindings: Partial<HttpBindings>
  Variables: { requested: SandboxRequest; fault: Fault | undefined; projects: readonly Project[] }
}

const chunkLength = 32_768
const maxChunkMs = 15

/** Computes rows only while the caller reads them, so that a long export does not block other requests. */
export const streamRows = (c: Context, rows: Iterable<object>): Response =>
  c.body(ReadableStream.from(chunksOf(rows)), 200, { 'content-type': 'application/json' })

async function* chunksOf(rows: Iterable<object>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  let text = '['
  let until = 0
  let separator = ''
  for (const row of rows) {
    if (text.length >= chunkLength || performance.now() >= until) {
      yield encoder.encode(text)
      await nextTurn()
      text = ''
      until = performance.now() + maxChunkMs
    }
    text += `${separator}\n${JSON.stringify(row)}`
    separator = ','
  }
  yield encoder.encode(`${text}\n]\n`)
}
