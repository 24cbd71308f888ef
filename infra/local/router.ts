import type { Reference } from '../../shared/api/reference.ts'
import { rawPathOf } from '../../shared/platform/http.ts'
import type { App } from './listener.ts'

let files: ReadonlyMap<string, string> | undefined

/** Builds the reference at the first read, so that the start does not wait for it. */
export const localReference: Reference = async (name) => {
  const { makeReference } = await import('../openapi/reference.tsx')
  files ??= makeReference()
  return files.get(name) ?? null
}

const dashboardPaths = /^\/(|login|logout|docs|docs\.css|(dashboard|problems)(\/.*)?)$/

/** Serves the three functions that have a URL on AWS behind one port. */
export function createRouter({ api, dashboard, slack }: Record<'api' | 'dashboard' | 'slack', App>): App {
  const appFor = (path: string) => (path.startsWith('/slack/') ? slack : dashboardPaths.test(path) ? dashboard : api)
  return { fetch: (request, env) => appFor(rawPathOf(request, { env })).fetch(request, env) }
}
