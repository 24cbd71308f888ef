import { Hono } from 'hono'
import { type Clock, toRfc3339 } from '../../shared/platform/clock.ts'
import { readJson, wrongInput } from './answers.ts'
import type { SandboxEnv } from './context.ts'
import { faultList, help } from './faults.ts'
import { type State, usedInMonth } from './state.ts'

type Options = { readonly state: State; readonly clock: Clock; readonly unitsPerMonth: number }

/** The sandbox's own paths, beside the interface: rehearse faults, and see what the service saw. */
export function controlRoutes({ state, clock, unitsPerMonth }: Options): Hono<SandboxEnv> {
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
    const runs = (await state.runs()).filter(({ at }) => at <= clock.now())
    const used = usedInMonth(runs, clock.now())
    return c.json({
      unitsPerMonth,
      used,
      left: unitsPerMonth - used,
      runs: runs.map(({ at, kind, projects, units }) => ({
        at: toRfc3339(at),
        kind,
        project: projects.join(','),
        units,
      })),
    })
  })

  return routes
}
