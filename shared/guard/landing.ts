import type { Update } from '../ledger/update.ts'
import type { GuardOptions } from './options.ts'

/** From when on nothing that was sent for this update can still take effect. */
export function landedBy({ hold, doubt }: Update, options: GuardOptions): number {
  const silentFrom = doubt?.by === 'sender' ? doubt.at : (hold?.senderUntil ?? 0)
  return silentFrom + options.serviceFlightMs
}
