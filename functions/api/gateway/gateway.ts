import type { Context } from 'hono'
import { invalid, Refusal } from '../../../shared/api/refusal.ts'
import { problem } from '../../../shared/guard/problems.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { isGuarded, matchOperation, neededScope } from '../../../shared/tracking/operations.ts'
import { type ApiEnv, gatewayPath, mustHave, rawTarget, tokenMustHave } from '../context.ts'
import { answerProblem } from '../route.ts'
import { forward } from './forward.ts'
import { runThroughGateway } from './run.ts'

/**
 * The service's own 23 operations under its own paths. Reads and writes pass through; a run becomes a guarded update.
 * No other path or method reaches the service.
 */
export async function answerGateway(c: Context<ApiEnv>, services: Services): Promise<Response> {
  const { path, search } = rawTarget(c)
  c.set('route', `${gatewayPath}/*`)
  const match = matchOperation(c.req.method, path.slice(gatewayPath.length))
  if (!match) {
    const detail = 'The tracking service has no such operation, or the path is not written as its interface writes it.'
    throw new Refusal(problem('not-found', detail))
  }
  if (match.kind === 'method-not-allowed') {
    c.header('Allow', match.allow.join(', '))
    const detail = `This operation allows ${match.allow.join(' or ')}, not ${c.req.method}.`
    return answerProblem(c, problem('method-not-allowed', detail))
  }
  const { operation, segment } = match
  c.set('route', operation)
  const scope = neededScope(operation, search)
  const caller = isGuarded(operation) ? tokenMustHave(c, scope) : (await mustHave(c, scope)).token
  if (!/^[\x21-\x7e]*$/.test(search) || search.includes('#')) {
    throw invalid([{ path: '', message: 'the query has characters that have to be percent-encoded' }])
  }
  if (isGuarded(operation)) return runThroughGateway(c, services, { caller, operation, segment: segment ?? '', search })
  return forward(c, services, { caller, operation, segment, search })
}
