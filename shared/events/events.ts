import { once } from '../platform/parallel.ts'
import type { Services } from '../services/services.ts'
import type { DeadDeliveries, EventReference, WaitingDeliveries } from './deliveries.ts'
import type { CloudEvent, EventOf } from './event.ts'
import type { SendResult } from './sender.ts'
import type { TargetState } from './target-states.ts'
import type { Target } from './targets-file.ts'
import type { Network } from './webhook.ts'

/** Events for other systems. */
export interface Events {
  /**
   * Sends each event to every target that wants it, within five seconds. Failed deliveries are kept for the sweep.
   *
   * @returns references to events that could not be kept. The stream must deliver their records again.
   */
  tell(references: readonly EventReference[]): Promise<ReadonlySet<EventReference>>
  /** Repeats failed deliveries. A dead target delays no other. */
  sweep(endsAt: number): Promise<void>
}

/** Without settings nothing is loaded, read or sent. */
export function createEvents(services: Services, network?: Network): Events {
  const { EVENT_TARGETS: file, EVENT_BUS: bus } = services.eventSettings
  if (file === undefined && bus === undefined) return { tell: async () => new Set(), sweep: async () => {} }
  const open = openLater(services, network)
  return {
    tell: async (references) => (references.length === 0 ? new Set() : (await open()).tell(references)),
    sweep: async (endsAt) => (await open()).sweep(endsAt),
  }
}

/** Further functions that commands and pages need. */
export interface OpenEvents extends Events {
  readonly targets: readonly Target[]
  readonly eventOf: EventOf
  /** Makes one attempt, and writes only a line in the log. */
  deliver(event: CloudEvent, target: Target, deadline?: AbortSignal): Promise<SendResult>
  statusOf(target: Target): Promise<TargetStatus>
}

export interface TargetStatus extends TargetState {
  readonly waiting: WaitingDeliveries
  readonly dead: DeadDeliveries
}

/** @throws WrongTargets */
export const openEvents = (services: Services, network?: Network): Promise<OpenEvents> => openLater(services, network)()

const openLater = (services: Services, network?: Network) =>
  once(async () => (await import('./deliver.ts')).open(services, network))
