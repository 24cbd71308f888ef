import type { Context } from 'hono'
import { mustReadAll } from '../../../shared/api/permissions.ts'
import { invalid, Refusal } from '../../../shared/api/refusal.ts'
import type { Caller } from '../../../shared/auth/tokens.ts'
import { noProject, seesProject } from '../../../shared/guard/people/sees.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { listingsOf } from '../../../shared/ledger/definitions/definitions.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import type { Services } from '../../../shared/services/services.ts'
import { decodeSegment, isGuarded, matchOperation, operations } from '../../../shared/tracking/operations.ts'
import { type ApiEnv, gatewayPath, mustHave, rawTarget, tokenMustHave } from '../context.ts'
import { answerProblem } from '../route.ts'
import { forward } from './forward.ts'
import { runThroughGateway } from './run.ts'

/** @throws Refusal 403 without the scope, or if the list of all projects is not allowed; 404 for a hidden project. */
async function readerOf(
  c: Context<ApiEnv>,
  { guard }: Services,
  scope: Scope,
  segment: string | null,
): Promise<Caller> {
  const permitted = await mustHave(c, scope)
  if (permitted.readsBudgets !== '*') {
    if (segment === null) mustReadAll(permitted)
    const project = decodeSegment(segment ?? '') ?? ''
    const { definitions } = await guard.ledger.view()
    // The service may read another spelling of a name as the name of another project.
    const isSpelledAsListed = listingsOf(definitions, project).every((each) =>
      [each.project.name, each.project.id].includes(project),
    )
    if (!isSpelledAsListed || !seesProject(definitions, permitted, project)) throw new Refusal(noProject(project))
  }
  return permitted.token
}

/** Free operations pass through, and a run becomes a guarded update. No other path or method reaches the service. */
export async function answerGateway(c: Context<ApiEnv>, services: Services): Promise<Response> {
  const { path, search } = rawTarget(c)
  c.set('route', `${gatewayPath}/*`)
  const match = matchOperation(c.req.method, path.slice(gatewayPath.length))
  if (!match) {
    const detail =
      'The tracking service has no such operation, or the path is not spelled as in the service’s interface.'
    throw new Refusal(problem('not-found', detail))
  }
  if (match.kind === 'method-not-allowed') {
    c.header('Allow', match.allow.join(', '))
    const detail = `This operation allows ${match.allow.join(' or ')}, not ${c.req.method}.`
    return answerProblem(c, problem('method-not-allowed', detail))
  }
  const { operation, segment } = match
  c.set('route', operation)
  const { scope } = operations[operation]
  const caller = isGuarded(operation) ? tokenMustHave(c, scope) : await readerOf(c, services, scope, segment)
  if (!/^[\x21-\x7e]*$/.test(search) || search.includes('#')) {
    throw invalid([{ path: '', message: 'the query has characters that have to be percent-encoded' }])
  }
  if (isGuarded(operation)) return runThroughGateway(c, services, { caller, operation, segment: segment ?? '', search })
  return forward(c, services, { caller, operation, segment, search })
}
