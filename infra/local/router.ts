import type { Reference } from '../../shared/api/reference.ts'
import { rawPathOf } from '../../shared/platform/http.ts'
import type { App } from './listener.ts'

let made: ReadonlyMap<string, string> | undefined

/** Made when it is read for the first time: on one machine nothing is built, and a start should not wait for it. */
export const localReference: Reference = async (name) => {
  const { makeReference } = await import('../openapi/reference.tsx')
  made ??= makeReference()
  return made.get(name) ?? null
}

const ofDashboard = /^\/(|login|logout|docs|docs\.css|(dashboard|problems)(\/.*)?)$/

/** Three functions of AWS behind one port: what Slack calls, the pages, and everything else. */
export function createRouter({ api, dashboard, slack }: Record<'api' | 'dashboard' | 'slack', App>): App {
  const appFor = (path: string) => (path.startsWith('/slack/') ? slack : ofDashboard.test(path) ? dashboard : api)
  return { fetch: (request, env) => appFor(rawPathOf(request, { env })).fetch(request, env) }
}
