import { type Context, Hono } from 'hono'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import type { SandboxEnv } from './answers.ts'
import { operation, unknownProject, wrongInput } from './answers.ts'
import { datesWithin, period } from './period.ts'
import { datesOf, difficultyDatesOf, findProject, type Project, type Run } from './project.ts'
import { type Rows, streamRows } from './row-stream.ts'
import type { State } from './state/state.ts'
import {
  clickThroughRates,
  keywordDifficulty,
  landingPages,
  rankings,
  searchConsole,
  topSites,
  visibility,
} from './views.ts'
import { createWorld, type World } from './world/world.ts'

type View = (world: World, dates: readonly string[]) => Rows
type DatesOf = (project: Project, runs: readonly Run[], now: number, kinds: Kinds) => readonly string[]

/** Each export is a view of the same result pages, so they agree. */
export function exportRoutes({ state, clock, kinds }: { state: State; clock: Clock; kinds: Kinds }): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()

  const exported =
    (view: View, available: DatesOf = datesOf) =>
    async (c: Context<SandboxEnv>) => {
      const project = findProject(c.var.projects, c.var.requested.name)
      if (!project) return unknownProject(c, c.var.requested.name)
      const query = period.safeParse(c.req.query())
      if (!query.success) return wrongInput(c, query.error)
      const dates = available(project, await state.runsOf(project.name), clock.now(), kinds)
      return streamRows(c, view(createWorld(project), datesWithin(query.data, dates)))
    }

  operation(routes, 'GET', '/projects/:name/export-rankings', exported(rankings))
  operation(routes, 'GET', '/projects/:name/export-visibility', exported(visibility))
  operation(routes, 'GET', '/projects/:name/export-pages', exported(landingPages))
  operation(routes, 'GET', '/projects/:name/export-topsites', exported(topSites))
  operation(routes, 'GET', '/projects/:name/export-gsc', exported(searchConsole))
  operation(routes, 'POST', '/projects/:name/export-ctr', exported(clickThroughRates))
  const difficulty = exported(keywordDifficulty, (_, runs, now) => difficultyDatesOf(runs, now))
  operation(routes, 'GET', '/projects/:id/export-keyword-difficulty', difficulty)
  return routes
}
