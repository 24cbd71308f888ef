import type { ServerResponse } from 'node:http'
import type { Context } from 'hono'
import type { Allowed } from '../../shared/guard/callers.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { Problem } from '../../shared/ledger/update.ts'
import type { Platform } from '../../shared/platform/raw-path.ts'
import type { Scope } from '../../shared/platform/words.ts'
import type { ExpensiveReads } from './expensive-reads.ts'
import { Refusal } from './refusal.ts'
import type { Caller } from './tokens.ts'

/** What every request carries once it is let in. */
export interface ApiEnv {
  Variables: {
    requestId: string
    caller: Caller
    /** Who looks at a page. */
    visitor?: string
    /** What the caller may do, as it is listed now. */
    allowed: () => Promise<Allowed>
    expensiveReads: ExpensiveReads
    /** When this process ends, whatever it is doing. */
    endsAt: number
    /** What was wrong, where that is the answer. */
    problem?: Problem
    /** The status of an answer that is the service's own, and stays as it is. */
    passedOn?: number
    /** The route as the log names it, where it is not this app's own. */
    route?: string
  }
  Bindings: Platform & {
    /** On one machine. */
    outgoing?: ServerResponse
    /** On Lambda. */
    context?: { readonly awsRequestId: string; getRemainingTimeInMillis(): number }
    /** Where this app is loaded behind another. */
    around?: Context<ApiEnv>
  }
}

/** Who asks, and all that they may do: what their token says, as far as the list of callers lets them. */
export interface Admitted extends Allowed {
  readonly sub: string
  readonly token: Caller
}

/** For what the guard itself decides in its one reading of the ledger. @throws Refusal when the token has none of these. */
export function mustHold(c: Context<ApiEnv>, ...any: readonly Scope[]): Caller {
  const caller = c.get('caller')
  mustBeAmong(caller.sub, caller.scopes, any)
  return caller
}

/** @throws Refusal when the caller has none of these scopes, by their token and as they are listed. */
export async function mustHave(c: Context<ApiEnv>, ...any: readonly Scope[]): Promise<Admitted> {
  const token = mustHold(c, ...any)
  const { sub } = token
  const allowed = await c.get('allowed')()
  if (allowed.isDisabled) throw new Refusal(problem('forbidden', `${sub} is disabled; ask an administrator.`))
  mustBeAmong(sub, allowed.scopes, any)
  return { ...allowed, sub, token }
}

/** @throws Refusal */
export function mustBeAmong(sub: string, scopes: ReadonlySet<Scope>, any: readonly Scope[]): void {
  if (any.some((scope) => scopes.has(scope))) return
  const held = [...scopes].join(' ') || 'none'
  throw new Refusal(problem('forbidden', `${sub} needs the scope ${any.join(' or ')} for this, and has: ${held}.`))
}
