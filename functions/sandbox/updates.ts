import { type Context, Hono } from 'hono'
import type { Clock } from '../../shared/platform/clock.ts'
import { type Kind, toUnits } from '../../shared/platform/words.ts'
import { failed, succeeded, unknownProject } from './answers.ts'
import type { SandboxEnv } from './context.ts'
import { costOf, summed, totalOf } from './costs.ts'
import { misshapen } from './estimate-shapes.ts'
import { lateMsOf } from './faults.ts'
import { findProjects, type Project } from './project.ts'
import { operation } from './routing.ts'
import type { State } from './state.ts'

type Options = { readonly state: State; readonly clock: Clock; readonly unitsPerMonth: number }

/** A run writes a little for each of its projects, and they are written together. */
const mostProjects = 50

/** "On-demand ranking updates" and "Keyword-difficulty updates" of the interface. `run` is a GET there too. */
export function updateRoutes(options: Options): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()
  operation(routes, 'GET', '/on-demand/:name/estimate', estimate('ranking'))
  operation(routes, 'GET', '/on-demand/:name/run', run('ranking', options))
  operation(routes, 'GET', '/keyword-difficulty/:projectIds/estimate', estimate('keyword-difficulty'))
  operation(routes, 'GET', '/keyword-difficulty/:projectIds/run', run('keyword-difficulty', options))
  return routes
}

type Answer = (c: Context<SandboxEnv>, projects: readonly Project[]) => Response | Promise<Response>

/** Finds the projects of the path first. */
const ofProjects = (answer: Answer) => (c: Context<SandboxEnv>) => {
  const found = findProjects(c.var.projects, c.var.requested.name)
  if (found.kind === 'unknown') return unknownProject(c, found.name)
  if (found.projects.length > mostProjects) return failed(c, 400, `At most ${mostProjects} projects at once`)
  return answer(c, found.projects)
}

const estimate = (kind: Kind) =>
  ofProjects((c, projects) => {
    const costs = projects.map((project) => costOf(kind, project))
    const fault = c.var.fault
    return fault?.fault === 'estimate-shape' ? misshapen(c, fault.shape, costs) : succeeded(c, summed(costs))
  })

/** A run that the month's units cannot pay for changes nothing. */
const run = (kind: Kind, { state, clock, unitsPerMonth }: Options) =>
  ofProjects(async (c, projects) => {
    const fault = c.var.fault
    const dateLateMs = fault?.fault === 'late-date' ? fault.ms : 0
    const costs = projects.map((project) => ({
      ...costOf(kind, project),
      ...(fault?.fault === 'run-units' && { keyword_units: toUnits(fault.units) }),
      status: dateLateMs > 0 ? 'queued' : 'done',
    }))
    const at = clock.now() + lateMsOf(fault)
    const paid = await state.addRun(
      {
        at,
        kind,
        projects: costs.map(({ project }) => project),
        units: totalOf(costs),
        visibleFrom: at + dateLateMs,
      },
      unitsPerMonth,
    )
    return paid ? succeeded(c, summed(costs)) : failed(c, 402, `Not enough keyword units for ${totalOf(costs)} more`)
  })
