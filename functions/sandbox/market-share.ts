import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { Clock } from '../../shared/platform/clock.ts'
import { succeeded, unknownProject, wrongInput } from './answers.ts'
import type { SandboxEnv } from './context.ts'
import { datesWithin, from, on, period } from './period.ts'
import { datesOf, findProject, type Project } from './project.ts'
import { operation } from './routing.ts'
import { streamRows } from './row-stream.ts'
import type { State } from './state.ts'
import { domainUrls, metadata, urlKeywords } from './views/market-share.ts'
import { domainOwner, sitesOf } from './world/websites.ts'
import { createWorld, labelOf } from './world/world.ts'

const required = (takes: string) => z.string(takes).check(z.minLength(1, takes))
/** Without these two the lookups mean nothing; the interface shows no parameters of either. */
const ofUrl = z.object({ url: required('takes the URL to look up') })
const ofDomain = z.object({ domain: required('takes the domain to look up') })

type Answer = (c: Context<SandboxEnv>, project: Project) => Response | Promise<Response>

/** "Market share" of the interface: more views of the same result pages. */
export function marketShareRoutes({ state, clock }: { state: State; clock: Clock }): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()
  const datesFor = async (project: Project) => datesOf(project, await state.runsOf(project.name), clock.now())

  const ofProject = (path: string, answer: Answer) =>
    operation(routes, 'GET', `/marketshare/projects/:projectId/${path}`, (c) => {
      const project = findProject(c.var.projects, c.var.requested.name)
      return project ? answer(c, project) : unknownProject(c, c.var.requested.name)
    })

  operation(routes, 'GET', '/marketshare/projects', (c) =>
    succeeded(c, { projects: c.var.projects.map(({ id, name }) => ({ id, name })) }),
  )

  ofProject('websites', (c, project) =>
    succeeded(c, { websites: sitesOf(project).map(({ id, name, main }) => ({ id, name, main })) }),
  )

  ofProject('search-engines', (c, project) => {
    const engines = project.searchengines.map((engine) => ({ id: engine.svc_id, name: labelOf(engine) }))
    return succeeded(c, { search_engines: engines })
  })

  ofProject('metadata', async (c, project) => {
    const query = period.safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    return streamRows(c, metadata(createWorld(project), datesWithin(query.data, await datesFor(project))))
  })

  ofProject('url-keywords', async (c, project) => {
    const query = z.intersection(ofUrl, on).safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const dates = datesWithin(query.data, await datesFor(project))
    return streamRows(c, urlKeywords(createWorld(project), dates, query.data.url))
  })

  ofProject('domain-urls', async (c, project) => {
    const query = z.intersection(ofDomain, from).safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const dates = datesWithin(query.data, await datesFor(project))
    return streamRows(c, domainUrls(createWorld(project), dates, domainOwner(query.data.domain)))
  })

  return routes
}
