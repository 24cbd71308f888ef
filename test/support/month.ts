import { runMonth } from '../../infra/local/demo/month.ts'
import { openScenario } from '../../infra/local/demo/scenario.ts'
import { createShutdown } from '../../infra/local/shutdown.ts'

const callerKey = 'canary-caller-key-of-a-month-0123456789'

export type PlayedMonth = Awaited<ReturnType<typeof playedMonth>>

/** The scenario of `npm run demo:month` before its first day. The caller closes it. */
export async function openMonth(end: string, more: Record<string, string> = {}) {
  const shutdown = createShutdown()
  const settings = { PLANS: 'infra/local/plans.json', ...more }
  const scenario = await openScenario({ end: Date.parse(end), settings, callerKey, shutdown })
  return { scenario, shutdown, close: () => shutdown.stop() }
}

/** The same at the end of its month. */
export async function playedMonth(end: string) {
  const month = await openMonth(end)
  await runMonth(month.scenario, () => {})
  return month
}
