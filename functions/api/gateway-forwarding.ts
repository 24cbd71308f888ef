import { Readable } from 'node:stream'
import type { Context } from 'hono'
import { problem } from '../../shared/guard/problems.ts'
import type { Services } from '../../shared/guard/services.ts'
import type { ProjectChange } from '../../shared/ledger/project-change.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { checkCreateProject, checkCreateQuery, checkUpdateProject } from '../../shared/tracking/check-project.ts'
import { decodeSegment } from '../../shared/tracking/match-operation.ts'
import type { OpenOperation } from '../../shared/tracking/operations.ts'
import type { OpenedAnswer } from '../../shared/tracking/streaming.ts'
import type { ApiEnv } from './context.ts'
import { readJsonBytes } from './input.ts'
import { answerProblem } from './problem-answers.ts'
import { invalid } from './refusal.ts'
import type { Caller } from './tokens.ts'

interface Forwarded {
  readonly caller: Caller
  readonly operation: OpenOperation
  readonly segment: string | null
  readonly search: string
}

/** Reads and writes through the gateway: checked where the interface says something, and passed on in their own bytes. */
export function createForwarding({ guard, tracking, clock, log }: Services) {
  return async (c: Context<ApiEnv>, forwarded: Forwarded): Promise<Response> => {
    const { operation, segment, search } = forwarded
    if (operation === 'create-project' || operation === 'update-project') {
      const body = await readJsonBytes(c)
      return write(c, { ...forwarded, operation }, body)
    }
    // Where the platform tells that the caller left, nobody needs the rest of a read.
    const { headers, signal } = c.req.raw
    return pass(c, await tracking.open({ operation, segment, search, headers, signal }))
  }

  /** Noted before it is sent, because afterwards may be too late, and again with what became of it. */
  async function write(
    c: Context<ApiEnv>,
    { caller, operation, segment, search }: Forwarded & { operation: 'create-project' | 'update-project' },
    body: Uint8Array,
  ): Promise<Response> {
    const change: ProjectChange = {
      id: `chg_${systemIds.random()}`,
      operation: operation === 'create-project' ? 'create' : 'update',
      project: decodeSegment(segment ?? '') ?? segment ?? '',
      caller: caller.sub,
      at: clock.now(),
      ...countsOf(operation, search, body),
      status: null,
    }
    await guard.ledger.noteProjectChange(change)
    const answer = await tracking.open({ operation, segment, search, headers: c.req.raw.headers, body })
    if (answer.kind === 'answered') {
      // It took effect, whether or not that can be noted now: the caller is told what the service said.
      const noted = guard.ledger.noteProjectChange({ ...change, status: answer.status })
      await noted.catch((cause) => log.error('change-not-noted', { change: change.id, status: answer.status, cause }))
    }
    return pass(c, answer)
  }
}

/** @throws Refusal 400 with all that is wrong with the body and the query. */
function countsOf(operation: 'create-project' | 'update-project', search: string, body: Uint8Array) {
  if (operation === 'create-project') {
    const query = checkCreateQuery(search)
    const checked = checkCreateProject(body)
    const faults = [...(query.ok ? [] : query.faults), ...(checked.ok ? [] : checked.faults)]
    if (!checked.ok || faults.length > 0) throw invalid(faults)
    const { keywords, searchengines, websites } = checked.value
    const added = { keywords: keywords.length, searchengines: searchengines.length, websites: websites.length }
    return { added, removed: {} }
  }
  const checked = checkUpdateProject(body)
  if (!checked.ok) throw invalid(checked.faults)
  const { keywords = [], websites = [], addSearchengines = [], removeSearchengines = [] } = checked.value
  return {
    added: { keywords: keywords.length, searchengines: addSearchengines.length, websites: websites.length },
    removed: { searchengines: removeSearchengines.length },
  }
}

/** Meant for one connection (RFC 9110, section 7.6.1), or, as cookies, for somebody else. */
const notPassedOn: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

async function pass(c: Context<ApiEnv>, answer: OpenedAnswer): Promise<Response> {
  if (answer.kind === 'failed') {
    const outcome =
      answer.sent === 'no' || c.req.method === 'GET'
        ? 'Nothing was changed; the same request may be sent again.'
        : 'Whether it took effect is not known: look at the project before you send it again.'
    const detail = `The service could not be reached: ${answer.reason}. ${outcome}`
    return answerProblem(c, problem('service-unreachable', detail, { serviceStatus: answer.status }))
  }
  const { status, headers: given, body } = answer
  const named = given
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
  const headers = new Headers()
  for (const [name, value] of given) {
    const lower = name.toLowerCase()
    if (!notPassedOn.has(lower) && !named.includes(lower)) headers.append(name, value)
  }
  c.set('isPassedOn', true)
  if (withoutBody.has(status)) {
    body.resume()
    return new Response(null, { status, headers })
  }
  if (status < 200 || status > 599) {
    body.destroy()
    return broken(c)
  }
  // A web stream costs more than a small answer does.
  const length = Number(headers.get('content-length') ?? Number.NaN)
  if (length <= heldAtMost) {
    const bytes = await bytesOf(body).catch(() => null)
    return bytes ? new Response(bytes, { status, headers }) : broken(c)
  }
  return new Response(Readable.toWeb(body) as ReadableStream, { status, headers })
}

/** Answers that have no body (Fetch, "null body status"). */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

const heldAtMost = 64 * 1024

/** It ended early, or held what must not go out: none of it goes on. */
function broken(c: Context<ApiEnv>): Response {
  c.set('isPassedOn', false)
  const detail = 'The answer of the service did not come whole, or was none that can be passed on.'
  return answerProblem(c, problem('service-unreachable', detail, { serviceStatus: null }))
}

async function bytesOf(body: Readable): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}
