import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from 'hono'
import { problem } from '../../shared/guard/problems.ts'
import { Refusal } from './refusal.ts'
import type { Caller, Scope } from './tokens.ts'

/** What every request carries once it is let in. */
export interface ApiEnv {
  Variables: {
    requestId: string
    caller: Caller
    /** When this process ends, whatever it is doing. */
    endsAt: number
    /** The status of an answer that is the service's own, and stays as it is. */
    passedOn?: number
  }
  Bindings: {
    /** On one machine. */
    incoming?: IncomingMessage
    outgoing?: ServerResponse
    /** On Lambda. */
    event?: { readonly rawPath: string; readonly rawQueryString: string }
    lambdaContext?: { getRemainingTimeInMillis(): number }
  }
}

/** @throws Refusal when the caller has none of these scopes. */
export function mustHave(c: Context<ApiEnv>, ...any: readonly Scope[]): Caller {
  const caller = c.get('caller')
  if (any.some((scope) => caller.scopes.has(scope))) return caller
  const held = [...caller.scopes].join(' ') || 'none'
  throw new Refusal(
    problem('forbidden', `${caller.sub} needs the scope ${any.join(' or ')} for this, and has: ${held}.`),
  )
}
