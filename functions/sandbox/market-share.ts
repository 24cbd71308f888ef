import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { operation, type SandboxEnv, streamRows, succeeded, unknownProject, wrongInput } from './answers.ts'
import { datesWithin, from, on, period } from './exports.ts'
import { datesOf, findProject, type Project } from './project.ts'
import { domainUrls, labelOf, metadata, urlKeywords, websitesOf } from './rows.ts'
import type { State } from './state/state.ts'

const required = (takes: string) => z.string(takes).check(z.minLength(1, takes))
const ofUrl = z.object({ url: required('must be the URL to look up') })
const ofDomain = z.object({ domain: required('must be the domain to look up') })

type Answer = (c: Context<SandboxEnv>, project: Project) => Response | Promise<Response>

export function marketShareRoutes({
  state,
  clock,
  kinds,
}: {
  state: State
  clock: Clock
  kinds: Kinds
}): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()
  const datesFor = async (project: Project) => datesOf(project, await state.runsOf(project.name), clock.now(), kinds)

  const ofProject = (path: string, answer: Answer) =>
    operation(routes, 'GET', `/marketshare/projects/:projectId/${path}`, (c) => {
      const project = findProject(c.var.projects, c.var.requested.name)
      return project ? answer(c, project) : unknownProject(c, c.var.requested.name)
    })

  operation(routes, 'GET', '/marketshare/projects', (c) =>
    succeeded(c, { projects: c.var.projects.map(({ id, name }) => ({ id, name })) }),
  )

  ofProject('websites', (c, project) => succeeded(c, { websites: websitesOf(project) }))

  ofProject('search-engines', (c, project) => {
    const engines = project.searchengines.map((engine) => ({ id: engine.svc_id, name: labelOf(engine) }))
    return succeeded(c, { search_engines: engines })
  })

  ofProject('metadata', async (c, project) => {
    const query = period.safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    return streamRows(c, metadata(project, datesWithin(query.data, await datesFor(project))))
  })

  ofProject('url-keywords', async (c, project) => {
    const query = z.intersection(ofUrl, on).safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const dates = datesWithin(query.data, await datesFor(project))
    return streamRows(c, urlKeywords(query.data.url)(project, dates))
  })

  ofProject('domain-urls', async (c, project) => {
    const query = z.intersection(ofDomain, from).safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const dates = datesWithin(query.data, await datesFor(project))
    return streamRows(c, domainUrls(query.data.domain)(project, dates))
  })

  return routes
}
