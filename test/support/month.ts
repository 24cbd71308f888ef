import { playMonth } from '../../infra/local/demo-month-play.ts'
import { openStage } from '../../infra/local/demo-month-stage.ts'
import { createShutdown } from '../../infra/local/shutdown.ts'

const callerKey = 'canary-caller-key-of-a-month-0123456789'

export type PlayedMonth = Awaited<ReturnType<typeof playedMonth>>

/** The stage of `npm run demo:month`, before anything is played on it; whoever asks for it closes it. */
export async function openMonth(end: string, more: Record<string, string> = {}) {
  const shutdown = createShutdown()
  const settings = { PLANS: 'infra/local/plans.json', ...more }
  const stage = await openStage({ end: Date.parse(end), settings, callerKey, shutdown })
  return { stage, shutdown, close: () => shutdown.stop() }
}

/** The same at the end of its month. */
export async function playedMonth(end: string) {
  const month = await openMonth(end)
  await playMonth(month.stage, () => {})
  return month
}
