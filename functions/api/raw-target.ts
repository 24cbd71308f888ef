import type { Context } from 'hono'
import type { ApiEnv } from './context.ts'

/** Below it are the service's own operations under the service's own paths. */
export const gatewayPath = '/v3'

/**
 * Path and query exactly as they came over the wire. URL parsers tidy both (`/v3/../updates`, `%7e`), and what is passed
 * on has to be what was checked.
 */
export function rawTarget(c: Context<ApiEnv>): { readonly path: string; readonly search: string } {
  const [path = '', ...rest] = targetOf(c).split('?')
  return { path, search: rest.join('?') }
}

function targetOf({ env, req }: Context<ApiEnv>): string {
  if (env?.incoming?.url !== undefined) return env.incoming.url
  if (env?.event)
    return env.event.rawQueryString ? `${env.event.rawPath}?${env.event.rawQueryString}` : env.event.rawPath
  return req.url.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/#.*$/, '')
}
