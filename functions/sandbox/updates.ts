import { type Context, Hono } from 'hono'
import type { Clock } from '../../shared/platform/clock.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { type Kind, type KindFacts, type Kinds, namesOf } from '../../shared/tracking/kinds.ts'
import type { SandboxEnv } from './answers.ts'
import { failed, operation, succeeded, unknownProject } from './answers.ts'
import { answerShape, costOf, costSummary, totalOf } from './costs.ts'
import { lateMsOf } from './faults.ts'
import { findProjects, type Project } from './project.ts'
import type { State } from './state/state.ts'

type Options = { readonly state: State; readonly clock: Clock; readonly unitsPerMonth: number; readonly kinds: Kinds }

/** A run writes one item for each project in one transaction. */
const maxProjects = 50

export function updateRoutes(options: Options): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()
  for (const kind of namesOf(options.kinds)) {
    const facts = options.kinds[kind]
    operation(routes, 'GET', `/${facts.path}/:projects/estimate`, estimate(facts))
    operation(routes, 'GET', `/${facts.path}/:projects/run`, run(kind, facts, options))
  }
  return routes
}

type Answer = (c: Context<SandboxEnv>, projects: readonly Project[]) => Response | Promise<Response>

const ofProjects = (answer: Answer) => (c: Context<SandboxEnv>) => {
  const found = findProjects(c.var.projects, c.var.requested.name)
  if (found.kind === 'unknown') return unknownProject(c, found.name)
  if (found.projects.length > maxProjects) return failed(c, 400, `At most ${maxProjects} projects at once`)
  return answer(c, found.projects)
}

const estimate = (facts: KindFacts) =>
  ofProjects((c, projects) => {
    const costs = projects.map((project) => costOf(facts, project))
    const fault = c.var.fault
    return fault?.fault === 'estimate-shape' ? answerShape(c, fault.shape, costs) : succeeded(c, costSummary(costs))
  })

const run = (kind: Kind, facts: KindFacts, { state, clock, unitsPerMonth }: Options) =>
  ofProjects(async (c, projects) => {
    const fault = c.var.fault
    const dateLateMs = fault?.fault === 'late-date' ? fault.ms : 0
    const costs = projects.map((project) => ({
      ...costOf(facts, project),
      ...(fault?.fault === 'run-units' && { keyword_units: toUnits(fault.units) }),
      status: dateLateMs > 0 ? 'queued' : 'done',
    }))
    const at = clock.now() + lateMsOf(fault)
    const isPaid = await state.addRun(
      {
        at,
        kind,
        projects: costs.map(({ project }) => project),
        units: totalOf(costs),
        visibleFrom: at + dateLateMs,
      },
      unitsPerMonth,
    )
    return isPaid
      ? succeeded(c, costSummary(costs))
      : failed(c, 402, `Not enough keyword units for ${totalOf(costs)} more`)
  })
