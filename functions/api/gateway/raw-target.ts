import type { Context } from 'hono'
import { rawTargetOf } from '../../../shared/platform/raw-request.ts'
import type { ApiEnv } from '../context.ts'

/** Below it are the service's own operations under the service's own paths. */
export const gatewayPath = '/v3'

/** Path and query exactly as they came over the wire: what is passed on has to be what was checked. */
export const rawTarget = ({ env, req }: Context<ApiEnv>): { readonly path: string; readonly search: string } =>
  rawTargetOf(req.raw, env)
