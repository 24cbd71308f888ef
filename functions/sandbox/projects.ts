import { Hono } from 'hono'
import { type Clock, toRfc3339 } from '../../shared/platform/clock.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { createProjectInput, createProjectQuery, updateProjectInput } from '../../shared/tracking/projects.ts'
import type { SandboxEnv } from './answers.ts'
import { failed, operation, readJson, succeeded, unknownProject, wrongInput } from './answers.ts'
import { datesOf, findProject, newProject, type Project, unknownEngines, updatedProject } from './project.ts'
import type { State } from './state/state.ts'

export function projectRoutes({ state, clock, kinds }: { state: State; clock: Clock; kinds: Kinds }): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()

  operation(routes, 'GET', '/projects', (c) =>
    c.json({ projects: c.var.projects.map(({ id, name, frequency }) => ({ id, name, frequency })) }),
  )

  operation(routes, 'POST', '/projects/:name/create', async (c) => {
    const query = createProjectQuery.safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const input = createProjectInput.safeParse(await readJson(c))
    if (!input.success) return wrongInput(c, input.error)
    const { frequency = 'ondemand', country = 'US' } = query.data
    const name = c.var.requested.name
    const added = await state.addProject(newProject(input.data, { name, frequency, country, now: clock.now() }))
    if (!added) return failed(c, 409, `There is a project called ${name} already`)
    return succeeded(c, { project: name, id: added.id }, 201)
  })

  operation(routes, 'POST', '/projects/:name/update', async (c) => {
    const { name } = c.var.requested
    const project = findProject(c.var.projects, name)
    if (!project) return unknownProject(c, name)
    const input = updateProjectInput.safeParse(await readJson(c))
    if (!input.success) return wrongInput(c, input.error)
    let unknown: readonly number[] = []
    const changed = await state.changeProject(project.id, (now) => {
      unknown = unknownEngines(now, input.data)
      return unknown.length === 0 ? updatedProject(now, input.data) : undefined
    })
    if (!changed) return failed(c, 400, `There is no search engine with svc_id ${unknown.join(', ')} in ${name}`)
    return succeeded(c, { project: changed.name, id: changed.id })
  })

  operation(routes, 'GET', '/projects/:name/details', (c) => {
    const project = findProject(c.var.projects, c.var.requested.name)
    return project ? succeeded(c, details(project)) : unknownProject(c, c.var.requested.name)
  })

  operation(routes, 'GET', '/projects/:id/keywords', (c) => {
    const project = findProject(c.var.projects, c.var.requested.name)
    return project ? succeeded(c, { keywords: project.keywords }) : unknownProject(c, c.var.requested.name)
  })

  operation(routes, 'GET', '/projects/:name/dates', async (c) => {
    const project = findProject(c.var.projects, c.var.requested.name)
    if (!project) return unknownProject(c, c.var.requested.name)
    return succeeded(c, { dates: datesOf(project, await state.runsOf(project.name), clock.now(), kinds) })
  })

  return routes
}

const details = ({ createdAt, earlierDates, lastSvcId, ...project }: Project) => ({
  ...project,
  created: toRfc3339(createdAt),
})
