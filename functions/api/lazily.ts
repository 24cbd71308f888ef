import { type Context, Hono } from 'hono'
import { once } from '../../shared/platform/once.ts'
import { rawPathOf } from '../../shared/platform/raw-path.ts'
import type { ApiEnv } from './context.ts'

type Add = (app: Hono<ApiEnv>) => void

/**
 * Routes that are loaded when somebody first asks for one of them, so that no cold start pays for them. They are an app of
 * their own behind these addresses, for the same request.
 */
export function lazily(app: Hono<ApiEnv>, paths: readonly string[], load: () => Promise<Add>): void {
  const inner = once(async () => createInner(await load()))
  for (const path of paths) {
    app.all(path, async (c) => (await inner()).fetch(c.req.raw, { ...c.env, around: c }))
  }
}

function createInner(add: Add): Hono<ApiEnv> {
  const inner = new Hono<ApiEnv>({ getPath: rawPathOf })
  inner.use(async (c, next) => {
    const around = aroundOf(c)
    c.set('requestId', around.get('requestId'))
    c.set('expensiveReads', around.get('expensiveReads'))
    c.set('endsAt', around.get('endsAt'))
    c.set('caller', around.get('caller'))
    c.set('allowed', around.get('allowed'))
    try {
      await next()
    } finally {
      around.set('visitor', c.get('visitor'))
      around.set('route', c.req.routePath)
    }
  })
  add(inner)
  inner.notFound((c) => aroundOf(c).notFound())
  inner.onError((error) => {
    throw error
  })
  return inner
}

function aroundOf({ env: { around } }: Context<ApiEnv>): Context<ApiEnv> {
  if (!around) throw new Error('these routes are behind another app')
  return around
}
