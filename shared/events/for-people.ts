import { duration } from '../guard/sentences.ts'
import type { Delivery, WaitingDeliveries } from './deliveries.ts'
import type { Target } from './targets-file.ts'

/** Shows only the host, because the rest of an address may contain a secret. */
export const placeOf = ({ url }: Target): string => new URL(url).host

/** `null`: nothing waits. */
export function lagOf({ oldestAt, mayBeOlder }: WaitingDeliveries, now: number): string | null {
  if (oldestAt === null) return null
  return `${mayBeOlder ? 'at least ' : ''}${duration(now - oldestAt)}`
}

export const eventIdIn = ({ id, target }: Pick<Delivery, 'id' | 'target'>): string => id.slice(target.length + 1)
