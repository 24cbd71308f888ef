import { systemIds } from '../platform/ids.ts'
import type { Services } from '../services/services.ts'
import type { DeadDeliveries, EventReference, WaitingDeliveries } from './deliveries.ts'
import { deliveriesIn } from './deliveries.ts'
import type { CloudEvent, EventOf } from './event.ts'
import { createEventReader } from './event.ts'
import { attempt, createReceiver, type EventParts } from './receiver.ts'
import { endBusDeliveries, removedBus } from './removed-bus.ts'
import type { Sender, SendResult } from './sender.ts'
import { sweep } from './sweep.ts'
import type { TargetState } from './target-states.ts'
import { targetStates } from './target-states.ts'
import { readTargets, type Target } from './targets-file.ts'
import { tell } from './tell.ts'
import { createWebhookSender, type Network } from './webhook.ts'

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

const usualWithinMs = 5_000

/** @throws WrongFile */
export function open(services: Services, network?: Network): OpenEvents {
  const { guard, troubles, eventSettings, clock, log } = services
  const deliveries = deliveriesIn(guard.ledger)
  const states = guard.ledger.item(targetStates)
  const targets = readTargets(eventSettings)
  const own = { targetStates: states, troubles, clock, log }
  const receivers = targets.map((target) => createReceiver(target, senderOf(target, services, network), own))
  const withinMs = network?.withinMs ?? usualWithinMs
  const parts: EventParts = {
    ...own,
    deliveries,
    receivers,
    withinMs,
    eventOf: createEventReader(services),
    ids: systemIds,
  }
  const receiverOf = ({ name }: Target) => {
    const found = receivers.find(({ target }) => target.name === name)
    if (!found) throw new Error(`no target is called ${name}`)
    return found
  }
  let mayOweBus = true
  async function sweepAll(endsAt: number): Promise<void> {
    await sweep(parts, endsAt)
    if (!mayOweBus) return
    try {
      await endBusDeliveries(parts, endsAt)
      mayOweBus = false
    } catch (cause) {
      log.error('events-not-swept', { target: removedBus, cause })
    }
  }
  return {
    targets,
    eventOf: parts.eventOf,
    deliver: async (event, target, deadline = AbortSignal.timeout(withinMs)) =>
      attempt(parts, receiverOf(target), { event, deadline }),
    tell: (references) => tell(parts, references),
    sweep: sweepAll,
    statusOf: async ({ name }) => {
      const [state, waiting, dead] = await Promise.all([
        states.read(name),
        deliveries.waiting(name),
        deliveries.dead(name),
      ])
      return { ...state, waiting, dead }
    },
  }
}

function senderOf(target: Target, { secretNamed, isLocal, clock }: Services, network?: Network): Sender {
  const secret = secretNamed(target.secret)
  return createWebhookSender(target, { secret, allowLoopback: isLocal, clock, ...(network && { network }) })
}
