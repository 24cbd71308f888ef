import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import { operation, type SandboxEnv, streamRows, unknownProject, wrongInput } from './answers.ts'
import { datesOf, difficultyDatesOf, findProject, type Project, type Run } from './project.ts'
import {
  clickThroughRates,
  keywordDifficulty,
  landingPages,
  rankings,
  searchConsole,
  topSites,
  type View,
  visibility,
} from './rows.ts'
import type { State } from './state/state.ts'

type DatesOf = (project: Project, runs: readonly Run[], now: number, kinds: Kinds) => readonly string[]

export function exportRoutes({ state, clock, kinds }: { state: State; clock: Clock; kinds: Kinds }): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>()

  const exportHandler =
    (view: View, available: DatesOf = datesOf) =>
    async (c: Context<SandboxEnv>) => {
      const project = findProject(c.var.projects, c.var.requested.name)
      if (!project) return unknownProject(c, c.var.requested.name)
      const query = period.safeParse(c.req.query())
      if (!query.success) return wrongInput(c, query.error)
      const dates = available(project, await state.runsOf(project.name), clock.now(), kinds)
      return streamRows(c, view(project, datesWithin(query.data, dates)))
    }

  operation(routes, 'GET', '/projects/:name/export-rankings', exportHandler(rankings))
  operation(routes, 'GET', '/projects/:name/export-visibility', exportHandler(visibility))
  operation(routes, 'GET', '/projects/:name/export-pages', exportHandler(landingPages))
  operation(routes, 'GET', '/projects/:name/export-topsites', exportHandler(topSites))
  operation(routes, 'GET', '/projects/:name/export-gsc', exportHandler(searchConsole))
  operation(routes, 'POST', '/projects/:name/export-ctr', exportHandler(clickThroughRates))
  const difficulty = exportHandler(keywordDifficulty, (_, runs, now) => difficultyDatesOf(runs, now))
  operation(routes, 'GET', '/projects/:id/export-keyword-difficulty', difficulty)
  return routes
}

const dateTakes = 'must be a calendar date such as 2026-11-20'
const date = z.optional(z.iso.date(dateTakes))

export const period = z.object({ startDate: date, stopDate: date }).check(
  z.refine(({ startDate, stopDate }) => startDate === undefined || stopDate === undefined || startDate <= stopDate, {
    path: ['startDate'],
    error: 'must be a date that is not after stopDate',
  }),
)

export const on = periodFromDate((day) => ({ startDate: day, stopDate: day }))
export const from = periodFromDate((day) => ({ startDate: day }))

function periodFromDate(periodOf: (day: string) => Period) {
  const withDate = z.object({ date })
  return z.pipe(
    z.intersection(period, withDate),
    z.transform(({ date: day, ...rest }): Period => (day === undefined ? rest : periodOf(day))),
  )
}

type Period = { readonly startDate?: string | undefined; readonly stopDate?: string | undefined }

/** Both ends included; only the latest date if the period has no start. @param dates oldest first. */
export function datesWithin({ startDate, stopDate }: Period, dates: readonly string[]): readonly string[] {
  const until = stopDate === undefined ? dates : dates.filter((each) => each <= stopDate)
  return startDate === undefined ? until.slice(-1) : until.filter((each) => each >= startDate)
}
