import { runMonth } from '../../infra/local/demo/month.ts'
import { openScenario } from '../../infra/local/demo/scenario.ts'
import { createShutdown } from '../../infra/local/shutdown.ts'
import { type Delivery, deliveriesIn, deliveryId } from '../../shared/events/deliveries.ts'
import { targetStates } from '../../shared/events/target-states.ts'
import { hours } from './clock.ts'
import { warehouse, writeTargets } from './infra/deployment.ts'

const callerKey = 'canary-caller-key-of-a-month-0123456789'

export type PlayedMonth = Awaited<ReturnType<typeof playedMonth>>

/** The scenario of `npm run demo:month` before its first day. The caller closes it. */
export async function openMonth(end: string, more: Record<string, string> = {}) {
  const shutdown = createShutdown()
  const settings = { PLANS: 'infra/local/plans.json', ...more }
  const scenario = await openScenario({ end: Date.parse(end), settings, callerKey, shutdown })
  return { scenario, shutdown, close: () => shutdown.stop() }
}

/** The month with a target of events that accepted some, waits for one and missed another. */
export async function openMonthWithTarget(end: string, more: Record<string, string> = {}) {
  const month = await openMonth(end, { ...more, EVENT_TARGETS: writeTargets([warehouse]) })
  const { ledger } = month.scenario.guard
  const deliveries = deliveriesIn(ledger)
  const at = (hour: number) => Date.parse(end) - hours(hour)
  const delivery = (event: string, createdAt: number): Delivery => ({
    id: deliveryId('warehouse', event),
    version: 1,
    createdAt,
    target: 'warehouse',
    tries: 9,
    nextAt: at(0),
    event: { kind: 'update', update: event.slice(0, -2), version: 2 },
    type: 'unit-guard.update.settled',
  })
  await deliveries.add(delivery('upd_waiting-2', at(3)))
  await deliveries.add({ ...delivery('upd_dead-2', at(30)), doneAt: at(6), givenUp: 'status 503' })
  await ledger.item(targetStates).note('warehouse', {
    delivered: { at: at(4), event: 'upd_taken-2' },
    failed: { at: at(1), event: 'upd_waiting-2', reason: 'status 503' },
  })
  return month
}

/** The scenario at the end of its month. */
export async function playedMonth(end: string) {
  const month = await openMonth(end)
  await runMonth(month.scenario, () => {})
  return month
}
