import type { Context } from 'hono'
import type { FaceEnv } from '../../shared/api/accept-requests.ts'
import { mustBeAmong, mustBePermitted } from '../../shared/api/permissions.ts'
import type { Caller } from '../../shared/auth/tokens.ts'
import type { Permitted } from '../../shared/guard/guard.ts'
import { rawTargetOf } from '../../shared/platform/http.ts'
import type { Scope } from '../../shared/platform/words.ts'

export interface ApiEnv {
  Variables: FaceEnv['Variables'] & {
    caller: Caller
    permissions: () => Promise<Permitted>
  }
  Bindings: FaceEnv['Bindings']
}

/** Permissions that both the token and the list of callers give. */
export interface PermittedCaller extends Permitted {
  readonly sub: string
  readonly token: Caller
}

/** Checks only the token: in these operations the guard itself reads the list of callers. @throws Refusal 403 */
export function tokenMustHave(c: Context<ApiEnv>, ...anyOf: readonly Scope[]): Caller {
  const caller = c.get('caller')
  mustBeAmong(caller.sub, caller.scopes, anyOf, caller.scopesFrom)
  return caller
}

/** @throws Refusal 403 */
export async function mustHave(c: Context<ApiEnv>, ...anyOf: readonly Scope[]): Promise<PermittedCaller> {
  const token = tokenMustHave(c, ...anyOf)
  const permitted = await c.get('permissions')()
  mustBePermitted(permitted, anyOf)
  return { ...permitted, sub: token.sub, token }
}

export const gatewayPath = '/v3'

/** The path and query as sent: the gateway must pass on exactly what it checked. */
export const rawTarget = ({ env, req }: Context<ApiEnv>): { readonly path: string; readonly search: string } =>
  rawTargetOf(req.raw, env)
