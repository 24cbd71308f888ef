import type { Context } from 'hono'
import type { FaceEnv } from '../../shared/api/face.ts'
import { mustBeAmong } from '../../shared/api/permissions.ts'
import { Refusal } from '../../shared/api/refusal.ts'
import type { Caller } from '../../shared/auth/tokens.ts'
import type { Permissions } from '../../shared/guard/people/permissions.ts'
import { problem } from '../../shared/guard/problems.ts'
import { rawTargetOf } from '../../shared/platform/http.ts'
import type { Scope } from '../../shared/platform/words.ts'

export interface ApiEnv {
  Variables: FaceEnv['Variables'] & {
    caller: Caller
    /** What the list of callers allows now. */
    allowed: () => Promise<Permissions>
  }
  Bindings: FaceEnv['Bindings']
}

/** What the token allows, as far as the list of callers does. */
export interface Admitted extends Permissions {
  readonly sub: string
  readonly token: Caller
}

/** Checks the token only, where the guard reads the list itself. @throws Refusal 403 */
export function mustHold(c: Context<ApiEnv>, ...any: readonly Scope[]): Caller {
  const caller = c.get('caller')
  mustBeAmong(caller.sub, caller.scopes, any)
  return caller
}

/** Checks the token and the list of callers. @throws Refusal 403 */
export async function mustHave(c: Context<ApiEnv>, ...any: readonly Scope[]): Promise<Admitted> {
  const token = mustHold(c, ...any)
  const { sub } = token
  const allowed = await c.get('allowed')()
  if (allowed.isDisabled) throw new Refusal(problem('forbidden', `${sub} is disabled; ask an administrator.`))
  mustBeAmong(sub, allowed.scopes, any)
  return { ...allowed, sub, token }
}

export const gatewayPath = '/v3'

/** As sent: what is passed on must be what was checked. */
export const rawTarget = ({ env, req }: Context<ApiEnv>): { readonly path: string; readonly search: string } =>
  rawTargetOf(req.raw, env)
