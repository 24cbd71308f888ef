import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Log } from '../../shared/platform/log.ts'
import { failed, unauthorized } from './answers.ts'
import { isAuthorized, type TokenSource } from './bearer.ts'
import type { SandboxEnv } from './context.ts'
import { controlRoutes } from './control.ts'
import { demonstrationProjects } from './demonstration.ts'
import { exportRoutes } from './exports.ts'
import { withFaults } from './fault-answers.ts'
import { marketShareRoutes } from './market-share.ts'
import { createMemoryState } from './memory-state.ts'
import { projectRoutes } from './projects.ts'
import { rawPath } from './request.ts'
import { ProjectTooLarge, type State } from './state.ts'
import { updateRoutes } from './updates.ts'

type SandboxOptions = {
  readonly clock: Clock
  /** The bearer token that is accepted, or where those are read that are. */
  readonly token: TokenSource
  /** In memory, and gone with the process, unless it is given. */
  readonly state?: State
  /** What the account may use in one UTC calendar month. */
  readonly unitsPerMonth?: number
  /** One `sandbox-request` line for each request under /v3, written before it is answered. */
  readonly log?: Log
}

const bodyBytes = 1024 * 1024

/** A stand-in for the tracking service: the interface below `/v3`, its own switches below `/sandbox`. */
export function createSandbox(options: SandboxOptions): Hono<SandboxEnv> {
  const { clock, token, unitsPerMonth = 100_000, log } = options
  const state = options.state ?? createMemoryState(demonstrationProjects(clock.now()))
  const app = new Hono<SandboxEnv>({ getPath: rawPath })

  /** "Authentication" of the interface: every operation wants the header. */
  app.use(async (c, next) => {
    if (!(await isAuthorized(c.req.header('authorization'), token, clock.now()))) return unauthorized(c)
    return next()
  })
  app.use(bodyLimit({ maxSize: bodyBytes, onError: (c) => failed(c, 413, 'Content Too Large') }))
  app.use('/v3/*', withFaults({ state, clock, log }))

  app.route('/v3', projectRoutes({ state, clock }))
  app.route('/v3', updateRoutes({ state, clock, unitsPerMonth }))
  app.route('/v3', exportRoutes({ state, clock }))
  app.route('/v3', marketShareRoutes({ state, clock }))
  app.route('/sandbox', controlRoutes({ state, clock, unitsPerMonth }))

  app.notFound((c) => failed(c, 404, 'Not Found'))
  app.onError((error, c) => {
    if (error instanceof ProjectTooLarge) return failed(c, 413, 'Content Too Large')
    log?.error('sandbox-failed', { error })
    return failed(c, 500, 'Internal Server Error')
  })
  return app
}
