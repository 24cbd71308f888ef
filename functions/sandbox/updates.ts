import { type Context, Hono } from 'hono'
import type { Clock } from '../../shared/platform/clock.ts'
import { type Kind, toUnits } from '../../shared/platform/words.ts'
import { failed, succeeded, unknownProject } from './answers.ts'
import type { SandboxEnv } from './context.ts'
import { costOf, summed, totalOf } from './costs.ts'
import { misshapen } from './estimate-shapes.ts'
import { findProjects } from './project.ts'
import type { State } from './state.ts'

type Options = { readonly state: State; readonly clock: Clock; readonly unitsPerMonth: number }

/** "On-demand ranking updates" and "Keyword-difficulty updates" of the interface. `run` is a GET there too. */
export function updateRoutes(options: Options): Hono<SandboxEnv> {
  return new Hono<SandboxEnv>()
    .get('/on-demand/:name/estimate', estimate('ranking', options))
    .get('/on-demand/:name/run', run('ranking', options))
    .get('/keyword-difficulty/:projectIds/estimate', estimate('keyword-difficulty', options))
    .get('/keyword-difficulty/:projectIds/run', run('keyword-difficulty', options))
}

const estimate =
  (kind: Kind, { state }: Options) =>
  async (c: Context<SandboxEnv>) => {
    const found = findProjects(await state.projects(), c.var.requested.name)
    if (found.kind === 'unknown') return unknownProject(c, found.name)
    const costs = found.projects.map((project) => costOf(kind, project))
    const fault = c.var.fault
    return fault?.fault === 'estimate-shape' ? misshapen(c, fault.shape, costs) : succeeded(c, summed(costs))
  }

/** A run that the month's units cannot pay for changes nothing. */
const run =
  (kind: Kind, { state, clock, unitsPerMonth }: Options) =>
  async (c: Context<SandboxEnv>) => {
    const found = findProjects(await state.projects(), c.var.requested.name)
    if (found.kind === 'unknown') return unknownProject(c, found.name)
    const fault = c.var.fault
    const lateMs = fault?.fault === 'late-date' ? fault.ms : 0
    const costs = found.projects.map((project) => ({
      ...costOf(kind, project),
      ...(fault?.fault === 'run-units' && { keyword_units: toUnits(fault.units) }),
      status: lateMs > 0 ? 'queued' : 'done',
    }))
    const at = clock.now()
    const paid = await state.addRun(
      {
        at,
        kind,
        projects: costs.map(({ project }) => project),
        units: totalOf(costs),
        visibleFrom: at + lateMs,
      },
      unitsPerMonth,
    )
    return paid ? succeeded(c, summed(costs)) : failed(c, 402, `Not enough keyword units for ${totalOf(costs)} more`)
  }
