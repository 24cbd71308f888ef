import type { Reference } from '../../shared/api/reference.ts'
import { rawPathOf } from '../../shared/platform/http.ts'
import type { App } from './listener.ts'

let made: ReadonlyMap<string, string> | undefined

/** Made at the first read, so that the start does not wait for it. */
export const localReference: Reference = async (name) => {
  const { makeReference } = await import('../openapi/reference.tsx')
  made ??= makeReference()
  return made.get(name) ?? null
}

const ofDashboard = /^\/(|login|logout|docs|docs\.css|(dashboard|problems)(\/.*)?)$/

/** The three functions of AWS with a URL, behind one port. */
export function createRouter({ api, dashboard, slack }: Record<'api' | 'dashboard' | 'slack', App>): App {
  const appFor = (path: string) => (path.startsWith('/slack/') ? slack : ofDashboard.test(path) ? dashboard : api)
  return { fetch: (request, env) => appFor(rawPathOf(request, { env })).fetch(request, env) }
}
