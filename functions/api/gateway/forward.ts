import type { Context } from 'hono'
import { invalid, Refusal } from '../../../shared/api/refusal.ts'
import type { Caller } from '../../../shared/auth/tokens.ts'
import { problem } from '../../../shared/guard/problems.ts'
import type { ProjectChange } from '../../../shared/ledger/views/project-changes.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import type { Services } from '../../../shared/services/services.ts'
import type { AbortSource } from '../../../shared/tracking/answer-body.ts'
import { type OpenedAnswer, pairsOf } from '../../../shared/tracking/forward.ts'
import { decodeSegment, type OpenOperation } from '../../../shared/tracking/operations.ts'
import { checkCreateProject, checkCreateQuery, checkUpdateProject } from '../../../shared/tracking/projects.ts'
import { type MaySchedule, whatMaySchedule } from '../../../shared/tracking/schedule.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readJsonBytes } from '../input.ts'
import { answerProblem } from '../route.ts'
import { passOn } from './pass-on.ts'

interface ForwardRequest {
  readonly caller: Caller
  readonly operation: OpenOperation
  readonly segment: string | null
  readonly search: string
}

/** Forwards a request byte for byte. Writes are first checked against the documented interface. */
export async function forward(c: Context<ApiEnv>, services: Services, request: ForwardRequest): Promise<Response> {
  const { operation, segment, search } = request
  if (operation === 'create-project' || operation === 'update-project') {
    const body = await readJsonBytes(c)
    return write(c, services, { ...request, operation }, body)
  }
  // A read stops when the caller disconnects.
  const signal = disconnectOf(c)
  return answerOpened(c, await services.tracking.open({ operation, segment, search, headers: headersOf(c), signal }))
}

/** Records the write before it is sent, because a crash must not hide it. Records the outcome afterwards. */
async function write(
  c: Context<ApiEnv>,
  { guard: { ledger }, tracking, clock, log }: Services,
  { caller, operation, segment, search }: ForwardRequest & { operation: 'create-project' | 'update-project' },
  body: Uint8Array,
): Promise<Response> {
  const counts = countsOf(operation, search, body)
  await mustBeAllowedToSchedule(c, whatMaySchedule(operation, search, body))
  const change: ProjectChange = {
    id: `chg_${systemIds.random()}`,
    operation: operation === 'create-project' ? 'create' : 'update',
    project: decodeSegment(segment ?? '') ?? segment ?? '',
    caller: caller.sub,
    at: clock.now(),
    ...counts,
    status: null,
  }
  await ledger.noteProjectChange(change)
  const answer = await tracking.open({ operation, segment, search, headers: headersOf(c), body })
  if (answer.kind === 'answered') {
    // The caller gets the service's answer even if recording fails.
    const record = ledger.noteProjectChange({ ...change, status: answer.status })
    await record.catch((cause) => log.error('change-not-noted', { change: change.id, status: answer.status, cause }))
  }
  return answerOpened(c, answer)
}

/** @throws Refusal 400 with all faults of body and query. */
function countsOf(
  operation: 'create-project' | 'update-project',
  search: string,
  body: Uint8Array,
): Pick<ProjectChange, 'added' | 'removed'> {
  if (operation === 'create-project') {
    const query = checkCreateQuery(search)
    const result = checkCreateProject(body)
    const faults = [...(query.ok ? [] : query.faults), ...(result.ok ? [] : result.faults)]
    if (!result.ok || faults.length > 0) throw invalid(faults)
    const { keywords, searchengines, websites } = result.value
    const added = { keywords: keywords.length, searchengines: searchengines.length, websites: websites.length }
    return { added, removed: {} }
  }
  const result = checkUpdateProject(body)
  if (!result.ok) throw invalid(result.faults)
  const { keywords = [], websites = [], addSearchengines = [], removeSearchengines = [] } = result.value
  return {
    added: { keywords: keywords.length, searchengines: addSearchengines.length, websites: websites.length },
    removed: { searchengines: removeSearchengines.length },
  }
}

const withoutSchedule: Readonly<Record<MaySchedule, string>> = {
  'no frequency': 'add ?frequency=ondemand',
  query: 'name no frequency and no schedule in the query, but for one ?frequency=ondemand of a create',
  body: 'leave out every member of the body called frequency or schedule',
}

/** @throws Refusal 403 */
async function mustBeAllowedToSchedule(c: Context<ApiEnv>, maySchedule: MaySchedule | null): Promise<void> {
  if (maySchedule === null) return
  const { isAdmin, sub } = await mustHave(c, 'write')
  if (isAdmin) return
  const remedy = `${withoutSchedule[maySchedule]}, or ask an administrator: a scheduled project reserves units.`
  throw new Refusal(problem('forbidden', `${sub} needs the scope admin for this: ${remedy}`))
}

/** Raw headers where the platform has them, because building a `Headers` costs time. */
const headersOf = ({ env, req }: Context<ApiEnv>) =>
  env?.incoming ? pairsOf(env.incoming.rawHeaders) : req.raw.headers

/** Aborts if the response closes early. A complete response closes too, but then no listener is left. */
function disconnectOf({ env, req }: Context<ApiEnv>): AbortSource {
  const outgoing = env?.outgoing
  if (!outgoing) return req.raw.signal
  return {
    get aborted() {
      return outgoing.destroyed
    },
    addEventListener(_abort, act) {
      outgoing.on('close', act)
    },
    removeEventListener(_abort, act) {
      outgoing.off('close', act)
    },
  }
}

async function answerOpened(c: Context<ApiEnv>, answer: OpenedAnswer): Promise<Response> {
  if (answer.kind === 'failed') {
    const outcome =
      answer.sent === 'no' || c.req.method === 'GET'
        ? 'Nothing was changed; the same request may be sent again.'
        : 'It may have taken effect: look at the project before you send it again.'
    const what =
      answer.status === null ? 'The service could not be reached' : 'The service’s answer cannot be passed on'
    const detail = `${what}: ${answer.reason}. ${outcome}`
    return answerProblem(c, problem('service-unreachable', detail, { serviceStatus: answer.status }))
  }
  return passOn(c, answer)
}
