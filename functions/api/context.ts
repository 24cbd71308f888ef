import type { Context } from 'hono'
import type { FaceEnv } from '../../shared/api/face.ts'
import { mustBeAmong } from '../../shared/api/permissions.ts'
import { Refusal } from '../../shared/api/refusal.ts'
import type { Caller } from '../../shared/auth/tokens.ts'
import type { Permissions } from '../../shared/guard/people/permissions.ts'
import { problem } from '../../shared/guard/problems.ts'
import { rawTargetOf } from '../../shared/platform/http.ts'
import type { Scope } from '../../shared/platform/words.ts'

/** What every request carries once it is let in. */
export interface ApiEnv {
  Variables: FaceEnv['Variables'] & {
    caller: Caller
    /** What the caller may do, as it is listed now. */
    allowed: () => Promise<Permissions>
  }
  Bindings: FaceEnv['Bindings']
}

/** Who asks, and all that they may do: what their token says, as far as the list of callers lets them. */
export interface Admitted extends Permissions {
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

/** Below it are the service's own operations under the service's own paths. */
export const gatewayPath = '/v3'

/** Path and query exactly as they came over the wire: what is passed on has to be what was checked. */
export const rawTarget = ({ env, req }: Context<ApiEnv>): { readonly path: string; readonly search: string } =>
  rawTargetOf(req.raw, env)
