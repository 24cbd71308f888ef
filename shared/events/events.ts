import { once } from '../platform/parallel.ts'
import type { Services } from '../services/services.ts'
import type { Events, OpenEvents } from './deliver.ts'
import type { Network } from './webhook.ts'

export type { Events, OpenEvents, TargetStatus } from './deliver.ts'

/** Without settings nothing is loaded, read or sent. */
export function createEvents(services: Services, network?: Network): Events {
  if (services.eventSettings.EVENT_TARGETS === undefined) return { tell: async () => new Set(), sweep: async () => {} }
  const open = openLater(services, network)
  return {
    tell: async (references) => (references.length === 0 ? new Set() : (await open()).tell(references)),
    sweep: async (endsAt) => (await open()).sweep(endsAt),
  }
}

/** @throws WrongFile */
export const openEvents = (services: Services, network?: Network): Promise<OpenEvents> => openLater(services, network)()

const openLater = (services: Services, network?: Network) =>
  once(async () => (await import('./deliver.ts')).open(services, network))
