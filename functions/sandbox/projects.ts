import { Hono } from 'hono'
import * as z from 'zod/mini'
import { type Clock, toRfc3339 } from '../../shared/platform/clock.ts'
import { failed, readJson, succeeded, unknownProject, wrongBody } from './answers.ts'
import type { SandboxEnv } from './context.ts'
import { createProjectInput } from './create-input.ts'
import { datesOf, findProject, frequencies, type Project } from './project.ts'
import type { State } from './state.ts'

const createQuery = z.object({
  frequency: z._default(z.enum(frequencies, `takes one of ${frequencies.join(', ')}`), 'ondemand'),
  country: z._default(z.string().check(z.minLength(1, 'takes a country code')), 'US'),
})

/** "Projects" of the interface. */
export function projectRoutes({ state, clock }: { state: State; clock: Clock }): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()

  /** The one body that the interface shows: an object with `projects`, which lists their names. */
  routes.get('/projects', async (c) => {
    const projects = await state.projects()
    return c.json({ projects: projects.map(({ id, name, frequency }) => ({ id, name, frequency })) })
  })

  routes.post('/projects/:name/create', async (c) => {
    const query = createQuery.safeParse(c.req.query())
    if (!query.success) return wrongBody(c, query.error)
    const { frequency, country } = query.data
    const input = createProjectInput(country).safeParse(await readJson(c))
    if (!input.success) return wrongBody(c, input.error)
    const name = c.var.requested.name
    const added = await state.addProject({
      ...input.data,
      name,
      frequency,
      country,
      createdAt: clock.now(),
      earlierDates: [],
    })
    if (!added) return failed(c, 409, `There is a project called ${name} already`)
    return succeeded(c, { project: name, id: added.id }, 201)
  })

  routes.get('/projects/:name/details', async (c) => {
    const project = findProject(await state.projects(), c.var.requested.name)
    return project ? succeeded(c, details(project)) : unknownProject(c, c.var.requested.name)
  })

  routes.get('/projects/:name/dates', async (c) => {
    const project = findProject(await state.projects(), c.var.requested.name)
    if (!project) return unknownProject(c, c.var.requested.name)
    return succeeded(c, { dates: datesOf(project, await state.runs(), clock.now()) })
  })

  return routes
}

const details = ({ createdAt, earlierDates, ...project }: Project) => ({ ...project, created: toRfc3339(createdAt) })
