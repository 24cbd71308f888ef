import { dayMs } from '../../platform/clock.ts'
import { isKnownToHaveRun, type Update } from './update.ts'

export const deliveryStates = ['awaited', 'late', 'came', 'given-back'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** The nightly look judges updates up to this age. For older ones, data that were never looked for are not awaited any more. */
export const awaitedMs = 15 * dayMs

/** `null`: no data are expected, or too little is known to expect any. */
export function deliveryOf(update: Update, now: number): DeliveryState | null {
  const { state, closedBy, hold, owner, plan, delivery, createdAt } = update
  if (state !== 'settled' || !isKnownToHaveRun(update)) return null
  if (delivery) return delivery.state
  // Without the dates before the run, no date can be new. Only dated kinds have them.
  if (!hold?.datesBefore) return null
  if (closedBy === 'evidence') return 'came'
  const isLookedAt = owner != null || plan !== undefined
  return isLookedAt && now < createdAt + awaitedMs ? 'awaited' : null
}

/** Paid, and no data came: a person has to ask the service. */
export const isUndelivered = (update: Update): boolean =>
  update.delivery?.state === 'late' && update.state === 'settled' && isKnownToHaveRun(update)
