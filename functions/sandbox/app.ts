import { Hono } from 'hono'
import { ItemTooLarge } from '../../shared/ledger/errors.ts'
import { type Clock, toRfc3339 } from '../../shared/platform/clock.ts'
import type { Log } from '../../shared/platform/log.ts'
import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { balanceOf } from './account.ts'
import { BodyTooLarge, failed, readJson, type SandboxEnv, unauthorized, wrongInput } from './answers.ts'
import { demonstrationProjects } from './demonstration.ts'
import { injectFaults } from './fault-answers.ts'
import { faultListOf, helpOf } from './faults.ts'
import { answerStrangely } from './habits.ts'
import { operationRoutes, type Parts } from './operations.ts'
import { type Habits, usualFrequency } from './project.ts'
import { isAuthorized, rawPath, type TokenSource } from './request.ts'
import { createState, type State } from './state.ts'

type SandboxOptions = {
  readonly clock: Clock
  readonly token: TokenSource
  readonly state?: State
  readonly unitsPerMonth?: number
  /** One `sandbox-request` line for each request under /v3, before its answer. */
  readonly log?: Log
  readonly kinds?: Kinds
  readonly habits?: Habits
}

export function createSandbox(options: SandboxOptions): Hono<SandboxEnv> {
  const { clock, token, unitsPerMonth = 100_000, log, kinds = productKinds } = options
  const habits = options.habits ?? 'usual'
  const state = options.state ?? createState(demonstrationProjects(clock.now(), habits))
  const app = new Hono<SandboxEnv>({ getPath: rawPath })

  app.use(async (c, next) => {
    await next()
    // The server itself would send its own time, which differs from a simulated `clock`.
    c.header('Date', new Date(clock.now()).toUTCString())
  })
  app.use(async (c, next) => {
    if (!(await isAuthorized(c.req.header('authorization'), token, clock.now()))) return unauthorized(c)
    return next()
  })
  app.use('/v3/*', injectFaults({ state, clock, kinds, log }))

  const parts = { state, clock, unitsPerMonth, kinds, usualFrequency: usualFrequency[habits] }
  if (habits === 'strange') app.use('/v3/*', answerStrangely(parts))
  app.route('/v3', operationRoutes(parts))
  app.route('/sandbox', controlRoutes(parts))

  app.notFound((c) => failed(c, 404, 'Not Found'))
  app.onError((error, c) => {
    if (error instanceof ItemTooLarge || error instanceof BodyTooLarge) return failed(c, 413, 'Content Too Large')
    log?.error('sandbox-failed', { cause: error })
    return failed(c, 500, 'Internal Server Error')
  })
  return app
}

function controlRoutes({ state, clock, unitsPerMonth, kinds }: Parts): Hono<SandboxEnv> {
  const faultList = faultListOf(kinds)
  const help = helpOf(kinds)
  const routes = new Hono<SandboxEnv>()

  routes.get('/faults', async (c) => c.json({ faults: await state.faults(), help }))

  routes.put('/faults', async (c) => {
    const list = faultList.safeParse(await readJson(c))
    if (!list.success) return wrongInput(c, list.error)
    await state.replaceFaults(list.data.faults)
    return c.json({ faults: list.data.faults })
  })

  routes.delete('/faults', async (c) => {
    await state.replaceFaults([])
    return c.json({ faults: [] })
  })

  routes.get('/account', async (c) => {
    const { projects, runs: all } = await state.contents()
    const runs = all.filter(({ at }) => at <= clock.now())
    const { used, scheduled, left } = balanceOf({ projects, runs }, clock.now(), { unitsPerMonth, kinds })
    return c.json({
      unitsPerMonth,
      used,
      scheduled,
      left,
      runs: runs.map(({ at, kind, projects, units }) => {
        return { at: toRfc3339(at), kind, project: projects.join(','), units }
      }),
    })
  })

  return routes
}
