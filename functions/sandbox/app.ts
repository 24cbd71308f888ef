import { createHash, timingSafeEqual } from 'node:crypto'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Log } from '../../shared/platform/log.ts'
import { failed } from './answers.ts'
import type { SandboxEnv } from './context.ts'
import { controlRoutes } from './control.ts'
import { demonstrationProjects } from './demonstration.ts'
import { withFaults } from './fault-answers.ts'
import { projectRoutes } from './projects.ts'
import { rawPath } from './request.ts'
import { createMemoryState } from './state.ts'
import { updateRoutes } from './updates.ts'

type SandboxOptions = {
  readonly clock: Clock
  /** The one bearer token that is accepted. */
  readonly token: string
  /** What the account may use in one UTC calendar month. */
  readonly unitsPerMonth?: number
  /** One `sandbox-request` line for each request under /v3, written before it is answered. */
  readonly log?: Log
}

const bodyBytes = 1024 * 1024

/** A stand-in for the tracking service: the interface below `/v3`, its own switches below `/sandbox`. */
export function createSandbox({ clock, token, unitsPerMonth = 100_000, log }: SandboxOptions): Hono<SandboxEnv> {
  const state = createMemoryState(demonstrationProjects(clock.now()))
  const app = new Hono<SandboxEnv>({ getPath: rawPath })

  /** "Authentication" of the interface: every operation wants the header. Nothing else is said to a stranger. */
  app.use(async (c, next) => {
    if (!isBearer(c.req.header('authorization'), token)) return failed(c, 401, 'Unauthorized')
    return next()
  })
  app.use(bodyLimit({ maxSize: bodyBytes, onError: (c) => failed(c, 413, 'Content Too Large') }))
  app.use('/v3/*', withFaults({ state, clock, log }))

  app.route('/v3', projectRoutes({ state, clock }))
  app.route('/v3', updateRoutes({ state, clock, unitsPerMonth }))
  app.route('/sandbox', controlRoutes({ state, clock, unitsPerMonth }))

  app.notFound((c) => failed(c, 404, 'Not Found'))
  app.onError((error, c) => {
    log?.error('sandbox-failed', { error })
    return failed(c, 500, 'Internal Server Error')
  })
  return app
}

/** Digests have one length, which the comparison needs, and tell nothing of the token's. */
function isBearer(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
