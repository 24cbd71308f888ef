import { mustBeAmong, mustBePermitted } from '../../shared/api/permissions.ts'
import { createRates } from '../../shared/api/rate-limits.ts'
import { Refusal } from '../../shared/api/refusal.ts'
import type { SignedQuotes } from '../../shared/auth/signed-quotes.ts'
import type { Caller } from '../../shared/auth/tokens.ts'
import type { Permitted } from '../../shared/guard/guard.ts'
import type { Scope } from '../../shared/platform/words.ts'
import type { Services } from '../../shared/services/services.ts'

export interface McpParts extends Services {
  readonly quotes: SignedQuotes
}

/** One HTTP request of a caller. */
export interface McpRequest {
  readonly token: Caller
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly endsAt: number
  /** Aborts when the caller disconnects. The abort ends the waiting, never an update. */
  readonly signal: AbortSignal
}

/** A call of a tool by a caller who may make it. */
export interface ToolCall extends McpRequest, Pick<Permitted, 'guard'> {
  readonly parts: McpParts
  readonly permissions: Permitted
}

/** The rate of callers without an own rate. It slows down an agent in a loop. */
export const agentRatePerMinute = 60

export function createCalls(parts: McpParts) {
  const { guard, clock } = parts
  const rateOf = (caller: string) => guard.rateOf(caller, agentRatePerMinute)
  const rates = createRates({ rateOf, clock, what: { one: 'call', many: 'calls' } })

  const permissionsOf = ({ token }: McpRequest, how: { atOnce: boolean }): Promise<Permitted> =>
    guard.permissions({ caller: token.sub, token }, how)

  return {
    permissionsOf,
    /** @throws Refusal 403, 429 */
    admit: async (request: McpRequest, anyOf: readonly Scope[], how: { atOnce: boolean }): Promise<ToolCall> => {
      const { sub, scopes, scopesFrom } = request.token
      mustBeAmong(sub, scopes, anyOf, scopesFrom)
      const permissions = await permissionsOf(request, how)
      const limit = rates.take(sub)
      if (limit) throw new Refusal(limit.problem)
      mustBePermitted(permissions, anyOf)
      return { ...request, parts, permissions, guard: permissions.guard }
    },
  }
}

export type Calls = ReturnType<typeof createCalls>
