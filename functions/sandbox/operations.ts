import { type Context, type Handler, Hono } from 'hono'
import * as z from 'zod/mini'
import { type Clock, toRfc3339 } from '../../shared/platform/clock.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { type Kind, type KindFacts, type Kinds, namesOf } from '../../shared/tracking/kinds.ts'
import { createProjectInput, createProjectQuery, updateProjectInput } from '../../shared/tracking/projects.ts'
import { canReserve } from './account.ts'
import { failed, readJson, type SandboxEnv, streamRows, succeeded, unknownProject, wrongInput } from './answers.ts'
import { answerShape, costOf, costSummary, totalOf } from './costs.ts'
import { lateMsOf } from './faults.ts'
import { datesWithin, from, on, period } from './period.ts'
import {
  datesOf,
  difficultyDatesOf,
  type Frequency,
  findProject,
  findProjects,
  newProject,
  type Project,
  unknownEngines,
  updatedProject,
} from './project.ts'
import * as views from './rows.ts'
import type { State } from './state.ts'

export interface Parts {
  readonly state: State
  readonly clock: Clock
  readonly unitsPerMonth: number
  readonly kinds: Kinds
  /** What a creation without a frequency gets. */
  readonly usualFrequency: Frequency
}

type Method = 'GET' | 'POST'
type Answer<Of> = (c: Context<SandboxEnv>, of: Of) => Response | Promise<Response>

/** Every operation of the interface. */
export function operationRoutes(parts: Parts): Hono<SandboxEnv> {
  const { state, clock, kinds } = parts
  const routes = new Hono<SandboxEnv>()
  const runsOf = async ({ name }: Project) => (await state.runs()).filter(({ projects }) => projects.includes(name))
  const datesFor = async (project: Project) => datesOf(project, await runsOf(project), clock.now(), kinds)
  const difficultyDatesFor = async (project: Project) => difficultyDatesOf(await runsOf(project), clock.now())

  const rows = <Query extends Period>(
    viewOf: (query: Query) => views.View,
    query: z.ZodMiniType<Query>,
    available = datesFor,
  ) =>
    ofProject(async (c, project) => {
      const parsed = query.safeParse(c.req.query())
      if (!parsed.success) return wrongInput(c, parsed.error)
      return streamRows(c, viewOf(parsed.data)(project, datesWithin(parsed.data, await available(project))))
    })
  const exported = (view: views.View, available = datesFor) => rows(() => view, period, available)
  const share = '/marketshare/projects'

  const operations: readonly (readonly [Method, path: string, Handler<SandboxEnv>])[] = [
    [
      'GET',
      '/projects',
      (c) => c.json({ projects: listed(c, ({ id, name, frequency }) => ({ id, name, frequency })) }),
    ],
    ['POST', '/projects/:name/create', create(parts)],
    ['POST', '/projects/:name/update', update(parts)],
    ['GET', '/projects/:name/details', ofProject((c, project) => succeeded(c, detailsOf(project)))],
    ['GET', '/projects/:id/keywords', ofProject((c, { keywords }) => succeeded(c, { keywords }))],
    ['GET', '/projects/:name/dates', ofProject(async (c, project) => succeeded(c, { dates: await datesFor(project) }))],
    ['GET', '/projects/:name/export-rankings', exported(views.rankings)],
    ['GET', '/projects/:name/export-visibility', exported(views.visibility)],
    ['GET', '/projects/:name/export-pages', exported(views.landingPages)],
    ['GET', '/projects/:name/export-topsites', exported(views.topSites)],
    ['GET', '/projects/:name/export-gsc', exported(views.searchConsole)],
    ['POST', '/projects/:name/export-ctr', exported(views.clickThroughRates)],
    ['GET', '/projects/:id/export-keyword-difficulty', exported(views.keywordDifficulty, difficultyDatesFor)],
    ...namesOf(kinds).flatMap((kind) => [
      ['GET', `/${kinds[kind].path}/:projects/estimate`, estimate(kinds[kind])] as const,
      ['GET', `/${kinds[kind].path}/:projects/run`, run(kind, kinds[kind], parts)] as const,
    ]),
    ['GET', share, (c) => succeeded(c, { projects: listed(c, ({ id, name }) => ({ id, name })) })],
    ['GET', `${share}/:id/websites`, ofProject((c, project) => succeeded(c, { websites: views.websitesOf(project) }))],
    [
      'GET',
      `${share}/:id/search-engines`,
      ofProject((c, project) => succeeded(c, { search_engines: enginesOf(project) })),
    ],
    ['GET', `${share}/:id/metadata`, exported(views.metadata)],
    ['GET', `${share}/:id/url-keywords`, rows(({ url }) => views.urlKeywords(url), z.intersection(ofUrl, on))],
    ['GET', `${share}/:id/domain-urls`, rows(({ domain }) => views.domainUrls(domain), z.intersection(ofDomain, from))],
  ]
  for (const [method, path, handler] of operations) {
    // HEAD is GET without a body.
    routes.on(method, path, handler)
    routes.all(path, (c) => {
      c.header('Allow', method === 'GET' ? 'GET, HEAD' : method)
      return failed(c, 405, 'Method Not Allowed')
    })
  }
  return routes
}

type Period = Parameters<typeof datesWithin>[0]

const required = (error: string) => z.string(error).check(z.minLength(1, error))
const ofUrl = z.object({ url: required('must be the URL to look up') })
const ofDomain = z.object({ domain: required('must be the domain to look up') })

const listed = <T>(c: Context<SandboxEnv>, shown: (project: Project) => T): T[] => c.var.projects.map(shown)

const ofProject = (answer: Answer<Project>) => (c: Context<SandboxEnv>) => {
  const { name } = c.var.requested
  const project = findProject(c.var.projects, name)
  return project ? answer(c, project) : unknownProject(c, name)
}

const detailsOf = ({ createdAt, earlierDates, lastSvcId, ...project }: Project) => ({
  ...project,
  created: toRfc3339(createdAt),
})

const enginesOf = ({ searchengines }: Project) =>
  searchengines.map((engine) => ({ id: engine.svc_id, name: views.labelOf(engine) }))

const create =
  ({ state, clock, unitsPerMonth, kinds, usualFrequency }: Parts) =>
  async (c: Context<SandboxEnv>) => {
    const query = createProjectQuery.safeParse(c.req.query())
    if (!query.success) return wrongInput(c, query.error)
    const input = createProjectInput.safeParse(await readJson(c))
    if (!input.success) return wrongInput(c, input.error)
    const { frequency = usualFrequency, country = 'US' } = query.data
    const { name } = c.var.requested
    const now = clock.now()
    const added = await state.addProject(newProject(input.data, { name, frequency, country, now }), (before, after) =>
      canReserve(before, after, now, { unitsPerMonth, kinds }),
    )
    if (added === 'taken') return failed(c, 409, `There is a project called ${name} already`)
    if (added === 'too-expensive') return failed(c, 402, 'Not enough keyword units for this schedule')
    return succeeded(c, { project: name, id: added.id }, 201)
  }

const update = ({ state, clock, unitsPerMonth, kinds }: Parts) =>
  ofProject(async (c, { id, name }) => {
    const input = updateProjectInput.safeParse(await readJson(c))
    if (!input.success) return wrongInput(c, input.error)
    let unknown: readonly number[] = []
    const changed = await state.changeProject(
      id,
      (project) => {
        unknown = unknownEngines(project, input.data)
        return unknown.length === 0 ? updatedProject(project, input.data) : undefined
      },
      (before, after) => canReserve(before, after, clock.now(), { unitsPerMonth, kinds }),
    )
    if (unknown.length > 0)
      return failed(c, 400, `There is no search engine with svc_id ${unknown.join(', ')} in ${name}`)
    if (!changed) return failed(c, 402, 'Not enough keyword units for this schedule')
    return succeeded(c, { project: name, id })
  })

const maxProjects = 50

const ofProjects = (answer: Answer<readonly Project[]>) => (c: Context<SandboxEnv>) => {
  const found = findProjects(c.var.projects, c.var.requested.name)
  if (found.kind === 'unknown') return unknownProject(c, found.name)
  if (found.projects.length > maxProjects) return failed(c, 400, `At most ${maxProjects} projects at once`)
  return answer(c, found.projects)
}

const estimate = (facts: KindFacts) =>
  ofProjects((c, projects) => {
    const costs = projects.map((project) => costOf(facts, project))
    const { fault } = c.var
    return fault?.fault === 'estimate-shape' ? answerShape(c, fault.shape, costs) : succeeded(c, costSummary(costs))
  })

const run = (kind: Kind, facts: KindFacts, { state, clock, unitsPerMonth, kinds }: Parts) =>
  ofProjects(async (c, projects) => {
    const { fault } = c.var
    const dateLateMs = fault?.fault === 'late-date' ? fault.ms : 0
    const costs = projects.map((project) => ({
      ...costOf(facts, project),
      ...(fault?.fault === 'run-units' && { keyword_units: toUnits(fault.units) }),
      status: dateLateMs > 0 ? 'queued' : 'done',
    }))
    const at = clock.now() + lateMsOf(fault)
    const units = totalOf(costs)
    const names = costs.map(({ project }) => project)
    const made = { at, kind, projects: names, units, visibleFrom: at + dateLateMs }
    const isPaid = await state.addRun(made, { unitsPerMonth, kinds })
    return isPaid ? succeeded(c, costSummary(costs)) : failed(c, 402, `Not enough keyword units for ${units} more`)
  })
