import { systemIds } from '../platform/ids.ts'
import type { Services } from '../services/services.ts'
import { createBusSender } from './bus.ts'
import { deliveriesIn } from './deliveries.ts'
import { createEventReader } from './event.ts'
import type { OpenEvents } from './events.ts'
import { attempt, createReceiver, type EventParts } from './receiver.ts'
import type { Sender } from './sender.ts'
import { sweep } from './sweep.ts'
import { targetStates } from './target-states.ts'
import { readTargets, type Target } from './targets-file.ts'
import { tell } from './tell.ts'
import { createWebhookSender, type Network } from './webhook.ts'

const usualWithinMs = 5_000

/** @throws WrongTargets */
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
  return {
    targets,
    eventOf: parts.eventOf,
    deliver: async (event, target, deadline = AbortSignal.timeout(withinMs)) =>
      attempt(parts, receiverOf(target), { event, deadline }),
    tell: (references) => tell(parts, references),
    sweep: (endsAt) => sweep(parts, endsAt),
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
  if (target.kind === 'bus') return createBusSender(target)
  const secret = secretNamed(target.secret)
  return createWebhookSender(target, { secret, allowLoopback: isLocal, clock, ...(network && { network }) })
}
